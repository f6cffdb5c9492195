// What a worker said and the server has not acknowledged. It waits in the browser's own storage, in order,
// and whichever task page is open sends it: this one, another one, the same one after a reload or a crash.
// Everything bears a key that was made here, so what is sent twice (by two tabs, after a lost reply) counts once.
//
// An entry: {kind: "answer" | "submit" | "skip", item, url, key, fields, made, until}. An answer that meets a newer
// one from elsewhere is kept with that one in `other`, and waits for the person; what has nothing to do with
// it goes on. Tells on `events`: "change", "acknowledged", "refused", "conflict". The line that says where
// answers are is written here too; a study's own page has one, and sends what an earlier page left behind.
// What the server has kept though it does not count comes with words for that line.

import { phrase } from "./site.js";

const RETRY_MS = 3000;
const PATIENCE_MS = 60000; // the longest that a server can ask us to stay away
const REPLY_MS = 20000;
const HOLD_MS = 1500; // how long an answer waits for the next key, which may move its span by a word
const GRACE_MS = 1000; // so much later another tab may send it: clocks and storage differ by less
const KEEPALIVE_BYTES = 60000; // browsers let requests up to 64 KiB outlive their page

export const owner = document.getElementById("saved")?.dataset.user ?? "";
export const events = new EventTarget();
let trouble = null; // why the last attempt failed: {name, ...} of the words to say; null if it did not

const prefix = `outbox:${owner}:`; // two people at one computer never send each other's answers
const memory = new Map(); // what the browser's storage refused
let wanted = false;
let sending = false;
let retry;
let held = null; // the place of the answer that this page is still changing
let settling;
let onItsWay = null; // the place of what is being sent at this moment

const tell = (name, detail) => events.dispatchEvent(new CustomEvent(name, { detail }));

// crypto.randomUUID is missing on plain http beyond localhost, where a lab's first server may well be.
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function stored() {
  try {
    return Object.entries(localStorage).filter(([place]) => place.startsWith(prefix));
  } catch {
    return [];
  }
}

// What waits, oldest first.
export function entries() {
  return [...new Map([...stored(), ...memory])].sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([place, raw]) => ({ ...JSON.parse(raw), place }));
}

export const waitingAt = (url) => entries().filter((entry) => entry.url === url);
const isKept = () => memory.size === 0;

function write({ place, ...entry }) {
  const raw = JSON.stringify(entry);
  try {
    localStorage.setItem(place, raw);
    memory.delete(place);
  } catch {
    memory.set(place, raw);
  }
}

function erase({ place }) {
  memory.delete(place);
  try { localStorage.removeItem(place); } catch { /* then it was never there */ }
}

function newPlace(key) {
  const last = Number(entries().at(-1)?.place.slice(prefix.length).split(":")[0] ?? 0);
  const order = String(Math.max(Date.now(), last + 1)).padStart(15, "0"); // also where a clock was set back
  return `${prefix}${order}:${key}`;
}

// Takes something in. It is written down before anything is sent, and before this returns. With `holds` it is sent
// once the hand rests or goes elsewhere: what it says meanwhile takes its place (`instead`), and is one answer.
export function put(entry, { holds = false, instead } = {}) {
  if (held && held !== instead?.place) release(); // of another question
  const place = instead?.place ?? newPlace(entry.key);
  const until = holds ? Date.now() + HOLD_MS : undefined;
  write({ ...entry, made: Date.now(), until, place });
  held = holds ? place : null;
  clearTimeout(settling);
  if (holds) settling = setTimeout(release, HOLD_MS);
  send();
}

// An answer comes after its item was handed in: that is not sent any more. Whether it still waited.
export function withdraw(item) {
  const ends = entries().filter((entry) => entry.item === item && entry.kind === "submit" && entry.place !== onItsWay);
  ends.forEach(erase);
  return ends.length > 0;
}

// The answer with this key, as long as nobody can have sent it and it may still be replaced.
export function unsettled(key) {
  return entries().find((entry) => entry.place === held && entry.key === key && entry.until > Date.now());
}

// Sends what was still being changed, as it is now. Returns it; nothing where nothing was.
export function release() {
  const entry = held && entries().find(({ place }) => place === held);
  held = null;
  clearTimeout(settling);
  if (!entry) return null;
  write({ ...entry, until: undefined });
  send();
  return entry;
}

// Whether it waits for its page. A time further ahead is one of a clock that was set back since.
function isHeld({ until }) {
  const left = until + GRACE_MS - Date.now();
  return left > 0 && left <= HOLD_MS + GRACE_MS;
}

// Settles an answer that met a newer one: `keep` sends it once more, knowing of the other; else it gives way.
export function settle(url, keep) {
  const [first, ...later] = waitingAt(url);
  if (!first?.other) return;
  if (keep) write({ ...first, fields: { ...first.fields, base: first.other.key }, other: undefined });
  else [first, ...later].forEach(erase);
  send();
}

// The next one to send. Behind an answer that is held, or in conflict, waits what is said to the same question, and
// the item's end.
function next() {
  const behind = new Set();
  return entries().find((entry) => {
    const waits = entry.other || isHeld(entry);
    if (waits) behind.add(entry.url).add(entry.item);
    return !waits && !behind.has(entry.kind === "answer" ? entry.url : entry.item);
  });
}

export async function send() {
  wanted = true;
  tell("change");
  if (sending || !owner) return;
  sending = true;
  clearTimeout(retry);
  while (wanted) {
    wanted = false;
    await alone(sendAll);
  }
  sending = false;
  if (trouble || entries().some(isHeld)) {
    retry = setTimeout(send, Math.max(RETRY_MS, Math.min(trouble?.wait_ms ?? 0, PATIENCE_MS)));
  }
  tell("change");
}

