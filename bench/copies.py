"""Copied answers in simulated campaigns: detection, false alarms, time of the search.

    make bench-copies

Three raters answer each item, and each rater answers 16 items of 15 questions, as on the pages of T1. Half of
the answers have a highlight. Two raters who both highlight something for an answer highlight the very
same with a probability of 5%, as in the real study, of 16%, as its most alike pair, or of 30%. A copycat takes
4, 10 or 20 answers from one rater, in their order, and has no other answer in common with them.
"""

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from evaluation.quality.signals.copies import Highlights, copies

ITEMS, RATERS, QUESTIONS = 16, 3, 15  # items of a rater, raters of an item, questions of an item
LENGTH = 10**6  # of a text, so that two free choices are never the same
SIZES = ((20, 200), (60, 100), (400, 10))  # raters, and campaigns


@dataclass(frozen=True)
class Answers:
    """Answers of a campaign, as `copies` takes them."""

    rater: np.ndarray
    pair: np.ndarray
    grade: np.ndarray
    highlights: list[Highlights]

    def copies(self):
        return copies(self.rater, self.pair, self.grade, self.highlights)


def campaign(seed: int, n_raters: int, chance: float, answerable: float = 0.5) -> Answers:
    """Simulate honest raters; `answerable` is the share of grade 1, with a highlight."""
    generator = np.random.default_rng(seed)
    n_items = n_raters * ITEMS // RATERS
    seats = generator.permutation(np.repeat(np.arange(n_raters), ITEMS))[: n_items * RATERS]
    item = np.repeat(np.arange(n_items), RATERS)
    seats, item = np.divmod(np.unique(seats * n_items + item), n_items)  # nobody has an item twice
    rater = np.repeat(seats, QUESTIONS)
    pair = np.repeat(item, QUESTIONS) * QUESTIONS + np.tile(np.arange(QUESTIONS), len(item))
    truth = generator.random(n_items * QUESTIONS) < answerable
    grade = (truth[pair] ^ (generator.random(len(pair)) < 0.1)).astype(np.int64)
    is_common = generator.random(len(pair)) < chance**0.5  # both, with probability `chance`
    start = np.where(is_common, 0, generator.integers(1, LENGTH, len(pair)))
    highlights = [
        frozenset({(at, LENGTH)}) if level else frozenset()
        for at, level in zip(start.tolist(), grade.tolist(), strict=True)
    ]
    return Answers(rater, pair, grade, highlights)


def with_copycat(honest: Answers, n: int, source: int = 0) -> Answers:
    """Add a rater who has the first n answers of another, and none else."""
    copied = np.flatnonzero(honest.rater == source)[:n]
    copycat = np.full(len(copied), honest.rater.max() + 1)
    return Answers(
        np.concatenate([honest.rater, copycat]),
        np.concatenate([honest.pair, honest.pair[copied]]),
        np.concatenate([honest.grade, honest.grade[copied]]),
        honest.highlights + [honest.highlights[answer] for answer in copied.tolist()],
    )


def detects(answers: Answers, source: int = 0) -> bool:
    """Return whether the last rater is found as a copy of the source."""
    return any(copy.other == answers.rater.max() for copy in answers.copies().get(source, ()))


def smoke() -> str:
    """Search one small campaign with a copycat and one without; see bench.smoke."""
    honest = campaign(0, 20, 0.16)
    if honest.copies() or not detects(with_copycat(honest, 20)):
        raise SystemExit("A copycat was missed, or an honest rater taken for one.")
    return f"the only copycat among {len(honest.rater)} answers is detected"


def main() -> None:
    print("raters, probability of the same highlight, campaigns: false alarms; found of 4, 10, 20")
    for n_raters, n_campaigns in SIZES:
        for chance in (0.05, 0.16, 0.3):
            alarms, hits = 0, np.zeros(3, dtype=int)
            for seed in range(n_campaigns):
                honest = campaign(seed, n_raters, chance)
                alarms += bool(honest.copies())
                hits += [detects(with_copycat(honest, n)) for n in (4, 10, 20)]
            print(n_raters, chance, n_campaigns, alarms, (hits / n_campaigns).tolist(), flush=True)
    print("raters, answers, ms: the best of five")
    for n_raters in (400, 800, 1600):
        honest = campaign(0, n_raters, 0.16)
        times = []
        for _ in range(5):
            begin = perf_counter()
            honest.copies()
            times.append(perf_counter() - begin)
        print(n_raters, len(honest.rater), round(1000 * min(times)), flush=True)


if __name__ == "__main__":
    main()
