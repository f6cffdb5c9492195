"""Origins of texts, sub-questions and runs: which model did what. No Django here.

A list of {"role", "model"}, each with "revision" if it is known, and "edited": true if a person has edited
the words since. An empty list is an unknown origin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.model_families import family_of

WROTE, QUESTIONS, RETRIEVED, RERANKED, FILTERED = ROLES = (
    "wrote",
    "asked",
    "retrieved",
    "reranked",
    "filtered",
)
# Roles in a sentence: "written by llama-70b".
LABELS: Mapping[str, str] = {
    WROTE: "written by",
    QUESTIONS: "question made by",
    RETRIEVED: "retrieved by",
    RERANKED: "reranked by",
    FILTERED: "filtered by",
}
LONGEST_MODEL = 250  # characters, as of a writer's or judge's model

Origin = dict[str, Any]


def origin(role: str, model: str, revision: str = "", *, is_edited: bool = False) -> Origin:
    """Return an origin without the keys that say nothing."""
    optional: Origin = {"revision": revision} if revision else {}
    return {"role": role, "model": model} | optional | ({"edited": True} if is_edited else {})


def identity(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return role, model and revision, which tell two origins apart."""
    return entry["role"], entry["model"], entry.get("revision", "")


def with_edit(origins: Iterable[Origin]) -> list[Origin]:
    """Return the origins of a text after a person has edited its words."""
    roles = (WROTE, QUESTIONS)
    return [entry | {"edited": True} if entry["role"] in roles else entry for entry in origins]


def remove_origins(origins: Iterable[Origin], removed: Iterable[Mapping[str, Any]]) -> list[Origin]:
    """Return the origins that are none of those to remove, edited since or not."""
    identities = {identity(entry) for entry in removed}
    return [entry for entry in origins if identity(entry) not in identities]


@dataclass(frozen=True)
class OriginLabel:
    """An origin for display: "written by", the model with its family, and remarks."""

    label: str
    model: str
    revision: str
    family: str
    is_edited: bool


def labels_of(origins: Sequence[Mapping[str, Any]]) -> list[OriginLabel]:
    """Return origins for display, by role; [] for an unknown origin."""
    ordered = sorted(origins, key=lambda entry: ROLES.index(entry["role"]))
    return [
        OriginLabel(
            LABELS[entry["role"]],
            entry["model"],
            entry.get("revision", ""),
            family_of(entry["model"]),
            bool(entry.get("edited")),
        )
        for entry in ordered
    ]


@dataclass(frozen=True)
class JudgeModel:
    """A judge with its model, and the family, which a person may have set by hand."""

    title: str
    model: str
    family: str

    def is_related(self, model: str) -> bool:
        """Return whether a model is the judge's own, or of its family."""
        is_same_model = model.casefold() == self.model.casefold()
        return bool(self.family) and (is_same_model or family_of(model) == self.family)


@dataclass(frozen=True)
class FamilyMark:
    """Mark on a judge: a model of its family wrote or reranked what it judges."""

    judge: JudgeModel
    role: str

    def __str__(self) -> str:
        subject = "writer" if self.role == WROTE else "reranker"
        return f"judge and {subject} are of one family ({self.judge.family})"


def family_marks(
    judges: Iterable[JudgeModel], origins: Iterable[Mapping[str, Any]]
) -> list[FamilyMark]:
    """Return the marks on judges of texts or runs with these origins."""
    models = {(entry["role"], entry["model"]) for entry in origins}
    return [
        FamilyMark(judge, role)
        for judge in judges
        for role in (WROTE, RERANKED)
        if any(judge.is_related(model) for of_role, model in models if of_role == role)
    ]
