// Selecting words with the mouse. A browser's own drag runs to the end of the text where the pointer leaves it, and
// scrolls the pane near its edges, so that words are selected that nobody meant. Here a drag ends at the last point
// over the text, and the pane stands still.

// Watches drags that begin in the text. What is selected is left as the selection of the page.
export function watchDrags(body) {
  const pane = body.closest(".pane");
  let drag = null; // {anchor, last, isOutside, top}
  let byMouse = false;

  // What of the text can be seen, in the window's own measure.
  function visibleBox() {
    const text = body.getBoundingClientRect();
    const around = pane.getBoundingClientRect();
    return {
      left: text.left + 1, right: text.right - 1,
      top: Math.max(text.top, around.top, 0) + 1, bottom: Math.min(text.bottom, around.bottom, innerHeight) - 1,
    };
  }

  // Takes the pointer's place; where it leaves the text, the point at which it does.
  function follow({ clientX: x, clientY: y }) {
    const box = visibleBox();
    const isInside = x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
    if (isInside) drag.last = [x, y];
    else if (!drag.isOutside) drag.last = leavingPoint(drag.last, [x, y], box);
    drag.isOutside = !isInside;
  }

  function isControl({ target, clientX }) {
    const isScrollbar = target === pane && clientX >= pane.getBoundingClientRect().left + pane.clientWidth;
    return isScrollbar || target.closest("a, button, summary, input, label, .pane-head");
  }

  function select() {
    const caret = caretAt(...drag.last);
    if (!caret || !body.contains(caret[0])) return;
    const selection = getSelection();
    if (drag.anchor) selection.setBaseAndExtent(...drag.anchor, ...caret);
    else if (selection.rangeCount) selection.extend(...caret);
  }

  pane.addEventListener("pointerdown", (event) => { byMouse = event.pointerType === "mouse"; });
  pane.addEventListener("mousedown", (event) => {
    if (!byMouse || event.button !== 0 || event.shiftKey || isControl(event)) return;
    const start = nearest([event.clientX, event.clientY], visibleBox()); // a drag may begin beside a line
    const caret = caretAt(...start);
    if (!caret || !body.contains(caret[0])) return;
    drag = { anchor: null, last: start, isOutside: false, top: pane.scrollTop };
    if (event.detail > 1) return; // whole words or lines, which the browser selects
    event.preventDefault();
    document.activeElement?.blur();
    drag.anchor = caret;
    select();
  });
  document.addEventListener("mousemove", (event) => {
    if (!drag) return;
    if (!event.buttons) { // let go outside the window
      drag = null;
      return;
    }
    follow(event);
    if (drag.anchor) select();
  });
  document.addEventListener("mouseup", (event) => {
    if (!drag) return;
    follow(event);
    if (drag.anchor || drag.isOutside) select();
    drag = null;
  });
  pane.addEventListener("scroll", () => {
    if (drag && !drag.anchor) pane.scrollTop = drag.top;
  });
}

// Where the way from a point inside a box to one outside crosses its edge.
function leavingPoint([fromX, fromY], [toX, toY], box) {
  const share = (from, to, low, high) => (to < low ? (low - from) / (to - from) : to > high ? (high - from) / (to - from) : 1);
  const part = Math.max(0, Math.min(share(fromX, toX, box.left, box.right), share(fromY, toY, box.top, box.bottom)));
  return nearest([fromX + part * (toX - fromX), fromY + part * (toY - fromY)], box);
}

// The point of a box that is nearest to another point.
function nearest([x, y], { left, right, top, bottom }) {
  return [Math.min(right, Math.max(left, x)), Math.min(bottom, Math.max(top, y))];
}

// The node and the offset under a point; null where there is none.
function caretAt(x, y) {
  if (document.caretPositionFromPoint) {
    const caret = document.caretPositionFromPoint(x, y);
    return caret && [caret.offsetNode, caret.offset];
  }
  const range = document.caretRangeFromPoint(x, y);
  return range && [range.startContainer, range.startOffset];
}
