// Export menus of tables and figures: Esc and a click outside close them, and a button copies a file's text.

const OPEN = "details.menu[open]";

addEventListener("click", ({ target }) => {
  for (const menu of document.querySelectorAll(OPEN)) if (!menu.contains(target)) menu.open = false;
  const button = target.closest?.("[data-copy]"); // numbers of a large study come after this script
  if (button) copy(button);
});

addEventListener("keydown", ({ key, target }) => {
  const menu = key === "Escape" && (target.closest?.(OPEN) ?? document.querySelector(OPEN));
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
