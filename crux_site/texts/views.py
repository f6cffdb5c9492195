"""Page of a dataset's topics, texts and retrieval runs."""

from collections.abc import Sequence

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Text
from annotation.origins import Origin, identity, origin
from crux_site.datasets.page import TextCounts, overview
from evaluation.data.cache_keys import CacheKey
from evaluation.data.process_cache import SHARED_CACHE

TOPICS_PER_PAGE = 50


def _with_origins(
    dataset: Dataset, counts: Sequence[TextCounts]
) -> list[tuple[TextCounts, list[Origin]]]:
    """Return the counts of texts with the models of each system's reports; one query."""
    reports = dataset.texts.filter(kind=Text.Kind.REPORT).exclude(origins=[]).order_by()
    by_system: dict[str, dict[tuple[str, str, str], Origin]] = {}
    for system, origins in reports.values_list("system", "origins").distinct():
        of_system = by_system.setdefault(system, {})
        of_system |= {identity(entry): origin(*identity(entry)) for entry in origins}
    return [(row, list(by_system.get(row.system, {}).values())) for row in counts]


@require_safe
@researchers_only
def texts(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    dataset = get_object_or_404(Dataset.objects.select_related("project"), slug=slug)
    counts = overview(dataset)
    page = Paginator(dataset.topics.all(), TOPICS_PER_PAGE).get_page(request.GET.get("page"))
    runs = dataset.runs.annotate(
        n_topics=Count("ranked__topic", distinct=True), n_ranked=Count("ranked")
    )
    context = {
        "room": "datasets",
        "dataset": dataset,
        "overview": counts,
        "text_counts": _with_origins(dataset, counts.texts),
        "page": page,
        "topics": counts.counted(page.object_list),
        "runs": SHARED_CACHE.until_db_write(
            (CacheKey.DATASET_RUNS, dataset.pk), lambda: list(runs)
        ),
    }
    return render(request, "crux_site/texts/texts.html", context)
