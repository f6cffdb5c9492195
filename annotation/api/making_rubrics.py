"""Request bodies for creating and changing a rubric: the keys of rubrics.jsonl."""

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
from annotation.api.errors import (
    ConflictError,
    FieldConflict,
    Problem,
    RequestError,
    VersionConflictError,
)
from annotation.models import Project, Rubric, RubricLevel, User
from annotation.models.rubric_rules import (
    EXAMPLE_LENGTHS,
    MOST_EXAMPLES,
    MOST_IMPOSSIBLE,
    MOST_LEVELS,
    RubricError,
    content_version,
    store_rubric,
)

CHANGEABLE = ("guideline", "is_retired")  # also while the rubric is used


class ExampleBody(StrictBody):
    """A pair of a grade, and why this grade is right."""

    text = StrictString(max_length=EXAMPLE_LENGTHS["text"])
    question = StrictString(max_length=EXAMPLE_LENGTHS["question"], allow_blank=True, default="")
    reason = StrictString(max_length=EXAMPLE_LENGTHS["reason"])


class LevelBody(StrictBody):
    """A grade and its label."""

    grade = StrictInteger(min_value=0, max_value=1000)
    label = StrictString(max_length=200)  # type: ignore[assignment] # a name of DRF's own, of an instance
    name = StrictString(max_length=40, allow_blank=True, default="")
    key = StrictString(max_length=1, allow_blank=True, default="")
    colour = serializers.ChoiceField(
        choices=RubricLevel.Colour.choices, allow_blank=True, default=""
    )
    examples = serializers.ListField(child=ExampleBody(), max_length=MOST_EXAMPLES, default=list)


class ImpossibleBody(StrictBody):
    """A grade that cannot be right together with grades of another rubric."""

    grade = StrictInteger(min_value=0, max_value=1000)
    rubric = StrictSlug(max_length=80)
    grades = serializers.ListField(
        child=StrictInteger(min_value=0, max_value=1000), min_length=1, max_length=MOST_LEVELS
    )


class RubricBody(StrictBody):
    """A rubric as a whole, and the project that it is for."""

    project = StrictSlug(
        max_length=80,
        allow_blank=True,
        default="",
        help_text="A project that you own; empty: the whole site, for admins.",
    )
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
    impossible = serializers.ListField(
        child=ImpossibleBody(), max_length=MOST_IMPOSSIBLE, default=list
    )
    guideline = StrictString()
    levels = serializers.ListField(child=LevelBody(), min_length=2, max_length=MOST_LEVELS)


class ChangeBody(StrictBody):
    """The fields of a rubric that can be changed at any time; both are required."""

    guideline = StrictString()
    is_retired = StrictBoolean()
    version = StrictString(
        max_length=64,
        allow_blank=True,
        default="",
        help_text="The version of the rubric that you read; needed unless nothing changes.",
    )


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


def create_rubric(body: dict[str, Any], user: User) -> Rubric:
    """Create the rubric of a body in a project of the user, or for the site.

    Raises RequestError where a rule is broken, ConflictError for a name that is taken.
    """
    levels = [RubricLevel(**level) for level in body["levels"]]
    fields = {name: value for name, value in body.items() if name not in ("levels", "project")}
    rubric = Rubric(**fields, project=_project(body["project"], user))
    try:
        return store_rubric(rubric, levels)
    except RubricError as error:
        if Rubric.objects.filter(slug=body["slug"]).exists():
            message = f"there is a rubric called {body['slug']} already"
            raise ConflictError([Problem(None, "slug", message)]) from None
        raise RequestError(_problem(*problem) for problem in error.problems) from None


def _project(slug: str, user: User) -> Project | None:
    """Return the project of a new rubric, None for the site; RequestError if refused."""
    project = Project.objects.owned_by(user).filter(slug=slug).first()
    if project or (user.is_admin and not slug):
        return project
    message = (
        f"you own no project called {slug}"
        if slug
        else "is missing: only admins make it for the site"
    )
    raise RequestError([Problem(None, "project", message)])


def apply_change(rubric: Rubric, body: dict[str, Any]) -> list[str]:
    """Set the changed values of a body in a locked rubric; return the fields to save.

    A body that changes nothing is idempotent and needs no version. Raises RequestError for a change
    without a version, VersionConflictError where the rubric was changed since the version of the body.
    """
    changed = [name for name in CHANGEABLE if getattr(rubric, name) != body[name]]
    if not changed:
        return []
    version = content_version(rubric)
    if not body["version"]:
        message = (
            f"is missing: read /api/v1/rubrics/{rubric.slug}/, and send its version with the change"
        )
        raise RequestError([Problem(None, "version", message)])
    if body["version"] != version:
        conflicts = [FieldConflict(name, getattr(rubric, name), body[name]) for name in changed]
        raise VersionConflictError(f"the rubric {rubric.slug}", version, conflicts)
    for name in changed:
        setattr(rubric, name, body[name])
    return changed


def _problem(field: str, message: str) -> Problem:
    match field.split("."):
        case ["levels" | "impossible" as of, index, *names]:
            return Problem(int(index), ".".join([of, *names]), message)
        case _:
            return Problem(None, field, message)
