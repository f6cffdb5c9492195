"""Real data of neighbouring papers, which are not part of this repository, and the values expected of them."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Dataset, Rater, Rating, Rubric, RubricLevel, SubQuestion, Text, Topic

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data" / "neighbours"
FOLDER = Path(os.environ.get("NEIGHBOURS_DATA", BESIDE))
IS_THERE = (FOLDER / "expected_values.json").is_file()
MISSING = (
    f"THE NEIGHBOURS' DATA ARE NOT CHECKED: none at {FOLDER}; NEIGHBOURS_DATA says where they are"
)

needs_them = pytest.mark.skipif(not IS_THERE, reason=MISSING)


def expected(family: str) -> Any:
    return json.loads((FOLDER / "expected_values.json").read_text())[family]


def lines(path: str) -> list[dict]:
    return [json.loads(line) for line in (FOLDER / path).read_text().splitlines()]


def make_rubric(slug: str, levels: dict[int, str], **more: Any) -> Rubric:
    """A rubric of these grades and names."""
    rubric = Rubric.objects.create(slug=slug, title=slug, **more)
    RubricLevel.objects.bulk_create(
        RubricLevel(rubric=rubric, grade=grade, name=name, label=name)
        for grade, name in levels.items()
    )
    return rubric


def store(
    dataset: Dataset,
    rubric: Rubric,
    grades: Iterable[tuple[str, str, str, str, int]],
    *,
    kind: str = "passage",
    raters: str = "human",
) -> None:
    """Ratings from rows of topic, system, text, rater and grade: one sub-question a topic."""
    rows = list(grades)
    topics = {name: None for name, *_ in rows}
    Topic.objects.bulk_create(
        Topic(dataset=dataset, name=name, request=name, position=place)
        for place, name in enumerate(topics)
        if not dataset.topics.filter(name=name).exists()
    )
    by_name = {topic.name: topic for topic in dataset.topics.all()}
    SubQuestion.objects.bulk_create(
        (SubQuestion(topic=by_name[name], position=0, body=name) for name in topics),
        ignore_conflicts=True,
    )
    Text.objects.bulk_create(
        (
            Text(dataset=dataset, topic=by_name[topic], kind=kind, system=system, name=name)
            for topic, system, name in dict.fromkeys(row[:3] for row in rows)
        ),
        ignore_conflicts=True,
    )
    texts = {(text.system, text.name): text for text in dataset.texts.filter(kind=kind)}
    questions = {
        question.topic.name: question
        for question in SubQuestion.objects.filter(topic__dataset=dataset).select_related("topic")
    }
    people = {
        name: Rater.objects.get_or_create(dataset=dataset, name=name, kind=raters)[0]
        for name in {row[3] for row in rows}
    }
    Rating.objects.bulk_create(
        Rating(
            rater=people[rater],
            rubric=rubric,
            text=texts[system, name],
            question=questions[topic],
            grade=grade,
        )
        for topic, system, name, rater, grade in rows
    )
