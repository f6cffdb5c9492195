// Answers to one question that its rubrics declare impossible together. They are saved, and asked about until one is
// another grade, or until a note that was written since says why both are right. The server decides the same way.

import { phrase } from "./site.js";

const standing = new Map(); // by two cards: both grades, and the notes as they were when both grades first stood
let cards = [];

export function linkCards(questions) { cards = questions; }

const isImpossible = (question, other) => question.grade !== null
  && (question.impossible[question.grade]?.[other.number] ?? []).includes(other.grade);

// The other cards of its question whose grades cannot be right beside its own, and are not explained.
export const contradictionsOf = (question) => cards.filter((other) => other.number in question.rivals && isAsked(question, other));

function isAsked(question, other) {
  const both = question.number < other.number ? [question, other] : [other, question];
  const key = both.map(({ number }) => number).join();
  const grades = isImpossible(question, other) ? both.map(({ grade }) => grade).join() : "";
  const known = standing.get(key);
  if (known?.grades !== grades) {
    standing.set(key, { grades, notes: new Map(both.map((card) => [card, card.note])) });
    if (known?.grades) { // the note was about those grades
      question.explainedCards.delete(other.number);
      other.explainedCards.delete(question.number);
    }
  }
  if (!grades) return false;
  const { notes } = standing.get(key);
  const isExplainedIn = (card, rival) => card.note.trim() && (card.explainedCards.has(rival.number) || card.note !== notes.get(card));
  return !isExplainedIn(question, other) && !isExplainedIn(other, question);
}

// Asks about them in the card; what is there already may have the focus, or is being read aloud.
export function drawContradictions(question, isActive) {
  const panel = question.element.querySelector(".contradiction");
  if (!panel) return;
  const others = contradictionsOf(question);
  panel.hidden = !isActive || !others.length;
  if (panel.hidden) return delete panel.dataset.drawn;
  const words = others.map((other) => {
    const [first, second] = [question, other].map((card) => card.labelOf(card.grade));
    return phrase("contradiction", { first, second });
  }).join(" ");
  if (panel.dataset.drawn === words) return;
  panel.dataset.drawn = panel.firstElementChild.textContent = words;
  for (const link of panel.querySelectorAll("a")) link.remove();
  panel.querySelector(".row").prepend(...others.map(({ number }) => Object.assign(document.createElement("a"),
    { className: "button", href: `#q-${number}`, textContent: phrase("check_question", { number }) })));
}
