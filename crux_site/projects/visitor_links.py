"""Remove the addresses of links that a visitor's shared links do not show.

The text stays, as a placeholder link (an `a` without `href`). Every page is filtered by the allowlist of
`crux_site.projects.shared_pages`, so that no template has to know what is shared.
"""

import re
from collections.abc import Collection
from html import unescape
from urllib.parse import urljoin, urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.urls import Resolver404, ResolverMatch, resolve

from annotation.models import SharedLink
from crux_site.projects.shared_pages import is_address_shared

_LINK = re.compile(r"""<a\s(?:[^>"']|"[^"]*"|'[^']*')*>""")
_ADDRESS = re.compile(r"""\s(?:xlink:)?href=(?:"([^"]*)"|'([^']*)')""")


def close_links(
    request: HttpRequest, response: HttpResponseBase, links: Collection[SharedLink]
) -> None:
    """Remove the address of each link of an HTML page whose target `links` do not show."""
    is_page = response.get("Content-Type", "").startswith("text/html")
    if not is_page or not isinstance(response, HttpResponse):
        return
    base, is_open = request.get_full_path(), dict[str, bool]()

    def without_address(tag: re.Match[str]) -> str:
        address = _ADDRESS.search(tag[0])
        if address is None:
            return tag[0]
        leads_to = urljoin(base, unescape(address[1] or address[2] or ""))
        if leads_to not in is_open:
            is_open[leads_to] = _is_open(leads_to, request, links)
        return tag[0] if is_open[leads_to] else _ADDRESS.sub("", tag[0])

    response.content = _LINK.sub(without_address, response.content.decode())


def _is_open(address: str, request: HttpRequest, links: Collection[SharedLink]) -> bool:
    parts = urlsplit(address)
    if (parts.scheme or parts.netloc) and parts.netloc != request.get_host():
        return True
    if parts.path.startswith(settings.STATIC_URL) or (parts.path, parts.query) == (
        request.path,
        request.META.get("QUERY_STRING", ""),
    ):
        return True
    try:
        match = resolve(parts.path)
    except Resolver404:
        return False
    if (
        match.url_name == "login"
    ):  # of the help, strangers are not shown what a page of results links
        return True
    return _is_shared(match, parts.path, parts.query, links)


def _is_shared(match: ResolverMatch, path: str, query: str, links: Collection[SharedLink]) -> bool:
    return any(is_address_shared(link, match, path, QueryDict(query)) for link in links)
