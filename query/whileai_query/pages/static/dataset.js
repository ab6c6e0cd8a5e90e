// The profile of a dataset, drawn from the API's own answer.

import { ask } from "./app.js";
import { colour, draw } from "./charts.js";

const panel = document.getElementById("profile");
const percent = (rate) => (rate === null ? "–" : `${Math.round(rate * 1000) / 10}%`);

function tile(label, value) {
  const made = document.createElement("div");
  made.className = "tile";
  made.append(Object.assign(document.createElement("dt"), { textContent: label }), Object.assign(document.createElement("dd"), { textContent: value }));
  return made;
}

function tiles(profile) {
  const { split } = profile;
  const list = panel.querySelector(".tiles");
  list.replaceChildren(
    tile("Pass rate", percent(profile.pass_rate)), tile("Passed", split.pass.toLocaleString()), tile("Failed", split.fail.toLocaleString()),
    tile("Ungraded", split.ungraded.toLocaleString()), tile("Tasks", profile.tasks.toLocaleString()), tile("Mixed tasks", profile.mixed_tasks.toLocaleString()),
    tile("Runs per task", profile.support.mean === null ? "–" : profile.support.mean.toFixed(1)), tile("Mean steps", profile.mean_steps === null ? "–" : profile.mean_steps.toFixed(1)),
  );
  list.hidden = false;
}

async function charts(profile) {
  panel.querySelector(".charts").hidden = false;
  if (!profile.tool_use.tools.length) document.getElementById("chart-tools").closest("figure").hidden = true;
  const rates = profile.per_task.map((task) => task.pass_rate).filter((rate) => rate !== null);
  const bins = Array(10).fill(0);
  for (const rate of rates) bins[Math.min(9, Math.floor(rate * 10))] += 1;
  const tools = profile.tool_use.tools.slice(0, 8).reverse();
  const bar = (x, y, more = {}) => ({ type: "bar", x, y, marker: { color: colour("a") }, hovertemplate: "%{y}<extra></extra>", ...more });
  await Promise.all([
    draw("chart-rates", () => [bar(bins.map((_, at) => at * 10 + 5), bins)],
      () => ({ hovermode: "closest", xaxis: { range: [0, 100], dtick: 20, ticksuffix: "%" }, yaxis: { tickformat: "d" } })),
    draw("chart-lengths", () => [bar(profile.answer_chars.map((part) => `< ${part.below.toLocaleString()}`), profile.answer_chars.map((part) => part.rows))],
      () => ({ hovermode: "closest", xaxis: { type: "category" }, yaxis: { tickformat: "d" } })),
    profile.tool_use.tools.length && draw("chart-tools", () => [bar(tools.map((tool) => tool.rows), tools.map((tool) => tool.tool.slice(0, 28).replace(/[<>&]/g, " ")), { orientation: "h", hovertemplate: "%{x}<extra></extra>" })],
      () => ({ hovermode: "closest", margin: { l: 8, r: 6, t: 8, b: 24 }, xaxis: { tickformat: "d", rangemode: "tozero", nticks: 5 }, yaxis: { type: "category" } })),
  ]);
}

async function show() {
  const waiting = panel.querySelector(".loading");
  try {
    const { profile } = await (await ask(`/datasets/${encodeURIComponent(panel.dataset.dataset)}/profile`)).json();
    tiles(profile);
    waiting.hidden = true;
    await charts(profile);
  } catch (problem) {
    waiting.className = "problem";
    waiting.textContent = `No profile: ${problem.message}`;
    waiting.hidden = false;
  }
  panel.setAttribute("aria-busy", "false");
}

if (panel) show();
