// Deciding about what was written, by keys: A accepts, E edits, R rejects, J and K go on and back. The source shows
// the words that the product one is at rests on. Every step is a button of a form, too.

import { isTyping, keyOf } from "./site.js";

const pane = document.querySelector(".source-pane"); // scrolls by itself: the page stays where it is
const products = [...document.querySelectorAll(".product")];
let at = products.findIndex((product) => "open" in product.dataset);
if (at < 0) at = 0;

function show(index, scrolls = true) {
  at = Math.min(Math.max(index, 0), products.length - 1);
  for (const [place, product] of products.entries()) {
    product.toggleAttribute("data-at", place === at);
    const source = document.getElementById(product.dataset.source);
    if (source) source.hidden = place !== at;
  }
  const source = document.getElementById(products[at].dataset.source);
  const mark = source?.querySelector("mark");
  if (mark) pane.scrollTop += mark.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 4;
  if (!scrolls) return;
  products[at].focus({ preventScroll: true });
  products[at].scrollIntoView({ block: "nearest" });
}

function press(value) {
  products[at].querySelector(`button[value="${value}"]`)?.click();
}

const keys = {
  a: () => press("accept"),
  r: () => press("reject"),
  e: () => products[at].querySelector("textarea")?.focus(),
  j: () => show(at + 1),
  k: () => show(at - 1),
};

document.addEventListener("keydown", (event) => {
  if (!products.length || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && isTyping(event)) {
    products[at].focus();
    return;
  }
  const act = !isTyping(event) && keys[keyOf(event, (sign) => Object.hasOwn(keys, sign.toLowerCase())).toLowerCase()];
  if (!act || event.repeat) return;
  event.preventDefault();
  act();
});

for (const [place, product] of products.entries()) {
  product.addEventListener("focusin", () => place !== at && show(place, false));
}
if (products.length) show(at, false);
