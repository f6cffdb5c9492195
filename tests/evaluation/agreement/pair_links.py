"""Count of the numbers on a page that link to as many pairs."""

import html
import re
from urllib.parse import parse_qsl, urlsplit

from django.test import Client
from django.urls import resolve

from tests.toolbox.samples import ALL_CASES

LINK = re.compile(r'<a [^>]*href="([^"]+)"[^>]*>([^<]*)</a>')


def count_pair_links(client: Client, page: str) -> int:
    """Return how many numbers of a page open as many pairs, or ratings, as they say.

    Of the other links, one of each kind opens: of each view with the same parameters.
    """
    links = {(html.unescape(url), label.strip()) for url, label in LINK.findall(page)}
    counts, kinds = 0, set()
    for url, label in sorted(links):
        if not url.startswith("/datasets/ferry/"):
            continue
        is_count = "/disagreements/" in url and label.isdigit()
        kind = kind_of(url)
        if kind in kinds and not is_count and not ALL_CASES:
            continue
        kinds.add(kind)
        response = client.get(url)
        assert response.status_code == 200, url
        if is_count:
            pairs = response.context["listed"]
            # Items of a table of parts are pairs; against a judge the unit is a rating.
            assert int(label) in (len(pairs), pairs.n_ratings), (url, label)
            counts += 1
    return counts


def kind_of(url: str) -> tuple[str, ...]:
    """Return the route of an address, the names of its parameters, and the kind of pairs."""
    parts = urlsplit(url)
    parameters = dict(parse_qsl(parts.query))
    kind = parameters.get("kind", parameters.get("cell", ""))
    return (resolve(parts.path).route, parts.path.partition(".")[2], kind, *sorted(parameters))
