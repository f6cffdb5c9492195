// One item under a rubric, T1 or T2: which question is active, what its keys and selections do.
// Every change is drawn at once, saved at once, and can be undone.

import { isTyping } from "./site.js";
import { allSaved, problemWith, say } from "./saving.js";
import { Question, STATE_WORDS } from "./question.js";
import { draw, spanOf, unwrapMarks, walkSentences } from "./spans.js";

const body = document.getElementById("text");
unwrapMarks(body);
const questions = [...document.querySelectorAll(".question")].map((element) => new Question(element, body));
const pane = document.querySelector(".question-pane");
const missing = document.getElementById("missing");
const singleKeys = document.getElementById("single-keys");
const undoStack = [];
let active = questions.find((question) => "active" in question.element.dataset) ?? questions[0];
let offered = null; // words selected while the answer says that there are none

const goToText = walkSentences(body);

function render() {
  for (const question of questions) {
    question.drawSpans((span) => change(question, () => question.remove(span)));
    question.element.toggleAttribute("data-active", question === active);
    question.element.querySelector(".offer").hidden = !(question === active && offered);
    const tick = document.querySelector(`[data-tick="${question.number}"]`);
    tick.dataset.state = question.state;
    tick.setAttribute("aria-label", `Question ${question.number}: ${STATE_WORDS[question.state]}`);
    if (question === active) tick.setAttribute("aria-current", "step");
    else tick.removeAttribute("aria-current");
  }
  const done = questions.filter((question) => question.isDone).length;
  document.getElementById("progress-words").textContent = `${done} of ${questions.length}`;
  document.getElementById("sheet-place").textContent = `${active.number} of ${questions.length}`;
  drawMarks();
}

function drawMarks() {
  draw(body, questions.flatMap((question) => question.spans.map((span) => ({
    ...span, mark: question.mark, label: String(question.number), says: `Question ${question.number}`,
    strong: question === active, href: `#q-${question.number}`,
  }))));
}

// The question that was pointed at stays where it is while others fold; then it is brought wholly into view.
function activate(question, { focus = false, keepPlace = false } = {}) {
  const before = question.element.getBoundingClientRect().top;
  if (question !== active) offered = null;
  active = question;
  render();
  if (keepPlace) pane.scrollTop += question.element.getBoundingClientRect().top - before;
  question.element.scrollIntoView({ block: "nearest" });
  if (focus) (question.radios.find((radio) => radio.checked) ?? question.radios[0]).focus({ preventScroll: true });
}

function change(question, act) {
  if (act() === false) return; // nothing came of it
  undoStack.push({ question, before: question.commit() });
  if (!missing.hidden) showMissing();
  render();
}

function undo() {
  const last = undoStack.pop();
  if (!last) return say("Nothing to undo");
  const { question, before } = last;
  question.grade = before.grade;
  question.spans = before.spans;
  question.commit();
  activate(question);
}

// By key: a grade that finishes its question goes on to the next open one.
function gradeByKey(value) {
  change(active, () => { active.grade = value; });
  if (active.isDone) nextOpen();
}

function addSpan(span) {
  if (!span) return;
  if (active.deniesSpans) {
    offered = span;
    render();
    active.element.querySelector('[data-offer="take"]').focus();
    return;
  }
  change(active, () => {
    const isNew = active.add(span);
    if (active.grade !== null || !active.isBinary) return isNew;
    active.grade = active.lowestGradeWithSpans;
    return true;
  });
}

function settleOffer(take) {
  const span = offered;
  offered = null;
  if (!take) return render();
  change(active, () => {
    active.add(span);
    active.grade = active.isBinary ? active.lowestGradeWithSpans : null;
  });
}

function takeSelection() {
  const selection = getSelection();
  if (selection.isCollapsed || !selection.rangeCount) return;
  const span = spanOf(body, selection.getRangeAt(0));
  if (!span) return;
  selection.removeAllRanges(); // a drag that began inside an old selection would drag its words about
  addSpan(span);
}

function step(by) {
  const next = questions[questions.indexOf(active) + by];
  if (next) activate(next, { focus: true });
}

function nextOpen() {
  const at = questions.indexOf(active);
  const next = [...questions.slice(at + 1), ...questions.slice(0, at)].find((question) => !question.isDone);
  if (next) activate(next, { focus: true });
  else document.querySelector("#submit button").focus({ preventScroll: true });
}

function showMissing() {
  const left = questions.filter((question) => !question.isDone);
  missing.hidden = left.length === 0;
  missing.replaceChildren(`Before you can submit, ${left.length === 1 ? "one question is" : `${left.length} questions are`} left:`,
    ...left.map((question) => Object.assign(document.createElement("a"),
      { href: `#q-${question.number}`, textContent: `${question.number} ${STATE_WORDS[question.state]}` })));
  return left;
}

