// Export menus of tables and figures: Esc and a click outside close them, and a button copies a file's text. The filter of
// a results page closes in the same way where it is a sheet over the page, on a phone.

const OPEN = "details:is(.menu, .filter)[open]";
const PHONE = matchMedia("(max-width: 40rem)");

// A filter in the page stays open.
const covers = (details) => details.matches(".menu") || (PHONE.matches && !details.matches("[data-in-place]"));
const covering = () => [...document.querySelectorAll(OPEN)].filter(covers);

addEventListener("click", (event) => {
  const { target } = event;
  for (const details of covering()) {
    if (details.contains(target)) continue;
    details.open = false;
    if (details.matches(".filter")) event.preventDefault(); // the click meant the shade, not the link below
  }
  const button = target.closest?.("[data-copy]"); // numbers of a large study come after this script
  if (button) copy(button);
});

addEventListener("keydown", ({ key, target }) => {
  if (key !== "Escape") return;
  const open = covering();
  const menu = open.find((details) => details.contains(target)) ?? open[0];
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

async function copy(button) {
  const message = await copied(button.dataset.copy);
  button.textContent = message;
  button.closest(".menu").querySelector("[role=status]").textContent = message;
}

// The outcome, to be read. A table too long for LaTeX has no file. Safari copies only what the click itself has begun.
async function copied(url) {
  const text = fetch(url).then((response) => {
    if (!response.ok) throw new Error(`there is no LaTeX file (${response.status})`);
    return response.text();
  });
  try {
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": text.then((body) => new Blob([body], { type: "text/plain" })) })]);
    return "Copied";
  } catch {
    return `Not copied: ${await text.then(() => "download the file", (error) => error.message)}`;
  }
}
