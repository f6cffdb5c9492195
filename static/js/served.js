// The words of a page as the server sent them, in `data-served`, and where they stand now. A browser that translates
// the page puts other words in their place, and extensions put nodes of their own between them.

import { calmly } from "./pressing.js";

const CHECK_MS = 200;

export const servedText = (element) => element.dataset.served;

// The text nodes of the served words, each with the place of its first UTF-16 unit. Nodes that others put in are left
// out; null where the served words are not there any more.
export function servedNodes(element) {
  const served = servedText(element);
  const isUntouched = element.textContent === served; // the usual case, and many nodes
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  // By the place up to which the served words are found: the last node of a way there, with the way before it.
  let ways = new Map([[0, null]]);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.length) continue;
    const next = new Map(isUntouched ? [] : ways); // this one is left out
    for (const [place, way] of ways) {
      const end = place + node.length;
      if (!next.has(end) && served.startsWith(node.data, place)) next.set(end, { node, place, way });
    }
    ways = next;
  }
  if (!ways.has(served.length)) return null;
  const nodes = [];
  for (let at = ways.get(served.length); at; at = at.way) nodes.unshift([at.node, at.place]);
  return nodes;
}

// Whether a text or a question says something else now than the server sent.
export const isAltered = () => [...document.querySelectorAll("[data-served]")].some((each) => servedNodes(each) === null);

// Shows the notice of the page once it is so, now or later, and calls back.
export function watchServed(act) {
  let soon;
  const observer = new MutationObserver(() => {
    clearTimeout(soon);
    soon = setTimeout(check, CHECK_MS);
  });
  const check = () => {
    if (!isAltered()) return;
    observer.disconnect();
    calmly(() => {
      document.getElementById("altered").hidden = false;
      act();
    });
  };
  observer.observe(document.getElementById("main"), { childList: true, characterData: true, subtree: true });
  check();
}
