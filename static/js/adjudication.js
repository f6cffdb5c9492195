// One pair on which raters differ: their marks over the text, and the words that a decision rests on.
// Every word taken is a ticked box of the form, so that the form says all without this script.

import { watchDrags } from "./drags.js";
import { isPressing } from "./pressing.js";
import { watchServed } from "./served.js";
import { isTyping, keyOf, readData } from "./site.js";
import { countWords, draw, isLarge, quoteOf, spanOf, unwrapMarks, walkSentences } from "./spans.js";
import { readItem } from "./storage.js";

const DECISION_MARK = 8;
const takes = document.getElementById("takes"); // null where no words are marked
const body = takes && document.getElementById("text");
const raters = document.getElementById("raters");
const form = document.getElementById("decision");
const said = document.getElementById("said");
const spans = readData("spans");

function taken() {
  return [...takes.querySelectorAll("input:checked")].map((box) => {
    const [start, end] = box.value.split(":").map(Number);
    return { start, end, mark: DECISION_MARK, label: "✓", says: "Your decision rests on this line", strong: true, href: "#decision" };
  });
}

function show() {
  if (!body) return;
  const chosen = new Set([...raters?.querySelectorAll("input:checked") ?? []].map((box) => box.value));
  draw(body, [...spans.filter((span) => chosen.has(span.rater)), ...taken()]);
}

// Adds words to the boxes, ticked unless they are so many that the mouse may have slipped.
function take(span, isMeant = true) {
  if (!span) return;
  const value = `${span.start}:${span.end}`;
  let box = [...takes.querySelectorAll("input")].find((other) => other.value === value);
  if (!box) {
    const label = Object.assign(document.createElement("label"), { className: "choice" });
    box = Object.assign(document.createElement("input"), { type: "checkbox", name: "keep", value });
    const quote = Object.assign(document.createElement("q"), { textContent: quoteOf(body, span.start, span.end) });
    const whose = Object.assign(document.createElement("span"), { className: "quiet", textContent: "yours" });
    label.append(box, " ", quote, " ", whose);
    takes.append(label);
  }
  box.checked ||= isMeant;
  const quote = quoteOf(body, span.start, span.end);
  said.textContent = isMeant ? `Taken: ${quote}` : `You selected ${countWords(quote)} words. Tick the box to take them.`;
  if (!isMeant) box.focus();
  show();
}

// A rater's whole answer in place of what is chosen, to be looked at before it is decided.
function fillIn({ dataset }) {
  for (const box of takes?.querySelectorAll("input") ?? []) box.checked = false;
  if (takes) form.elements.quotes.value = "";
  for (const place of dataset.words.split(" ").filter(Boolean)) {
    const [start, end] = place.split(":").map(Number);
    take({ start, end });
  }
  const options = [...form.querySelectorAll('input[name="grade"], input[name="label"]')];
  const isChosen = ({ name, value }) => value === dataset.grade || (name === "label" && (Number(value) & Number(dataset.grade)) > 0);
  for (const option of options) option.checked = isChosen(option);
  options.find(isChosen).scrollIntoView({ block: "nearest" });
  said.textContent = `Filled in as ${dataset.take} answered: ${dataset.label}. Control Enter decides.`;
  show();
}

function takeSelection() {
  const selection = getSelection();
  if (!body || selection.isCollapsed || !selection.rangeCount || !body.contains(selection.anchorNode)) return;
  const span = spanOf(body, selection.getRangeAt(0));
  selection.removeAllRanges();
  take(span, !isLarge(span?.quote ?? ""));
}

if (body) {
  unwrapMarks(body); // they were for readers without scripts
  walkSentences(body);
  watchDrags(body);
  new ResizeObserver(show).observe(body); // lines break elsewhere: the letters in the margin move
}
if (raters) {
  raters.hidden = false;
  raters.addEventListener("change", show);
}
form.addEventListener("change", show);
watchServed(() => {
  said.textContent = document.getElementById("altered").textContent;
  show();
});

// As on the task pages: a mouse's selection is taken when its button goes up, unless it is down again by then.
// A finger moves handles first and copies, which the field below the boxes is for.
document.addEventListener("pointerup", (event) => {
  if (event.pointerType === "mouse") setTimeout(() => { if (!isPressing()) takeSelection(); });
});

document.addEventListener("keydown", (event) => {
  if (event.key === " " && event.target.classList.contains("sentence")) {
    event.preventDefault();
    const range = new Range();
    range.selectNodeContents(event.target);
    take(spanOf(body, range));
    return;
  }
  if (event.key === "Enter" && event.ctrlKey) {
    event.preventDefault();
    form.requestSubmit();
    return;
  }
  if (isTyping(event) || event.ctrlKey) return;
  if (readItem("localStorage", "single-keys") === "off") return; // switched off on the task pages
  const taker = (sign) => /^[a-z]$/.test(sign) && document.querySelector(`[data-take="${sign.toUpperCase()}"]`);
  const key = keyOf(event, (sign) => sign === "j" || sign === "k" || taker(sign));
  const rel = { j: "next", k: "prev" }[key];
  if (rel) return document.querySelector(`a[rel="${rel}"]`)?.click();
  const rater = taker(key);
  if (rater) fillIn(rater);
});
