"""Template tags for the list of a dataset's pages, and for notes on the state of its data.

`{% dataset_nav selection=selection %}`: links take rubric, judge and eta along, by the names that the
other page has for them.
"""

from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse

from annotation.models import Dataset
from crux_site.navigation.links import navigation
from evaluation.data.edited_text_grades import edited_text_grades
from evaluation.data.selection import Selection

register = template.Library()


@register.inclusion_tag("crux_site/navigation/_dataset_nav.html", takes_context=True)
def dataset_nav(
    context: template.Context,
    dataset: Dataset | None = None,
    selection: Selection | None = None,
    options: Any = None,
) -> dict[str, Any]:
    """Render the list of the pages of a dataset; nothing on a page that is of no dataset.

    Where none is given, it is that of the context, or of the campaign or judge run there.
    """
    dataset = dataset or _dataset_of(context)
    if dataset is None:
        return {}
    shared = context.get("shared")
    pages = navigation(context["request"], dataset, shared, selection, options)
    return {
        "dataset": dataset,
        "shared": shared,
        "share": context.get("share"),
        "groups": pages.groups,
        "open_title": pages.open_title,
    }


@register.inclusion_tag("crux_site/navigation/_new_ratings.html", takes_context=True)
def new_ratings(context: template.Context) -> dict[str, Any]:
    """Render the notice of new ratings: on pages of results, for members of the project."""
    request = context["request"]
    newest = getattr(request, "newest_rating", None)
    if newest is None or not request.user.is_authenticated:
        return {}
    url = reverse("new_ratings", args=[context["dataset"].slug])
    return {"request": request, "url": f"{url}?since={newest}"}


def _dataset_of(context: template.Context) -> Dataset | None:
    holder = context.get("campaign") or context.get("run")
    return context.get("dataset") or getattr(holder, "dataset", None)


@register.inclusion_tag("crux_site/navigation/_edited_text_note.html", takes_context=True)
def edited_text_note(context: template.Context) -> dict[str, Any]:
    """Render the numbers of grades that were given before an edit; nothing without edits."""
    grades = edited_text_grades(context["dataset"])
    return {
        "dataset": context["dataset"],
        "sentences": grades.sentences if grades else [],
        "is_of_team": context["request"].user.is_authenticated,  # visitors by a link are not
    }
