"""Overview of a dataset, and its rating coverage as CSV."""

from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Rater
from crux_site.datasets.doors import doors
from crux_site.datasets.next_step import next_step
from crux_site.datasets.page import overview
from crux_site.datasets.summary import dataset_summary
from crux_site.history.page import events
from evaluation.result_tables import Cell, csv_response

RECENT_EVENTS = 5


@require_safe
@researchers_only
def datasets(request: AuthenticatedRequest) -> HttpResponseBase:
    """Redirect to Home, which lists the datasets."""
    return redirect("home")


@require_safe
@researchers_only
def dataset(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Overview of a dataset: five doors to its results, the next step, and recent events."""
    dataset = get_object_or_404(Dataset.objects.select_related("project"), slug=slug)
    counts = overview(dataset)
    summary = dataset_summary(dataset, counts)
    n_runs = dataset.runs.count()
    context = {
        "room": "datasets",
        "dataset": dataset,
        "overview": counts,
        "n_topics": dataset.topics.count(),
        "n_runs": n_runs,
        "doors": doors(dataset, counts, summary, n_runs),
        "aggregates": dataset.raters.filter(kind=Rater.Kind.AGGREGATE),
    }
    if request.user.is_authenticated:  # visitors by a link are not
        role = dataset.project.role_of(request.user)
        recent = events(dataset, limit=RECENT_EVENTS)
        times = [event.at for event in recent[:1]] + [counts.last_rated]
        context |= {
            "next": next_step(dataset, counts, summary, role),
            "events": recent,
            "last_change": max(filter(None, times), default=dataset.created),
        }
    return render(request, "crux_site/datasets/dataset.html", context)


@require_safe
@researchers_only
def filled_csv(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Send the rating coverage as CSV: a row for each rater, rubric and kind of text."""
    fills = overview(get_object_or_404(Dataset, slug=slug)).fills
    header = ["rubric", "rater", "kind", "texts", "n_texts", "of_texts"]
    rows: list[list[Cell]] = [
        [
            *(fill.rubric.slug, fill.rater.name, fill.rater.kind, fill.kind),
            *(fill.n_texts, fill.of_texts, fill.n, fill.possible, fill.n_filtered),
        ]
        for fill in fills
    ]
    return csv_response(f"{slug}.filled", [*header, "n_rated", "n_possible", "n_filtered"], rows)
