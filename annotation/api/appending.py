"""Grades of judges that work elsewhere: appended in bulk, all or none, and never changed."""

from __future__ import annotations

from collections import defaultdict
from typing import Annotated, Any, Literal

from django.db import IntegrityError, transaction
from drf_spectacular.utils import OpenApiExample
from pydantic import Discriminator, Field, Tag

from annotation.api.bodies import KEYED, NAMED, WHOLE, Body, Words, read
from annotation.api.errors import Conflict, Problem, Refused
from annotation.formats.summary import shown
from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, User

MOST = 5000  # ratings in one request

Key = Annotated[int, Field(ge=1, le=2**63 - 1, description="An id, as this API tells it."), WHOLE]


class TextName(Body):
    """A text by its name."""

    kind: Literal["passage", "report", "reference"]
    system: Annotated[Words, Field(max_length=120)] = ""
    name: Annotated[Words, Field(min_length=1, max_length=250)]


class QuestionPlace(Body):
    """A question by its topic and its place there, from 0 as in the authors' files."""

    topic: Annotated[Words, Field(min_length=1, max_length=200)]
    position: Annotated[int, Field(ge=0, le=32767), WHOLE]


def _how(value: Any) -> str:
    return NAMED if isinstance(value, dict | Body) else KEYED


class Grade(Body):
    """One grade of one pair."""

    text: Annotated[
        Annotated[Key, Tag(KEYED)] | Annotated[TextName, Tag(NAMED)], Discriminator(_how)
    ]
    question: Annotated[
        Annotated[Key, Tag(KEYED)] | Annotated[QuestionPlace, Tag(NAMED)], Discriminator(_how)
    ]
    grade: Annotated[int, Field(ge=0, le=32767, description="One of the rubric's grades."), WHOLE]


class Append(Body):
    """Grades of one rater under one rubric."""

    rater: Annotated[str, Field(pattern=r"^[-a-zA-Z0-9_]+$", min_length=1, max_length=120)]
    rubric: Annotated[str, Field(pattern=r"^[-a-zA-Z0-9_]+$", min_length=1, max_length=80)]
    ratings: Annotated[list[Grade], Field(min_length=1, max_length=MOST)]


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


def append(dataset: Dataset, body: Any) -> dict[str, Any]:
    """Add grades to a rater of kind model that came with the dataset, and make it if it is new.

    Nothing is stored unless all is. Raises Malformed for a body of another form, Refused where it
    names what is not there, Conflict where it contradicts what is stored; each tells every error with
    its place.
    """
    given = read(Append, body)
    rubric = _rubric(given)
    pairs = _pairs(dataset, given)
    try:
        with transaction.atomic():
            rater = _rater(dataset, given.rater)
            there_before = _compare(rater, rubric, given, pairs)
            new = [(*pair, grade) for pair, (_, grade) in pairs.items() if pair not in there_before]
            Rating.objects.add(rater.pk, rubric.pk, new)
    except IntegrityError:
        message = f"somebody else is adding grades to {given.rater}: send the request again"
        raise Conflict([Problem(None, "ratings", message)]) from None
    return {
        "rater": rater.name,
        "rubric": rubric.slug,
        "added": len(pairs) - len(there_before),
        "there_before": len(there_before),
    }


def _rubric(given: Append) -> Rubric:
    rubric = Rubric.objects.filter(slug=given.rubric).first()
    if rubric is None:
        raise Refused([Problem(None, "rubric", f"there is no rubric called {given.rubric}")])
    grades = set(rubric.grades())
    known = ", ".join(map(str, sorted(grades)))
    problems = [
        Problem(index, "grade", f"{one.grade} is no grade of {rubric.slug} ({known})")
        for index, one in enumerate(given.ratings)
        if one.grade not in grades
    ]
    if problems:
        raise Refused(problems)
    return rubric


