"""What the pages of results share: the selection in a URL, what they carry, and the page that refuses."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial, wraps
from typing import Any, Concatenate, TypeVar

from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, View, researchers_only
from annotation.models import Dataset
from evaluation.data.selection import Selection, SelectionError, select

Choice = TypeVar("Choice")
OfChoice = Callable[Concatenate[AuthenticatedRequest, Choice, ...], HttpResponseBase]
OfDataset = Callable[[AuthenticatedRequest, Dataset], HttpResponseBase]

# What pages of results share by these names: all of them, those of a selection, those of scores.
KEPT = ("rubric", "judge", "eta")
OF_SELECTION = ("rubric", "campaign", "raters", "judge", "eta", "majority", "by")
OF_SCORES = ("rubric", "source", "eta", "cutoff", "ideal", "rules", "questions", "zeros")


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


def no_choice(
    template: str,
    why: str = "Nobody has rated a text of this dataset yet.",
    **shown_too: Callable[[Dataset], object],
) -> OfDataset:
    """What stands where there is nothing to choose: a page that says so, and no file.

    `shown_too` is what the page names, besides, of the dataset.
    """

    def shown(request: AuthenticatedRequest, dataset: Dataset) -> HttpResponse:
        if not request.path.endswith("/"):
            raise Http404(why)
        context = {name: of(dataset) for name, of in shown_too.items()}
        return render(request, template, context | {"room": "datasets", "dataset": dataset})

    return shown


def chosen(
    choose: Callable[[Dataset, QueryDict], Choice | None], nothing: OfDataset | None = None
) -> Callable[[OfChoice[Choice]], View]:
    """Views for researchers that are given what the URL asks for, as `choose` makes it of its parameters.

    What is not there is answered with the choices there are; where `choose` finds nothing to choose,
    with `nothing`.
    """

    def decorated(view: OfChoice[Choice]) -> View:
        @require_safe
        @researchers_only
        @wraps(view)
        def opened(
            request: AuthenticatedRequest, slug: str, *place: Any, **named: Any
        ) -> HttpResponseBase:
            dataset = get_object_or_404(Dataset, slug=slug)
            try:
                choice = without_strangers(request.GET, partial(choose, dataset))
                if choice is None:
                    assert nothing is not None
                    return nothing(request, dataset)
                return view(request, choice, *place, **named)
            except SelectionError as error:
                return refusal(request, dataset, str(error))

        return opened

    return decorated


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
