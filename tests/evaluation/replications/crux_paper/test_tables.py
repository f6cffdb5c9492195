"""Tables 1 to 3 of a study that can be worked out by hand; see material.py."""

import numpy as np
import pytest

from evaluation.latex_text import escape
from evaluation.replications.crux_paper import table1, table2, table3
from evaluation.replications.crux_paper.latex import latex
from evaluation.replications.crux_paper.names import COVERAGE_Y, COVERAGE_Z, TABLE_1
from evaluation.replications.crux_paper.systems import compared, systems, values
from evaluation.scoring.score import score
from tests.evaluation.replications.crux_paper.material import make_mill
from tests.evaluation.scoring.choosing import choose
from tests.toolbox.scoring_study import make_study

pytestmark = pytest.mark.any_database

SYSTEMS = ["human_eval.fair", "human_eval.good", "human_eval.mid", "human_eval.poor"]


@pytest.fixture
def mill(db):
    return make_mill()


def scored(dataset, **options):
    return score(dataset, choose(dataset, source="judge", **{"cutoff": "size", **options}))


def make_table1(dataset, **options):
    return table1.table1(scored(dataset, **options), dataset.slug)


def line(table, name):
    return next(row for row in table.lines if row.name.startswith(name))


def cell_values(row):
    return [None if cell is None else cell.estimate.value for cell in row.cells]


def test_systems_references_first(mill):
    all_systems = systems(scored(mill))
    assert [system.name for system in all_systems if system.is_reference] == [
        "(#1) Direct prompting: human_eval.direct",
        "(#3) Oracle retrieval Z*",
        "human_eval.oracle",
    ]
    assert [system.name for system in compared(scored(mill))] == SYSTEMS
    assert all(system.contexts and system.reports for system in compared(scored(mill)))


def test_values_by_system_and_topic(mill):
    coverage = values(scored(mill), COVERAGE_Z)
    assert np.array_equal(coverage, [[0.5, 1, 1, 0], [0.5, 1, 0.5, 0.5]])
    assert np.array_equal(values(scored(mill), COVERAGE_Y), [[1, 1, 0.5, 0.5], [0.5, 1, 0.5, 0]])


def test_table_1(mill):
    table = make_table1(mill)
    assert [len(block.lines) for block in table.blocks] == [3, 4, 1]
    mid = line(table, "human_eval.mid")
    coverage, _, report, *_ = mid.cells
    assert (coverage.estimate.value, coverage.estimate.n, report.estimate.value) == (0.75, 2, 0.5)
    assert coverage.estimate.low < 0.75 < coverage.estimate.high
    assert (mid.cells[-1].estimate.value, mid.cells[-1].number) == (1.5, "1.5")
    assert dict(zip(table.facts, mid.facts, strict=True)) == {
        "topics_z": 2,
        "unrated_cells_z": 0,
        "topics_y": 2,
        "unrated_cells_y": 0,
    }
    tau = line(table, "Kendall")
    # The oracle, whose coverages are both 1, and direct prompting do not enter it.
    assert tau.cells[0].estimate.value == pytest.approx(2 / 3)
    assert tau.cells[0].estimate.n == 4
    assert [cell is None for cell in tau.cells] == [False, False, True, False, True, True]
    assert tau.note.startswith("reversed pairs: Cov(Z) 0 of 3, α-nDCG ")
    assert tau.note.endswith(
        "; no interval, because it is of these 2 topics alone: with fewer than 15 none holds"
    )
    assert any(note.startswith("Reversed pairs: of the pairs of systems") for note in table.notes)


def test_table_1_has_the_numbers_of_the_scores(mill):
    scores = scored(mill)
    table = table1.table1(scores, "mill")
    for name in (*SYSTEMS, "human_eval.oracle"):
        z, y = scores.by_name[name].means, scores.by_name[f"reports/{name}"].means
        assert cell_values(line(table, name))[:-1] == [
            (y if metric.of_report else z)[metric.score].value for metric in TABLE_1
        ]


def test_bound_lacks_what_it_has_not(mill):
    direct, z_star = line(make_table1(mill), "(#1)"), line(make_table1(mill), "(#3)")
    assert cell_values(direct)[:3] == [None, None, 0.25]
    assert "nothing was retrieved" in direct.cells[0].estimate.reason
    assert cell_values(z_star)[0] == cell_values(z_star)[3] == 1
    assert "no reports from it" in z_star.cells[2].estimate.reason


