// Draws the figure of a page with plotly.js, in the colours of the page, and downloads it. Without it the table below
// the figure says the same; a point opens what the row of the table opens.
import { readData } from "./site.js";

const place = document.getElementById("figure");
const figure = readData("figure-data");
const config = { displayModeBar: false, responsive: true };
const FILE_WIDTH = 1000; // of a downloaded figure, in pixels
const FILE_HEIGHT = 600;
const PNG_SCALE = 3; // about 300 dots per inch in print

/** A function from the name of a custom property to its colour in the scheme: Plotly knows no custom properties. */
function palette(scheme) {
  return (name) => {
    const probe = place.appendChild(document.createElement("i"));
    if (scheme) probe.style.colorScheme = scheme;
    probe.style.color = `var(${name})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}

/** The traces and the layout in the colours of a palette; `meta` of a trace names its colour. */
function coloured(of, background) {
  const [ink, quiet, rule, lamp, paper] = ["--ink", "--ink-quiet", "--rule", "--lamp", "--paper"].map(of);
  const axis = { gridcolor: rule, zerolinecolor: rule, linecolor: quiet, tickfont: { color: quiet } };
  const axes = Object.entries(figure.layout).filter(([name]) => /^[xy]axis\d*$/.test(name));
  const layout = {
    ...figure.layout,
    paper_bgcolor: background,
    plot_bgcolor: background,
    colorway: [lamp],
    font: { color: ink, family: getComputedStyle(document.body).fontFamily },
    hoverlabel: { bgcolor: paper, bordercolor: quiet, font: { color: ink } },
    ...Object.fromEntries(axes.map(([name, options]) => [name, { ...options, ...axis }])),
    shapes: (figure.layout.shapes ?? []).map((shape) => ({ ...shape, line: { ...shape.line, color: quiet } })),
  };
  // As deep as the deepest shade of the tables, so that the numbers on it are read.
  const shades = [0, 0.45].map((depth, at) => [at, lamp.replace("rgb(", "rgba(").replace(")", `, ${depth})`)]);
  const data = figure.data.map((trace) => {
    if (trace.type === "heatmap") return { ...trace, colorscale: shades, textfont: { color: ink } };
    if (!trace.meta) return trace;
    const color = of(trace.meta);
    const parts = ["marker", "line", "error_x", "error_y"].filter((name) => name in trace);
    const inColour = Object.fromEntries(parts.map((name) => [name, { ...trace[name], color }]));
    if (trace.marker?.line) inColour.marker.line = { ...trace.marker.line, color };
    return { ...trace, ...inColour };
  });
  return { data, layout };
}

function draw() {
  const { data, layout } = coloured(palette(), "transparent");
  return Plotly.react(place, data, layout, config);
}

/** The figure as SVG on white, whatever the theme and the width of the window. */
function svgOnWhite() {
  const height = figure.layout.height ?? FILE_HEIGHT;
  const size = { format: "svg", width: FILE_WIDTH, height, imageDataOnly: true };
  return Plotly.toImage({ ...coloured(palette("light"), "#ffffff"), config }, size);
}

/** The pixels of an SVG image. Plotly would load it as a blob, which the content security policy forbids. */
async function pngOf(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width * PNG_SCALE;
  canvas.height = image.height * PNG_SCALE;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

async function download(format) {
  const svg = await svgOnWhite();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(format === "png" ? await pngOf(svg) : new Blob([svg], { type: "image/svg+xml" }));
  link.download = `${place.dataset.fileName}.${format}`;
  link.click();
  URL.revokeObjectURL(link.href);
}

if (figure.layout.height) place.style.height = `${figure.layout.height}px`; // or the table would lie under it
await draw();
place.on("plotly_click", ({ points: [point] }) => {
  if (point.customdata) location.assign(point.customdata);
});
for (const button of document.querySelectorAll("[data-download]")) {
  button.addEventListener("click", () => download(button.dataset.download));
}
new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
