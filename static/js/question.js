// One question of an item: its form in the page, the grade in its radios, and its spans.

import { quoteOf } from "./spans.js";
import { save } from "./saving.js";

const spanFrom = Number(document.getElementById("main").dataset.spanFrom);
export const STATE_WORDS = { answered: "answered", "needs-span": "needs a span", absent: "answered", open: "open" };

export class Question {
  constructor(element, body) {
    this.element = element;
    this.body = body;
    this.number = Number(element.dataset.question);
    this.form = element.querySelector("form");
    this.radios = [...element.querySelectorAll('input[name="grade"]')];
    this.form.elements.spans.disabled = false; // scripts run, so spans come with offsets
    this.spans = JSON.parse(this.form.elements.spans.value);
    this.remembered = this.snapshot();
  }

  get grade() {
    const checked = this.radios.find((radio) => radio.checked);
    return checked ? Number(checked.value) : null;
  }

  set grade(value) {
    for (const radio of this.radios) radio.checked = value !== null && Number(radio.value) === value;
  }

  get mark() { return (this.number - 1) % 8 + 1; }

  get state() {
    if (this.grade === null) return "open";
    if (this.grade < spanFrom) return "absent";
    return this.spans.length ? "answered" : "needs-span";
  }

  get isDone() { return this.state === "answered" || this.state === "absent"; }

  // Whether the chosen grade says that no words support it, so that a new span contradicts it.
  get deniesSpans() { return this.grade !== null && this.grade < spanFrom; }

  get lowestGradeWithSpans() {
    return Math.min(...this.radios.map((radio) => Number(radio.value)).filter((value) => value >= spanFrom));
  }

  get isBinary() { return this.radios.length === 2; }

  snapshot() { return { grade: this.grade, spans: this.spans }; }

  // Takes up what was changed and sends it; returns what was there before, for undo.
  commit() {
    const before = this.remembered;
    this.remembered = this.snapshot();
    this.form.elements.spans.value = JSON.stringify(this.spans);
    save(this.form);
    return before;
  }

  add({ start, end }) {
    if (this.spans.some((other) => other.start <= start && end <= other.end)) return false; // marked already
    this.spans = [...this.spans, this.span(start, end)];
    return true;
  }

  remove(span) { this.spans = this.spans.filter((other) => other !== span); }

  // Moves one end of the newest span by a word, or by words up to the edge of a clause:
  // which is "start" or "end", by is 1 or -1. False where nothing would be left of it.
  resize(which, by, byClause) {
    const last = this.spans.at(-1);
    if (!last) return false;
    const signs = [...this.body.textContent];
    let at = last[which];
    do at = nextEdge(signs, at, which, by); while (byClause && at > 0 && at < signs.length && !endsClause(signs, at));
    const moved = { start: last.start, end: last.end, [which]: at };
    if (at === last[which] || moved.end <= moved.start) return false;
    this.spans = [...this.spans.slice(0, -1), this.span(moved.start, moved.end)];
    return true;
  }

  span(start, end) { return { start, end, quote: quoteOf(this.body, start, end) }; }

  // Draws the list of spans beside the question; removed is called with the span whose × was used.
  drawSpans(removed) {
    this.element.dataset.state = this.state;
    this.element.querySelector(".spans").replaceChildren(...this.spans.map((span) => {
      const item = document.createElement("li");
      const quote = Object.assign(document.createElement("q"), { textContent: span.quote });
      const remove = Object.assign(document.createElement("button"), { type: "button", className: "remove", textContent: "×" });
      remove.setAttribute("aria-label", `Remove this span of question ${this.number}: ${span.quote.slice(0, 40)}`);
      remove.addEventListener("click", () => removed(span));
      item.append(quote, " ", remove);
      return item;
    }));
  }
}

const isSpace = (sign) => sign === undefined || /\s/.test(sign);

// The next place where a word begins (for the start of a span) or ends (for its end).
function nextEdge(signs, from, which, by) {
  const isEdge = (at) => which === "start"
    ? isSpace(signs[at - 1]) && !isSpace(signs[at])
    : isSpace(signs[at]) && !isSpace(signs[at - 1]);
  let at = from + by;
  while (at > 0 && at < signs.length && !isEdge(at)) at += by;
  return Math.min(signs.length, Math.max(0, at));
}

// Whether the last word before this place ends with a mark that parts clauses.
function endsClause(signs, at) {
  let before = at - 1;
  while (before > 0 && isSpace(signs[before])) before -= 1;
  return /[,;:.!?…)–—]/.test(signs[before]);
}
