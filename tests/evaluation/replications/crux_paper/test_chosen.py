"""Tables and figures of chosen systems, worked out by hand from material.py.

Also the format of the choice.
"""

import json
import math

import pytest

from evaluation.data.selection import SelectionError
from evaluation.replications.crux_paper.bundle import PROVENANCE, make_all
from evaluation.replications.crux_paper.parts import make_parts
from evaluation.replications.crux_paper.system_choice import (
    chosen_systems,
    join_names,
    scores_of,
    system_names,
)
from evaluation.scoring.score import score
from tests.evaluation.replications.crux_paper.material import make_mill
from tests.evaluation.scoring.choosing import choose

pytestmark = pytest.mark.any_database

THREE = ("human_eval.fair", "human_eval.good", "human_eval.mid")


@pytest.fixture
def mill(db):
    return make_mill()


def options(mill):
    return choose(mill, source="judge", cutoff="size")


def parts_of(mill, *systems):
    return make_parts(mill, options(mill), systems)


def lines(parts, name):
    return list(parts.parts[name].lines)


def test_correlations_are_over_the_chosen_systems_alone(mill):
    three = parts_of(mill, *THREE)
    # Cov(Z) orders them good 1, mid 3/4, fair 1/2 and Cov(y) good 1, fair 3/4, mid 1/2: of three
    # pairs one is swapped, (2 - 1) / 3. With poor, which is the least of both, it is 4 / 6.
    tau = lines(three, "table1")[-1].cells[0].estimate
    assert (tau.value, tau.n) == (pytest.approx(1 / 3), 3)
    assert three.parts["figure5"].data.taus[5, 0].value == pytest.approx(1 / 3)
    assert lines(three, "table3")[1].cells[0].estimate.value == pytest.approx(1 / 3)
    # Both means are of 1, 3/4 and 1/2.
    spreads = [cell.estimate.value for cell in lines(three, "table2")[0].cells[:4]]
    assert spreads == pytest.approx([0.75, 0.25, 0.75, 0.25])
    for part in three.parts.values():
        assert part.caption.endswith(" Of 6 systems 3 are chosen.")


def test_figure_4_is_of_their_reports_alone(mill):
    coverage = parts_of(mill, *THREE).parts["figure4"].data
    assert coverage.systems == [
        "human_eval.good",
        "human_eval.mid",
    ]  # nobody has read those of fair
    # Ann has 2/3, 1, 1/3 and 1/3, the judge 2/3, 2/3, 1/3 and 1/3: 3 / sqrt(11).
    with_ann = coverage.correlations[0].pearson
    assert (with_ann.value, with_ann.n) == (pytest.approx(3 / math.sqrt(11)), 4)


def test_values_of_a_system_do_not_depend_on_other_choices(mill):
    all_scores = score(mill, options(mill))
    three_scores = scores_of(all_scores, THREE)
    assert {row.row.system for row in three_scores.rows} == {*THREE, ""}
    assert all(all_scores.by_name[name] is row for name, row in three_scores.by_name.items())
    lines_of_all = {line.name: line for line in lines(parts_of(mill), "table1")}
    *of_three, _ = lines(parts_of(mill, *THREE), "table1")
    assert of_three == [lines_of_all[line.name] for line in of_three]
    assert len(of_three) == 4  # with Z*


def test_part_that_needs_more_systems_is_left_out_with_the_reason(mill):
    two = parts_of(mill, *THREE[:2])
    assert two.left_out.keys() == {"table3", "figure5"}
    assert "2 systems have both on all topics, and three are needed" in two.left_out["table3"]
    assert "three are needed" in two.left_out["figure5"]
    assert "three are needed" in lines(two, "table1")[-1].cells[0].estimate.reason
    bounds = parts_of(mill, "human_eval.oracle", "human_eval.direct")
    assert bounds.left_out["table1"] == "only references are chosen, but the table compares systems"
    assert bounds.left_out["table2"].startswith("the chosen systems have no retrieval runs")
    assert bounds.left_out["figure4"] == "no person has rated a report of the chosen systems"


def test_all_chosen_are_the_same_tables_and_provenance_has_their_names(mill):
    names = system_names(mill)
    assert len(names) == 6
    papers = [
        make_all(mill, options(mill), systems=systems, result=parts_of(mill, *systems)).files
        for systems in ((), names)
    ]
    records = [json.loads(files.pop(PROVENANCE)) for files in papers]
    assert papers[0] == papers[1]
    assert [part["systems"] for part in records] == [list(names)] * 2
    assert "--systems" not in records[0]["command"]
    assert f"--systems {','.join(names)} " in records[1]["command"]


def test_names_are_separated_by_commas_and_round_trip():
    names = ("a", "b, the second", 'c"', "d e")
    assert chosen_systems(names, "d e, a,a") == ("a", "d e")
    assert chosen_systems(names, join_names(names)) == names
    assert chosen_systems(names, ",".join(join_names([name]) for name in names)) == names
    assert chosen_systems(names, " ,") == chosen_systems(names, "") == ()
    with pytest.raises(SelectionError, match="no system “b”"):
        chosen_systems(names, "a,b")
    with pytest.raises(SelectionError, match="names separated by commas"):
        chosen_systems(names, "a\nb")
