"""The bodies that make and change a rubric: the same keys as a line of rubrics.jsonl."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample
from rest_framework import serializers

from annotation.api.bodies import (
    StrictBody,
    StrictBoolean,
    StrictInteger,
    StrictSlug,
    StrictString,
)
from annotation.api.errors import Conflict, Problem, Refused
from annotation.models import Rubric, RubricLevel
from annotation.models.rubric_rules import MOST_LEVELS, RubricRefused, store


class LevelBody(StrictBody):
    """One grade and its words."""

    grade = StrictInteger(min_value=0, max_value=1000)
    label = StrictString(max_length=200)  # type: ignore[assignment] # a name of DRF's own, of an instance
    name = StrictString(max_length=40, allow_blank=True, default="")
    key = StrictString(max_length=1, allow_blank=True, default="")
    colour = serializers.ChoiceField(
        choices=RubricLevel.Colour.choices, allow_blank=True, default=""
    )


class RubricBody(StrictBody):
    """A rubric as a whole."""

    slug = StrictSlug(max_length=80)
    title = StrictString(max_length=200)
    question = StrictString(max_length=200, allow_blank=True, default="")
    scale = serializers.ChoiceField(choices=Rubric.Scale.choices, default=Rubric.Scale.ORDINAL)
    shows = serializers.ListField(
        child=serializers.ChoiceField(choices=Rubric.Shows.choices),
        min_length=1,
        max_length=len(Rubric.Shows.choices),
        default=["text", "question"],
    )
    eta = StrictInteger(min_value=0, max_value=1000, allow_null=True, default=None)
    span_from = StrictInteger(min_value=0, max_value=1000, allow_null=True, default=None)
    guideline = StrictString()
    levels = serializers.ListField(child=LevelBody(), min_length=2, max_length=MOST_LEVELS)


class ChangeBody(StrictBody):
    """What can be changed of a rubric at any time; both, as they are to be."""

    guideline = StrictString()
    is_retired = StrictBoolean()


EXAMPLES = [
    OpenApiExample(
        "Two names",
        request_only=True,
        value={
            "slug": "tone",
            "title": "Tone",
            "question": "How does the text sound?",
            "scale": "nominal",
            "shows": ["text"],
            "guideline": "Listen to how it says things.",
            "levels": [
                {"grade": 1, "label": "Warm", "name": "warm", "key": "w"},
                {"grade": 0, "label": "Dry", "name": "dry", "key": "d"},
            ],
        },
    )
]


def make(body: dict[str, Any]) -> Rubric:
    """Make the rubric of a body. Raises Refused where a rule is broken, Conflict for a name that is taken."""
    levels = [RubricLevel(**level) for level in body["levels"]]
    rubric = Rubric(**{name: value for name, value in body.items() if name != "levels"})
    try:
        return store(rubric, levels)
    except RubricRefused as error:
        if Rubric.objects.filter(slug=body["slug"]).exists():
            message = f"there is a rubric called {body['slug']} already"
            raise Conflict([Problem(None, "slug", message)]) from None
        raise Refused(_problem(*problem) for problem in error.problems) from None


def _problem(field: str, message: str) -> Problem:
    match field.split("."):
        case ["levels", index, name]:
            return Problem(int(index), f"levels.{name}", message)
        case _:
            return Problem(None, field, message)
