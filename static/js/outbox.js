// What a worker said and the server has not acknowledged. It waits in the browser's own storage, in order,
// and whichever task page is open sends it: this one, another one, the same one after a reload or a crash.
// Everything bears a key that was made here, so what is sent twice (by two tabs, after a lost reply) counts once.
//
// An entry: {kind: "answer" | "submit" | "skip", item, url, key, fields, made, until}. An answer that meets a newer
// one from elsewhere is kept with that one in `other`, and waits for the person; what has nothing to do with
// it goes on. An answer that the server refuses leaves the queue and stays in the storage, with the problem, until
// its question is answered again. Tells on `events`: "change", "acknowledged", "refused", "conflict".

import { itemsFrom, writeItem } from "./storage.js";

const RETRY_MS = 3000;
const PATIENCE_MS = 60000; // the longest that a server can ask us to stay away
const REPLY_MS = 20000;
const HOLD_MS = 1500; // how long an answer waits for the next key, which may move its span by a word
const GRACE_MS = 1000; // so much later another tab may send it: clocks and storage differ by less
const KEEPALIVE_BYTES = 60000; // browsers let requests up to 64 KiB outlive their page
const QUEUE_URL = "/work/answers/";
const MOST_ENTRIES = 50; // as many as the server takes in one request
const REFUSED_MS = 30 * 24 * 3600 * 1000; // a refused answer of a study that is over is not kept for ever

export const owner = document.getElementById("saved")?.dataset.user ?? "";
export const events = new EventTarget();

const prefix = `outbox:${owner}:`; // two people at one computer never send each other's answers
const refusedPrefix = `refused:${owner}:`;
const memory = new Map(); // what the browser's storage refused
let wanted = false;
let sending = false;
let retry;
let held = null; // the place of the answer that this page is still changing
let settling;
let onTheirWay = []; // what is being sent at this moment
let trouble = null; // why the last attempt failed: {name, ...} of the words to say; null if it did not
let oneByOne = false; // whether the server takes no queue in one request

const tell = (name, detail) => events.dispatchEvent(new CustomEvent(name, { detail }));

// crypto.randomUUID is missing on plain http beyond localhost, where a lab's first server may well be.
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function stored(start) {
  const inMemory = [...memory].filter(([place]) => place.startsWith(start));
  return [...new Map([...itemsFrom(start), ...inMemory])].sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([place, raw]) => ({ ...JSON.parse(raw), place }));
}

// What waits, oldest first.
export const entries = () => stored(prefix);

export const waitingAt = (url) => entries().filter((entry) => entry.url === url);

// Answers that were refused, each with the `problem`, at most one a question.
export const refusals = () => stored(refusedPrefix);

export const isKept = () => memory.size === 0;
export const currentTrouble = () => trouble;
export const isSending = () => sending;

function write({ place, ...entry }) {
  const raw = JSON.stringify(entry);
  if (writeItem("localStorage", place, raw)) memory.delete(place);
  else memory.set(place, raw);
}

function erase({ place }) {
  memory.delete(place);
  writeItem("localStorage", place, null);
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
  const refused = refusals().find(({ url }) => url === entry.url);
  if (refused) erase(refused);
  const rests = entry.fields.base !== undefined && entry.fields.base === refused?.key;
  const fields = rests ? { ...entry.fields, base: refused.fields.base } : entry.fields;
  write({ ...entry, fields, made: Date.now(), until, place });
  held = holds ? place : null;
  clearTimeout(settling);
  if (holds) settling = setTimeout(release, HOLD_MS);
  send();
}

