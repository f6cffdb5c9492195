"""What the page of an item is made of: the same for a rater at work and for a look at it before."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.models import Assignment, Campaign, Text
from annotation.work import Asked


@dataclass(frozen=True)
class Links:
    """Where the controls of the page lead. No previous item: an empty address."""

    home: str
    submit: str
    skip: str
    state: str
    previous: str = ""


def links_of(assignment: Assignment, previous: int | None) -> Links:
    """Those of an item that is in somebody's hand."""
    return Links(
        home=reverse("work_campaign", args=[assignment.participant.campaign.slug]),
        submit=reverse("submit", args=[assignment.pk]),
        skip=reverse("skip", args=[assignment.pk]),
        state=reverse("work_state", args=[assignment.pk]),
        previous=reverse("work", args=[previous]) if previous else "",
    )


def page_context(
    campaign: Campaign,
    text: Text,
    asked: Sequence[Asked],
    links: Links,
    *,
    place: int,
    of: int,
    is_practice: bool = False,
    missing: Sequence[Asked] = (),
) -> dict[str, Any]:
    """The context of templates/annotation/work.html for the item at a place (from 1) among others."""
    if text.body is None:
        raise Http404("The words of this text are not here.")
    levels = list(campaign.rubric.levels.all())
    return {
        "campaign": campaign,
        "rubric": campaign.rubric,
        "text": text,
        "text_label": _("Text of the %(kind)s") % {"kind": text.get_kind_display()},
        "asked": asked,
        "keys": {one.number: uuid4() for one in asked},
        "levels": levels,
        "is_binary": len(levels) == 2,
        "active": next((one.number for one in asked if not one.is_done), 1),
        "done": sum(one.is_done for one in asked),
        "missing": missing,
        "place": place,
        "of": of,
        "is_practice": is_practice,
        "links": links,
        "is_closed": not campaign.counts_answers(),
        "marks": [
            {"start": s["start"], "end": s["end"], "mark": one.mark, "label": one.number}
            for one in asked
            for s in one.spans
        ],
    }
