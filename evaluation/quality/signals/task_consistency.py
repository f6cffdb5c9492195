"""Consistency of a rater's grades across tasks, as a sign of anchoring.

`copies` compares a rater with others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evaluation.stats.estimate import Estimate

Group = tuple[str, str]  # rubric, system or kind of the texts


@dataclass(frozen=True, slots=True)
class TaskConsistency:
    """Share of a rater's answerability that equals their own in one other task.

    `other` names that task by its rubric and by the system (or kind) of its texts.
    """

    other: Group
    same: int
    n: int

    @property
    def share(self) -> Estimate:
        return Estimate(self.same / self.n, None, self.n)


def task_consistency(
    answers_here: Iterable[tuple[int, bool]],
    other_tasks: Mapping[Group, Mapping[int, Iterable[bool]]],
) -> tuple[TaskConsistency, ...]:
    """Compare a rater's answers with their own to the same sub-questions in other tasks.

    `answers_here`: (sub-question, answerable) of each answer; `other_tasks`: by task, by sub-question, whether
    each text of it was found to answer. Each pair of an answer here and one there counts. Tasks
    are kept apart by system, because one text shown before the other is what anchors: taken
    together, the texts that were not shown hide it. The strongest comes first; a task without a
    common sub-question is left out, and without any there is none.
    """
    same: Counter[Group] = Counter()
    n: Counter[Group] = Counter()
    for question, answerable in answers_here:
        for group, answers in other_tasks.items():
            for other_answer in answers.get(question, ()):
                n[group] += 1
                same[group] += other_answer == answerable
    by_task = [TaskConsistency(group, same[group], count) for group, count in n.items()]
    return tuple(
        sorted(by_task, key=lambda mirror: (-mirror.same / mirror.n, -mirror.n, mirror.other))
    )
