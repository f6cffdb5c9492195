"""`{% results_tabs "agreement" selection=selection %}`: the pages of results of a dataset, in one row.

A link takes rubric, judge and eta along, by the names that the other page has for them.
"""

from __future__ import annotations

from typing import Any

from django import template
from django.db.models import Exists
from django.http import QueryDict
from django.urls import reverse
from django.utils.http import urlencode

from annotation.models import Dataset, Rating, Text
from annotation.models.standard import ANSWERABLE, GRADED, IMPORTANCE, NUGGET_SUPPORT
from evaluation.data.earlier_words import earlier_words
from evaluation.data.selection import Selection
from evaluation.http import KEPT, OF_SCORES, OF_SELECTION

register = template.Library()

TABS = {
    "agreement": "Agreement",
    "pairs": "Disagreements",
    "matrices": "Rating matrix",
    "retrieval": "Retrieval",
    "seen": "Recall of what was seen",
    "by_type": "By type of question",
    "mixed_model": "Mixed model",
    "calibration": "Calibration",
    "label_next": "What to label next",
    "grid": "Reports against references",
    "nuggets": "Nuggets",
    "paper": "Tables and figures",
}
SELECTS = ("agreement", "pairs", "mixed_model", "calibration", "label_next")
SCORES = ("matrices", "retrieval", "paper")


@register.inclusion_tag("evaluation/_tabs.html", takes_context=True)
def results_tabs(
    context: template.Context, here: str, selection: Selection | None = None, options: Any = None
) -> dict[str, Any]:
    """The tabs of the dataset of a page, `here` the one that is open.

    Carried is what the page shows, by its selection or the options of its scores; and what it has no
    choice of, as it came. Below them stands how many grades were given to words that have changed.
    """
    dataset = context["dataset"]
    known = {**_asked(context["request"].GET), **_shown(selection, options)}
    names = [name for name in TABS if name not in _NEEDS or here == name or _NEEDS[name](dataset)]
    earlier = earlier_words(dataset)
    return {
        "dataset": dataset,
        "earlier": earlier.sentences if earlier else [],
        "is_of_team": context["request"].user.is_authenticated,  # visitors by a link are not
        "tabs": [
            (TABS[name], _address(dataset, name, here, known), name == here) for name in names
        ],
    }


def _asked(words: QueryDict) -> dict[str, str]:
    asked = {name: ",".join(words.getlist(name)) for name in (*OF_SELECTION, *OF_SCORES)}
    known = {name: value for name, value in asked.items() if value}
    return {"judge": known["source"]} | known if "source" in known else known


def _shown(selection: Selection | None, options: Any) -> dict[str, str]:
    if selection:
        # What was asked of another rubric is no longer shown.
        return {name: "" for name in OF_SELECTION if name not in KEPT} | selection.params()
    return {"judge": options.source.name, "eta": str(options.eta)} if options else {}


def _address(dataset: Dataset, name: str, here: str, known: dict[str, str]) -> str:
    takes = OF_SELECTION if name in SELECTS else OF_SCORES if name in SCORES else KEPT
    words = {
        key: known["judge" if key == "source" else key]
        for key in takes
        if known.get("judge" if key == "source" else key)
    }
    # Eta is a level of the rubric, and scores are made of these two alone.
    of_scores = known.get("rubric", GRADED.slug) in (GRADED.slug, ANSWERABLE.slug)
    if not of_scores and (name in SELECTS) != (here in SELECTS):
        words.pop("eta", None)
    if "judge" in takes and known.get("judge") == "" and "rubric" in known:
        words["judge"] = ""  # no judge is a choice, too
    if words:
        words["carried"] = "1"
    if name == "pairs":
        words["kind"] = "differ"
    url = reverse(name, args=[dataset.slug])
    return f"{url}?{urlencode(words)}" if words else url


def _has_nuggets(dataset: Dataset) -> bool:
    under = Rating.objects.of_dataset(dataset).filter(
        rubric__slug__in=[IMPORTANCE.slug, NUGGET_SUPPORT.slug]
    )
    return under.exists()


def _has_generations(dataset: Dataset) -> bool:
    """Whether there are reports to be held against references."""
    reports = dataset.texts.filter(kind=Text.Kind.REPORT)
    return dataset.texts.filter(Exists(reports), kind=Text.Kind.REFERENCE).exists()


# Pages that have nothing to show of most datasets.
_NEEDS = {"grid": _has_generations, "nuggets": _has_nuggets}
