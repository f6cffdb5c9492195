// Time: how much of it was spent at work on an item, and how much is left of the part and of the session.

import { calmly } from "./pressing.js";
import { phrase } from "./site.js";
import { readItem, writeItem } from "./storage.js";

const IDLE_MS = 30000; // without a sign of the person for so long, time does not count as work
const LOOK_MS = 15000;
const PART_WARNING_S = 600;
const SESSION_WARNING_S = 300;

const data = document.getElementById("main").dataset;
const kept = `active:${data.state}`;
let total = Number(readItem("sessionStorage", kept) ?? 0); // of this tab before a reload
let since = null; // when the present stretch of activity began
let last = 0; // the newest sign of the person

function sign() {
  const now = performance.now();
  if (document.hidden) return;
  if (since !== null && now - last > IDLE_MS) pause();
  since ??= now;
  last = now;
}

function pause() {
  if (since === null) return;
  total += Math.max(0, Math.min(performance.now(), last + IDLE_MS) - since);
  since = null;
}

// The active milliseconds since this was asked last.
export function spent() {
  pause();
  const ms = Math.round(total);
  total = 0;
  sign();
  return ms;
}

for (const kind of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "touchmove"]) {
  addEventListener(kind, sign, { passive: true, capture: true });
}
addEventListener("scroll", sign, { passive: true, capture: true });
document.addEventListener("visibilitychange", () => (document.hidden ? pause() : sign()));
addEventListener("pagehide", () => {
  pause();
  writeItem("sessionStorage", kept, total); // where it is refused a reload costs some seconds of the count
});
sign();

// The server's clock is the one that counts: this one may be wrong.
const ahead = Date.now() - Number(data.now) * 1000;
const secondsUntil = (end) => Math.floor((end * 1000 + ahead - Date.now()) / 1000);
const unit = (number, name) => new Intl.NumberFormat(document.documentElement.lang, { style: "unit", unit: name, unitDisplay: "long" }).format(number);

// Two units at most, in the words of the page's language: "2 days, 3 hours", "2 hours, 14 minutes", "9 minutes".
function words(seconds) {
  const minutes = Math.max(0, Math.ceil(seconds / 60));
  const parts = [[Math.floor(minutes / 1440), "day"], [Math.floor(minutes / 60) % 24, "hour"], [minutes % 60, "minute"]];
  const from = Math.max(0, parts.findIndex(([number]) => number > 0));
  return parts.slice(from, from + 2).filter(([number]) => number > 0).map(([number, name]) => unit(number, name)).join(", ") || unit(0, "minute");
}

let sessionEnds = Number(data.sessionEnds);
const warned = new Set();

function warn(id, text) {
  if (warned.has(id)) return;
  warned.add(id);
  calmly(() => {
    const notice = document.getElementById(id);
    notice.querySelector("span").textContent = text;
    for (const button of notice.querySelectorAll("button")) button.hidden = false;
    notice.hidden = false;
  });
}

function look() {
  if (data.partEnds) {
    const left = secondsUntil(Number(data.partEnds));
    const line = document.getElementById("time-left");
    line.textContent = left > 0 ? phrase("time_left", { time: words(left) }) : phrase("time_over");
    line.classList.toggle("warned", left < PART_WARNING_S);
    if (left <= 0) warn("part-over", phrase("part_over"));
    else if (left < PART_WARNING_S) warn("part-warning", phrase("part_ends", { time: words(left) }));
  }
  if (sessionEnds && secondsUntil(sessionEnds) < SESSION_WARNING_S) {
    warn("session-warning", phrase("session_ends", { time: words(secondsUntil(sessionEnds)) }));
  }
}

async function extend() {
  const token = /(?:^|; )csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? "";
  const response = await fetch("/session/", {
    method: "POST", redirect: "manual", headers: { "X-CSRFToken": token, "X-Requested-With": "fetch" },
  }).catch(() => null);
  const reply = response?.ok && await response.json().catch(() => null);
  if (!reply) return false;
  sessionEnds = reply.ends;
  warned.delete("session-warning");
  return true;
}

const warning = document.getElementById("session-warning");
warning.addEventListener("submit", async (event) => {
  event.preventDefault();
  const says = warning.querySelector("span");
  const isExtended = await extend();
  says.textContent = phrase(isExtended ? "session_extended" : "session_not_extended");
  if (!isExtended) return;
  says.focus(); // before the button that had it goes
  warning.querySelector("button").hidden = true;
});

if (data.sessionEnds !== undefined && secondsUntil(sessionEnds) < Number(data.sessionAge) / 2) extend();
look();
setInterval(look, LOOK_MS);
