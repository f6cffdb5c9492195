"""Shared code of the result pages: selection in the URL, carried parameters, error page."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial, wraps
from time import perf_counter
from typing import Any, Concatenate, TypeVar

from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.db_version import snapshot
from annotation.http import AuthenticatedRequest, View, researchers_only
from annotation.models import Dataset, Rating
from evaluation.data.certificates import certificates_in_words
from evaluation.data.replica import results_database
from evaluation.data.selection import Selection, SelectionError, select
from evaluation.first_look import frame_first, keep_duration

Choice = TypeVar("Choice")
Table = TypeVar("Table")
OfChoice = Callable[Concatenate[AuthenticatedRequest, Choice, ...], HttpResponseBase]
OfDataset = Callable[[AuthenticatedRequest, Dataset], HttpResponseBase]

# Parameters that pages of results share: all pages, those of a selection, those of scores.
COMMON_PARAMS = ("rubric", "judge", "eta")
SELECTION_PARAMS = ("rubric", "campaign", "raters", "judge", "eta", "majority", "exposed", "by")
SCORING_PARAMS = ("rubric", "source", "eta", "cutoff", "ideal", "rules", "questions", "zeros")


def parse_carried(params: QueryDict, choose: Callable[[QueryDict], Choice]) -> Choice:
    """Return `choose(params)`, without carried parameters that this page does not have.

    A parameter that came along from another page of results (`carried`) is ignored where this page does
    not have it. Raises SelectionError for any other choice that does not exist.
    """
    try:
        return choose(params)
    except SelectionError:
        if "carried" not in params:
            raise
    accepted = params.copy()
    names = [name for name in dict.fromkeys((*SELECTION_PARAMS, *SCORING_PARAMS)) if name in params]
    for name in names:
        del accepted[name]
    for name in names:
        candidate = accepted.copy()
        candidate.setlist(name, params.getlist(name))
        with suppress(SelectionError):
            choose(candidate)
            accepted = candidate
    return choose(accepted)


def empty_view(
    template: str,
    reason: str = "This dataset has no ratings yet.",
    **extra_context: Callable[[Dataset], object],
) -> OfDataset:
    """Return a view for a dataset without choices: an empty page, and 404 for files.

    `extra_context` has functions of the dataset for further names of the page's context.
    """

    def empty_page(request: AuthenticatedRequest, dataset: Dataset) -> HttpResponse:
        if not request.path.endswith("/"):
            raise Http404(reason)
        context = {name: of(dataset) for name, of in extra_context.items()}
        return render(request, template, context | {"room": "datasets", "dataset": dataset})

    return empty_page


def chosen(
    choose: Callable[[Dataset, QueryDict], Choice | None],
    fallback: OfDataset | None = None,
    for_visitor: Callable[[Dataset, QueryDict], Choice | None] | None = None,
) -> Callable[[OfChoice[Choice]], View]:
    """Return a decorator that passes the choice in the URL, parsed by `choose`, to a view.

    The views are for researchers. A choice that does not exist is answered with the choices there are;
    where `choose` returns None, with `fallback`. `for_visitor` replaces `choose` for readers by a shared
    link.
    """

    def decorated(view: OfChoice[Choice]) -> View:
        @require_safe
        @researchers_only
        @wraps(view)
        def wrapper(
            request: AuthenticatedRequest, slug: str, *args: Any, **kwargs: Any
        ) -> HttpResponseBase:
            if not request.path.endswith("/"):
                # A file cannot say that the replica is behind, so files read the primary.
                with snapshot():
                    return answer(request, slug, *args, **kwargs)
            with results_database() as request.replica, snapshot():
                return answer(request, slug, *args, **kwargs)

        def answer(
            request: AuthenticatedRequest, slug: str, *args: Any, **kwargs: Any
        ) -> HttpResponseBase:
            dataset = get_object_or_404(Dataset, slug=slug)
            is_visitor = not request.user.is_authenticated
            if request.path.endswith("/") and not is_visitor:
                # Before anything is read: the page tells later how many ratings it does not have.
                newest = Rating.objects.order_by("-pk").values_list("pk", flat=True).first()
                request.newest_rating = newest or 0
            parse = (is_visitor and for_visitor) or choose
            try:
                choice = parse_carried(request.GET, partial(parse, dataset))
                if choice is None:
                    assert fallback is not None
                    return fallback(request, dataset)
                if frame := frame_first(request, dataset, choice):
                    return frame
                if not request.path.endswith("/"):  # a file; a page has badges
                    phrases = choice.filter_phrases() if hasattr(choice, "filter_phrases") else ()
                    request.certificates = certificates_in_words(dataset, phrases)
                started = perf_counter()
                response = view(request, choice, *args, **kwargs)
                keep_duration(request, perf_counter() - started)
                return response
            except SelectionError as error:
                return selection_error_page(request, dataset, str(error))

        return wrapper

    return decorated


def selection_in_url(request: AuthenticatedRequest, dataset: Dataset) -> Selection:
    """Return the selection in the URL. Raises SelectionError for a choice that does not exist."""
    return parse_carried(request.GET, partial(parse_selection, dataset))


def parse_selection(dataset: Dataset, params: QueryDict) -> Selection:
    """Return the selection of these parameters.

    The form says what it was filled in for: of another rubric or campaign it knows neither the
    raters nor the judges, and these are then chosen again. Raises SelectionError for a choice that does
    not exist.
    """
    rubric, campaign = params.get("rubric"), params.get("campaign")
    choices = {name: params.get(name) for name in ("judge", "eta", "majority", "exposed", "by")}
    raters = params.getlist("raters")
    if "of_rubric" in params:
        has_other_rubric = rubric != params["of_rubric"]
        if has_other_rubric:
            campaign = None
        # A dataset without campaigns has no choice of one.
        if has_other_rubric or (campaign or "") != params.get("of_campaign", ""):
            raters, choices = [], {}
    return select(
        dataset, rubric=rubric, raters=raters, campaign=campaign, judge_by_default=True, **choices
    )


def table_called(name: str, tables: Mapping[str, Table]) -> Table:
    """Return the table of this name. Raises Http404, which lists the tables."""
    if name not in tables:
        raise Http404(f"There is no table “{name}” here. There are: {', '.join(tables)}.")
    return tables[name]


def json_file(name: str, content: object) -> HttpResponse:
    """Return an object as `name`.json to download."""
    response = JsonResponse(
        content, safe=False, json_dumps_params={"indent": 2, "ensure_ascii": False}
    )
    response["Content-Disposition"] = f'attachment; filename="{name}.json"'
    return response


def selection_error_page(
    request: AuthenticatedRequest, dataset: Dataset, reason: str, status: int = 400
) -> HttpResponse:
    """Render the page for choices that the dataset does not offer, with those that it has."""
    is_page = request.path.endswith("/") and request.META.get("QUERY_STRING")
    back_url = request.path if is_page else dataset.get_absolute_url()
    context = {"room": "datasets", "dataset": dataset, "why": reason, "back": back_url}
    return render(request, "evaluation/refusal.html", context, status=status)


of_selection = chosen(parse_selection)
"""Decorator that passes the selection in the URL to a view."""
