// The line that says where answers are: on their way, saved, waiting, refused. A study's own page has one, too, and
// sends what an earlier page left behind.

import { currentTrouble, entries, events, isKept, isSending, refusals } from "./outbox.js";
import { phrase } from "./site.js";

const status = document.getElementById("saved");
const item = document.getElementById("main")?.dataset.state;
let refused = ""; // stays until something else is said
let kept = ""; // the same: what the server says of an answer that does not count
let done = ""; // what was acknowledged last, in words
let isOurs = false; // whether this script has written the line: without it the server's own words are true
const seen = new Set(); // the places of all answers since nothing waited last

export function say(words, kind = "") {
  if (!status || (status.textContent === words && status.className === `status ${kind}`)) return;
  isOurs = true;
  status.hidden = false;
  status.className = `status ${kind}`;
  status.textContent = words; // a live region: read aloud
}

function savedNow() {
  const time = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  return phrase("saved", { time });
}

// How many answers of a queue are sent, as words behind others; nothing for a single one.
function progress(waiting) {
  for (const { place, kind } of waiting) if (kind === "answer") seen.add(place);
  const left = waiting.filter(({ kind }) => kind === "answer").length;
  const words = seen.size > 1 ? ` ${phrase("sent", { n: seen.size - left, all: seen.size })}` : "";
  if (!waiting.length) seen.clear();
  return words;
}

function show() {
  const all = entries();
  const undecided = all.filter((entry) => entry.other).length;
  const warning = isKept() ? "" : ` ${phrase("not_kept")}`;
  const trouble = currentTrouble();
  const problem = trouble && phrase(trouble.name, trouble);
  const sent = progress(all);
  if (refused) return say(refused, "failed");
  if (problem && all.length) {
    const name = all.some((entry) => entry.kind !== "answer") ? "end_waits" : "waits";
    return say(phrase(name, { n: all.length, problem }) + warning, "failed");
  }
  if (undecided && !isSending()) return say(phrase("undecided", { n: undecided }), "warned");
  if (all.length) return say(phrase(all.at(-1).kind === "answer" ? "saving" : "handing_in") + sent);
  if (kept) return say(kept, "warned");
  const before = refusals().filter((entry) => entry.item === item).length;
  if (before) return say(phrase("refused_before", { n: before }), "failed");
  if (isOurs) say(done || savedNow());
}

// Takes the line over, once the scripts have started. What the server says of previews and closed studies stays.
export function begin() {
  if (status.querySelector(".unscripted")) {
    done = phrase("all_saved");
    say(done);
  }
  show();
}

events.addEventListener("change", show);
events.addEventListener("acknowledged", ({ detail: { says } }) => {
  done = savedNow();
  kept = says || kept;
});
events.addEventListener("refused", ({ detail: { entry, problem, status: code } }) => {
  const name = { answer: "refused", submit: "not_handed_in", skip: "not_skipped" }[entry.kind];
  refused = phrase(name, { problem: problem || phrase("answered", { status: code }) });
  show();
});

// A new answer is said to be on its way, whatever became of the one before.
export function forgive() {
  refused = kept = "";
}
