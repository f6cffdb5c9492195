// Spans in a text: from offsets to ranges, from ranges to highlights and numbers in the margin.
// A span is half-open [start, end) in code points of the text as it was served; the DOM counts UTF-16 units.
// Between toUnits and toCodePoints lies the only place where the one becomes the other.

import { servedNodes, servedText } from "./served.js";

export function toUnits(text, codePoints) {
  return [...text].slice(0, codePoints).join("").length;
}

export function toCodePoints(text, units) {
  return [...text.slice(0, units)].length;
}

// The server prints <mark> for readers without scripts; with scripts, highlights take their place,
// because elements cannot overlap.
export function unwrapMarks(body) {
  for (const mark of body.querySelectorAll("mark")) mark.replaceWith(...mark.childNodes);
  body.normalize();
}

// nodes: what servedNodes gives of the text.
function rangeOf(nodes, text, span) {
  const from = toUnits(text, span.start);
  const to = toUnits(text, span.end);
  const range = new Range();
  for (const [node, place] of nodes) {
    const next = place + node.length;
    if (from >= place && from < next) range.setStart(node, from - place);
    if (to > place && to <= next) range.setEnd(node, to - place);
  }
  return range;
}

// The place in the served text of a point of the page: where it lies in none of its nodes, that of the next one.
function placeOf(nodes, text, container, offset) {
  const point = new Range();
  point.setStart(container, offset);
  for (const [node, place] of nodes) {
    if (node === container) return place + offset;
    if (point.comparePoint(node, 0) >= 0) return place;
  }
  return text.length;
}

// White space to JavaScript or to the server, or beyond the text: what is left out of a span here is
// never sent there to be refused.
export const isSpace = (sign) => sign === undefined || /[\s\x1c-\x1f\x85]/.test(sign);

const splitsPair = (text, at) => /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(at - 1, at + 1));

// The part of a selection that lies in the text, white space at its ends left out; null if none does, or if the words
// are not those that were served. Half a surrogate pair stands for the whole one: no code point is halved.
export function spanOf(body, range) {
  const nodes = servedNodes(body);
  if (!nodes || !range.intersectsNode(body)) return null;
  const text = servedText(body);
  let from = placeOf(nodes, text, range.startContainer, range.startOffset);
  let to = placeOf(nodes, text, range.endContainer, range.endOffset);
  while (from < to && isSpace(text[from])) from += 1;
  while (from < to && isSpace(text[to - 1])) to -= 1;
  if (from >= to) return null;
  if (splitsPair(text, from)) from -= 1;
  if (splitsPair(text, to)) to += 1;
  return { start: toCodePoints(text, from), end: toCodePoints(text, to), quote: text.slice(from, to) };
}

export function quoteOf(body, start, end) {
  return [...servedText(body)].slice(start, end).join("");
}

const MANY_WORDS = 60;

// Whether a span is so large that the mouse may have slipped: it goes over a paragraph's end, or has very many words.
export function isLarge(quote) {
  return /\n\s*\n/.test(quote.replace(/\r\n?/g, "\n")) || countWords(quote) > MANY_WORDS;
}

export const countWords = (quote) => quote.split(/\s+/).filter(Boolean).length;

// spans: [{start, end, mark: 1..8, label, says, strong, href}]. Redraws all highlights and margin numbers.
export function draw(body, spans) {
  const highlights = CSS.highlights ?? new Map(); // a browser without them keeps the numbers in the margin
  const text = servedText(body);
  const nodes = servedNodes(body);
  highlights.clear();
  const newHighlight = () => CSS.highlights ? new Highlight() : new Set();
  const strong = newHighlight();
  strong.priority = -1; // its tint lies below every line
  const byMark = new Map();
  const lines = new Map();
  const top = body.getBoundingClientRect().top;
  for (const span of nodes ? spans : []) {
    const range = rangeOf(nodes, text, span);
    if (!byMark.has(span.mark)) byMark.set(span.mark, newHighlight());
    byMark.get(span.mark).add(range);
    if (span.strong) strong.add(range);
    const first = range.getClientRects()[0];
    if (!first) continue;
    const line = Math.round((first.top - top) / 8) * 8; // rectangles of one line differ by a pixel or two
    const atLine = lines.get(line) ?? { y: first.top - top + first.height / 2, spans: new Map() };
    const same = atLine.spans.get(span.label);
    atLine.spans.set(span.label, same?.strong ? same : span);
    lines.set(line, atLine);
  }
  for (const [mark, highlight] of byMark) highlights.set(`mark-${mark}`, highlight);
  highlights.set("active", strong);
  drawMargin(body, lines);
}

function drawMargin(body, lines) {
  const reader = body.closest("[data-reader]");
  reader.querySelectorAll(".margin").forEach((old) => old.remove());
  for (const { y, spans } of lines.values()) {
    const margin = document.createElement("div");
    margin.className = "margin";
    margin.style.setProperty("--line", `${y - 14}px`); // through the object model: allowed by style-src 'self'
    for (const span of spans.values()) {
      const link = document.createElement("a");
      link.href = span.href;
      link.dataset.mark = span.mark;
      if (span.strong) link.setAttribute("aria-current", "true");
      link.setAttribute("aria-label", span.says);
      link.tabIndex = -1; // the same questions are in the tab order beside the text
      link.append(Object.assign(document.createElement("b"), { textContent: span.label }));
      margin.append(link);
    }
    reader.append(margin);
  }
}

// Arrow keys move between sentences; only one of them is in the tab order. Returns a function that
// focuses the sentence that was focused last.
export function walkSentences(body) {
  const all = [...body.querySelectorAll(".sentence")];
  let current = all[0];
  const go = (next) => {
    if (!next) return;
    current?.removeAttribute("tabindex");
    current = next;
    current.tabIndex = 0;
    current.focus();
  };
  // Chromium drops a drag that begins at the first letter of an inline element that can have focus.
  body.addEventListener("pointerdown", () => current?.removeAttribute("tabindex"));
  document.addEventListener("pointerup", () => { if (current) current.tabIndex = 0; });
  body.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const here = all.indexOf(event.target);
    if (!step || here < 0 || event.shiftKey || event.ctrlKey) return;
    event.preventDefault();
    go(all[Math.min(all.length - 1, Math.max(0, here + step))]);
  });
  return () => go(current);
}
