"""datasets/<slug>/agreement/: every number opens what it counts."""

import html
import re

import pytest
from django.test import Client

from annotation.models import Rater, Rating, Rubric
from tests.markup import markup

# Its n counts reports, whose pairs it opens.
REPORTS = re.compile(r"<caption><strong>Coverage of reports, between.*?</table>", re.DOTALL)
LINK = re.compile(r'<a [^>]*href="([^"]+)"[^>]*>([^<]*)</a>')


@pytest.fixture
def rosa(cast) -> Client:
    return cast.client("researcher")


@pytest.fixture
def third(study):
    """cat has rated one item, so that ratings are missing."""
    Rating.objects.create(
        rater=Rater.objects.create(dataset=study.dataset, name="cat", kind="human"),
        rubric=Rubric.objects.get(slug="answerable"),
        text=study.oracle,
        question=study.questions[0],
        grade=0,
    )


@pytest.mark.any_database
@pytest.mark.parametrize("query", ["", "eta=5&truth=ben", "judge=", "rubric=graded&raters=judge"])
def test_every_link_opens_and_counts_what_the_number_says(rosa, study, third, query):
    page = REPORTS.sub("", markup(rosa.get(study.url("agreement", query))))
    links = {(html.unescape(url), words) for url, words in LINK.findall(page)}
    counts = 0
    for url, words in links:
        if not url.startswith("/datasets/ferry/"):
            continue
        response = rosa.get(url)
        assert response.status_code == 200, url
        if "/pairs/" in url and words.isdigit():
            pairs = response.context["listed"]
            # Items of a table of parts are pairs; against a judge the unit is a rating.
            assert int(words) in (len(pairs), pairs.n_ratings), (url, words)
            counts += 1
    assert counts > (3 if "graded" in query else 10)
