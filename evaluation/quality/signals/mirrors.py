"""Grades that mirror another task of the same rater; `copies` has what repeats another rater."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evaluation.stats.estimate import Estimate

Group = tuple[str, str]  # rubric, system or kind of the texts


@dataclass(frozen=True, slots=True)
class Mirror:
    """How often a rater's answerability here equals their own in one other task.

    `other` names that task by its rubric and by the system (or kind) of its texts.
    """

    other: Group
    same: int
    n: int

    @property
    def share(self) -> Estimate:
        return Estimate(self.same / self.n, None, self.n)


def mirrors(
    here: Iterable[tuple[int, bool]], there: Mapping[Group, Mapping[int, Iterable[bool]]]
) -> tuple[Mirror, ...]:
    """One rater's answers here against those given to the same sub-questions in other tasks.

    `here`: (sub-question, answerable) of each answer; `there`: by task, by sub-question, whether
    each text of it was found to answer. Every pair of an answer here and one there counts. Tasks
    are kept apart by system, because one text shown before the other is what anchors: taken
    together, the texts that were not shown hide it. The strongest comes first; a task without a
    common sub-question is left out, and without any there is none.
    """
    same: Counter[Group] = Counter()
    n: Counter[Group] = Counter()
    for question, answerable in here:
        for group, answers in there.items():
            for other in answers.get(question, ()):
                n[group] += 1
                same[group] += other == answerable
    by_task = [Mirror(group, same[group], count) for group, count in n.items()]
    return tuple(
        sorted(by_task, key=lambda mirror: (-mirror.same / mirror.n, -mirror.n, mirror.other))
    )
