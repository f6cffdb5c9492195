"""What the pages of results share: the selection in a URL, what they carry, and the page that refuses."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render

from annotation.http import AuthenticatedRequest
from annotation.models import Dataset
from evaluation.data.selection import Selection, SelectionError, select

Choice = TypeVar("Choice")

# What pages of results share by these names: all of them, those of a selection, those of scores.
KEPT = ("rubric", "judge", "eta")
OF_SELECTION = ("rubric", "campaign", "raters", "judge", "eta", "majority", "by")
OF_SCORES = ("rubric", "source", "eta", "cutoff", "ideal", "rules", "questions")


def without_strangers(words: QueryDict, choose: Callable[[QueryDict], Choice]) -> Choice:
    """What `choose` makes of the parameters of a URL.

    One that came along from another page of results (`carried`) is passed over where this page does
    not have it. Raises SelectionError for anything else that is not there.
    """
    try:
        return choose(words)
    except SelectionError:
        if "carried" not in words:
            raise
    kept = words.copy()
    names = [name for name in dict.fromkeys((*OF_SELECTION, *OF_SCORES)) if name in words]
    for name in names:
        del kept[name]
    for name in names:
        with_it = kept.copy()
        with_it.setlist(name, words.getlist(name))
        with suppress(SelectionError):
            choose(with_it)
            kept = with_it
    return choose(kept)


def asked_for(request: AuthenticatedRequest, dataset: Dataset) -> Selection:
    """The selection in the URL. Raises SelectionError where it asks for what is not there."""
    return without_strangers(request.GET, partial(selection_of, dataset))


def selection_of(dataset: Dataset, words: QueryDict) -> Selection:
    """The selection that these parameters ask for. Raises SelectionError for what is not there.

    The form says what it was filled in for: of another rubric or campaign it knows neither the
    raters nor the judges, and these are then chosen anew.
    """
    rubric, campaign = words.get("rubric"), words.get("campaign")
    choices = {name: words.get(name) for name in ("judge", "eta", "majority", "by")}
    raters = words.getlist("raters")
    if "of_rubric" in words:
        has_other_rubric = rubric != words["of_rubric"]
        if has_other_rubric:
            campaign = None
        # A dataset without campaigns has no choice of one.
        if has_other_rubric or (campaign or "") != words.get("of_campaign", ""):
            raters, choices = [], {}
    return select(
        dataset, rubric=rubric, raters=raters, campaign=campaign, judge_by_default=True, **choices
    )


def json_file(name: str, content: object) -> HttpResponse:
    """An object as `name`.json to download."""
    response = JsonResponse(
        content, safe=False, json_dumps_params={"indent": 2, "ensure_ascii": False}
    )
    response["Content-Disposition"] = f'attachment; filename="{name}.json"'
    return response


def refusal(
    request: AuthenticatedRequest, dataset: Dataset, why: str, status: int = 400
) -> HttpResponse:
    """The page for choices that the dataset does not offer: it says which there are."""
    is_page = request.path.endswith("/") and request.META.get("QUERY_STRING")
    back = request.path if is_page else dataset.get_absolute_url()
    context = {"room": "datasets", "dataset": dataset, "why": why, "back": back}
    return render(request, "evaluation/refusal.html", context, status=status)
