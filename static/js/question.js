// One question of an item: its form in the page, the grade in its radios, and its spans.

import { spent } from "./clock.js";
import { contradictionsOf } from "./contradictions.js";
import { newKey, put, refusals, unsettled, waitingAt } from "./outbox.js";
import { isAltered, servedText } from "./served.js";
import { phrase } from "./site.js";
import { isSpace, quoteOf, toCodePoints } from "./spans.js";

const main = document.getElementById("main");
export const item = main.dataset.state; // the address of its state names it, here and in other tabs

export const STATE_WORDS = {
  answered: "answered-state", absent: "answered-state", "needs-span": "needs-span", contradicts: "contradicts", open: "open",
};

export class Question {
  constructor(element, body) {
    this.element = element;
    this.body = body;
    this.number = element.dataset.question;
    this.takesSpans = "spanFrom" in element.dataset;
    this.spanFrom = Number(element.dataset.spanFrom);
    this.mark = Number(element.querySelector("legend").dataset.mark);
    this.form = element.querySelector("form");
    this.url = new URL(this.form.action).pathname;
    this.base = element.dataset.base; // the key of the newest answer that this page knows
    this.isMultiLabel = "multiLabel" in element.dataset; // a grade is the sum of the labels that are ticked
    this.radios = [...element.querySelectorAll('input[name="grade"], input[name="label"]')];
    this.spans = JSON.parse(this.form.elements.spans.value);
    // Chosen while this script was still on its way: the page shows it, and nothing has sent it.
    const isEarly = this.radios.some((radio) => radio.checked !== radio.defaultChecked);
    this.early = isEarly ? this.grade : null;
    for (const radio of this.radios) radio.checked = radio.defaultChecked;
    this.unticked = [...element.querySelectorAll('input[name="keep"]')] // the same of marked words
      .filter((box) => box.defaultChecked && !box.checked)
      .map((box) => box.value.split(":").map(Number)).map(([start, end]) => ({ start, end }));
    this.remark = this.form.elements.note ?? null; // an attention check takes none
    // By own grade, by the number of another card of the question: its grades that are impossible then.
    this.impossible = JSON.parse(element.dataset.impossible ?? "{}");
    this.rivals = Object.assign({}, ...Object.values(this.impossible));
    this.explainedCards = new Set(element.dataset.explained?.trim().split(" ")); // by its note: numbers of cards
    this.refusal = this.findRefusal();
    const waiting = waitingAt(this.url).at(-1) ?? this.refusal; // said before a reload, and not saved yet
    if (waiting) this.show(waiting.fields, waiting.key);
    this.remembered = this.snapshot();
    this.denied = null; // a grade that was chosen and rests on no words, while there are some: asked about first
  }

  // The answer to this question that the server refused, as long as no other was given; null for none.
  findRefusal() { return refusals().find(({ url }) => url === this.url) ?? null; }

  // Shows an answer that was not given on this page. Grades are numbers, or "" and null for none.
  show({ grade, spans, note, confidence }, key) {
    this.grade = grade === "" || grade === null ? null : Number(grade);
    this.spans = typeof spans === "string" ? JSON.parse(spans) : spans;
    if (this.remark && note !== undefined) {
      this.remark.value = note;
      this.confidence = confidence;
    }
    this.remembered = this.snapshot();
    this.base = key;
    this.denied = null;
  }

  // Spans of the words that were copied into the form while the scripts were on their way.
  takeCopied() {
    const field = this.form.elements.quotes;
    const lines = (field?.value ?? "").split("\n").map((line) => line.trim()).filter(Boolean);
    if (!lines.length) return [];
    field.value = "";
    const text = servedText(this.body);
    return lines.map((line) => [text.indexOf(line), line.length]).filter(([at]) => at >= 0)
      .map(([at, length]) => ({ start: toCodePoints(text, at), end: toCodePoints(text, at + length) }));
  }

  get grade() {
    const checked = this.radios.filter((radio) => radio.checked);
    return checked.length ? checked.reduce((sum, { value }) => sum + Number(value), 0) : null;
  }

  set grade(value) {
    for (const radio of this.radios) radio.checked = value !== null && this.isOf(radio, value);
  }

  // Whether a grade has this option: it is the option, or one of the labels of which it is the sum.
  isOf(radio, grade) {
    const value = Number(radio.value);
    return value === grade || (this.isMultiLabel && (value & grade) > 0);
  }

  // The grade after the option of this value was ticked or unticked; null where nothing is ticked.
  toggled(value) {
    if (value === 0) return this.grade === 0 ? null : 0;
    return (this.grade ^ value) || null;
  }

  // Unticks what cannot stand beside an option that was just ticked: labels beside none of them.
  untickOthers(option) {
    if (!this.isMultiLabel || !option.checked) return;
    for (const other of this.radios) if ((other.value === "0") !== (option.value === "0")) other.checked = false;
  }

  get confidence() { return this.form.elements.confidence?.value ?? ""; }

  set confidence(value) {
    for (const radio of this.form.elements.confidence ?? []) radio.checked = radio.value === value;
  }

  // How a grade is called: by its number, and where grades are names by its name; nothing for no grade.
  nameOf(grade) {
    const names = this.radios.filter((radio) => this.isOf(radio, grade)).map(({ dataset }) => dataset.name);
    return names.filter(Boolean).join(" + ") || grade;
  }

