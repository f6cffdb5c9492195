"""datasets/<slug>/agreement/: every number opens what it counts."""

import html
import re

import pytest
from django.test import Client

from annotation.models import Rater, Rating, Rubric
from tests.evaluation.agreement.material import make_study
from tests.markup import markup

# Its n counts reports, whose pairs it opens.
REPORTS = re.compile(r"<caption><strong>Coverage of reports, between.*?</table>", re.DOTALL)
LINK = re.compile(r'<a [^>]*href="([^"]+)"[^>]*>([^<]*)</a>')


def add_third(study):
    """cat has rated one item, so that ratings are missing."""
    Rating.objects.create(
        rater=Rater.objects.create(dataset=study.dataset, name="cat", kind="human"),
        rubric=Rubric.objects.get(slug="answerable"),
        text=study.oracle,
        question=study.questions[0],
        grade=0,
    )


def counted(client: Client, page: str) -> int:
    """How many numbers of a page open as many pairs, or ratings, as they say; all its links lead somewhere."""
    links = {(html.unescape(url), said.strip()) for url, said in LINK.findall(page)}
    counts = 0
    for url, said in sorted(links):
        if not url.startswith("/datasets/ferry/"):
            continue
        response = client.get(url)
        assert response.status_code == 200, url
        if "/pairs/" in url and said.isdigit():
            pairs = response.context["listed"]
            # Items of a table of parts are pairs; against a judge the unit is a rating.
            assert int(said) in (len(pairs), pairs.n_ratings), (url, said)
            counts += 1
    return counts


# Committed, as in life: what was read for one link is held for the next.
@pytest.mark.soak
@pytest.mark.any_database
@pytest.mark.django_db(transaction=True)
def test_every_link_opens_and_counts_what_the_number_says(cast, subtests):
    study, rosa = make_study(), cast.client("researcher")
    add_third(study)
    for query in ("", "eta=5&truth=ben", "judge=", "rubric=graded&raters=judge"):
        with subtests.test(query):
            page = REPORTS.sub("", markup(rosa.get(study.url("agreement", query))))
            assert counted(rosa, page) > (3 if "graded" in query else 10)
