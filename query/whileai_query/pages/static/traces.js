// The list of runs: grading in place, with a note if wanted, and suggestions for the filters.

import { ask, notify } from "./app.js";
import { grade, stand } from "./grade.js";

const dialog = document.getElementById("note-dialog");
const inside = dialog.querySelector("form");
let noted;

document.getElementById("runs")?.addEventListener("submit", async (event) => {
  const form = event.target.closest("form.grade");
  if (!form) return;
  event.preventDefault();
  const standing = await grade(form, event.submitter);
  if (standing) stand(form.querySelector(".standing"), standing);
  event.submitter.focus();
});

document.getElementById("runs")?.addEventListener("click", (event) => {
  const button = event.target.closest(".noted");
  if (!button) return;
  noted = button.closest("form");
  inside.setAttribute("action", noted.getAttribute("action"));
  inside.querySelector("textarea").value = "";
  document.getElementById("note-run").textContent = button.closest("tr").querySelector(".ask").textContent;
  dialog.showModal();
});

inside.addEventListener("submit", async (event) => {
  event.preventDefault();
  const standing = await grade(inside, event.submitter);
  if (!standing) return;
  stand(noted.querySelector(".standing"), standing);
  dialog.close();
});
dialog.querySelector(".cancel").addEventListener("click", () => dialog.close());

// Looked up once, when somebody goes to a field that has suggestions.
let asked = false;
document.getElementById("filters").addEventListener("focusin", async (event) => {
  if (asked || !event.target.matches("input[list]")) return;
  asked = true;
  try {
    const choices = await (await ask("/ui/choices")).json();
    for (const [name, values] of Object.entries(choices)) {
      const list = document.getElementById(`l-${name}`);
      list?.replaceChildren(...values.map((value) => Object.assign(document.createElement("option"), { value })));
    }
  } catch (problem) {
    notify(problem.message);
  }
});
