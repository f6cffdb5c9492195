// Sending answers: each at once, in order, with a key made here, so that one sent twice is stored once.
// An answer that could not be sent stays on the page, is said so, and is sent again.

const RETRY_MS = 3000;
const status = document.getElementById("saved");
const unsaved = new Set(); // forms whose newest answer the server has not acknowledged
let waiting = 0; // requests sent or queued
let retry;

// crypto.randomUUID is missing on plain http beyond localhost, where a lab's first server may well be.
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function say(words, kind = "") {
  status.className = `status ${kind}`;
  status.textContent = words;
}

// A new answer: a new key. The form's fields are read when its turn comes, so the newest are sent.
export function save(form) {
  form.elements.key.value = newKey();
  unsaved.add(form);
  send(form);
}

function send(form) {
  waiting += 1;
  say("Saving…");
  htmx.trigger(form, "save");
}

// Resolves once everything is acknowledged; rejects when something is not.
export function allSaved() {
  return new Promise((resolve, reject) => {
    const look = () => {
      if (waiting > 0) setTimeout(look, 30);
      else if (unsaved.size) reject(new Error("unsaved"));
      else resolve();
    };
    look();
  });
}

// What went wrong with a request, in words; nothing if the server has acknowledged it. Whoever is logged
// out is sent on to the login page, which answers 200: that is no acknowledgement.
export function problemWith(answer) {
  if (answer.status === 204) return "";
  if (!answer.status) return "The server cannot be reached.";
  if (answer.status === 422) return answer.responseText.replace(/<[^>]*>/g, " ").trim();
  if (new URL(answer.responseURL).pathname.startsWith("/login/")) {
    return "You have been logged out: log in again in another tab, and it is sent from here.";
  }
  return `The server answered ${answer.status}.`;
}

// The cookie's token instead of the page's: it is the right one after a login in another tab, too.
document.addEventListener("htmx:configRequest", (event) => {
  const token = /(?:^|; )csrftoken=([^;]*)/.exec(document.cookie);
  if (!token) return;
  delete event.detail.parameters.csrfmiddlewaretoken;
  event.detail.headers["X-CSRFToken"] = token[1];
});

document.addEventListener("htmx:afterRequest", (event) => {
  const form = event.detail.elt;
  if (!form.elements?.key) return;
  waiting = Math.max(0, waiting - 1);
  const problem = problemWith(event.detail.xhr);
  const sent = event.detail.requestConfig.parameters.key;
  if (!problem && sent === form.elements.key.value) unsaved.delete(form);
  clearTimeout(retry);
  if (event.detail.xhr.status === 422) return say(`Not saved. ${problem}`, "failed"); // again would be refused again
  if (problem) say(`Not saved yet, ${unsaved.size} waiting. ${problem}`, "failed");
  else if (!waiting && !unsaved.size) {
    say(`Saved ${new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" })}`);
  }
  if (unsaved.size && !waiting) retry = setTimeout(() => [...unsaved].forEach(send), RETRY_MS);
});

addEventListener("beforeunload", (event) => { if (unsaved.size) event.preventDefault(); });
