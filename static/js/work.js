// One item under a rubric of any kind: which question is active, what its keys and selections do.
// Every change is drawn at once, saved at once, and can be undone.

import { spent } from "./clock.js";
import { contradictionsOf, drawContradictions, linkCards } from "./contradictions.js";
import { watchDrags } from "./drags.js";
import { publish, tell, watch } from "./elsewhere.js";
import { entries, events, newKey, put, release, send, withdraw } from "./outbox.js";
import { actionOf, chooseKeys } from "./keys.js";
import { calmly, isPressing } from "./pressing.js";
import { Question, STATE_WORDS, item } from "./question.js";
import { begin, forgive, say } from "./saved.js";
import { isAltered, watchServed } from "./served.js";
import { isField, isTyping, keyOf, phrase } from "./site.js";
import { countWords, draw, isLarge, spanOf, unwrapMarks, walkSentences } from "./spans.js";
import { readItem, writeItem } from "./storage.js";

const body = document.getElementById("text"); // null where the rubric shows none
const questions = [...document.querySelectorAll(".question")].map((element) => new Question(element, body));
linkCards(questions);
const pane = document.querySelector(".question-pane");
const missing = document.getElementById("missing");
const singleKeys = document.getElementById("single-keys");
const undoButton = document.getElementById("undo");
const undoStack = [];
const redoStack = [];
const proposed = questions.find((question) => "active" in question.element.dataset) ?? questions[0];
// Whoever began before this script had started goes on with the same question.
let active = questions.find((question) => question.element.contains(document.activeElement))
  ?? questions.findLast((question) => question.early !== null || question.unticked.length) ?? proposed;
let offered = null; // words selected while the answer says that there are none
let large = null; // so many words selected that it is asked first whether they are meant
let regrade = null; // a grade by key for a question that has one, and lacks only marked words
const waitsToLeave = () => entries().some((entry) => entry.item === item && entry.kind !== "answer");
let isLeaving = waitsToLeave(); // submitted, not yet acknowledged

const isMarked = questions.some((question) => question.takesSpans); // whether any words are
if (isMarked) unwrapMarks(body);
const goToText = isMarked && walkSentences(body);

const asked = ({ number }) => parseInt(number, 10);

function render() {
  for (const question of questions) {
    question.drawSpans((span) => change(question, () => question.remove(span)));
    question.element.toggleAttribute("data-active", question === active);
    for (const offer of question.element.querySelectorAll(".offer")) {
      offer.hidden = !(question === active && offered);
      for (const words of offer.querySelectorAll("p")) words.hidden = Number(words.dataset.answered) !== question.grade;
    }
    for (const ask of question.element.querySelectorAll(".denial")) {
      ask.hidden = question.denied === null;
      ask.firstElementChild.textContent = phrase("denial", { grade: question.nameOf(question.denied) });
    }
    for (const ask of question.element.querySelectorAll(".regrade")) {
      ask.hidden = !(question === active && regrade !== null);
      const names = { number: question.number, grade: question.nameOf(question.grade), next: question.nameOf(regrade) };
      if (!ask.hidden) ask.firstElementChild.textContent = phrase("regrade", names);
    }
    for (const ask of question.element.querySelectorAll(".large-span")) {
      ask.hidden = !(question === active && large);
      if (large) ask.firstElementChild.textContent = phrase("large", { n: countWords(large.quote) });
    }
    drawContradictions(question, question === active);
    const refusal = question.element.querySelector(".refusal");
    refusal.hidden = !question.refusal;
    if (question.refusal) refusal.firstElementChild.textContent = phrase("refused", question.refusal);
    const tick = document.querySelector(`[data-tick="${question.number}"]`);
    tick.dataset.state = question.state;
    tick.setAttribute("aria-label", `${phrase("question", question)}: ${phrase(STATE_WORDS[question.state])}`);
    if (question === active) tick.setAttribute("aria-current", "step");
    else tick.removeAttribute("aria-current");
  }
  const open = new Set(questions.filter((question) => !question.isDone).map(asked));
  const all = new Set(questions.map(asked)).size; // under several rubrics a question has a card for each
  document.getElementById("progress-words").textContent = phrase("of", { n: all - open.size, all });
  document.getElementById("sheet-place").textContent = phrase("of", { n: active.number, all });
  undoButton.disabled = !undoStack.length;
  if (isMarked) drawMarks();
}

