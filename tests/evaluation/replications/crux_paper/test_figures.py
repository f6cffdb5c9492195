"""Figures 4 and 5: their data, and drawings that are the same bytes each time."""

import csv
import io
import re
import struct
import threading
import zlib
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

from annotation.models import Dataset
from evaluation.data.selection import select
from evaluation.replications.crux_paper.figure4 import (
    correlation_csv,
    coverage_csv,
    report_coverage,
)
from evaluation.replications.crux_paper.figure5 import heat, heat_csv
from evaluation.replications.crux_paper.names import ALPHA_NDCG, COVERAGE_Y, COVERAGE_Z, RECALL
from evaluation.replications.crux_paper.painting import _common_prefix, draw_figure
from evaluation.replications.crux_paper.parts import KINDS
from evaluation.scoring.report_coverage import Correlations, CoverageColumns
from tests.toolbox.agreement_study import make_study

pytestmark = pytest.mark.any_database

# One topic, four systems. Recall orders them as coverage does, alpha-nDCG the other way round, and
# the report of the first system is missing.
VALUES = {
    COVERAGE_Z: np.array([[1.0, 2, 3, 4]]),
    RECALL: np.array([[10.0, 20, 30, 40]]),
    ALPHA_NDCG: np.array([[4.0, 3, 2, 1]]),
    COVERAGE_Y: np.array([[np.nan, 2, 1, 3]]),
}


@pytest.fixture
def coverage(db):
    make_study()
    return report_coverage(select(Dataset.objects.get(), rubric="answerable", judge="judge"))


def rows(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def svg_text(svg: bytes) -> str:
    """Return the text of an SVG: letters are outlines, and a comment before each has its text."""
    return " ".join(re.findall(r"<!-- (.*?) -->", svg.decode()))


def chunks(png: bytes) -> set[bytes]:
    offset, kinds = 8, set()
    while offset < len(png):
        size, kind = struct.unpack(">I4s", png[offset : offset + 8])
        assert (
            zlib.crc32(png[offset + 4 : offset + 8 + size])
            == struct.unpack(">I", png[offset + 8 + size :][:4])[0]
        )
        kinds.add(kind)
        offset += size + 12
    return kinds


def test_heat_by_hand():
    heat_map = heat(VALUES)
    assert heat_map.metrics == tuple(VALUES)
    taus = heat_map.taus
    assert set(taus) == {(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)}
    assert taus[1, 0].value == 1
    assert taus[2, 0].value == -1
    # Coverage of Z puts the last three as 2 3 4 and of y as 2 1 3: two pairs alike, one not: 1/3.
    assert taus[3, 0].value == pytest.approx(1 / 3)
    assert (taus[3, 0].n, taus[3, 0].missing) == (3, 1)


def test_heat_as_csv():
    table = rows(heat_csv(heat(VALUES)))
    assert len(table) == 6
    first = table[0]
    assert (first["a"], first["b"], first["tau"], first["tau_n"]) == ("Cov(Z)", "Recall", "1", "4")


def test_heat_drawn():
    text = svg_text(draw_figure(heat(VALUES), "svg"))
    for part in ("0.33", "1.00", "−1.00", "Recall", "α-nDCG", "Cov(y)", "over 3 to 4 systems"):
        assert part in text


def test_metric_without_any_value_is_left_out():
    nowhere = VALUES | {RECALL: np.full((1, 4), np.nan)}
    assert RECALL not in heat(nowhere).metrics


def test_undefined_correlation_is_hatched_and_has_no_number():
    constant = VALUES | {RECALL: np.full((1, 4), 0.5)}
    svg = draw_figure(heat(constant), "svg")
    assert b"<pattern" in svg
    assert b"nan" not in svg.lower()


@pytest.mark.parametrize("kind", KINDS)
def test_same_bytes_without_dates_and_whatever_the_settings(coverage, kind):
    first = draw_figure(coverage, kind)
    with mpl.rc_context({"font.size": 20, "svg.hashsalt": "other", "axes.facecolor": "red"}):
        assert draw_figure(coverage, kind) == first
    for metadata in (
        b"dc:date",
        b"Matplotlib v",
        b"CreationDate",
        b"/Producer",
        b"/Creator",
        b"/Type3",
    ):
        assert metadata not in first
    if kind == "png":
        assert chunks(first) == {b"IHDR", b"pHYs", b"IDAT", b"IEND"}


def test_drawing_leaves_the_settings_and_other_threads_alone(coverage):
    before = dict(mpl.rcParams)
    files: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: files.append(draw_figure(coverage, "svg")))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(files) == 3
    assert len(set(files)) == 1
    assert dict(mpl.rcParams) == before


