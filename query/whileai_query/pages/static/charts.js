// Small charts in the page's own colours, drawn by Plotly. Nothing is drawn that a caption does not name.

const loaded = new Promise((done, failed) => {
  const script = document.createElement("script");
  script.src = new URL("plotly.min.js", import.meta.url).href;
  script.onload = () => done(window.Plotly);
  script.onerror = () => failed(new Error("the chart library did not load"));
  document.head.append(script);
});
const drawn = new Map();

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Draw into the element with this id. `traces` and `more` are functions, so that a change of colours can redraw. */
export async function draw(id, traces, more = () => ({})) {
  const Plotly = await loaded;
  drawn.set(id, [traces, more]);
  const axis = {
    gridcolor: colour("grid"), linecolor: colour("line"), zeroline: false, fixedrange: true, automargin: true,
    tickfont: { size: 11, color: colour("quiet") },
  };
  const own = more();
  const layout = {
    margin: { l: 38, r: 6, t: 8, b: 24 }, showlegend: false, paper_bgcolor: "transparent", plot_bgcolor: "transparent",
    font: { family: getComputedStyle(document.body).fontFamily, size: 11, color: colour("quiet") },
    hovermode: "x unified", bargap: 0.15, barmode: "stack",
    hoverlabel: { bgcolor: colour("panel"), bordercolor: colour("strong-line"), font: { color: colour("text"), size: 11 } },
    ...own,
    xaxis: { ...axis, showgrid: false, ...own.xaxis },
    yaxis: { ...axis, rangemode: "tozero", nticks: 4, ...own.yaxis },
  };
  await Plotly.react(id, traces(), layout, { displayModeBar: false, responsive: true, staticPlot: false, showTips: false });
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const [id, [traces, more]] of drawn) draw(id, traces, more);
});