function redraw() {
  if (!missing.hidden) showMissing();
  render();
}

function drawMarks() {
  draw(body, questions.flatMap((question) => question.spans.map((span) => ({
    ...span, mark: question.mark, label: question.number, says: phrase("marks_line", question),
    strong: question === active, href: `#q-${question.number}`,
  }))));
}

// The question that was pointed at stays where it is while others fold; then it is brought wholly into view.
function activate(question, { focus = false, keepPlace = false } = {}) {
  const before = question.element.getBoundingClientRect().top;
  if (question !== active) {
    offered = large = regrade = null;
    release();
  }
  active = question;
  render();
  if (keepPlace) pane.scrollTop += question.element.getBoundingClientRect().top - before;
  question.element.scrollIntoView({ block: "nearest" });
  if (focus) (question.radios.find((radio) => radio.checked) ?? question.radios[0]).focus({ preventScroll: true });
}

function commit(question, holds) {
  forgive();
  if (withdraw(item)) {
    isLeaving = false;
    tell(phrase("reopened"));
  }
  const before = question.commit(holds);
  publish(question);
  return before;
}

// What keys do to a span takes several of them: with `holds`, they are one answer.
function change(question, act, holds = false) {
  if (act() === false) return; // nothing came of it
  regrade = null;
  undoStack.push({ question, before: commit(question, holds) });
  redoStack.length = 0;
  if (!missing.hidden) showMissing();
  render();
}

// Takes the last change from one stack, and leaves what it replaced on the other.
function goBack(from, to, nothing) {
  const last = from.pop();
  if (!last) return say(phrase(nothing));
  const { question, before } = last;
  question.grade = before.grade;
  question.spans = before.spans;
  to.push({ question, before: commit(question) });
  hideAnswered();
  activate(question);
}

function undo() { goBack(undoStack, redoStack, "nothing_to_undo"); }
function redo() { goBack(redoStack, undoStack, "nothing_to_redo"); }

// A grade that rests on no words takes none away unasked.
function choose(question, grade) {
  change(question, () => question.choose(grade));
  if (question.denied === null) return;
  render();
  question.element.querySelector(".denial button").focus();
}

function settleDenial(question, take) {
  const grade = question.denied;
  question.denied = null;
  if (take) change(question, () => { question.grade = grade; question.spans = []; });
  activate(question, { focus: true }); // the button that had it goes
}

// By key: a grade that finishes its question goes on to the next open one. A question that waits for marked words keeps
// its grade until that is confirmed: the key may have been meant for the next question.
function gradeByKey(value) {
  if (active.isMultiLabel) return choose(active, active.toggled(value)); // more may follow
  if (active.state === "needs-span" && value !== active.grade) {
    regrade = value;
    render();
    return active.element.querySelector('[data-regrade="take"]').focus();
  }
  choose(active, value);
  if (active.isDone) nextOpen();
  else if (active.state === "contradicts") active.element.querySelector(".contradiction a").focus();
}

function settleRegrade(take) {
  const grade = regrade;
  regrade = null;
  if (take) choose(active, grade);
  if (take && active.isDone) nextOpen();
  else activate(active, { focus: true });
}

// Where one question is displayed at a time, an answer by pointer that finishes it goes on, too. It is named for four
// seconds with an Undo of its own, as it is no longer there to be seen.
const oneAtATime = matchMedia("(max-width: 61.99rem)");
const answered = document.getElementById("answered");
let answeredTimer;

function hideAnswered() {
  clearTimeout(answeredTimer);
  answered.querySelector("button").hidden = true;
  answered.querySelector("span").textContent = "";
}

function goOn(question) {
  if (question.isMultiLabel || !question.isDone || !oneAtATime.matches || pane.classList.contains("all")) return;
  nextOpen();
  if (active === question) return;
  hideAnswered();
  const { number, grade } = question;
  answered.querySelector("span").textContent = phrase("answered_now", { number, grade: question.nameOf(grade) });
  answered.querySelector("button").hidden = false;
  answeredTimer = setTimeout(hideAnswered, 4000);
}

