"""manage.py agreement, on the small study and on the real one."""

import json

import pytest
from django.core.management import CommandError

from evaluation.agreement.report import agreement_report
from evaluation.agreement.report_json import as_json
from evaluation.data.selection import select
from tests.evaluation.agreement.command import as_object, output
from tests.toolbox.agreement_study import make_study
from tests.toolbox.real_study import FOLDER


@pytest.fixture
def study(db):
    return make_study()


def test_answerable(study):
    agreement = as_object("ferry")
    assert agreement["n_items"] == 6
    assert agreement["n_missing"] == 0
    assert agreement["raters"] == ["ann", "ben"]
    assert agreement["fleiss_kappa"]["value"] == pytest.approx(0.657, abs=5e-4)
    assert agreement["fleiss_kappa"]["reason"] is None
    assert agreement["percent_agreement"] == pytest.approx(5 / 6)
    assert agreement["gwet_ac1"] == pytest.approx(0.676, abs=5e-4)
    (pair,) = agreement["cohen"]
    assert (pair["a"], pair["b"], pair["n"]) == ("ann", "ben", 6)
    assert pair["value"] == pytest.approx(2 / 3)
    # Two systems wrote a report of the same name, so the names are told apart.
    assert agreement["coverage"]["ann"] == pytest.approx(
        {"annotated.oracle/ferry-1": 2 / 3, "annotated.bm25/ferry-1": 2 / 3}
    )
    (correlation,) = agreement["coverage_correlation"]
    assert (correlation["n"], correlation["pearson"]) == (2, None)
    assert "fewer than three" in correlation["details"]["pearson"]["reason"]
    assert agreement["by_system"]["annotated.oracle"]["n_items"] == 3
    assert agreement["by_system"]["annotated.oracle"]["fleiss_kappa"]["value"] is not None


def test_judge_of_reports_is_read_at_eta(study):
    judged = as_object("ferry", "--judge", "judge", "--eta", "3")["judge"]
    assert judged["confusion"] == {"tp": 2, "fp": 2, "fn": 3, "tn": 3}
    assert (judged["n"], judged["n_without_judge"]) == (10, 2)
    assert judged["by_rater"]["ann"]["n"] == 5


def test_undefined_is_null_with_a_reason(study):
    agreement = as_object("ferry", "--raters", "ann")
    assert agreement["fleiss_kappa"]["value"] is None
    assert agreement["fleiss_kappa"]["reason"] == "undefined, because no item has two ratings"
    assert agreement["gwet_ac1"] is None
    assert agreement["details"]["gwet_ac1"]["reason"]


def test_dataset_without_ratings_is_refused(dataset):
    agreement = as_object(dataset.slug)
    assert (agreement["n_items"], agreement["n_missing"], agreement["raters"]) == (0, 0, [])
    assert agreement["fleiss_kappa"]["value"] is None
    assert "Nobody has rated" in output(dataset.slug)


def test_table_for_people(study):
    printed = output("ferry", "--judge", "judge")
    assert "6 items of 1 topic; 0 of 12 ratings missing; 2 pairs filtered" in printed
    assert "0.657" in printed
    assert "tp 2, fp 2, fn 3, tn 3" in printed


def test_command_and_page_show_the_same_report(study, cast):
    page = cast.client("researcher").get("/datasets/ferry/agreement/?judge=judge&eta=2")
    printed = as_object("ferry", "--judge", "judge", "--eta", "2")
    assert json.loads(json.dumps(as_json(page.context["report"]))) == printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "no dataset “nowhere”. There are: ferry"),
        (["ferry", "--raters", "ann,eve"], "“eve”. There are: ann, ben"),
        (["ferry", "--judge", "eve"], "“eve”. There are: judge"),
        (["ferry", "--rubric", "nope"], "There are: answerable, graded"),
        (["ferry", "--eta", "6"], "There are: 1, 2, 3, 4, 5"),
    ],
)
def test_invalid_argument_is_answered_with_the_choices(study, arguments, message):
    with pytest.raises(CommandError, match=message):
        output(*arguments)


