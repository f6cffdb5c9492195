// Says how many ratings came since the page was opened. Nothing on the page moves until the reader asks for it.

const LOOK_MS = 20000;
const notice = document.querySelector("[data-new-ratings]");

async function look() {
  if (document.hidden) return;
  const response = await fetch(notice.dataset.newRatings).catch(() => null);
  if (!response?.ok || response.redirected) return; // logged out, or no server: the page stays as it is
  const { n } = await response.json();
  if (!n) return;
  notice.querySelector("span").textContent = `${n.toLocaleString("en-GB")} new rating${n === 1 ? "" : "s"}.`;
  notice.hidden = false;
}

if (notice) {
  setInterval(look, LOOK_MS);
  document.addEventListener("visibilitychange", look);
  notice.querySelector("a").addEventListener("click", (event) => {
    event.preventDefault();
    location.reload(); // stays at the place where the reader is
  });
}
