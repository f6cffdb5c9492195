"""Pages of the datasets: list, overview and rating coverage."""

from django.core.paginator import Paginator
from django.db.models import Count, Exists, OuterRef, Prefetch, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Campaign, Dataset, Project, Rater, Rating, Text, Topic
from crux_site.datasets.page import overview
from crux_site.datasets.summary import dataset_summary
from evaluation.data.cache_keys import CacheKey
from evaluation.data.process_cache import SHARED_CACHE
from evaluation.result_tables import Cell, csv_response
from judging.execution.background import ACTIVE_STATES
from judging.models import JudgeRun

TOPICS_PER_PAGE = 50


@require_safe
def home(request: AuthenticatedRequest) -> HttpResponseBase:
    """The first page of each role: results for researchers, work for workers."""
    return redirect("datasets" if request.user.is_researcher else "work_home")


def _number_of(model: type[Topic] | type[Text]) -> Coalesce:
    """Return a subquery that counts the rows of a dataset."""
    rows = model.objects.filter(dataset=OuterRef("pk")).order_by().values("dataset")
    return Coalesce(Subquery(rows.annotate(n=Count("pk")).values("n")), 0)


@require_safe
@researchers_only
def datasets(request: AuthenticatedRequest) -> HttpResponseBase:
    """All datasets of the projects that the reader is in, and what is going on in each."""
    judging = JudgeRun.objects.filter(state__in=ACTIVE_STATES).select_related("judge__rater")
    # Counted apart: joined, topics and texts would multiply each other.
    listed = (
        Dataset.objects.visible_to(request.user)
        .annotate(
            n_topics=_number_of(Topic),
            n_texts=_number_of(Text),
            is_rated=Exists(Rating.objects.filter(text__dataset=OuterRef("pk"))),
        )
        .prefetch_related(
            Prefetch(
                "campaigns",
                Campaign.objects.filter(state=Campaign.State.OPEN),
                to_attr="open_campaigns",
            ),
            Prefetch("judge_runs", judging, to_attr="runs_at_work"),
        )
    )
    context = {
        "datasets": listed.select_related("project"),
        "projects": Project.objects.visible_to(request.user),
        "owned_projects": Project.objects.owned_by(request.user),
        "room": "datasets",
    }
    return render(request, "crux_site/datasets/datasets.html", context)


@vary_on_headers("HX-Request")
@require_safe
@researchers_only
def dataset(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Dataset page: contents, rating coverage and the next step.

    The list asks for a few lines of each dataset as it comes into sight: fifty would take long at once.
    """
    dataset = get_object_or_404(Dataset, slug=slug)
    counts = overview(dataset)
    summary = {"dataset": dataset, "overview": counts, "standing": dataset_summary(dataset, counts)}
    if request.htmx:
        return render(request, "crux_site/datasets/_summary.html", summary)
    page = Paginator(dataset.topics.all(), TOPICS_PER_PAGE).get_page(request.GET.get("page"))
    runs = dataset.runs.annotate(
        n_topics=Count("ranked__topic", distinct=True), n_ranked=Count("ranked")
    )
    context = summary | {
        "page": page,
        "topics": counts.counted(page.object_list),
        "runs": SHARED_CACHE.until_db_write(
            (CacheKey.DATASET_RUNS, dataset.pk), lambda: list(runs)
        ),
        "campaigns": dataset.campaigns.select_related("rubric"),
        "aggregates": dataset.raters.filter(kind=Rater.Kind.AGGREGATE),
        "room": "datasets",
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
