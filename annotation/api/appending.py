"""Bulk import of ratings from external judges: all or none, and append-only."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from drf_spectacular.utils import OpenApiExample
from rest_framework import serializers

from annotation.api.bodies import KeyOrNames, StrictBody, StrictInteger, StrictSlug, StrictString
from annotation.api.errors import ConflictError, Problem, RequestError
from annotation.formats.summary import quoted_value
from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, User

MAX_RATINGS = 5000  # ratings in one request


class TextName(NamedTuple):
    """A text by its name."""

    kind: str
    system: str
    name: str


class QuestionPlace(NamedTuple):
    """A question by its topic and its position there, from 0 as in the authors' files."""

    topic: str
    position: int


class Grade(NamedTuple):
    """The grade of one pair; an int is an id."""

    text: int | TextName
    question: int | QuestionPlace
    grade: int


class Append(NamedTuple):
    """Grades of one rater under one rubric."""

    rater: str
    rubric: str
    ratings: list[Grade]


class TextNameBody(StrictBody):
    """A text by its name."""

    kind = serializers.ChoiceField(choices=Text.Kind.choices)
    system = StrictString(max_length=120, allow_blank=True, default="")
    name = StrictString(max_length=250)

    def to_internal_value(self, data: Any) -> TextName:
        return TextName(**super().to_internal_value(data))


class QuestionPlaceBody(StrictBody):
    """A question by its topic and its position there, from 0 as in the authors' files."""

    topic = StrictString(max_length=200)
    position = StrictInteger(min_value=0, max_value=32767)

    def to_internal_value(self, data: Any) -> QuestionPlace:
        return QuestionPlace(**super().to_internal_value(data))


class GradeBody(StrictBody):
    """The grade of one pair."""

    text = KeyOrNames(TextNameBody())
    question = KeyOrNames(QuestionPlaceBody())
    grade = StrictInteger(min_value=0, max_value=32767, help_text="One of the rubric's grades.")

    def to_internal_value(self, data: Any) -> Grade:
        return Grade(**super().to_internal_value(data))


class AppendBody(StrictBody):
    """Grades of one rater under one rubric."""

    rater = StrictSlug(max_length=120)
    rubric = StrictSlug(max_length=80)
    ratings = serializers.ListField(child=GradeBody(), min_length=1, max_length=MAX_RATINGS)

    def to_internal_value(self, data: Any) -> Append:
        return Append(**super().to_internal_value(data))


EXAMPLES = [
    OpenApiExample(
        "By names",
        request_only=True,
        value={
            "rater": "some-judge",
            "rubric": "graded",
            "ratings": [
                {
                    "text": {"kind": "passage", "name": "coast-1:0#0"},
                    "question": {"topic": "coast-1", "position": 0},
                    "grade": 4,
                }
            ],
        },
    )
]


def append(dataset: Dataset, body: Append) -> dict[str, Any]:
    """Add grades to a model rater of the dataset, created if missing.

    All or none are stored. Raises RequestError for unknown names, ConflictError for grades that contradict
    stored ones; each lists all errors with their position.
    """
    rubric = _rubric(dataset, body)
    pairs = _pairs(dataset, body)
    try:
        with transaction.atomic():
            Dataset.objects.lock(dataset.pk)
            rater = _rater(dataset, body.rater)
            stored = _stored_pairs(rater, rubric, body, pairs)
            new = [(*pair, grade) for pair, (_, grade) in pairs.items() if pair not in stored]
            Rating.objects.add(rater.pk, rubric.pk, new)
    except IntegrityError:
        message = f"somebody else is adding grades to {body.rater}: send the request again"
        raise ConflictError([Problem(None, "ratings", message)]) from None
    return {
        "rater": rater.name,
        "rubric": rubric.slug,
        "added": len(pairs) - len(stored),
        "there_before": len(stored),
    }


def _rubric(dataset: Dataset, body: Append) -> Rubric:
    rubric = Rubric.objects.available_in(dataset.project).filter(slug=body.rubric).first()
    if rubric is None:
        raise RequestError([Problem(None, "rubric", f"there is no rubric called {body.rubric}")])
    grades = set(rubric.grades())
    allowed = rubric.grades_in_words()
    problems = [
        Problem(index, "grade", f"{rating.grade} is no grade of {rubric.slug} ({allowed})")
        for index, rating in enumerate(body.ratings)
        if rating.grade not in grades
    ]
    if problems:
        raise RequestError(problems)
    return rubric


