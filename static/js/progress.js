// The numbers of a campaign, fetched again by htmx: held on demand, while nobody looks and while a mouse button
// is down, and never a log-in page.

import { isPressing } from "./pressing.js";

const live = document.querySelector("[data-live]");
const pause = document.querySelector("[data-pause-live]");
const says = document.querySelector("[data-live-says]");
let held = false;

function hold(on, why = "") {
  held = on;
  pause.setAttribute("aria-pressed", String(on));
  says.textContent = why || (on ? "The numbers stand still." : "The numbers are counted again every 10 seconds.");
}

pause.hidden = false;
hold(false);
pause.addEventListener("click", () => hold(!held));

live.addEventListener("htmx:beforeRequest", (event) => {
  if (held || document.hidden) event.preventDefault();
});
live.addEventListener("htmx:beforeSwap", (event) => {
  if (isPressing()) event.detail.shouldSwap = false; // a link that is replaced under the mouse is not followed
  const answered = new URL(event.detail.xhr.responseURL).pathname;
  if (answered === location.pathname) return;
  event.detail.shouldSwap = false;
  hold(true, "Log in again and reload the page: the numbers stand still.");
});
for (const problem of ["htmx:sendError", "htmx:responseError"]) {
  live.addEventListener(problem, () => { says.textContent = "The server did not answer; it is asked again in 10 seconds."; });
}
