// The rating matrix: the pair under the pointer or the focus in words, and arrow keys from cell to cell.
const table = document.getElementById("matrix");
const line = document.getElementById("pair");
const links = [...table.querySelectorAll("tbody td > a")];
const asked = (number) => document.querySelector(`#question-${number} .asked`).textContent;

function show(link) {
  const cell = link.parentElement;
  const row = cell.parentElement;
  const head = table.tHead.rows[0].cells[cell.cellIndex];
  const [, grade] = link.getAttribute("aria-label").split(/: (?=[^:]*$)/);
  line.querySelector(".asked").textContent = `${head.textContent.trim()}. ${asked(head.textContent.trim())}`;
  line.querySelector(".said").textContent = `${row.querySelector(".title").textContent}: ${grade}`;
  table.querySelectorAll(".here").forEach((old) => old.classList.remove("here"));
  head.classList.add("here");
  row.cells[0].classList.add("here");
}

function goTo(link) {
  table.querySelector('td > a[tabindex="0"]').tabIndex = -1;
  link.tabIndex = 0;
  link.focus();
}

// One stop for Tab in the whole table; inside it, arrows. Without this script every cell is a stop.
if (links.length) {
  links.forEach((link, at) => { link.tabIndex = at ? -1 : 0; });
  line.hidden = false;
  document.getElementById("matrix-keys").hidden = false;
  for (const kind of ["pointerover", "focusin"]) {
    table.addEventListener(kind, (event) => {
      const link = event.target.closest("tbody td")?.querySelector("a");
      if (link) show(link);
    });
  }
  table.addEventListener("keydown", (event) => {
    const [across, down] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key] ?? [];
    const cell = event.target.closest("tbody td");
    if (across === undefined || !cell || event.altKey || event.ctrlKey || event.metaKey) return;
    const rows = [...table.querySelectorAll("tbody tr[data-text]")];
    const row = rows[rows.indexOf(cell.parentElement) + down];
    const next = row?.cells[cell.cellIndex + across]?.querySelector("a");
    event.preventDefault();
    if (next) goTo(next);
  });
}