function addSpan(span, holds = false) {
  if (isAltered()) return say(phrase("altered"), "failed");
  if (!span) return;
  if (!active.takesSpans) return say(phrase("takes_no_words", active));
  if (active.deniesSpans) {
    offered = span;
    render();
    active.element.querySelector('[data-offer="take"]').focus();
    return;
  }
  change(active, () => {
    const isNew = active.add(span);
    if (active.grade !== null || active.onlyGradeWithSpans === null) return isNew;
    active.grade = active.onlyGradeWithSpans;
    return true;
  }, holds);
}

function settleOffer(take) {
  const span = offered;
  offered = null;
  if (!take) return render();
  change(active, () => {
    active.add(span);
    active.grade = active.onlyGradeWithSpans;
  });
}

function settleLarge(take) {
  const span = large;
  large = null;
  render();
  if (take) addSpan(span);
}

function takeSelection() {
  const selection = getSelection();
  if (!isMarked || selection.isCollapsed || !selection.rangeCount) return;
  const range = selection.getRangeAt(0);
  const span = spanOf(body, range);
  if (!span && !(range.intersectsNode(body) && isAltered())) return;
  selection.removeAllRanges(); // a drag that began inside an old selection would drag its words about
  if (!span || !active.takesSpans || !isLarge(span.quote)) return addSpan(span);
  large = span;
  render();
  active.element.querySelector('[data-large="take"]').focus();
}

function step(by) {
  const next = questions[questions.indexOf(active) + by];
  if (next) activate(next, { focus: true });
}

function nextOpen(focus = true) {
  const at = questions.indexOf(active);
  const next = [...questions.slice(at + 1), ...questions.slice(0, at)].find((question) => !question.isDone);
  if (next) activate(next, { focus });
  else document.querySelector("#submit button").focus({ preventScroll: true });
}

function showMissing() {
  const left = questions.filter((question) => !question.isDone);
  missing.hidden = left.length === 0;
  missing.replaceChildren(phrase(left.length === 1 ? "missing_one" : "missing", { n: left.length }),
    ...left.map((question) => Object.assign(document.createElement("a"),
      { href: `#q-${question.number}`, textContent: `${question.number} ${phrase(STATE_WORDS[question.state])}` })),
    ...left.flatMap(contradictionLines));
  return left;
}

// Each two answers that contradict each other, once.
function contradictionLines(question) {
  return contradictionsOf(question).filter((other) => question.number < other.number).map((other) => {
    const [first, second] = [question, other].map((card) => card.labelOf(card.grade));
    const words = `${question.number}, ${other.number}: ${phrase("contradiction", { first, second })} ${phrase("both_right")}`;
    return Object.assign(document.createElement("p"), { textContent: words });
  });
}

// Submitting waits behind the answers like everything else; asked for twice, it is one.
function end(kind, form, fields) {
  if (isLeaving && waitsToLeave()) return send(); // else another tab was told that it is refused
  forgive();
  tell("");
  isLeaving = true;
  release();
  put({ kind, item, url: new URL(form.action).pathname, key: newKey(), fields });
}

function handIn() {
  const [first] = showMissing();
  if (first) return activate(first, { focus: true });
  const undecided = questions.find((question) => question.element.querySelector(".conflict"));
  if (undecided) {
    activate(undecided);
    return undecided.element.querySelector("[data-keep]").focus();
  }
  end("submit", submitForm, { active_ms: spent() });
}

const CHORDS = { z: undo, "shift+z": redo, y: redo };
const ACTIONS = {
  next: () => step(1), previous: () => step(-1), undo, ...(goToText && { text: goToText }),
  lowest: () => gradeByKey(Math.min(...active.radios.map((radio) => Number(radio.value)))),
};
const KEYS = { Enter: nextOpen, "?": () => document.getElementById("help").showModal() };
const meaningOf = (key) => KEYS[key] ?? ACTIONS[actionOf(key)];

// The letter of a key with Ctrl: its sign, or its place where the layout has other letters.
function letterOf(event) {
  const letter = /^[a-z]$/i.test(event.key) ? event.key : event.code.replace("Key", "");
  return `${event.shiftKey ? "shift+" : ""}${letter.toLowerCase()}`;
}

