"""Page of a dataset's topics, texts and retrieval runs."""

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from crux_site.datasets.page import overview
from evaluation.data.cache_keys import CacheKey
from evaluation.data.process_cache import SHARED_CACHE

TOPICS_PER_PAGE = 50


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
        "page": page,
        "topics": counts.counted(page.object_list),
        "runs": SHARED_CACHE.until_db_write(
            (CacheKey.DATASET_RUNS, dataset.pk), lambda: list(runs)
        ),
    }
    return render(request, "crux_site/texts/texts.html", context)
