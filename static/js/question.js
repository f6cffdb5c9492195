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

  // A span that touches one of the same question grows it instead of lying on top of it.
  add({ start, end }) {
    const touching = this.spans.filter((other) => other.start <= end && start <= other.end);
    const from = Math.min(start, ...touching.map((other) => other.start));
    const to = Math.max(end, ...touching.map((other) => other.end));
    this.spans = [...this.spans.filter((other) => !touching.includes(other)), this.span(from, to)];
  }

  remove(span) { this.spans = this.spans.filter((other) => other !== span); }

  // Moves one end of the newest span by a word: which is "start" or "end", by is 1 or -1.
  resize(which, by) {
    const last = this.spans.at(-1);
    if (!last) return false;
    const signs = [...this.body.textContent];
    const isSpace = (at) => at < 0 || at >= signs.length || /\s/.test(signs[at]);
    let at = last[which];
    const look = () => (by > 0 ? at : at - 1);
    const inside = () => at + by >= 0 && at + by <= signs.length;
    // From a word's edge over the space and the next word; for the near edge of a word, over both in turn.
    while (inside() && isSpace(look())) at += by;
    while (inside() && !isSpace(look())) at += by;
    if (which === "start" && by > 0) while (inside() && isSpace(at)) at += 1;
    if (which === "end" && by < 0) while (at > 0 && isSpace(at - 1)) at -= 1;
    const moved = { start: last.start, end: last.end, [which]: at };
    if (moved.end <= moved.start) return false;
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
