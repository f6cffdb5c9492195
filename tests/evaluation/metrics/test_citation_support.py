import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.citation_support import (
    MEASURES,
    CitationSupport,
    citation_support,
    mean_over_reports,
)
from evaluation.stats.estimate import Estimate

NAN = float("nan")
REPORT = [[2, 0], [1], [], [1, 1, 2]]


def values(support: CitationSupport) -> list[float | None]:
    return [getattr(support, name).value for name in MEASURES]


def test_by_hand():
    # Six citations: 2 0 1 1 1 2. Two are full: 2/6; half of the sum of 7 is 3.5: 3.5/6.
    # Four statements, their best 2, 1, none, 2: 2/4 in full; (1 + 0.5 + 0 + 1)/4 weighted.
    support = citation_support(REPORT)
    assert values(support) == [pytest.approx(2 / 6), pytest.approx(3.5 / 6), 0.5, 0.625]
    assert [getattr(support, name).n for name in MEASURES] == [6, 6, 4, 4]
    assert not any(getattr(support, name).missing for name in MEASURES)


def test_with_one_citation_a_statement_the_weighted_values_are_those_of_trec_rag():
    # Precision over the three statements that cite, recall over all four: 1.5/3 and 1.5/4.
    assert values(citation_support([[2], [1], [0], []]))[1::2] == [0.5, 0.375]


def test_unrated_citation_is_missing_and_not_zero():
    # A full support settles its statement whatever else it cites; the second is not settled.
    support = citation_support([[2, NAN], [1, NAN], [0]])
    assert (support.precision.value, support.precision.n, support.precision.missing) == (None, 3, 2)
    assert support.precision.reason == "undefined, because 2 of 5 citations lack a grade"
    assert (support.recall.value, support.recall.n, support.recall.missing) == (None, 2, 1)
    assert support.recall.reason == "undefined, because 1 of 3 statements lacks a grade"
    settled = citation_support([[2, NAN], [0], []])
    assert settled.recall.value == pytest.approx(1 / 3)
    assert settled.recall_weighted.value == pytest.approx(1 / 3)


def test_without_citations_and_without_statements():
    silent = citation_support([[], []])
    assert (silent.precision.value, silent.recall.value, silent.recall.n) == (None, 0.0, 2)
    assert silent.precision.reason == "undefined, because the report cites nothing"
    nothing = citation_support([])
    assert values(nothing) == [None] * 4
    assert nothing.recall_weighted.reason == "undefined, because the report has no statement"


@pytest.mark.parametrize("grade", [3, -1, 0.5, float("inf")])
def test_unknown_grade_is_refused(grade):
    with pytest.raises(ValueError, match="0, 1, 2"):
        citation_support([[grade]])


@given(st.lists(st.lists(st.sampled_from([0, 1, 2]), max_size=4), max_size=6))
def test_properties(statements):
    """Weights never take away; the order of statements and of citations does not matter."""
    precision, weighted, recall, recall_weighted = values(citation_support(statements))
    reversed_values = values(citation_support([citations[::-1] for citations in statements[::-1]]))
    assert reversed_values == [
        pytest.approx(precision),
        pytest.approx(weighted),
        recall,
        recall_weighted,
    ]
    assert (weighted or 0) >= (precision or 0)
    assert (recall_weighted or 0) >= (recall or 0)


def test_mean_over_reports_leaves_out_what_has_nothing_to_count():
    # 1 and 0.5 of two topics: 0.75 of two. One report lacks grades; one cites nothing and is neither.
    reports = [
        Estimate(1.0, None, 4),
        Estimate(0.5, None, 2),
        Estimate(None, "undefined, because 1 of 2 citations lack a grade", 1, 1),
        Estimate(None, "undefined, because the report cites nothing", 0),
    ]
    mean = mean_over_reports(reports, [1, 2, 3, 4])
    assert (mean.value, mean.n, mean.missing) == (0.75, 2, 1)
    assert mean.low is not None
    lacking = mean_over_reports(reports[2:], [3, 4])
    assert (lacking.value, lacking.n, lacking.missing) == (None, 0, 1)
    assert "has all the grades" in lacking.reason
    nothing = mean_over_reports(reports[3:], [4])
    assert (nothing.value, nothing.n, nothing.missing) == (None, 0, 0)
    assert mean_over_reports([], []).value is None
