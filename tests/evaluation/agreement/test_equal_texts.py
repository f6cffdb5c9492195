"""A grade that was copied to texts of equal words is one pair to agreement."""

import pytest

from evaluation.agreement.report import agreement_report
from evaluation.data.ratings import load
from evaluation.data.selection import select
from tests.toolbox.answers import label
from tests.toolbox.equal_texts import make_copying, make_mill


@pytest.fixture
def campaign(cast):
    campaign = make_copying(make_mill(), cast.worker, cast.other_worker)
    for name, number, *grades in (("m1:0", 1, 3, 2), ("m1:0", 2, 0, 0), ("m1:3", 1, 5, 1)):
        for user, grade in zip((cast.worker, cast.other_worker), grades, strict=True):
            label(campaign, user, name, number, grade)
    return campaign


@pytest.mark.parametrize("scope", [{}, {"campaign": "mill-graded"}])
def test_copied_pairs_count_once(campaign, scope):
    selection = select(campaign.dataset, rubric="graded", **scope)
    matrix = load(selection)
    assert [matrix.texts[pk].name for pk in matrix.text.tolist()] == ["m1:0", "m1:0", "m1:3"]
    assert matrix.grades.tolist() == [[2, 3], [0, 0], [1, 5]]
    report = agreement_report(selection)
    assert (report.n_items, report.all.kappa.n, report.alpha.n) == (3, 3, 3)
    assert (report.n_missing, [pair.percent.n for pair in report.pairs]) == (0, [3])
    assert load(selection, with_copies=True).n_items == 7
