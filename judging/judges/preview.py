"""Preview of the prompt about a chosen pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from django.db.models import Model, QuerySet

from annotation.models import Dataset, SubQuestion, Text, Topic
from judging.engine.pair_loader import PairLoader
from judging.grading.prompt import render
from judging.grading.spec import Spec
from judging.llm.messages import Message, prompt_hash

M = TypeVar("M", bound=Model)


@dataclass
class Picked:
    """Chosen pair: a dataset, and of it a topic, a text and a question, by numbers from 1.

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
        """Return (name, number, count) for the fields of the form."""
        return [(name, self.numbers[name], self.counts[name]) for name in self.numbers]


@dataclass(frozen=True)
class Preview:
    """Messages about a chosen pair, exactly as they would be sent."""

    picked: Picked
    messages: list[Message]
    hash: str


def pick(wish: Mapping[str, str], datasets: list[Dataset]) -> Picked | None:
    """Return the pair that a form asks for, by default the first.

    None without a dataset.
    """
    if not datasets:
        return None
    by_slug = {dataset.slug: dataset for dataset in datasets}
    slug = wish.get("dataset", "")
    picked = Picked(by_slug.get(slug, datasets[0]))
    if slug and slug not in by_slug:
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
    """Return the messages of a judge about a chosen pair; None if there is no pair."""
    if picked is None or not (picked.topic and picked.text and picked.question):
        return None
    keys = picked.text.pk, picked.question.pk
    messages = render(spec, PairLoader(spec, keys[:1], keys[1:]).pair(*keys))
    return Preview(picked, messages, prompt_hash(messages))


def _nth(picked: Picked, wish: Mapping[str, str], name: str, rows: QuerySet[M]) -> M | None:
    n = rows.count()
    requested = wish.get(name, "").strip() or "1"
    number = int(requested) if requested.isdecimal() and len(requested) < 10 else 0
    if n == 0:
        picked.problems.append(f"There is no {name}{' with content' if name == 'text' else ''}.")
        return None
    if not 1 <= number <= n:
        picked.problems.append(f"There is no {name} {requested!r}: numbers are from 1 to {n:,}.")
        number = 1
    picked.numbers[name], picked.counts[name] = number, n
    return rows[number - 1]
