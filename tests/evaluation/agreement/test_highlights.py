"""datasets/<slug>/agreement/: alpha of the highlights of all raters."""

import pytest

from annotation.models import NuggetSpan
from evaluation.stats.unitizing import unitised_alpha
from tests.toolbox.factories import REPORT
from tests.toolbox.responses import csv_rows, text_of_page


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def span(quote):
    start = REPORT.index(quote)
    return [(start, start + len(quote))]


def test_items_read_by_two_raters_count(rosa, study):
    # oracle 1 and bm25 1 have marks of both; oracle 3 and bm25 2 are 0 by both: read, without any. oracle 2:
    # ann says 1 and marks nothing, so that nobody knows where; bm25 3: ben's words are not in the text.
    response = rosa.get(study.url("agreement", "judge="))
    report = response.context["report"]
    first = [span("Halden lost steering"), span("lost steering off the breakwater")]
    second = [span("The car ferry"), span("Investigators found a coupling")]
    expected = unitised_alpha([first, second, [[], []], [[], []]], [len(REPORT)] * 4, [0] * 4)
    assert report.highlights.value == pytest.approx(expected.value)
    assert (report.highlights.n, report.highlights.missing) == (4, 2)
    assert "character by character: α u" in text_of_page(response)


def test_files(rosa, study):
    content = rosa.get("/datasets/ferry/agreement.json?judge=").json()
    measures = csv_rows(rosa.get(study.url("agreement") + "measures.csv?judge="))
    (line,) = [row for row in measures if row["measure"] == "krippendorff_alpha_highlights"]
    assert float(line["value"]) == content["krippendorff_alpha_highlights"]["value"]
    assert line["missing"] == "2"


def test_alpha_without_marks_is_undefined(rosa, study):
    NuggetSpan.objects.all().delete()
    report = rosa.get(study.url("agreement", "judge=")).context["report"]
    assert "nobody highlighted anything" in report.highlights.reason
