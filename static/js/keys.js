// Which key does what on the task page: the usual set, one for the left hand, or one's own. This browser keeps the choice
// for each account. Grades keep the keys of their rubric; a set may add one for the lowest.

import { phrase } from "./site.js";
import { readItem, writeItem } from "./storage.js";

const SETS = {
  usual: { next: "j", previous: "k", undo: "u", text: "t", lowest: "" },
  left: { next: "s", previous: "w", undo: "z", text: "r", lowest: "q" },
};
const form = document.getElementById("keys");
const inputs = [...form.querySelectorAll("[data-action]")];
const problem = form.querySelector("[role=alert]");
const place = `keys:${document.getElementById("saved").dataset.user}`;
let keys = SETS.usual;

// The action that a key stands for; undefined for none.
export function actionOf(key) {
  return Object.keys(keys).find((action) => keys[action] && keys[action] === key.toLowerCase());
}

function use(name, own) {
  keys = name === "own" ? own : SETS[name];
  form.elements["key-set"].value = name;
  for (const input of inputs) {
    input.value = keys[input.dataset.action];
    input.disabled = name !== "own";
  }
  for (const shown of document.querySelectorAll("kbd[data-key]")) shown.textContent = keys[shown.dataset.key];
  document.getElementById("undo").setAttribute("aria-keyshortcuts", `${keys.undo} Control+Z`);
  form.querySelector(".own-keys").hidden = name === "usual";
}

// Why these keys cannot be used together; nothing where they can. `taken` are the keys of grades.
function clash(wanted, taken) {
  const all = Object.values(wanted).filter(Boolean);
  const twice = all.find((key, at) => all.indexOf(key) !== at);
  const grade = all.find((key) => taken.includes(key));
  if (twice) return phrase("key_twice", { key: twice });
  if (grade) return phrase("key_of_grade", { key: grade });
  return Object.entries(wanted).some(([action, key]) => !key && action !== "lowest") ? phrase("key_missing") : "";
}

function storedChoice() {
  try {
    return JSON.parse(readItem("localStorage", place)) ?? {};
  } catch {
    return {}; // something else has written there
  }
}

export function chooseKeys(taken) {
  const stored = storedChoice();
  use(stored.name in SETS || stored.own ? stored.name : "usual", stored.own);
  // Where nothing had the focus before, a closed dialog keeps it, and takes the keys.
  const dialog = form.closest("dialog");
  dialog.addEventListener("close", () => { if (dialog.contains(document.activeElement)) document.activeElement.blur(); });
  form.addEventListener("change", (event) => {
    const name = form.elements["key-set"].value;
    const own = Object.fromEntries(inputs.map((input) => [input.dataset.action, input.value.trim().toLowerCase()]));
    problem.textContent = event.target.name === "key-set" ? "" : clash(own, taken);
    problem.hidden = !problem.textContent;
    if (problem.textContent) return;
    use(name, own); // one's own begin as those of the set before
    writeItem("localStorage", place, JSON.stringify({ name, ...(name === "own" && { own }) }));
  });
}