async function handIn() {
  const [first] = showMissing();
  if (first) return activate(first, { focus: true });
  try {
    await allSaved();
  } catch {
    return say("Not handed in: some answers are not saved yet", "failed");
  }
  say("Handing in…");
  htmx.trigger("#submit", "hand-in");
}

const KEYS = { j: () => step(1), k: () => step(-1), u: undo, Enter: nextOpen, t: goToText, "?": () => document.getElementById("help").showModal() };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey && event.key === "Enter") {
    event.preventDefault();
    return handIn();
  }
  const inText = event.target.classList.contains("sentence");
  if (isTyping(event) || (event.ctrlKey && !(inText && event.shiftKey))) return;
  if (inText && event.key === " ") {
    event.preventDefault();
    const range = new Range();
    range.selectNodeContents(event.target);
    return addSpan(spanOf(body, range));
  }
  const resize = inText && event.shiftKey && { ArrowLeft: ["end", -1], ArrowRight: ["end", 1], ArrowUp: ["start", -1], ArrowDown: ["start", 1] }[event.key];
  if (resize) {
    event.preventDefault();
    return change(active, () => active.resize(...resize, event.ctrlKey));
  }
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (event.target.closest(".text-pane") && !inText) return;
    event.preventDefault();
    return step(event.key === "ArrowDown" ? 1 : -1);
  }
  if (!singleKeys.checked || (event.key === "Enter" && event.target.closest("a, button, summary"))) return;
  if (/^\d$/.test(event.key) && active.radios.some((radio) => radio.value === event.key)) return gradeByKey(Number(event.key));
  if (KEYS[event.key]) {
    event.preventDefault();
    KEYS[event.key]();
  }
});

// Focus comes before the mouse button goes up: folding the list then would move the target away from the pointer.
let pressing = false;
for (const kind of ["pointerdown", "pointerup", "pointercancel"]) {
  document.addEventListener(kind, () => { pressing = kind === "pointerdown"; }, true);
}
for (const question of questions) {
  question.element.addEventListener("click", () => { if (question !== active) activate(question, { keepPlace: true }); });
  question.element.addEventListener("focusin", () => { if (!pressing && question !== active) activate(question); });
  question.form.addEventListener("change", (event) => {
    if (event.target.name !== "grade") return;
    if (question !== active) activate(question, { keepPlace: true });
    change(question, () => true); // the radio has changed itself
    question.element.scrollIntoView({ block: "nearest" });
  });
  question.form.addEventListener("submit", (event) => event.preventDefault());
  for (const button of question.element.querySelectorAll("[data-offer]")) {
    button.addEventListener("click", () => settleOffer(button.dataset.offer === "take"));
  }
  question.element.querySelector(".touch-take").addEventListener("click", takeSelection);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#q-"]');
  if (!link) return;
  event.preventDefault();
  activate(questions.find((question) => link.hash === `#q-${question.number}`), { focus: true });
});
for (const button of document.querySelectorAll("[data-step]")) {
  button.addEventListener("click", () => {
    const next = questions[questions.indexOf(active) + Number(button.dataset.step)];
    if (next) activate(next);
  });
}
document.querySelector("[data-all]").addEventListener("click", (event) => {
  event.target.setAttribute("aria-expanded", pane.classList.toggle("all"));
});

// A mouse's selection is a span when the button goes up. A finger moves handles first, so it gets a button.
let byTouch = false;
document.addEventListener("touchstart", () => { byTouch = true; }, { passive: true });
document.addEventListener("pointerdown", (event) => { byTouch = event.pointerType === "touch"; });
document.addEventListener("pointerup", (event) => {
  if (event.pointerType === "mouse") setTimeout(takeSelection);
});
document.addEventListener("selectionchange", () => {
  const selection = getSelection();
  const inText = !selection.isCollapsed && body.contains(selection.anchorNode);
  for (const question of questions) {
    question.element.querySelector(".touch-take").hidden = !(byTouch && inText && question === active);
  }
});

const submitForm = document.getElementById("submit");
submitForm.addEventListener("submit", (event) => {
  event.preventDefault();
  handIn();
});
submitForm.addEventListener("htmx:afterRequest", (event) => {
  const problem = problemWith(event.detail.xhr);
  if (problem) say(`Not handed in; your answers are kept. ${problem}`, "failed");
});

singleKeys.checked = localStorage.getItem("single-keys") !== "off";
singleKeys.addEventListener("change", () => localStorage.setItem("single-keys", singleKeys.checked ? "on" : "off"));
new ResizeObserver(drawMarks).observe(body);
render();