def test_table_1_in_latex(mill):
    text = latex(make_table1(mill))
    assert r"human\_eval.good & \textbf{100.0} &" in text
    assert r"human\_eval.poor & \underline{25.0} &" in text
    assert r"human\_eval.oracle & 100.0 &" in text
    for part in ("judge", r"$\eta$ = 3", "rules: paper", "whitespace words", "over 2 topics"):
        assert part in text.split(r"\label")[0]


def test_unequal_depths_are_noted_and_not_ranked(mill):
    text = latex(make_table1(mill))
    # good 2 and 1, mid 2 and 1, fair 2 and 1, poor 1 and 1: they differ on mill-1 alone.
    note = (
        "|Z| differs on 1 of 2 topics. On these topics its mean is 1 for human_eval.poor and 2 for"
    )
    assert escape(note) in text
    assert r"\textbf{1.5}" not in text
    # As long as Z*, one passage: alike.
    assert "have different depths" not in latex(make_table1(mill, cutoff="oracle"))


def test_gains_by_passages_of_other_topics_are_noted(db):
    study = make_study()
    table = make_table1(study.dataset)
    assert "α-nDCG 38.7 if passages of other topics gain nothing" in line(table, "dense").note
    table = make_table1(study.dataset, rules="authors")
    assert "other topics" not in line(table, "dense").note


def test_fewer_topics_and_unrated_cells_are_noted(mill):
    mill.runs.get(name="human_eval.good").ranked.filter(topic__name="mill-2").delete()
    passage = mill.texts.get(name="mill-1:0#0")
    passage.ratings.filter(question__position=1).delete()
    table = make_table1(mill)
    assert line(table, "human_eval.good").note == (
        "Z: 1 cell unrated, 1 topic without results, counted as 0"
    )
    assert line(table, "human_eval.mid").note == "Z: 1 cell unrated"
    counts_own = make_table1(mill, zeros="none")
    assert line(counts_own, "human_eval.good").note == "Z: 1 of 2 topics, 1 cell unrated"
    # The greatest is among those with both topics, and tau is over these three.
    text = latex(table)
    assert r"\textbf{75.0}" in text
    assert r"\textbf{100.0}" not in text.split("human")[-1].split(r"\midrule")[0]
    assert line(table, "Kendall").cells[0].estimate.n == 3


def test_table_2(mill):
    by_eta = {eta: scored(mill, eta=eta) for eta in table2.ETAS}
    table = table2.table2(by_eta, "mill")
    three, five = table.lines
    coverages = {"z": [0.5, 1, 0.75, 0.25], "y": [0.75, 1, 0.5, 0.25]}
    spread = [f(coverages[k]) for k in "zy" for f in (np.mean, lambda v: np.std(v, ddof=1))]
    assert cell_values(three) == pytest.approx([*spread, 2 / 3])
    # At eta 5 only passage 0 answers, question 1: good .5, mid 1, fair .5, poor .5 for Z; of the
    # reports only good answers it, on mill-2.
    assert cell_values(five)[:4] == pytest.approx([0.625, 0.25, 0.125, 0.25])
    assert (three.name, five.name) == ("3", "5")
    assert [column.group for column in table.columns] == [
        "Cov(Z)",
        "Cov(Z)",
        "Cov(y)",
        "Cov(y)",
        "",
    ]
    assert three.note == (
        "Z: 4 systems, 2 topics; y: 4 systems, 2 topics; reversed pairs: 0 of 3; no interval, because it is of "
        "these 2 topics alone: with fewer than 15 none holds"
    )


def test_table_3(mill):
    by_size = {size: scored(mill, cutoff=str(size)) for size in table3.SIZES}
    table = table3.table3(by_size, "mill")
    oracle, ten, twenty = table.lines
    assert [row.name for row in table.lines] == ["|Z*|", "10", "20"]
    # No context has more than two passages, so 10 and 20 are all of it: the tau of Table 1.
    assert cell_values(ten)[0] == cell_values(twenty)[0] == pytest.approx(2 / 3)
    # |Z*| is 1. The first passages of fair, good, mid and poor cover .5 1 .5 .25 against reports of
    # .75 1 .5 .25: fair and mid tie, and the other five pairs agree: 5 / sqrt(5 * 6).
    assert cell_values(oracle)[0] == pytest.approx(5 / np.sqrt(30))


def test_tau_without_reports_has_a_reason(db):
    table = make_table1(make_mill(reports=False))
    tau = line(table, "Kendall").cells[0].estimate
    assert tau.value is None
    assert "0 systems have both" in tau.reason
    assert "no reports from it" in line(table, "human_eval.mid").cells[2].estimate.reason
