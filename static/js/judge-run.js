// A run as it goes: each tenth of it is said aloud, cancelling asks first, and the last replies stand still
// while somebody reads them. htmx fetches and swaps, though never while a mouse button is down; a run that has
// ended is asked about no more.

import { isPressing } from "./pressing.js";

const spoken = document.getElementById("spoken");
const says = document.getElementById("live-says");
const progress = () => document.getElementById("progress").dataset;
const replies = document.querySelector("[data-still]");
let tenth = Math.floor(progress().percent / 10);
let state = progress().state;
let held = false;
let goesOn = true;

function tell(words) {
  says.textContent = words;
  says.hidden = !words;
}

document.addEventListener("click", (event) => {
  const asks = event.target.closest("[data-asks]");
  const dialog = asks && document.getElementById(asks.dataset.asks);
  if (!dialog || event.ctrlKey || event.metaKey || event.shiftKey) return; // its own page asks too
  event.preventDefault();
  dialog.showModal();
});

document.addEventListener("htmx:beforeRequest", (event) => {
  if (held || document.hidden) event.preventDefault();
});
document.addEventListener("htmx:beforeSwap", (event) => {
  if (isPressing()) { // what is replaced under the mouse cannot be clicked
    event.detail.shouldSwap = false;
    return;
  }
  goesOn = event.detail.serverResponse.includes("hx-trigger"); // the part that asks again
  if (new URL(event.detail.xhr.responseURL).pathname === location.pathname) return;
  event.detail.shouldSwap = false;
  held = true;
  tell("Log in again and reload the page: the numbers stand still.");
});
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const isRead = replies.matches(":hover, :focus-within");
  if (event.detail.target.id === "reply-rows" && goesOn && isRead) event.detail.shouldSwap = false;
});
document.addEventListener("htmx:afterSettle", () => {
  tell("");
  const now = Math.floor(progress().percent / 10);
  const news = [];
  if (progress().state !== state) {
    state = progress().state;
    news.push(`The run is ${state}.`);
  }
  if (now > tenth) news.push(progress().says);
  tenth = now;
  if (news.length) spoken.textContent = news.join(" ");
});
for (const problem of ["htmx:sendError", "htmx:responseError"]) {
  document.addEventListener(problem, (event) => {
    const { status } = event.detail.xhr;
    held = status >= 400 && status < 500; // it was told that there is nothing to see, and not that it is late
    tell(held ? "This run can no longer be seen: reload the page." : "The server did not answer; it is asked again in two seconds.");
  });
}
