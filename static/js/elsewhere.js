// The same item in another tab, on another device, or here before: this page takes over what was answered
// there, says so, and where both answered shows both and lets the person choose. Nothing is overwritten unseen.

import { item } from "./question.js";
import { entries, events, owner, refusals, send, settle, waitingAt } from "./outbox.js";
import { calmly } from "./pressing.js";
import { phrase } from "./site.js";

const LOOK_MS = 20000;
const notice = document.getElementById("elsewhere");
const tab = Math.random().toString(36).slice(2);
const others = new Map(); // tabs that have this item open, and when each was heard last
const channel = newChannel();
let asked = 0; // when the others were asked last whether they are there
let page; // {questions, changed, left}

// To the other tabs; null where the browser has none, or blocks it with its storage.
function newChannel() {
  try {
    return new BroadcastChannel(`crux:${owner}`);
  } catch {
    return null;
  }
}

// Says it above the foot, with a way to another item if there is one; no words take away what was said.
export function tell(words, href = "") {
  calmly(() => {
    const says = notice.querySelector("span");
    says.textContent = words;
    if (href) says.append(" ", Object.assign(document.createElement("a"), { href, textContent: phrase("back_to_it") }));
    notice.hidden = !words;
  });
}

function lose(other) {
  others.delete(other);
  if (!others.size) calmly(() => { notice.hidden = true; });
}

const post = (message) => channel?.postMessage({ item, tab, ...message });

export const publish = (question) => post({ kind: "answer", ...question.said });

// questions: of this item; changed(): they are to be drawn again; left(url): the item was submitted, go there.
export function watch(questions, changed, left) {
  page = { questions, changed, left };
  channel?.addEventListener("message", ({ data }) => { if (data.item === item) hear(data); });
  post({ kind: "hello" });
  // What waited as this page was opened may be older than what another device has said since.
  let isOld = entries().some((entry) => entry.item === item);
  const comesBack = performance.getEntriesByType("navigation")[0]?.type === "back_forward";
  if (comesBack && !isOld) refresh();
  events.addEventListener("change", () => calmly(showConflicts));
  // What is missing on the server may have been answered on another device.
  events.addEventListener("refused", ({ detail: { entry } }) => { if (entry.item === item && entry.kind === "submit") refresh(); });
  events.addEventListener("acknowledged", ({ detail: { entry, next, reopened } }) => {
    if (reopened) tellReopened(reopened, entry.item === item);
    if (entry.kind !== "answer") post({ kind: "done", item: entry.item, next });
    if (entry.item !== item) return;
    if (next) left(next);
    else if (isOld && !entries().some((one) => one.item === item)) {
      isOld = false;
      refresh();
    }
  });
  showConflicts();
  send();
  setInterval(look, LOOK_MS);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
}

function tellReopened(url, isHere) {
  if (!isHere) return tell(phrase("reopened_other"), url);
  document.getElementById("main").dataset.itemState = "open";
  tell(phrase("reopened"));
}

// A tab that crashed, or was closed under load, has said no goodbye.
function look() {
  if (document.hidden) return;
  for (const [other, heard] of others) if (heard < asked) lose(other);
  asked = performance.now();
  post({ kind: "hello" });
  refresh();
}

addEventListener("pageshow", (event) => { if (event.persisted) { post({ kind: "hello" }); refresh(); } });
addEventListener("pagehide", () => post({ kind: "bye" }));

function hear(message) {
  if (message.kind === "bye") {
    lose(message.tab);
  } else if (message.kind === "done") {
    page.left(message.next);
  } else {
    if (message.kind === "hello") post({ kind: "here" });
    if (!others.has(message.tab)) tell(phrase("open_twice"));
    others.set(message.tab, performance.now());
    if (message.kind === "answer") calmly(() => takeOver([message], "tab"));
  }
}

