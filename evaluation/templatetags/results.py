"""Template tag for the tabs of the result pages of a dataset.

`{% results_tabs "agreement" selection=selection %}`. A link takes rubric, judge and eta along, by the
names that the other page has for them.
"""

from __future__ import annotations

from typing import Any

from django import template
from django.db.models import Exists
from django.http import QueryDict
from django.urls import reverse
from django.utils.http import urlencode

from annotation.models import Dataset, Rating, Text
from annotation.models.standard import ANSWERABLE, GRADED
from annotation.pages import Tab, declared_pages
from evaluation.data.edited_text_grades import edited_text_grades
from evaluation.data.selection import Selection
from evaluation.http import COMMON_PARAMS, SCORING_PARAMS, SELECTION_PARAMS

register = template.Library()

PARAMS = {"selection": SELECTION_PARAMS, "scoring": SCORING_PARAMS, "common": COMMON_PARAMS}


@register.inclusion_tag("evaluation/_tabs.html", takes_context=True)
def results_tabs(
    context: template.Context, current: str, selection: Selection | None = None, options: Any = None
) -> dict[str, Any]:
    """Render the tabs of the result pages, `current` being open.

    Links carry the page's selection, or the options of its scores, and those parameters of the request
    that the page does not have. Below the tabs: the number of superseded grades.
    """
    dataset = context["dataset"]
    params = {**_requested_params(context["request"].GET), **_current_params(selection, options)}
    pages = [
        (page.title, tab)
        for page in declared_pages().values()
        if (tab := page.tab) and (current == tab.url_name or _has_tab(dataset, tab))
    ]
    earlier = edited_text_grades(dataset)
    return {
        "dataset": dataset,
        "earlier": earlier.sentences if earlier else [],
        "is_of_team": context["request"].user.is_authenticated,  # visitors by a link are not
        "tabs": [
            (title, _tab_url(dataset, tab, current, params), tab.url_name == current)
            for title, tab in sorted(pages, key=lambda page: page[1].order)
        ],
    }


def _requested_params(query: QueryDict) -> dict[str, str]:
    values = {name: ",".join(query.getlist(name)) for name in (*SELECTION_PARAMS, *SCORING_PARAMS)}
    params = {name: value for name, value in values.items() if value}
    return {"judge": params["source"]} | params if "source" in params else params


def _current_params(selection: Selection | None, options: Any) -> dict[str, str]:
    if selection:
        # Parameters of another rubric are dropped.
        return {
            name: "" for name in SELECTION_PARAMS if name not in COMMON_PARAMS
        } | selection.params()
    return {"judge": options.source.name, "eta": str(options.eta)} if options else {}


def _tab_url(dataset: Dataset, tab: Tab, current: str, params: dict[str, str]) -> str:
    names = PARAMS[tab.carries]
    query = {
        key: params["judge" if key == "source" else key]
        for key in names
        if params.get("judge" if key == "source" else key)
    }
    # Eta is a level of the rubric, and scores need one of these two rubrics.
    of_scores = params.get("rubric", GRADED.slug) in (GRADED.slug, ANSWERABLE.slug)
    if not of_scores and (tab.carries == "selection") != _has_selection(current):
        query.pop("eta", None)
    if "judge" in names and params.get("judge") == "" and "rubric" in params:
        query["judge"] = ""  # the choice of no judge
    if query:
        query["carried"] = "1"
    query |= tab.params
    url = reverse(tab.url_name, args=[dataset.slug])
    return f"{url}?{urlencode(query)}" if query else url


def _has_selection(url_name: str) -> bool:
    tabs = (page.tab for page in declared_pages().values())
    return any(tab and tab.url_name == url_name and tab.carries == "selection" for tab in tabs)


def _has_tab(dataset: Dataset, tab: Tab) -> bool:
    """Return True if the dataset has the ratings or the texts that the page needs."""
    texts = Text.objects.filter(dataset=dataset)
    needs = [Exists(texts.filter(kind=kind)) for kind in tab.text_kinds]
    if tab.rubrics:
        ratings = Rating.objects.of_dataset(dataset)
        needs.append(Exists(ratings.filter(rubric__slug__in=tab.rubrics)))
    return not needs or Dataset.objects.filter(*needs, pk=dataset.pk).exists()