document.addEventListener("keydown", (event) => {
  byPointer = false;
  if (event.ctrlKey && event.key === "Enter") {
    event.preventDefault();
    return handIn();
  }
  const goesBack = (event.ctrlKey || event.metaKey) && !event.altKey && CHORDS[letterOf(event)];
  if (goesBack && !isField(event)) {
    event.preventDefault();
    return goesBack();
  }
  if (event.key === "Escape" && guideline.open && !document.querySelector("dialog:modal")) return closeGuideline();
  const inText = event.target.classList.contains("sentence");
  if (event.defaultPrevented || isTyping(event) || (event.ctrlKey && !(inText && event.shiftKey))) return;
  if (inText && event.key === " ") {
    event.preventDefault();
    const range = new Range();
    range.selectNodeContents(event.target);
    return addSpan(spanOf(body, range), true);
  }
  const resize = inText && event.shiftKey && { ArrowLeft: ["end", -1], ArrowRight: ["end", 1], ArrowUp: ["start", -1], ArrowDown: ["start", 1] }[event.key];
  if (resize) {
    event.preventDefault();
    return change(active, () => active.resize(...resize, event.ctrlKey), true);
  }
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (event.target.closest(".text-pane") && !inText) return;
    event.preventDefault();
    return step(event.key === "ArrowDown" ? 1 : -1);
  }
  if (!singleKeys.checked || (event.key === "Enter" && event.target.closest("a, button, summary"))) return;
  const key = keyOf(event, (sign) => active.gradeOf(sign) !== null || Boolean(meaningOf(sign)));
  const grade = active.gradeOf(key);
  if (grade !== null) return gradeByKey(grade);
  const act = meaningOf(key);
  if (act) {
    event.preventDefault();
    act();
  }
});

// Focus comes before the mouse button goes up: folding the list then would move the target away from the pointer.
for (const question of questions) {
  question.element.addEventListener("click", () => { if (question !== active) activate(question, { keepPlace: true }); });
  question.element.addEventListener("focusin", () => { if (!isPressing() && question !== active) activate(question); });
  // A note is kept with every letter, and sent when the question is left.
  question.remark?.addEventListener("input", () => { commit(question, true); });
  question.remark?.addEventListener("change", () => {
    release();
    calmly(redraw); // the note may say why two answers are right
  });
  question.element.querySelector("[data-both-right]")?.addEventListener("click", () => {
    question.remark.closest("details").open = true;
    question.remark.focus();
  });
  question.form.addEventListener("change", (event) => {
    if (event.target.name === "confidence") commit(question);
    if (!question.radios.includes(event.target)) return;
    if (question !== active) activate(question, { keepPlace: true });
    question.untickOthers(event.target);
    choose(question, question.grade); // the radio has changed itself
    question.element.scrollIntoView({ block: "nearest" });
    question.element.querySelector(".contradiction:not([hidden])")?.scrollIntoView({ block: "nearest" });
    if (byPointer) goOn(question);
  });
  question.element.querySelector("[data-retry]").addEventListener("click", () => {
    commit(question);
    activate(question, { focus: true }); // the button goes
  });
  for (const button of question.element.querySelectorAll("[data-large]")) {
    button.addEventListener("click", () => settleLarge(button.dataset.large === "take"));
  }
  for (const button of question.element.querySelectorAll("[data-offer]")) {
    button.addEventListener("click", () => settleOffer(button.dataset.offer === "take"));
  }
  for (const button of question.element.querySelectorAll("[data-denial]")) {
    button.addEventListener("click", () => settleDenial(question, button.dataset.denial === "take"));
  }
  for (const button of question.element.querySelectorAll("[data-regrade]")) {
    button.addEventListener("click", (event) => {
      event.stopPropagation(); // as a click on this question it would be the active one again
      settleRegrade(button.dataset.regrade === "take");
    });
  }
  for (const button of question.element.querySelectorAll(".touch-take button")) {
    button.addEventListener("click", (event) => {
      event.stopPropagation(); // a click on a question makes it the active one, and this one is left
      takeSelection();
      if ("next" in button.dataset && active.isDone) nextOpen(false);
    });
  }
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

// A mouse's selection is a span when the button goes up, and the browser has done its own part of that. If the
// button is down again by then, the selection is half of the next drag. A finger moves handles first, so it gets a button.
let byTouch = false;
let byPointer = false; // whether what was done last, was done without keys
document.addEventListener("touchstart", () => { byTouch = byPointer = true; }, { passive: true });
document.addEventListener("pointerdown", (event) => {
  byTouch = event.pointerType === "touch";
  byPointer = true;
});
document.addEventListener("pointerup", (event) => {
  if (event.pointerType === "mouse") setTimeout(() => { if (!isPressing()) takeSelection(); });
});
document.addEventListener("selectionchange", () => {
  const selection = getSelection();
  const inText = isMarked && !selection.isCollapsed && body.contains(selection.anchorNode);
  for (const take of document.querySelectorAll(".touch-take")) {
    take.hidden = !(byTouch && inText && active.element.contains(take));
  }
});

const submitForm = document.getElementById("submit");
const skipForm = document.querySelector(".skip form");
for (const button of [undoButton, answered.querySelector("button")]) button.addEventListener("click", undo);

// The guideline stays open beside the work, on the next texts too where there is room for it.
const guideline = document.getElementById("guideline");
const opener = document.querySelector("[data-beside]");
opener.setAttribute("aria-expanded", guideline.open);
function setBeside() {
  opener.setAttribute("aria-expanded", guideline.open);
  if (oneAtATime.matches) return;
  document.cookie = `guideline-beside=open; path=/; max-age=${guideline.open ? 31536000 : 0}; samesite=lax`;
}
function closeGuideline() { // the event "close" would come later, when the page may have been left
  guideline.close();
  setBeside();
  opener.focus({ preventScroll: true });
}
opener.addEventListener("click", (event) => {
  event.preventDefault(); // a link, for those without scripts
  if (guideline.open) return closeGuideline();
  guideline.show();
  setBeside();
});
guideline.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  closeGuideline();
});