// Takes over newer answers, except where this page has said something since that they do not know of.
function takeOver(answers, where) {
  const taken = [];
  for (const answer of answers) {
    const question = page.questions.find((one) => one.url === answer.url);
    if (!question || question.base === answer.key) continue;
    const isBehind = answer.base !== undefined && answer.base === question.base;
    if (!isBehind && waitingAt(question.url).some((entry) => entry.key !== answer.key)) continue;
    question.show(answer, answer.key);
    taken.push(question);
  }
  if (!taken.length) return;
  page.changed();
  const [first] = taken;
  if (taken.length > 1) tell(phrase(`answered_many_${where}`, { numbers: taken.map((one) => one.number).join(", ") }));
  else tell(phrase(`answered_${where}`, { number: first.number, grade: first.nameOf(first.grade) ?? phrase("no_grade") }));
}

// Asks the server for newer answers. What was said here while it answered is newer than its reply.
async function refresh() {
  const before = new Map(page.questions.map((question) => [question.url, question.base]));
  const isPending = new Set([...entries(), ...refusals()].map((entry) => entry.url));
  const response = await fetch(item, { redirect: "manual", headers: { "X-Requested-With": "fetch" } }).catch(() => null);
  const reply = response?.ok && await response.json().catch(() => null);
  if (!reply) return;
  const { state, answers, closed } = reply;
  const isSteady = ({ url }) => !isPending.has(url) && page.questions.some((one) => one.url === url && one.base === before.get(url));
  calmly(() => {
    const steady = answers.filter(isSteady);
    for (const answer of steady) {
      const question = page.questions.find((one) => one.url === answer.url);
      question.explainedCards = new Set(answer.explained_cards);
    }
    takeOver(steady, "device");
  });
  const main = document.getElementById("main");
  if (closed && !("closed" in main.dataset)) tell(phrase("now_closed"));
  else if (state !== main.dataset.itemState && ["submitted", "released"].includes(state)) tell(phrase(`now_${state}`));
  else if (state === "open" && main.dataset.itemState === "submitted") tell(phrase("reopened"));
  main.dataset.itemState = state;
  main.toggleAttribute("data-closed", Boolean(closed));
}

// An answer in words: its grade, and what it rests on.
function fill(place, question, { grade, spans }) {
  const quotes = typeof spans === "string" ? JSON.parse(spans) : spans;
  const said = grade === "" || grade === null ? phrase("no_grade") : question.nameOf(Number(grade));
  const b = Object.assign(document.createElement("b"), { textContent: said });
  place.replaceChildren(b, ...quotes.flatMap(({ quote }) => [" ", Object.assign(document.createElement("q"), { textContent: quote, dir: "auto" })]));
}

function showConflicts() {
  const all = entries();
  for (const question of page.questions) {
    const waiting = all.filter((entry) => entry.url === question.url);
    const other = waiting[0]?.other;
    const old = question.element.querySelector(".conflict");
    if (!other) {
      old?.remove();
      continue;
    }
    const panel = old ?? document.getElementById("conflict").content.firstElementChild.cloneNode(true);
    const [here, there] = panel.querySelectorAll("dd");
    fill(here, question, waiting.at(-1).fields);
    fill(there, question, other);
    if (old) continue;
    const time = new Date(other.at).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
    panel.querySelector("[data-time]").textContent = time;
    panel.setAttribute("aria-label", phrase("conflict_label", { number: question.number }));
    for (const button of panel.querySelectorAll("[data-keep], [data-take]")) {
      button.addEventListener("click", () => decide(question, other, "keep" in button.dataset));
    }
    question.element.append(panel);
    const isFolded = !question.element.offsetParent; // a phone has gone on to the next one
    tell(phrase("conflict", { number: question.number }), isFolded ? `#${question.element.id}` : "");
  }
}

function decide(question, other, keeps) {
  (question.element.querySelector("input:checked") ?? question.radios[0]).focus({ preventScroll: true }); // the buttons go
  if (!keeps) question.show(other, other.key);
  settle(question.url, keeps);
  post({ kind: "answer", url: question.url, key: question.base, grade: question.grade, spans: question.spans, ...question.remarks });
  page.changed();
  tell(phrase(keeps ? "kept_here" : "taken_there", { number: question.number }));
}