def test_real_study_gives_the_expected_values(real_study, django_assert_max_num_queries):
    expected = json.loads((FOLDER / "expected_values.json").read_text())["expected"]
    _check_t1(as_object("crux-duc04"), expected["T1"])
    _check_t2(expected["T2"])
    with django_assert_max_num_queries(14):
        agreement_report(select(real_study))


def near(value: float) -> object:
    return pytest.approx(value, abs=1e-4)


def _check_t1(agreement: dict, t1: dict) -> None:
    assert agreement["n_items"] == t1["n_items"] == 261
    assert agreement["n_missing"] == 0
    assert agreement["n_items"] + agreement["n_filtered"] == t1["n_items_with_filtered"]
    assert agreement["fleiss_kappa"]["value"] == near(t1["fleiss_kappa"])
    assert agreement["unanimous"] == near(t1["observed_agreement_all3"])
    cohen = {f"{row['a']}|{row['b']}": row["value"] for row in agreement["cohen"]}
    assert list(cohen) == list(t1["cohen_kappa"])
    assert cohen == near(t1["cohen_kappa"])
    for rater, reports in t1["human_coverage"].items():
        assert agreement["coverage"][rater] == near(reports)
        counts = agreement["rater_counts"][rater]
        assert counts["n_answerable"] == t1["n_answerable"][rater]
        assert counts["n_without_highlight"] == len(t1["answerable_without_highlight"][rater])
        located = t1["highlight_locatable"][rater]
        assert counts["highlights"]["exact"] == located["exact_substring"]
        assert sum(counts["highlights"].values()) == located["n"]
        assert (
            counts["highlights"]["exact"] + counts["highlights"]["normalised"]
            == located["whitespace_normalised_substring"]
        )
    for context, means in t1["mean_coverage_by_context"].items():
        assert agreement["mean_coverage"][f"annotated.{context}"] == near(means)
    for row in agreement["coverage_correlation"]:
        expected = t1["coverage_correlation"][f"{row['a']}|{row['b']}"]
        assert row["n"] == expected["n"]
        assert [row["pearson"], row["spearman"], row["kendall"]] == near(
            [expected["pearson"], expected["spearman"], expected["kendall_tau_b"]]
        )
    assert len(agreement["coverage_correlation"]) == len(t1["coverage_correlation"])
    assert sum(part["n_items"] for part in agreement["by_system"].values()) == 261


def _check_t2(t2: dict) -> None:
    names = {
        "n": "n",
        "n_without_judge": "n_without_llm",
        "cohen_binary": "cohen_kappa_binary",
        "cohen_quadratic": "quadratic_weighted_kappa",
        "mean_distance": "mae",
    } | {
        same: same
        for same in (
            "accuracy",
            "spearman",
            "precision_answerable",
            "recall_answerable",
            "precision_unanswerable",
            "recall_unanswerable",
        )
    }
    rows = [key.split("|") for key in t2 if key.count("|") == 2]
    assert len(rows) == 12
    for judge, raters, eta in rows:
        judged = as_object(
            "crux-duc04",
            "--rubric=graded",
            f"--judge={judge}",
            f"--raters={raters.replace('+2', ',annotator2')}",
            f"--eta={eta.removeprefix('eta')}",
        )
        expected = t2[f"{judge}|{raters}|{eta}"]
        assert {name: judged[name] for name in names} == near(
            {name: expected[theirs] for name, theirs in names.items()}
        ), (judge, raters, eta)
        assert judged["confusion"] == {cell: expected[cell] for cell in ("tp", "fp", "fn", "tn")}
        if raters == "annotator1+2":
            single = t2[f"{judge}|annotator1|{eta}"]
            assert judged["by_rater"]["annotator1"]["cohen_quadratic"] == near(
                single["quadratic_weighted_kappa"]
            )
    (pair,) = as_object("crux-duc04", "--rubric=graded", "--raters=annotator1,annotator2")["cohen"]
    double = t2["double_rated_annotator1_2"]
    assert pair["n"] == double["n"]
    assert [
        pair["percent_agreement"],
        pair["cohen_binary"],
        pair["cohen_quadratic"],
        pair["spearman"],
    ] == near(
        [
            double["exact_agreement"],
            double["binary_kappa_eta3"],
            double["quadratic_weighted_kappa"],
            double["spearman"],
        ]
    )
