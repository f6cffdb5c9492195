"""The datasets: what is in each, how full its matrix is, and taking it away as files."""

from django.db.models import Count, Q
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Rating, Text


@require_safe
def home(request: AuthenticatedRequest) -> HttpResponseBase:
    """The first page of each role: results for researchers, work for workers."""
    return redirect("datasets" if request.user.is_researcher else "work_home")


@require_safe
@researchers_only
def datasets(request: AuthenticatedRequest) -> HttpResponseBase:
    """All datasets."""
    listed = Dataset.objects.annotate(
        n_topics=Count("topics", distinct=True), n_texts=Count("texts", distinct=True)
    )
    return render(request, "crux_site/datasets.html", {"datasets": listed, "room": "datasets"})


@require_safe
@researchers_only
def dataset(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """One dataset: topics, texts, runs, and how many pairs each rater has graded."""
    found = get_object_or_404(Dataset, slug=slug)
    without_words = Count("id", filter=Q(body__isnull=True))
    context = {
        "dataset": found,
        "topics": found.topics.annotate(
            n_questions=Count("questions", distinct=True),
            n_filtered=Count(
                "questions", filter=~Q(questions__filtered_because=""), distinct=True
            ),
            n_passages=Count("texts", filter=Q(texts__kind=Text.Kind.PASSAGE), distinct=True),
        ),
        "texts": found.texts.values("kind", "system")
        .annotate(n=Count("id"), without_words=without_words)
        .order_by("kind", "system"),
        "runs": found.runs.annotate(
            n_topics=Count("ranked__topic", distinct=True), n_ranked=Count("ranked")
        ),
        "raters": Rating.objects.of_dataset(found)
        .values("rater__name", "rater__kind", "rubric__title", "rubric__slug")
        .annotate(n=Count("id"))
        .order_by("rubric__slug", "rater__kind", "rater__name"),
        "campaigns": found.campaigns.select_related("rubric"),
        "room": "datasets",
    }
    return render(request, "crux_site/dataset.html", context)


@require_safe
@researchers_only
def export(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    raise NotImplementedError
