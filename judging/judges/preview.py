"""A pair picked by people, to see what a judge is sent about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from django.db.models import Model, QuerySet

from annotation.models import Dataset, SubQuestion, Text, Topic
from judging.engine.shown import Shown
from judging.grading.prompt import Message, prompt_hash, render
from judging.grading.spec import Spec

M = TypeVar("M", bound=Model)


@dataclass
class Picked:
    """A dataset, and of it a topic, a text and a question, by numbers from 1.

    `problems` say which wish could not be met, and what was taken instead; without a topic, a text
    with words or a question there is no pair.
    """

    dataset: Dataset
    topic: Topic | None = None
    text: Text | None = None
    question: SubQuestion | None = None
    numbers: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def steps(self) -> list[tuple[str, int, int]]:
        """(what, its number, how many there are) for the fields of the form."""
        return [(name, self.numbers[name], self.counts[name]) for name in self.numbers]


@dataclass(frozen=True)
class Preview:
    """The messages about a picked pair, exactly as they would be sent."""

    picked: Picked
    messages: list[Message]
    hash: str


def pick(wish: Mapping[str, str], datasets: list[Dataset]) -> Picked | None:
    """The pair that a form asks for, and the first where it asks for none; None without a dataset."""
    if not datasets:
        return None
    named = {dataset.slug: dataset for dataset in datasets}
    slug = wish.get("dataset", "")
    picked = Picked(named.get(slug, datasets[0]))
    if slug and slug not in named:
        picked.problems.append(f"There is no dataset {slug!r}.")
    topics = picked.dataset.topics.order_by("position")
    picked.topic = _nth(picked, wish, "topic", topics)
    if picked.topic:
        texts = picked.topic.texts.with_body().order_by("pk")
        picked.text = _nth(picked, wish, "text", texts)
        questions = picked.topic.questions.with_words().order_by("position")
        picked.question = _nth(picked, wish, "question", questions)
    return picked


def preview(spec: Spec, picked: Picked | None) -> Preview | None:
    """What this judge is sent about a picked pair; None where there is no pair."""
    if picked is None or not (picked.topic and picked.text and picked.question):
        return None
    keys = picked.text.pk, picked.question.pk
    messages = render(spec, Shown(spec, keys[:1], keys[1:]).pair(*keys))
    return Preview(picked, messages, prompt_hash(messages))


def _nth(picked: Picked, wish: Mapping[str, str], name: str, rows: QuerySet[M]) -> M | None:
    n = rows.count()
    wanted = wish.get(name, "").strip() or "1"
    number = int(wanted) if wanted.isdecimal() and len(wanted) < 10 else 0
    if n == 0:
        picked.problems.append(f"Here is no {name}{' with words' if name == 'text' else ''}.")
        return None
    if not 1 <= number <= n:
        picked.problems.append(f"There is no {name} {wanted!r}: they are numbered from 1 to {n:,}.")
        number = 1
    picked.numbers[name], picked.counts[name] = number, n
    return rows[number - 1]