def _pairs(dataset: Dataset, given: Append) -> dict[tuple[int, int], tuple[int, int]]:
    """The pairs that are graded, as keys, with the place of each in the request and its grade."""
    texts = _texts(dataset, given)
    questions = _questions(dataset, given)
    problems = []
    pairs: dict[tuple[int, int], tuple[int, int]] = {}
    for index, one in enumerate(given.ratings):
        text, question = texts.get(one.text), questions.get(one.question)
        if text is None:
            problems.append(Problem(index, "text", f"{_told(one.text)} is not in {dataset.slug}"))
        if question is None:
            message = f"{_told(one.question)} is not in {dataset.slug}"
            problems.append(Problem(index, "question", message))
        if text is None or question is None:
            continue
        first, _ = pairs.setdefault((text, question), (index, one.grade))
        if first != index:
            problems.append(Problem(index, "", f"this is the pair of item {first} again"))
    if problems:
        raise Refused(problems)
    return pairs


def _texts(dataset: Dataset, given: Append) -> dict[int | TextName, int]:
    keys = {one.text for one in given.ratings if isinstance(one.text, int)}
    found: dict[int | TextName, int] = {
        pk: pk for pk in dataset.texts.filter(pk__in=keys).values_list("pk", flat=True)
    }
    slots: defaultdict[tuple[str, str], dict[str, TextName]] = defaultdict(dict)
    for one in given.ratings:
        if isinstance(one.text, TextName):
            slots[one.text.kind, one.text.system][one.text.name] = one.text
    for (kind, system), names in slots.items():
        there = dataset.texts.filter(kind=kind, system=system, name__in=names)
        found.update((names[name], pk) for name, pk in there.values_list("name", "pk"))
    return found


def _questions(dataset: Dataset, given: Append) -> dict[int | QuestionPlace, int]:
    asked = SubQuestion.objects.filter(topic__dataset=dataset)
    keys = {one.question for one in given.ratings if isinstance(one.question, int)}
    topics = {one.question.topic for one in given.ratings if not isinstance(one.question, int)}
    found: dict[int | QuestionPlace, int] = {
        pk: pk for pk in asked.filter(pk__in=keys).values_list("pk", flat=True)
    }
    there = asked.filter(topic__name__in=topics)
    for topic, position, pk in there.values_list("topic__name", "position", "pk"):
        found[QuestionPlace(topic=topic, position=position)] = pk
    return found


def _told(name: int | TextName | QuestionPlace) -> str:
    if isinstance(name, TextName):
        return f"the {name.kind} {shown(name.name)}" + (
            f" of {shown(name.system)}" if name.system else ""
        )
    if isinstance(name, QuestionPlace):
        return f"question {name.position} of topic {shown(name.topic)}"
    return f"id {name}"


def _rater(dataset: Dataset, name: str) -> Rater:
    """The rater of this name, held until the end of the transaction. Raises Conflict for others' names."""
    of_site = Rater.objects.filter(dataset=None, name=name).first()
    if of_site or User.objects.filter(username=name).exists():
        what = "a person" if of_site is None or of_site.user_id else "a rater of this site"
        message = f"{name} is {what}: only raters that work elsewhere get grades this way"
        raise Conflict([Problem(None, "rater", message)])
    Rater.objects.get_or_create(dataset=dataset, name=name, defaults={"kind": Rater.Kind.MODEL})
    rater = Rater.objects.select_for_update().get(dataset=dataset, name=name)
    if rater.kind != Rater.Kind.MODEL:
        message = f"{name} is a {rater.get_kind_display()}: only models get grades this way"
        raise Conflict([Problem(None, "rater", message)])
    return rater


def _compare(
    rater: Rater,
    rubric: Rubric,
    given: Append,
    pairs: dict[tuple[int, int], tuple[int, int]],
) -> set[tuple[int, int]]:
    """The pairs that have this very grade already. Raises Conflict for those that have another."""
    stored = Rating.objects.filter(
        rater=rater, rubric=rubric, text__in={text for text, _ in pairs}
    ).values_list("text_id", "question_id", "grade")
    there: set[tuple[int, int]] = set()
    problems = []
    for text, question, grade in stored:
        if (text, question) not in pairs:
            continue
        there.add((text, question))
        index, wanted = pairs[text, question]
        if grade != wanted:
            one = given.ratings[index]
            pair = f"{_told(one.text)} and {_told(one.question)}"
            problems.append(Problem(index, "grade", f"{pair} have the grade {grade} already"))
    if problems:
        raise Conflict(sorted(problems, key=lambda problem: problem.index or 0))
    return there
