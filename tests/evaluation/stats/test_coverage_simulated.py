"""bench.coverage: how often intervals hold, in a few simulated studies."""

import re
from pathlib import Path

import pytest

from bench.coverage import BOOTSTRAP, JACKKNIFE, MODELS, STUDIES, Coverage, coverage, table

DOCS = Path(__file__).parents[3] / "docs" / "metrics.md"
TAU = "Tau of 21 systems, far apart"


def test_intervals_of_means_hold_in_most_studies():
    simulated = coverage(["means"], studies=60, sizes=(10,))
    difference = simulated["Difference of two systems", "t over topics"][10]
    assert (difference.intervals, difference.studies) == (60, 60)
    assert difference.holds >= 52  # fewer happen to a true 0.95 once in 150


def test_tau_has_no_interval_under_fifteen_topics_and_the_bootstrap_is_too_low():
    simulated = coverage(["tau of 21 far apart"], studies=20, sizes=(10, 20))
    printed = simulated[TAU, f"{JACKKNIFE}, where printed"]
    assert printed[10].wording == "none"
    assert printed[20].intervals > 0
    assert simulated[TAU, BOOTSTRAP][10].holds < simulated[TAU, f"{JACKKNIFE}, always"][10].holds


def test_same_seed_gives_the_same_numbers():
    assert coverage(["gold"], 5, (10,)) == coverage(["gold"], 5, (10,))


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((0, 0, 9), "none"), ((19, 20, 20), "0.95"), ((4, 5, 10), "0.80 (50% have one)")],
)
def test_wording_of_a_cell(counts, expected):
    assert Coverage(*counts).wording == expected


def test_docs_have_a_row_for_each_statistic():
    simulated = coverage(["means", "judged", "gold"], studies=1, sizes=(20,))
    docs = DOCS.read_text()
    rows = [line.rpartition(" | ")[0] for line in docs.splitlines()]
    for statistic, method in simulated:
        assert any(row.startswith(f"| {statistic} | {method} |") for row in rows), statistic
    for name in MODELS:
        if name.startswith("tau of "):
            n, _, distance = name.removeprefix("tau of ").partition(" ")
            assert f"| Tau of {n} systems, {distance} | {JACKKNIFE}, where printed |" in docs
    assert re.search(rf"{STUDIES:,} studies", docs)
    assert len(list(table({}))) == 2
