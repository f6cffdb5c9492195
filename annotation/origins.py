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


def without(origins: Iterable[Origin], removed: Iterable[Mapping[str, Any]]) -> list[Origin]:
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


def shared_roles(family: str, origins: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return in which roles of "wrote" and "reranked" a model of this family occurs."""
    marked = {
        entry["role"]
        for entry in origins
        if family and family_of(entry["model"]) == family and entry["role"] in (WROTE, RERANKED)
    }
    return [role for role in ROLES if role in marked]
