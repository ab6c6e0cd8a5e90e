// Live traffic: the charts, and the parts of the page that the stream brings anew.

import { notify, replace } from "./app.js";
import { colour, draw } from "./charts.js";
import { follow } from "./stream.js";

const page = document.getElementById("live");
const pulse = document.getElementById("pulse");
let shown = JSON.parse(document.getElementById("live-data").textContent);

// Plotly takes times without a zone as they are, so they are written in the viewer's.
const local = (iso, later = 0) => {
  const moment = new Date(new Date(iso).getTime() + later);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
};
const times = () => shown.series.map((step) => local(step.t));
const values = (key) => shown.series.map((step) => step[key]);
const seconds = (key) => values(key).map((ms) => (ms === null ? null : ms / 1000));
const bars = (y, name, paint) => ({ type: "bar", x: times(), y, name, marker: { color: colour(paint) }, hovertemplate: "%{y}" });
const line = (key, name, paint) => ({
  type: "scatter", mode: "lines+markers", x: times(), y: seconds(key), name, connectgaps: true,
  line: { color: colour(paint), width: 1.5 }, marker: { color: colour(paint), size: 3 }, hovertemplate: "%{y:.3s}s",
});

/** The time axis, with a line where the first run of a new version came. */
function axis() {
  const days = page.dataset.stream.includes("window=7d");
  const first = new Map();
  for (const mark of shown.marks) if (!first.has(mark.version)) first.set(mark.version, mark.t);
  const lines = [...first];
  const [start, second] = shown.series.map((step) => new Date(step.t).getTime());
  const length = shown.series.length * (second - start);
  return {
    xaxis: { type: "date", range: [times().at(0), local(shown.series.at(-1).t, second - start)], tickformat: days ? "%a %d" : "%H:%M", nticks: 6 },
    shapes: lines.map(([, t]) => ({
      type: "line", x0: local(t), x1: local(t), yref: "paper", y0: 0, y1: 1,
      line: { color: colour("quiet"), width: 1, dash: "dot" },
    })),
    annotations: lines.map(([version, t]) => ({
      x: local(t), yref: "paper", y: 1, yanchor: "top", showarrow: false,
      xanchor: new Date(t).getTime() - start > 0.85 * length ? "right" : "left",
      text: version.slice(0, 20).replace(/[<>&]/g, " "), font: { size: 10, color: colour("quiet") },
    })),
  };
}

function charts() {
  const fine = () => shown.series.map((step) => step.runs - step.flagged);
  const flagged = () => shown.series.map((step) => step.flagged - step.errors);
  return Promise.all([
    draw("chart-runs", () => [bars(fine(), "fine", "a"), bars(flagged(), "flagged", "flagged"), bars(values("errors"), "error", "bad")],
      () => ({ ...axis(), yaxis: { tickformat: "d" } })),
    draw("chart-latency", () => [line("p50Ms", "p50", "a"), line("p95Ms", "p95", "b"), line("p99Ms", "p99", "c")],
      () => ({ ...axis(), yaxis: { ticksuffix: "s", tickformat: "~s" } })),
    draw("chart-tokens", () => [bars(values("inputTokens"), "in", "a"), bars(values("outputTokens"), "out", "b")],
      () => ({ ...axis(), yaxis: { tickformat: "~s" } })),
    draw("chart-cost", () => [bars(values("costUsd"), "USD", "a")], () => ({ ...axis(), yaxis: { tickprefix: "$", tickformat: "~g" } })),
  ]).catch((problem) => notify(`The charts cannot be drawn: ${problem.message}.`));
}

charts().then(() => { page.dataset.drawn = "yes"; });
follow(
  page.dataset.stream,
  (news) => {
    const before = new Set([...document.querySelectorAll(".feed a")].map((link) => link.id));
    shown = news;
    for (const [name, html] of Object.entries(news.parts)) replace(document.getElementById(`part-${name}`), html);
    if (before.size) for (const link of document.querySelectorAll(".feed a")) link.parentElement.classList.toggle("fresh", !before.has(link.id));
    charts();
  },
  (open) => { pulse.classList.toggle("on", open); pulse.classList.toggle("off", !open); },
  (told) => notify(told.error),
);