for (const button of document.querySelectorAll("[data-dismiss]")) {
  button.addEventListener("click", () => { button.closest(".banner").hidden = true; });
}

chooseKeys(questions.flatMap(({ radios }) => radios.map(({ dataset, value }) => dataset.key ?? value)));
singleKeys.checked = readItem("localStorage", "single-keys") !== "off";
singleKeys.addEventListener("change", () => writeItem("localStorage", "single-keys", singleKeys.checked ? "on" : "off"));
if (isMarked) {
  new ResizeObserver(drawMarks).observe(body);
  watchDrags(body);
}
render();

function refreshRefusals() {
  const before = questions.map(({ refusal }) => refusal?.key).join();
  for (const question of questions) question.refusal = question.findRefusal();
  if (questions.map(({ refusal }) => refusal?.key).join() !== before) render();
}

events.addEventListener("change", () => calmly(refreshRefusals));
events.addEventListener("refused", ({ detail: { entry } }) => {
  if (entry.item === item) isLeaving = waitsToLeave();
  calmly(refreshRefusals);
});
addEventListener("pageshow", (event) => { if (event.persisted) isLeaving = false; });
watchServed(render);

// From here on scripts do what forms did. All that can fail has run: a page that did not start works without scripts.
function start() {
  for (const question of questions) {
    question.form.elements.spans.disabled = false; // spans come with offsets
    question.form.addEventListener("submit", (event) => event.preventDefault());
  }
  submitForm.querySelector("button").setAttribute("aria-keyshortcuts", "Control+Enter");
  submitForm.addEventListener("submit", (event) => {
    event.preventDefault();
    handIn();
  });
  skipForm?.addEventListener("submit", (event) => {
    event.preventDefault();
    end("skip", skipForm, {
      note: skipForm.elements.note.value, version: skipForm.elements.version.value,
      ...(skipForm.elements.broken?.checked && { broken: "on" }),
    });
  });
  document.getElementById("news")?.addEventListener("submit", (event) => {
    event.preventDefault();
    event.target.hidden = true;
    fetch(event.target.action, { method: "POST", body: new FormData(event.target), redirect: "manual", keepalive: true });
  });
  document.documentElement.dataset.started = "";
  begin();
}

watch(questions, () => {
  isLeaving = waitsToLeave(); // another tab may have changed an answer since
  redraw();
}, (next) => { if (isLeaving) location.assign(next); });
start();
// What was chosen, cleared, copied or selected before this script had started counts as if it had.
for (const question of questions) {
  if (question.unticked.length) change(question, () => question.unticked.forEach((span) => question.remove(span)));
  if (question.early !== null) choose(question, question.early);
  for (const span of question.takeCopied()) change(question, () => question.add(span));
}
if (active !== proposed) active.element.scrollIntoView({ block: "nearest" });
if (!getSelection().isCollapsed) {
  document.addEventListener("pointermove", (event) => { // a button that is still down selects more
    if (event.pointerType === "mouse" && !event.buttons) takeSelection();
  }, { once: true });
}
