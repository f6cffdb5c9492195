// Whether a mouse button or a finger is down. What happens by itself waits for it to come up, so that nothing
// moves under it, and no element is replaced between the press and the click.

let down = false;
let waiting = [];

export const isPressing = () => down;

// Acts at once, or when the pointer is up and the page has taken what it did.
export function calmly(act) {
  if (down) waiting.push(act);
  else act();
}

function up() {
  down = false;
  setTimeout(() => {
    if (down) return; // pressed again: that press is waited for too
    const acts = waiting;
    waiting = [];
    for (const act of acts) act();
  });
}

addEventListener("pointerdown", () => { down = true; }, true);
for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, up, true);
addEventListener("pointermove", (event) => { if (down && !event.buttons) up(); }, true); // let go outside the window