// An answer comes after its item was submitted: that is not sent any more. Whether it still waited.
export function withdraw(item) {
  const isOnItsWay = ({ place }) => onTheirWay.some((entry) => entry.place === place);
  const ends = entries().filter((entry) => entry.item === item && entry.kind === "submit" && !isOnItsWay(entry));
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

// What is sent next, in one request. Behind an answer that is held, or in conflict, waits what is said to the same
// question, and the item's end.
function nextBatch() {
  const behind = new Set();
  const ready = entries().filter((entry) => {
    const waits = entry.other || isHeld(entry);
    if (waits) behind.add(entry.url).add(entry.item);
    return !waits && !behind.has(entry.kind === "answer" ? entry.url : entry.item);
  }).slice(0, oneByOne ? 1 : MOST_ENTRIES);
  // A preview forgets what it is sent, and takes it at addresses of its own.
  const alone = ready.findIndex(({ url }) => !url.startsWith("/work/"));
  if (alone >= 0) ready.length = Math.max(1, alone);
  while (ready.length > 1 && sizeOf(bodyOf(ready)) > KEEPALIVE_BYTES) ready.length = Math.ceil(ready.length / 2);
  return ready;
}

const sizeOf = (body) => new Blob([body]).size;

// The body of a request: one entry is a form at its own address, several are the queue.
function bodyOf(batch) {
  const forms = batch.map(({ kind, url, key, fields }) => ({
    url, fields: new URLSearchParams(kind === "answer" ? { key, ...fields } : fields),
  }));
  if (forms.length === 1) return forms[0].fields.toString();
  return JSON.stringify(forms.map(({ url, fields }) => ({ url, fields: Object.fromEntries(fields) })));
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
  for (let batch = nextBatch(); batch.length; batch = nextBatch()) {
    onTheirWay = batch;
    trouble = await deliver(batch);
    onTheirWay = [];
    if (trouble) return;
    tell("change");
  }
  trouble = null;
}

// Sends a batch, and acts on the result of each entry. Returns what stands in the way of the rest; else null.
async function deliver(batch) {
  let response, reply;
  try {
    response = await post(batch);
    if (response.type === "opaqueredirect") return { name: "logged_out" };
    const isJson = response.headers.get("Content-Type")?.includes("json");
    // A page where a network asks for its own log-in says 200, too, and has saved nothing.
    if (response.ok && !isJson && response.status !== 204) return { name: "unreachable" };
    reply = await (isJson ? response.json() : response.text());
  } catch {
    return { name: "unreachable" };
  }
  const { status } = response;
  const wait_ms = 1000 * response.headers.get("Retry-After") || 0; // a date is no number
  if (batch.length === 1 || [403, 429].includes(status) || status >= 500) return settleEntry(batch[0], { status, reply }, wait_ms);
  if (!response.ok) {
    oneByOne = true; // a server of another version, or one that takes no request of this size
    return null;
  }
  for (const [at, result] of (reply.results ?? []).entries()) {
    const problem = await settleEntry(batch[at], result, wait_ms);
    if (problem) return problem;
  }
  return reply.results?.length ? null : { name: "unreachable" };
}

async function settleEntry(entry, { status, reply = "" }, wait_ms) {
  if (status >= 200 && status < 300) {
    erase(entry);
    tell("acknowledged", { entry, next: reply.next, says: reply.says, reopened: reply.reopened });
  } else if (status === 409 && reply.key) {
    write({ ...entry, other: reply });
    tell("conflict", { entry });
  } else if (status === 422) {
    refuse(entry, reply, status);
  } else if (status === 424) {
    return null; // it rests on an answer before it, and is sent once that is settled
  } else if (status === 403 && !await isOwnSession()) {
    return { name: "logged_out" }; // with all cookies gone, the token is missed before the session is
  } else if ([400, 404, 405, 410, 413].includes(status)) {
    // It is not there for whoever is logged in now, who may be somebody else than who said this.
    if (!await isOwnSession()) return { name: "somebody_else" };
    refuse(entry, "", status);
  } else if (status === 429 || status === 503) {
    return { name: "busy", wait_ms };
  } else {
    return { name: "answered", status };
  }
  return null;
}

// The cookie's token instead of the page's: it is the right one after a login in another tab, too.
function post(batch) {
  const token = /(?:^|; )csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? "";
  const body = bodyOf(batch);
  return fetch(batch.length === 1 ? batch[0].url : QUEUE_URL, {
    method: "POST",
    body,
    headers: {
      "Content-Type": batch.length === 1 ? "application/x-www-form-urlencoded" : "application/json",
      "X-CSRFToken": token,
      "X-Requested-With": "fetch",
    },
    redirect: "manual", // whoever is logged out is sent on to the login page, which answers 200
    keepalive: sizeOf(body) < KEEPALIVE_BYTES,
    signal: AbortSignal.timeout(REPLY_MS),
  });
}

// Takes out what the server will never accept. What was said to the same question after it takes its place; where
// nothing was, the answer is kept for its question, and the item is not submitted without it.
function refuse(entry, says, status) {
  erase(entry);
  const problem = new DOMParser().parseFromString(says, "text/html").body.textContent.replace(/\s+/g, " ").trim();
  if (entry.kind === "answer") {
    const [after] = waitingAt(entry.url);
    if (after) {
      const rests = after.fields.base === entry.key;
      if (rests) write({ ...after, fields: { ...after.fields, base: entry.fields.base } });
    } else {
      entries().filter(({ item, kind }) => item === entry.item && kind !== "answer").forEach(erase);
      if (![404, 410].includes(status)) write({ ...entry, problem, status, place: refusedPrefix + entry.url });
    }
  }
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
  if (entry && waitingAt(entry.url)[0].key === entry.key) post([entry]).catch(() => {});
});

// What is kept in storage outlives the page; what is not would be lost with it.
addEventListener("beforeunload", (event) => { if (!isKept()) event.preventDefault(); });
addEventListener("pageshow", () => { if (entries().length) send(); });
for (const old of refusals()) if (Date.now() - old.made > REFUSED_MS) erase(old);
