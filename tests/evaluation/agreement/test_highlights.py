"""datasets/<slug>/agreement/: alpha of the highlights of all raters."""

import pytest

from annotation.models import NuggetSpan
from evaluation.stats.unitizing import unitised_alpha
from tests.evaluation.agreement.test_page import words
from tests.evaluation.retrieval.test_page import rows_of
from tests.factories import REPORT


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def span(quote):
    start = REPORT.index(quote)
    return [(start, start + len(quote))]


def test_every_item_that_two_read_counts(rosa, study):
    # oracle 1 and bm25 1 have marks of both; oracle 3 and bm25 2 are 0 by both: read, without any. oracle 2:
    # ann says 1 and marks nothing, so that nobody knows where; bm25 3: ben's words are not in the text.
    response = rosa.get(study.url("agreement", "judge="))
    report = response.context["report"]
    first = [span("Halden lost steering"), span("lost steering off the breakwater")]
    second = [span("The car ferry"), span("Investigators found a coupling")]
    expected = unitised_alpha([first, second, [[], []], [[], []]], [len(REPORT)] * 4, [0] * 4)
    assert report.highlights.value == pytest.approx(expected.value)
    assert (report.highlights.n, report.highlights.missing) == (4, 2)
    assert "character by character: α u" in words(response)


def test_files(rosa, study):
    content = rosa.get("/datasets/ferry/agreement.json?judge=").json()
    measures = rows_of(rosa.get(study.url("agreement") + "measures.csv?judge="))
    (line,) = [row for row in measures if row["measure"] == "krippendorff_alpha_highlights"]
    assert float(line["value"]) == content["krippendorff_alpha_highlights"]["value"]
    assert line["missing"] == "2"


def test_nothing_marked_says_so(rosa, study):
    NuggetSpan.objects.all().delete()
    report = rosa.get(study.url("agreement", "judge=")).context["report"]
    assert "nobody highlighted anything" in report.highlights.reason
