// On every page: the theme switch, dialogs that open from a button, and copying a link.

const root = document.documentElement;

function isDark() {
  return (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
}

for (const button of document.querySelectorAll("[data-theme-toggle]")) {
  const name = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to the ${isDark() ? "light" : "dark"} theme`);
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    // A cookie, because the server prints the theme into the page: nothing flashes on the next load.
    document.cookie = `theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax`;
    name();
  });
  name();
}

for (const button of document.querySelectorAll("[data-opens]")) {
  button.addEventListener("click", () => document.getElementById(button.dataset.opens).showModal());
}

for (const button of document.querySelectorAll("[data-copy-link]")) {
  button.addEventListener("click", async () => {
    const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
    button.textContent = copied ? "Link copied" : "Copy the address above";
  });
}

export function readData(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

// True while a key belongs to a field or a dialog, so that single-key shortcuts stay quiet.
export function isTyping(event) {
  return event.altKey || event.metaKey || document.querySelector("dialog[open]") !== null
    || event.target.closest("textarea, select, input:not([type=radio], [type=checkbox])") !== null;
}
