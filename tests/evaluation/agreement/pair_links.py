"""Count of the numbers on a page that link to as many pairs."""

import html
import re

from django.test import Client

LINK = re.compile(r'<a [^>]*href="([^"]+)"[^>]*>([^<]*)</a>')


def count_pair_links(client: Client, page: str) -> int:
    """Return how many numbers of a page open as many pairs, or ratings, as they say.

    All its links open.
    """
    links = {(html.unescape(url), label.strip()) for url, label in LINK.findall(page)}
    counts = 0
    for url, label in sorted(links):
        if not url.startswith("/datasets/ferry/"):
            continue
        response = client.get(url)
        assert response.status_code == 200, url
        if "/pairs/" in url and label.isdigit():
            pairs = response.context["listed"]
            # Items of a table of parts are pairs; against a judge the unit is a rating.
            assert int(label) in (len(pairs), pairs.n_ratings), (url, label)
            counts += 1
    return counts