def _pairs(dataset: Dataset, body: Append) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the graded pairs as keys, with the index and grade of each in the request."""
    texts = _texts(dataset, body)
    questions = _questions(dataset, body)
    problems = []
    pairs: dict[tuple[int, int], tuple[int, int]] = {}
    for index, rating in enumerate(body.ratings):
        text, question = texts.get(rating.text), questions.get(rating.question)
        if text is None:
            problems.append(
                Problem(index, "text", f"{_label(rating.text)} is not in {dataset.slug}")
            )
        if question is None:
            message = f"{_label(rating.question)} is not in {dataset.slug}"
            problems.append(Problem(index, "question", message))
        if text is None or question is None:
            continue
        first, _ = pairs.setdefault((text, question), (index, rating.grade))
        if first != index:
            problems.append(Problem(index, "", f"this is the pair of item {first} again"))
    if problems:
        raise RequestError(problems)
    return pairs


def _texts(dataset: Dataset, body: Append) -> dict[int | TextName, int]:
    keys = {rating.text for rating in body.ratings if isinstance(rating.text, int)}
    texts: dict[int | TextName, int] = {
        pk: pk for pk in dataset.texts.filter(pk__in=keys).values_list("pk", flat=True)
    }
    slots: defaultdict[tuple[str, str], dict[str, TextName]] = defaultdict(dict)
    for rating in body.ratings:
        if isinstance(rating.text, TextName):
            slots[rating.text.kind, rating.text.system][rating.text.name] = rating.text
    for (kind, system), names in slots.items():
        stored = dataset.texts.filter(kind=kind, system=system, name__in=names)
        texts.update((names[name], pk) for name, pk in stored.values_list("name", "pk"))
    return texts


def _questions(dataset: Dataset, body: Append) -> dict[int | QuestionPlace, int]:
    of_dataset = SubQuestion.objects.filter(topic__dataset=dataset)
    keys = {rating.question for rating in body.ratings if isinstance(rating.question, int)}
    topics = {
        rating.question.topic for rating in body.ratings if not isinstance(rating.question, int)
    }
    questions: dict[int | QuestionPlace, int] = {
        pk: pk for pk in of_dataset.filter(pk__in=keys).values_list("pk", flat=True)
    }
    of_topics = of_dataset.filter(topic__name__in=topics)
    for topic, position, pk in of_topics.values_list("topic__name", "position", "pk"):
        questions[QuestionPlace(topic=topic, position=position)] = pk
    return questions


def _label(name: int | TextName | QuestionPlace) -> str:
    if isinstance(name, TextName):
        return f"the {name.kind} {quoted_value(name.name)}" + (
            f" of {quoted_value(name.system)}" if name.system else ""
        )
    if isinstance(name, QuestionPlace):
        return f"question {name.position} of topic {quoted_value(name.topic)}"
    return f"id {name}"


def _rater(dataset: Dataset, name: str) -> Rater:
    """Return the rater of this name, its row locked. Raises ConflictError for a reserved name."""
    of_site = Rater.objects.filter(dataset=None, name=name).first()
    if of_site or User.objects.filter(username=name).exists():
        owner = "a person" if of_site is None or of_site.user_id else "a rater of this site"
        message = f"{name} is {owner}: only raters that work elsewhere get grades this way"
        raise ConflictError([Problem(None, "rater", message)])
    Rater.objects.get_or_create(dataset=dataset, name=name, defaults={"kind": Rater.Kind.MODEL})
    rater = Rater.objects.select_for_update().get(dataset=dataset, name=name)
    if rater.kind != Rater.Kind.MODEL:
        message = f"{name} is a {rater.get_kind_display()}: only models get grades this way"
        raise ConflictError([Problem(None, "rater", message)])
    return rater


def _stored_pairs(
    rater: Rater,
    rubric: Rubric,
    body: Append,
    pairs: dict[tuple[int, int], tuple[int, int]],
) -> set[tuple[int, int]]:
    """Return pairs stored with the same grade. Raises ConflictError for those with another."""
    stored = Rating.objects.filter(
        rater=rater, rubric=rubric, text__in={text for text, _ in pairs}
    ).values_list("text_id", "question_id", "grade")
    same_grade: set[tuple[int, int]] = set()
    problems = []
    for text, question, grade in stored:
        if (text, question) not in pairs:
            continue
        same_grade.add((text, question))
        index, sent_grade = pairs[text, question]
        if grade != sent_grade:
            rating = body.ratings[index]
            pair = f"{_label(rating.text)} and {_label(rating.question)}"
            problems.append(Problem(index, "grade", f"{pair} have the grade {grade} already"))
    if problems:
        raise ConflictError(sorted(problems, key=lambda problem: problem.index or 0))
    return same_grade
