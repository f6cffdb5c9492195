// Says how many ratings came since the page was opened. Nothing on the page moves until the reader asks for it.

const LOOK_MS = 20000;

async function look() {
  // Looked up each time: a page of a large study gets it with its numbers.
  const notice = document.querySelector("[data-new-ratings]");
  if (!notice || document.hidden) return;
  const response = await fetch(notice.dataset.newRatings).catch(() => null);
  if (!response?.ok || response.redirected) return; // logged out, or no server: the page stays as it is
  const { n } = await response.json();
  if (!n) return;
  notice.querySelector("span").textContent = `${n.toLocaleString("en-GB")} new rating${n === 1 ? "" : "s"}.`;
  notice.hidden = false;
}

setInterval(look, LOOK_MS);
document.addEventListener("visibilitychange", look);
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-new-ratings] a")) return;
  event.preventDefault();
  location.reload(); // stays at the place where the reader is
});
