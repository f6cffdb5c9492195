"""The datasets: what is in each, how full its matrix is, and taking it away as files."""

from collections.abc import Iterator

from django.db.models import Count, Q
from django.http import Http404, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from annotation.exporters import long, qlabels, qrels
from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Rating, Text
from annotation.raters import raters_of

LABELS = {"qlabels": qlabels.lines, "qrels": qrels.lines}
TABLES = {"csv": long.csv_lines, "jsonl": long.jsonl_lines}


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
    names = {rater.pk: name for name, rater in raters_of(found).items()}
    graded = (
        Rating.objects.of_dataset(found)
        .values("rater", "rater__kind", "rubric__title", "rubric__slug")
        .annotate(n=Count("id"))
        .order_by("rubric__slug", "rater__kind", "rater__name")
    )
    without_words = Count("id", filter=Q(body__isnull=True))
    context = {
        "dataset": found,
        "topics": found.topics.annotate(
            n_questions=Count("questions", distinct=True),
            n_filtered=Count("questions", filter=~Q(questions__filtered_because=""), distinct=True),
            n_passages=Count("texts", filter=Q(texts__kind=Text.Kind.PASSAGE), distinct=True),
        ),
        "texts": found.texts.values("kind", "system")
        .annotate(n=Count("id"), without_words=without_words)
        .order_by("kind", "system"),
        "runs": found.runs.annotate(
            n_topics=Count("ranked__topic", distinct=True), n_ranked=Count("ranked")
        ),
        "raters": [row | {"name": names[row["rater"]]} for row in graded],
        "campaigns": found.campaigns.select_related("rubric"),
        "room": "datasets",
    }
    return render(request, "crux_site/dataset.html", context)


@require_safe
@researchers_only
def export(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """A file of the dataset's grades, streamed: one rater's labels, or everybody's in one table."""
    found = get_object_or_404(Dataset, slug=slug)
    wanted = request.GET.get("format", "")
    if wanted in LABELS:
        name = request.GET.get("rater", "")
        rater = raters_of(found).get(name)
        if rater is None:
            raise Http404(f"Nobody called {name!r} has graded here.")
        return _file(LABELS[wanted](found, rater), f"{name}.{wanted}.jsonl")
    if wanted in TABLES:
        return _file(TABLES[wanted](found), f"{slug}.ratings.{wanted}")
    raise Http404(f"There is no format {wanted!r}.")


def _file(lines: Iterator[str], name: str) -> StreamingHttpResponse:
    kind = "text/csv" if name.endswith(".csv") else "application/jsonl"
    response = StreamingHttpResponse(lines, content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
