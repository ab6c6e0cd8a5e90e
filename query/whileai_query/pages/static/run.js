// One run: its waterfall, the chosen span, grading, and following it while it goes on.

import { ask, nodes, notify, replace } from "./app.js";
import { grade } from "./grade.js";
import { follow } from "./stream.js";
import { Waterfall } from "./waterfall.js";

const page = document.getElementById("run");
const body = document.getElementById("run-body");
const place = document.getElementById("waterfall");
const detail = document.getElementById("span-detail");
const base = `/ui/traces/${page.dataset.trace}`;

const waterfall = new Waterfall(place, showSpan, Number(page.dataset.spans));
let wanted;
let made = "";

async function showSpan(id) {
  wanted = id;
  detail.setAttribute("aria-busy", "true");
  try {
    const html = await (await ask(`${base}/spans/${id}`)).text();
    if (wanted === id) detail.replaceChildren(nodes(html));
  } catch (problem) {
    if (wanted === id) detail.replaceChildren(sentence(problem.message));
  }
  detail.setAttribute("aria-busy", "false");
}

async function showSpans() {
  try {
    const found = await (await ask(`${base}/waterfall`)).json();
    document.getElementById("span-count").textContent = found.rows.length.toLocaleString();
    waterfall.show(found);
  } catch (problem) {
    place.replaceChildren(sentence(problem.message));
    place.setAttribute("aria-busy", "false");
  }
}

async function showBody() {
  const note = document.getElementById("run-note")?.value ?? "";
  try {
    replace(body, await (await ask(`${base}/body`)).text());
    document.getElementById("run-note").value = note;
    document.getElementById("made-from").replaceChildren(nodes(made));
  } catch (problem) {
    notify(problem.message);
  }
}

async function showMadeFrom() {
  try {
    made = await (await ask(`${base}/made-from`)).text();
    document.getElementById("made-from").replaceChildren(nodes(made));
  } catch (problem) {
    notify(problem.message);
  }
}

function sentence(text) {
  return Object.assign(document.createElement("p"), { className: "problem", textContent: text });
}

body.addEventListener("submit", async (event) => {
  if (event.target.id !== "grade-run") return;
  event.preventDefault();
  const standing = await grade(event.target, event.submitter);
  if (!standing) return;
  document.getElementById("run-note").value = "";
  await showBody();
  notify(`Graded as a ${standing.verdict}.`);
  setTimeout(() => notify(""), 2500);
});
document.getElementById("collapse").addEventListener("click", () => waterfall.foldAll(true));
document.getElementById("expand").addEventListener("click", () => waterfall.foldAll(false));

showSpans();
showMadeFrom();
let known;
follow(
  `${base}/stream`,
  (news) => {
    if (known !== undefined && known !== JSON.stringify(news)) { showBody(); showSpans(); }
    known = JSON.stringify(news);
  },
  undefined,
  (told) => notify(told.status === 404 ? "This run was deleted." : told.error, { href: "/ui/traces", text: "All traces" }),
);