// One tab at a time where the browser can see to it. Elsewhere two may send the same: the keys make it harmless.
async function alone(act) {
  if (!navigator.locks) return act();
  try {
    await navigator.locks.request(`${prefix}sending`, { signal: AbortSignal.timeout(REPLY_MS) }, act);
  } catch {
    await act(); // the tab that holds the lock is asleep
  }
}

async function sendAll() {
  for (let entry = next(); entry; entry = next()) {
    onItsWay = entry.place;
    trouble = await deliver(entry);
    onItsWay = null;
    if (trouble) return;
    tell("change");
  }
  trouble = null;
}

async function deliver(entry) {
  let response, reply;
  try {
    response = await post(entry);
    if (response.type === "opaqueredirect") return { name: "logged_out" };
    reply = await (response.headers.get("Content-Type")?.includes("json") ? response.json() : response.text());
  } catch {
    return { name: "unreachable" };
  }
  const { status } = response;
  if (response.ok) {
    erase(entry);
    tell("acknowledged", { entry, next: reply.next, says: reply.says, reopened: reply.reopened });
  } else if (status === 409 && reply.key) {
    write({ ...entry, other: reply });
    tell("conflict", { entry });
  } else if (status === 422) {
    refuse(entry, reply);
  } else if (status === 403 && !await isOwnSession()) {
    return { name: "logged_out" }; // with all cookies gone, the token is missed before the session is
  } else if ([400, 404, 405, 410, 413].includes(status)) {
    // It is not there for whoever is logged in now, who may be somebody else than who said this.
    if (!await isOwnSession()) return { name: "somebody_else" };
    refuse(entry, "", status);
  } else if (status === 429 || status === 503) {
    return { name: "busy", wait_ms: 1000 * response.headers.get("Retry-After") || 0 }; // a date is no number
  } else {
    return { name: "answered", status };
  }
  return null;
}

// The cookie's token instead of the page's: it is the right one after a login in another tab, too.
function post({ kind, url, key, fields }) {
  const token = /(?:^|; )csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? "";
  const body = new URLSearchParams(kind === "answer" ? { key, ...fields } : fields).toString();
  return fetch(url, {
    method: "POST",
    body,
    headers: { "Content-Type": "application/x-www-form-urlencoded", "X-CSRFToken": token, "X-Requested-With": "fetch" },
    redirect: "manual", // whoever is logged out is sent on to the login page, which answers 200
    keepalive: body.length < KEEPALIVE_BYTES,
    signal: AbortSignal.timeout(REPLY_MS),
  });
}

// Takes out what the server will never accept; what was said after it rests on what came before it.
function refuse(entry, says, status) {
  erase(entry);
  const after = waitingAt(entry.url).find((one) => one.fields.base === entry.key);
  if (after) write({ ...after, fields: { ...after.fields, base: entry.fields.base } });
  const problem = new DOMParser().parseFromString(says, "text/html").body.textContent.replace(/\s+/g, " ").trim();
  tell("refused", { entry, problem, status });
}

async function isOwnSession() {
  try {
    const response = await fetch("/session/", { redirect: "manual" });
    return response.ok && String((await response.json()).user) === owner;
  } catch {
    return false;
  }
}

// Another tab took something in, or has sent it. If that tab is gone before it could, this one does.
addEventListener("storage", (event) => {
  if (event.key !== null && !event.key.startsWith(prefix)) return;
  tell("change");
  if (event.newValue && !sending) {
    clearTimeout(retry);
    retry = setTimeout(send, RETRY_MS);
  }
});
addEventListener("online", send);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) release();
  else if (entries().length) send();
});
addEventListener("blur", release);
// Who leaves has no time to take turns with other tabs. Whether it arrived is found out by the next page.
addEventListener("pagehide", () => {
  const entry = release();
  if (entry && waitingAt(entry.url)[0].key === entry.key) post(entry).catch(() => {});
});

// The line: on the way, saved, kept, waiting, refused.
const status = document.getElementById("saved");
let refused = ""; // stays until something else is said
let kept = ""; // the same: what the server says of an answer that does not count
let done = ""; // what was acknowledged last, in words
let told = false; // whether the line is ours by now: the server prints the first words

export function say(words, kind = "") {
  if (!status || (status.textContent === words && status.className === `status ${kind}`)) return;
  told = true;
  status.hidden = false;
  status.className = `status ${kind}`;
  status.textContent = words; // a live region: read aloud
}

function now() {
  return new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}

function show() {
  const all = entries();
  const undecided = all.filter((entry) => entry.other).length;
  const warning = isKept() ? "" : ` ${phrase("not_kept")}`;
  const problem = trouble && phrase(trouble.name, trouble);
  if (refused) return say(refused, "failed");
  if (problem && all.length) {
    const name = all.some((entry) => entry.kind !== "answer") ? "end_waits" : "waits";
    return say(phrase(name, { n: all.length, problem }) + warning, "failed");
  }
  if (undecided && !sending) return say(phrase("undecided", { n: undecided }), "warned");
  if (all.length) return say(phrase(all.at(-1).kind === "answer" ? "saving" : "handing_in"));
  if (kept) return say(kept, "warned");
  if (told) say(done || phrase("saved", { time: now() }));
}

events.addEventListener("change", show);
events.addEventListener("acknowledged", ({ detail: { says } }) => {
  done = phrase("saved", { time: now() });
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

// What is kept in storage outlives the page; what is not would be lost with it.
addEventListener("beforeunload", (event) => { if (!isKept()) event.preventDefault(); });
addEventListener("pageshow", () => { if (entries().length) send(); });
