// One pair: everybody's marks over the text, switched on and off; j and k move through the list, n begins a note.
import { isTyping, keyOf, readData } from "./site.js";
import { draw, unwrapMarks } from "./spans.js";
import { readItem } from "./storage.js";

const body = document.getElementById("text");
const raters = document.getElementById("raters");
const spans = readData("spans");

function show() {
  const chosen = new Set([...raters.querySelectorAll("input:checked")].map((input) => input.value));
  draw(body, spans.filter((span) => chosen.has(span.rater)));
}

// A sentence has a name in the address, so that a link to it can be sent.
const sentences = [...(body?.querySelectorAll(".sentence") ?? [])];

function goToSentence() {
  const sentence = sentences.find(({ id }) => `#${id}` === location.hash);
  if (!sentence) return;
  if (!sentence.hasAttribute("tabindex")) sentence.tabIndex = -1;
  sentence.scrollIntoView({ block: "center" });
  sentence.focus({ preventScroll: true });
}

sentences.forEach((sentence, at) => { sentence.id = `sentence-${at + 1}`; });
window.addEventListener("hashchange", goToSentence);

if (body && raters) {
  unwrapMarks(body); // they were for readers without scripts
  raters.hidden = false;
  raters.addEventListener("change", show);
  new ResizeObserver(show).observe(body); // lines break elsewhere: the letters in the margin move
  show();
}
goToSentence();

const go = (rel) => document.querySelector(`a[rel="${rel}"]`)?.click();
const KEYS = {
  j: () => go("next"), k: () => go("prev"), n: () => document.getElementById("note")?.focus(),
  "?": () => document.getElementById("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  const key = keyOf(event, (sign) => Object.hasOwn(KEYS, sign));
  if (!Object.hasOwn(KEYS, key) || isTyping(event) || event.ctrlKey) return;
  if (readItem("localStorage", "single-keys") === "off") return; // switched off on the annotation pages
  event.preventDefault(); // the n is none of the note
  KEYS[key]();
});
