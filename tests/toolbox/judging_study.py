"""A study to judge, a judge, and graders that do as they are told."""

import os
from collections import Counter
from collections.abc import Callable, Iterator

from django.db import connection

from annotation.models import Dataset, Rating, Rubric, SubQuestion, Text, Topic
from judging.engine import runs
from judging.engine.judges import make_judge
from judging.engine.planning import plan
from judging.engine.selection import Selection
from judging.grading.pairs import Pair, Reply, State
from judging.llm.errors import Failure
from judging.models import Attempt, Judge, JudgeRun
from tests.toolbox.paths import ROOT

WORKER = "here:1"


def make_study(topics: int = 2, texts: int = 3, questions: int = 4, slug: str = "study") -> Dataset:
    """Passages, each with words of its own."""
    dataset = Dataset.objects.create(slug=slug, title=slug)
    for number in range(topics):
        topic = Topic.objects.create(
            dataset=dataset, name=f"t-{number}", request="Why?", position=number
        )
        SubQuestion.objects.bulk_create(
            SubQuestion(topic=topic, position=n, body=f"Question {n} of {number}?")
            for n in range(questions)
        )
        for n in range(texts):
            add_text(topic, f"t-{number}:{n}", f"Passage {n} of topic {number} has words.")
    return dataset


def add_text(topic: Topic, name: str, body: str | None, kind: str = "passage") -> Text:
    system = "annotated.oracle" if kind == "report" else ""
    return Text.objects.create(
        dataset=topic.dataset, topic=topic, kind=kind, system=system, name=name, body=body
    )


def a_judge(slug: str = "judge", **fields) -> Judge:
    options = {"backend": "openai", "model": "m", "parser": "integer-1", **fields}
    options.setdefault("revision", slug)
    return make_judge(slug, rubric=Rubric.objects.get(slug="graded"), **options)


def planned(judge: Judge, dataset: Dataset, selection: Selection | None = None, **options):
    """A run of everything, ready for workers."""
    run = runs.start(judge, dataset, selection or Selection(), **options)
    plan(run, WORKER)
    return run


def key(pair: Pair) -> tuple[int, int]:
    return pair.text_id, pair.question_id


def graded(pair: Pair, grade: int = 3, **fields) -> Reply:
    return Reply(pair, State.GRADED, grade, raw=fields.pop("raw", str(grade)), **fields)


def failed(pair: Pair, **fields) -> Reply:
    return Reply(pair, State.UNPARSEABLE, failure=Failure.NO_GRADE, raw="Well.", **fields)


class Scripted:
    """Replies to what it is asked, `at_once` pairs at a time, and remembers the pairs."""

    def __init__(self, answer: Callable[[Pair], Reply] = graded, at_once: int = 1) -> None:
        self.answer, self.at_once = answer, at_once
        self.asked: list[Pair] = []

    def replies(self, pairs: Iterator[Pair]) -> Iterator[Reply | None]:
        pending: list[Pair] = []
        for pair in pairs:
            self.asked.append(pair)
            pending.append(pair)
            if len(pending) == self.at_once:
                yield from self.settle(pending)
                pending = []
        yield from self.settle(pending)

    def settle(self, pending: list[Pair]) -> Iterator[Reply | None]:
        yield from map(self.answer, pending)


class Grader:
    """A grader made of one function: `replies` itself."""

    def __init__(self, replies: Callable[[Iterator[Pair]], Iterator[Reply | None]]) -> None:
        self.replies = replies


def all_pairs(dataset: Dataset) -> set[tuple[int, int]]:
    """Each text with words, with each question of its topic."""
    return {
        (text.pk, question)
        for text in dataset.texts.with_body().filter(topic__isnull=False)
        for question in text.topic.questions.values_list("pk", flat=True)
    }


def planned_pairs(run: JudgeRun) -> list[tuple[int, int]]:
    """Pairs in the order of asking, copies among them."""
    return [
        (text, question)
        for groups in run.shards.order_by("number").values_list("groups", flat=True)
        for texts, questions in groups
        for question in questions
        for text in texts
    ]


def counted(judge: Judge) -> dict[tuple[int, int], tuple[str, int | None]]:
    """State and grade of the one attempt at each pair that counts."""
    rows = Attempt.objects.filter(judge=judge, counts=True)
    pairs = list(rows.values_list("text_id", "question_id", "state", "grade"))
    assert max(Counter(row[:2] for row in pairs).values(), default=1) == 1
    return {(text, question): (state, grade) for text, question, state, grade in pairs}


def rated(judge: Judge) -> dict[tuple[int, int], int]:
    rows = Rating.objects.filter(rater=judge.rater, rubric=judge.rubric)
    return {(r.text_id, r.question_id): r.grade for r in rows}


def agrees(judge: Judge) -> bool:
    """Return whether the ratings are exactly the graded attempts that count."""
    grades = {pair: grade for pair, (_, grade) in counted(judge).items() if grade is not None}
    return grades == rated(judge)


def make_large_study(topics: int, texts: int, questions: int, slug: str = "large") -> Dataset:
    """The same in bulk, for many pairs."""
    dataset = Dataset.objects.create(slug=slug, title=slug)
    created = Topic.objects.bulk_create(
        Topic(dataset=dataset, name=f"t-{number}", request="Why?", position=number)
        for number in range(topics)
    )
    SubQuestion.objects.bulk_create(
        SubQuestion(topic=topic, position=n, body="What?")
        for topic in created
        for n in range(questions)
    )
    Text.objects.bulk_create(
        Text(
            dataset=dataset,
            topic=topic,
            kind="passage",
            name=f"{topic.name}:{n}",
            body=f"words {topic.name}:{n}",
            sha256=f"{topic.name}:{n}",
        )
        for topic in created
        for n in range(texts)
    )
    return dataset


def environment(**more: str) -> dict[str, str]:
    """For a process of its own on the database of this test, which must have committed."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        url = f"sqlite:///{database['NAME']}"
    else:
        url = (
            f"postgres://{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT']}"
            f"/{database['NAME']}"
        )
    return os.environ | {
        "DATABASE_URL": url,
        "DJANGO_SETTINGS_MODULE": "crux_site.settings",
        "PYTHONPATH": str(ROOT),
        **more,
    }
