"""Whose item an answer belongs to, with all that saving looks at, read in one prepared statement."""

from collections.abc import Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model
from django.http import Http404

from annotation.models import Assignment, Campaign, Item, Participant, Rubric, Text, User
from annotation.participation import gate
from annotation.prepared import Prepared

Columns = tuple[type[Model], list[str]]


def _columns(model: type[Model], *names: str) -> Columns:
    """A model and the columns that are read of it, in the order in which from_db takes them."""
    return model, [field.attname for field in model._meta.concrete_fields if field.name in names]


# What is left out here is fetched where somebody asks for it: texts of a campaign are long.
_ASSIGNMENT = _columns(
    Assignment, "id", "participant", "item", "part", "slot", "state", "check_asked"
)
_ITEM = _columns(Item, "id", "campaign", "text", "purpose")
_TEXT = _columns(Text, "id", "body", "sha256")
_PARTICIPANT = _columns(Participant, "id", "campaign", "rater", "outcome")
_CAMPAIGN = _columns(
    Campaign, "id", "slug", "state", "is_pilot", "language", "rubric", "raters_per_item"
)
_RUBRIC = _columns(Rubric, "id", "span_from")


def _below(path: str, columns: Columns) -> list[str]:
    return [f"{path}__{name}" for name in columns[1]]


_ASKED = Prepared(
    lambda user, pk, question: (
        Assignment.objects.filter(
            pk=pk, participant__rater__user=user, item__asked__question=question
        )
        .annotate(waits_for=gate.waits_for())
        .order_by()
        .values_list(
            *_ASSIGNMENT[1],
            *_below("item", _ITEM),
            *_below("item__text", _TEXT),
            *_below("participant", _PARTICIPANT),
            *_below("participant__campaign", _CAMPAIGN),
            *_below("participant__campaign__rubric", _RUBRIC),
            "waits_for",
        )
    ),
    3,
)


def item_to_answer(user: User, pk: int, question_pk: int) -> Assignment:
    """The user's own assignment, with its item, text, participant, campaign and rubric.

    Raises Http404 where it is another person's, or where its item does not ask this question, and
    gate.NotYetError where something has to come before it.
    """
    found = _ASKED.first(user.pk, pk, question_pk)
    if found is None:
        raise Http404("This item does not ask that, or it is not yours.")
    *row, waits_for = found
    made = _made(row, _ASSIGNMENT, _ITEM, _TEXT, _PARTICIPANT, _CAMPAIGN, _RUBRIC)
    assignment, item, text, participant, campaign, rubric = made
    assignment.item, item.text = item, text
    assignment.participant, participant.campaign = participant, campaign
    campaign.rubric = rubric
    return gate.passed(assignment, waits_for)


def _made(row: Sequence[Any], *parts: Columns) -> list[Any]:
    """The objects of a row; a field that was not read is fetched once it is asked for."""
    made = []
    at = 0
    for model, names in parts:
        made.append(model.from_db(DEFAULT_DB_ALIAS, names, row[at : at + len(names)]))
        at += len(names)
    return made
