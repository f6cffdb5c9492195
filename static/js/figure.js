// Draws the figure of a page with plotly.js, in the colours of the page. Without it the table below
// the figure says the same; a point opens what the row of the table opens.
import { readData } from "./site.js";

const place = document.getElementById("figure");
const figure = readData("figure-data");
const config = { displayModeBar: false, responsive: true };

/** The colours that the stylesheet gives by day or by night: Plotly knows no custom properties. */
function colours() {
  const of = (name) => {
    const probe = place.appendChild(document.createElement("i"));
    probe.style.color = `var(${name})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
  return { ink: of("--ink"), quiet: of("--ink-quiet"), rule: of("--rule"), lamp: of("--lamp"), paper: of("--paper") };
}

function draw() {
  const { ink, quiet, rule, lamp, paper } = colours();
  const axis = { gridcolor: rule, zerolinecolor: rule, linecolor: quiet, tickfont: { color: quiet } };
  const layout = {
    ...figure.layout,
    paper_bgcolor: "transparent",
    plot_bgcolor: "transparent",
    colorway: [lamp],
    font: { color: ink, family: getComputedStyle(document.body).fontFamily },
    hoverlabel: { bgcolor: paper, bordercolor: quiet, font: { color: ink } },
    xaxis: { ...figure.layout.xaxis, ...axis },
    yaxis: { ...figure.layout.yaxis, ...axis },
    shapes: (figure.layout.shapes ?? []).map((shape) => ({ ...shape, line: { ...shape.line, color: quiet } })),
  };
  // As deep as the deepest shade of the tables, so that the numbers on it are read.
  const shades = [0, 0.45].map((depth, at) => [at, lamp.replace("rgb(", "rgba(").replace(")", `, ${depth})`)]);
  const data = figure.data.map((trace) => {
    if (trace.type === "heatmap") return { ...trace, colorscale: shades, textfont: { color: ink } };
    if (trace.meta !== "mean") return trace;
    const bars = ["error_x", "error_y"].filter((name) => name in trace).map((name) => [name, { ...trace[name], color: ink }]);
    return { ...trace, marker: { ...trace.marker, color: ink }, ...Object.fromEntries(bars) };
  });
  return Plotly.react(place, data, layout, config);
}

if (figure.layout.height) place.style.height = `${figure.layout.height}px`; // or the table would lie under it
await draw();
place.on("plotly_click", ({ points: [point] }) => {
  if (point.customdata) location.assign(point.customdata);
});
new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