  // The words of a grade's level.
  labelOf(grade) {
    const radio = this.radios.find(({ value }) => Number(value) === grade);
    return radio?.closest("label").querySelector(":scope > span:last-child").textContent.trim() ?? "";
  }

  get note() { return this.remark?.value ?? ""; }

  get state() {
    if (this.grade === null || this.denied !== null || this.refusal) return "open";
    const needsSpans = this.takesSpans && this.grade >= this.spanFrom;
    if (needsSpans && !this.spans.length) return "needs-span";
    if (contradictionsOf(this).length) return "contradicts";
    return needsSpans ? "answered" : "absent";
  }

  get isDone() { return this.state === "answered" || this.state === "absent"; }

  // Whether the chosen grade says that no words support it, so that a new span contradicts it.
  get deniesSpans() { return this.takesSpans && this.grade !== null && this.grade < this.spanFrom; }

  // The grade that marked words mean, as no other rests on any; null where several do.
  get onlyGradeWithSpans() {
    const grades = this.radios.map((radio) => Number(radio.value)).filter((value) => value >= this.spanFrom);
    return grades.length === 1 ? grades[0] : null;
  }

  // The grade that a key stands for; null for none.
  gradeOf(key) {
    const radio = this.radios.find(({ dataset, value }) => (dataset.key ?? value) === key.toLowerCase());
    return radio ? Number(radio.value) : null;
  }

  // Chooses a grade. False where words would have to go for it: then all stays as it was until that is asked.
  choose(grade) {
    this.grade = grade;
    const isDenial = this.deniesSpans && this.spans.length > 0;
    this.denied = isDenial ? grade : null;
    if (isDenial) this.grade = this.remembered.grade;
    return !isDenial;
  }

  snapshot() { return { grade: this.grade, spans: this.spans }; }

  // Takes up what was changed and sends it, or holds it for the next key; returns what was there before, for undo.
  commit(holds = false) {
    const before = this.remembered;
    const key = newKey();
    const instead = unsettled(this.base);
    const { base, active_ms } = instead?.fields ?? { base: this.base, active_ms: 0 };
    const fields = {
      grade: this.grade ?? "", spans: JSON.stringify(this.spans), base, active_ms: active_ms + spent(),
      ...this.remarks, ...(isAltered() && { altered: "on" }),
    };
    this.said = { item, url: this.url, key, grade: this.grade, spans: this.spans, base: this.base, ...this.remarks };
    this.remembered = this.snapshot();
    this.base = key;
    this.denied = null;
    this.refusal = null;
    put({ kind: "answer", item, url: this.url, key, fields }, { holds, instead });
    return before;
  }

  get remarks() { return this.remark ? { note: this.remark.value, confidence: this.confidence } : {}; }

  add({ start, end }) {
    if (this.spans.some((other) => other.start <= start && end <= other.end)) return false; // marked already
    this.spans = [...this.spans, this.span(start, end)];
    return true;
  }

  remove({ start, end }) { this.spans = this.spans.filter((other) => other.start !== start || other.end !== end); }

  // Moves one end of the newest span by a word, or by words up to the edge of a clause:
  // which is "start" or "end", by is 1 or -1. False where nothing would be left of it.
  resize(which, by, byClause) {
    const last = this.spans.at(-1);
    if (!last) return false;
    const signs = [...servedText(this.body)];
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
    const said = JSON.stringify(this.spans);
    if (!this.takesSpans || this.drawn === said) return; // what is there may have the focus
    this.drawn = said;
    this.element.querySelector(".spans").replaceChildren(...this.spans.map((span) => {
      const item = document.createElement("li");
      const quote = Object.assign(document.createElement("q"), { textContent: span.quote, dir: "auto" });
      const remove = Object.assign(document.createElement("button"), { type: "button", className: "remove", textContent: "×" });
      remove.setAttribute("aria-label", phrase("remove_span", { number: this.number, quote: span.quote.slice(0, 40) }));
      remove.addEventListener("click", () => removed(span));
      item.append(quote, " ", remove);
      return item;
    }));
  }
}

// The next place where a word begins (for the start of a span) or ends (for its end), with its punctuation or without.
function nextEdge(signs, from, which, by) {
  const [inwards, inner, outer] = which === "start" ? [1, 0, -1] : [-1, -1, 0];
  const isEdge = (at) => {
    if (isSpace(signs[at + inner])) return false;
    let beyond = at + outer;
    if (!isPunctuation(signs[at + inner])) while (isPunctuation(signs[beyond])) beyond -= inwards;
    return isSpace(signs[beyond]);
  };
  let at = from + by;
  while (at > 0 && at < signs.length && !isEdge(at)) at += by;
  return Math.min(signs.length, Math.max(0, at));
}

// What may stand round a word and is none of it; what stands for a word ("%", "&", "@") is part of one.
const isPunctuation = (sign) => sign !== undefined && /(?![%‰&@#*/\\])\p{P}/u.test(sign);

// Whether the last word before this place ends with a mark that parts clauses.
function endsClause(signs, at) {
  let before = at - 1;
  while (before > 0 && isSpace(signs[before])) before -= 1;
  return /[,;:.!?…)–—]/.test(signs[before]);
}