def test_coverage_of_people_and_judge(coverage):
    # Worked out in material.py. The judge at eta 3 answers oracle 1 of 3 and bm25 1 of 2 rated.
    table = {(row["system"], row["rater"]): row for row in rows(coverage_csv(coverage))}
    assert len(table) == 6
    assert table["annotated.oracle", "ann"]["coverage"] == "0.666666666667"
    assert table["annotated.oracle", "ben"]["coverage"] == "0.333333333333"
    assert table["annotated.oracle", "judge"]["coverage"] == "0.333333333333"
    unfinished = table["annotated.bm25", "judge"]
    assert (unfinished["coverage_missing"], unfinished["rater_kind"]) == ("1", "model")


def test_correlations_are_of_the_judge_with_each_person(coverage):
    table = rows(correlation_csv(coverage))
    assert [(row["a"], row["b"]) for row in table] == [("ann", "judge"), ("ben", "judge")]
    assert "fewer than three" in table[0]["pearson_reason"]


def test_both_correlations_are_printed(coverage):
    person, judge = coverage.people[0], coverage.judge
    # Only two of five ranks are swapped, but they are those of the largest value in each list.
    values = np.array([[0, 1, 2, 3, 20], [0, 1, 2, 20, 3]], dtype=np.float64).T
    pair = Correlations(
        person, judge, CoverageColumns(values, np.arange(5), 5, ranked=False), (0, 1)
    )
    text = svg_text(draw_figure(replace(coverage, correlations=(pair,)), "svg"))
    assert "ann: r = −0.04, ρ = 0.90" in text
    assert "judge, η = 3" in text
    assert "annotated.oracle" in text


def test_without_a_judge_people_are_compared(db):
    make_study()
    coverage = report_coverage(select(Dataset.objects.get(), rubric="answerable"))
    assert [(pair.a.name, pair.b.name) for pair in coverage.correlations] == [("ann", "ben")]
    text = svg_text(draw_figure(coverage, "svg"))
    assert "ann, ben: r = undefined, ρ = undefined" in text


def test_crowd_is_drawn_as_people(coverage):
    reports = coverage.reports
    crowd = replace(
        coverage,
        people=coverage.people * 4,
        judge=None,
        correlations=(),
        reports=replace(
            reports,
            n_answered=np.tile(reports.n_answered[:, : reports.n_raters], 4),
            n_unrated=np.tile(reports.n_unrated[:, : reports.n_raters], 4),
            n_raters=reports.n_raters * 4,
        ),
    )
    assert "8 people" in svg_text(draw_figure(crowd, "svg"))


def test_name_is_never_read_as_a_formula(coverage):
    reports = coverage.reports
    odd = replace(reports, systems=tuple(f"{system}$_x$" for system in reports.systems))
    text = svg_text(draw_figure(replace(coverage, reports=odd), "svg"))
    assert "annotated.oracle$_x$" in text


def test_shared_beginning():
    assert _common_prefix(["duc04-testb-3", "duc04-testb-31"]) == "duc04-testb-"
    assert _common_prefix(["ferry-1"]) == ""
    assert _common_prefix(["abc", "abd"]) == ""
