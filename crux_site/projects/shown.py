"""What a shared link shows: a list of addresses by name, so a new page is not shown before it is on it."""

from urllib.parse import quote, unquote, urlencode, urlsplit

from django.http import HttpRequest, QueryDict
from django.urls import Resolver404, ResolverMatch, resolve, reverse

from annotation.models import Dataset, SharedLink

ROUTE = "datasets/<slug:slug>/"
READ = ("GET", "HEAD")
# Numbers and names alone: no words of a text, a question, a request or a span.
WITHOUT_WORDS = {
    *("dataset", "filled_csv"),
    *("agreement", "agreement_with", "agreement_csv", "agreement_json"),
    *("by_type", "by_type_csv", "by_type_json"),
    *("matrices", "matrices_csv"),
    *("grid", "grid_csv", "grid_json", "grid_items_json"),
    *("mixed_model", "mixed_model_csv", "mixed_model_json"),
    *("nuggets", "nuggets_csv", "nuggets_json"),
    *("retrieval", "retrieval_run", "retrieval_compare", "retrieval_judges"),
    *(
        "retrieval_discriminative",
        "retrieval_figure",
        "retrieval_csv",
        "retrieval_relevance",
        "retrieval_relevance_csv",
    ),
    *("paper", "paper_file", "paper_zip"),
    *("seen", "seen_system", "seen_csv", "seen_json"),
    *("calibration", "calibration_csv", "calibration_json"),
}
WITH_WORDS = WITHOUT_WORDS | {
    *("pairs", "pair"),
    *("matrix", "matrix_csv", "matrix_under"),
    *("nuggets_report", "seen_items", "seen_items_json"),
    *("exports", "export_file"),
}


def shows(link: SharedLink, request: HttpRequest) -> bool:
    """Whether a link shows what is asked for: to read, of its dataset, listed, and of one page that alone."""
    return request.method in READ and shows_address(
        link, request.resolver_match, request.path, request.GET
    )


def shows_address(
    link: SharedLink, match: ResolverMatch | None, path: str, query: QueryDict
) -> bool:
    """Return True if a link shows an address: its match, its path (not quoted) and its query."""
    if not _is_listed(match, link.dataset, with_words=link.with_words):
        return False
    return not link.address or _parts(link.address) == (path, query)


def page_at(address: str, dataset: Dataset, *, with_words: bool) -> str | None:
    """An address of a page of a dataset as it is kept; None for one that such a link would not show.

    It is put together anew: nothing of another host, and nothing that a header could not hold, is left.
    """
    try:
        path, query = _parts(address)
        match = resolve(path)
    except (ValueError, Resolver404):
        return None
    if not path.endswith("/") or not _is_listed(match, dataset, with_words=with_words):
        return None
    return quote(path) + (f"?{query.urlencode()}" if query else "")


def share_address(request: HttpRequest) -> str:
    """Where the page that is open can be shared; empty for one that no link shows."""
    match = request.resolver_match
    if match is None or not match.route.startswith(ROUTE) or not match.route.endswith("/"):
        return ""
    if match.url_name not in WITH_WORDS:
        return ""
    query = urlencode({"address": request.get_full_path()})
    return f"{reverse('share', args=[match.kwargs['slug']])}?{query}"


def _is_listed(match: ResolverMatch | None, dataset: Dataset, *, with_words: bool) -> bool:
    return (
        match is not None
        and match.route.startswith(ROUTE)
        and match.kwargs["slug"] == dataset.slug
        and match.url_name in (WITH_WORDS if with_words else WITHOUT_WORDS)
    )


def _parts(address: str) -> tuple[str, QueryDict]:
    """The path, and what is asked for, in whichever order and however it is quoted."""
    parts = urlsplit(address)
    return unquote(parts.path), QueryDict(parts.query)
