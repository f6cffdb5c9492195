// On every page: the theme switch, how texts are set, dialogs that open from a button, menus, and copying a link.

import "./menus.js";

const root = document.documentElement;

function isDark() {
  return (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
}

for (const button of document.querySelectorAll("[data-theme-toggle]")) {
  const name = () => {
    button.textContent = isDark() ? button.dataset.light : button.dataset.dark;
    button.setAttribute("aria-label", isDark() ? button.dataset.toLight : button.dataset.toDark);
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    // A cookie, because the server prints the theme into the page: nothing flashes on the next load.
    document.cookie = `theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax`;
    name();
  });
  name();
}

// Text size and line length: radios named as the cookie and the attribute of the page are.
for (const choice of document.querySelectorAll("[data-appearance] input")) {
  choice.addEventListener("change", () => {
    root.setAttribute(`data-${choice.name}`, choice.value);
    document.cookie = `${choice.name}=${choice.value}; path=/; max-age=31536000; samesite=lax`;
  });
}

for (const button of document.querySelectorAll("[data-opens]")) {
  button.addEventListener("click", (event) => {
    event.preventDefault(); // some are links, for those without scripts
    document.getElementById(button.dataset.opens).showModal();
  });
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

// A text of the page's own language, with its {names} filled in.
export function phrase(name, values = {}) {
  words ??= readData("words");
  return words[name].replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
}
let words;

// The key that was pressed, among those that mean something here. Where its sign means nothing, its place on the keyboard
// counts: a French row of digits has other signs without Shift, and a Greek or Cyrillic J another letter.
export function keyOf(event, means) {
  if (means(event.key) || event.shiftKey || event.altKey || event.metaKey || /^[a-z]$/i.test(event.key)) return event.key;
  const place = /^(?:Digit|Key)([0-9A-Z])$/.exec(event.code)?.[1].toLowerCase();
  return place && means(place) ? place : event.key;
}

// Until its close event, a closed dialog keeps the focus in its field, where nobody can type any more.
export function isField(event) {
  const field = event.target.closest("textarea, select, input:not([type=radio], [type=checkbox])");
  return field !== null && field.checkVisibility();
}

// True while a key belongs to a field or a dialog, so that single-key shortcuts stay quiet.
export function isTyping(event) {
  return event.altKey || event.metaKey || document.querySelector("dialog:modal") !== null || isField(event);
}
