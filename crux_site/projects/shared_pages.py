"""Access by a shared link, to URLs that pages declare as shared; others stay private."""

from urllib.parse import quote, unquote, urlencode, urlsplit

from django.http import HttpRequest, QueryDict
from django.urls import Resolver404, ResolverMatch, resolve, reverse

from annotation.models import Dataset, SharedLink
from annotation.pages import page_of

ROUTE = "datasets/<slug:slug>/"
READ = ("GET", "HEAD")


def is_shared(link: SharedLink, request: HttpRequest) -> bool:
    """Return True if a link shows the requested page: read access, listed, of its dataset.

    A link to one page shows that page alone.
    """
    return request.method in READ and is_address_shared(
        link, request.resolver_match, request.path, request.GET
    )


def is_address_shared(
    link: SharedLink, match: ResolverMatch | None, path: str, query: QueryDict
) -> bool:
    """Return True if a link shows an address: its match, its path (not quoted) and its query."""
    if not _is_listed(match, link.dataset, with_words=link.with_words):
        return False
    return not link.address or _parts(link.address) == (path, query)


def normalize_address(address: str, dataset: Dataset, *, with_words: bool) -> str | None:
    """Return the normalized address of a page; None if such a link would not show it.

    It is rebuilt from its parts: no other host, and nothing that a header could not hold, is left.
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
    """Return the URL of the form that shares the open page; empty if no link shows it."""
    match = request.resolver_match
    if match is None or not match.route.startswith(ROUTE) or not match.route.endswith("/"):
        return ""
    if not _is_declared(match, with_text=True):
        return ""
    query = urlencode({"address": request.get_full_path()})
    return f"{reverse('share', args=[match.kwargs['slug']])}?{query}"


def _is_listed(match: ResolverMatch | None, dataset: Dataset, *, with_words: bool) -> bool:
    return (
        match is not None
        and match.route.startswith(ROUTE)
        and match.kwargs["slug"] == dataset.slug
        and _is_declared(match, with_text=with_words)
    )


def _is_declared(match: ResolverMatch, *, with_text: bool) -> bool:
    page = page_of(match.func)
    return page is not None and page.is_shared(match.url_name, with_text=with_text)


def _parts(address: str) -> tuple[str, QueryDict]:
    """Return the path and the query, comparable in any order and quoting."""
    parts = urlsplit(address)
    return unquote(parts.path), QueryDict(parts.query)
