"""What the pages of results share: the selection in a URL, and the page that refuses a wrong one."""

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render

from annotation.http import AuthenticatedRequest
from annotation.models import Dataset
from evaluation.data.selection import Selection, select


def asked_for(request: AuthenticatedRequest, dataset: Dataset) -> Selection:
    """The selection in the URL. Raises SelectionError where it asks for what is not there.

    The form says what it was filled in for: of another rubric or campaign it knows neither the
    raters nor the judges, and these are then chosen anew.
    """
    words = request.GET
    rubric, campaign = words.get("rubric"), words.get("campaign")
    choices = {name: words.get(name) for name in ("judge", "eta", "majority", "by")}
    raters = words.getlist("raters")
    if "of_rubric" in words:
        has_other_rubric = rubric != words["of_rubric"]
        if has_other_rubric:
            campaign = None
        if has_other_rubric or campaign != words.get("of_campaign"):
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
