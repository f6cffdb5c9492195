// The page of a study, which sends what an earlier page left behind: what it counts and offers follows that.

import { events } from "./outbox.js";
import { calmly } from "./pressing.js";
import "./saved.js";

const PAUSE_MS = 300; // several answers on their way are one change of the page
const main = document.getElementById("main");
let soon;

events.addEventListener("acknowledged", () => {
  clearTimeout(soon);
  soon = setTimeout(refresh, PAUSE_MS);
});

async function refresh() {
  const response = await fetch(location.href, { redirect: "manual" }).catch(() => null);
  if (response?.type === "opaqueredirect") return location.reload(); // another step comes first now
  const page = response?.ok && new DOMParser().parseFromString(await response.text(), "text/html");
  if (page) calmly(() => show(page.getElementById("main")));
}

// The line that says where answers are stays the same element: it is read aloud when it changes.
function show(fresh) {
  const focused = document.activeElement.getAttribute("href");
  fresh.querySelector("#saved").replaceWith(document.getElementById("saved"));
  main.replaceChildren(...fresh.childNodes);
  if (focused) main.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
}
