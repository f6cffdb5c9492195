"""Page, files and command under rubrics of other scales than yes and no, and 0 to 5."""

import csv
import io
import re

import pytest
from django.core.management import CommandError
from django.test import Client

from annotation.models import Dataset, Rater, Rubric
from annotation.models.standard import STANDARD, add_standard
from evaluation.agreement.tables import TABLES
from evaluation.data.selection import SelectionError, select
from tests.evaluation.agreement.command import as_object, output
from tests.evaluation.agreement.nominal import make_nominal, rate
from tests.evaluation.agreement.pair_links import count_pair_links
from tests.toolbox.related_papers import make_rubric
from tests.toolbox.responses import markup, text_of_page

pytestmark = pytest.mark.any_database

PAGE = "/datasets/ferry/agreement/"
NOMINAL_QUERY = "rubric=question-type&judge=judge"
# Words of what takes an order or an eta.
NOT_OF_NAMES = [
    "η",
    "eta",
    "Prevalence",
    "Prev.",
    "Quadratic",
    "Linear",
    "Spearman",
    "Binary",
    "answerable from",
]


@pytest.fixture
def nominal_study(db) -> Dataset:
    return make_nominal()


@pytest.fixture
def rosa(cast) -> Client:
    return cast.client("researcher")


def rows(rosa: Client, table: str, query: str = NOMINAL_QUERY) -> list[dict[str, str]]:
    response = rosa.get(f"{PAGE}{table}.csv?{query}")
    assert response.status_code == 200
    return list(csv.DictReader(io.StringIO(response.content.decode())))


def near(value: float) -> object:
    return pytest.approx(value, abs=1e-12)


def test_page_of_names_has_their_measures_alone(rosa, nominal_study):
    response = rosa.get(f"{PAGE}?{NOMINAL_QUERY}")
    page = text_of_page(response)
    for term in NOT_OF_NAMES:
        assert term not in page, term
    for term in (
        "Nominal: these grades have no order",
        "Macro F1",
        "Cohen κ",
        "fact_single 1",
        "Lower by",
    ):
        assert term in page, term
    assert response.context["sweeps"] == []
    against_judge = response.content.decode().split('id="judge-by-rater"')[1]
    for rater in ("ann", "ben", "cat"):
        assert re.search(rf'truth={rater}#judge">{rater}</a>', against_judge), rater


def test_highlights_of_a_rubric_without_any_are_no_measure(nominal_study):
    alpha = as_object("ferry", "--rubric", "question-type")["krippendorff_alpha_highlights"]
    assert (alpha["value"], alpha["n"]) == (None, 0)
    assert alpha["reason"] == "undefined, because no grade of this rubric rests on marked words"


def test_classes(nominal_study):
    report = as_object("ferry", "--rubric", "question-type")
    pair = report["cohen"][0]
    assert (pair["a"], pair["b"]) == ("ann", "ben")
    assert pair["matrix"] == [[1, 0, 0, 0], [0, 2, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    # fact_single: ben gave it 2 times, rightly; ann 3 times. F1 = 2 * 2 / (2 + 3).
    fact, summary = pair["classes"]["1"], pair["classes"]["2"]
    assert (fact["precision"], fact["recall"], fact["f1"]) == (1, near(2 / 3), near(0.8))
    assert (summary["precision"], summary["recall"], summary["f1"]) == (0.5, 1, near(2 / 3))
    assert pair["macro_f1"] == near((1 + 0.8 + 2 / 3 + 1) / 4)
    assert pair["accuracy"] == near(5 / 6)
    # cat and ben share five pairs, none of them unanswerable: its scores are undefined, and in no mean.
    ben_and_cat = next(pair for pair in report["cohen"] if (pair["a"], pair["b"]) == ("ben", "cat"))
    nobody = ben_and_cat["classes"]["0"]["details"]["f1"]
    assert (nobody["value"], nobody["reason"]) == (
        None,
        "undefined, because neither side gave this level",
    )
    # reasoning: 0 of 1; F1 of the others 1 (two of two) and 2 * 2 / (2 + 3).
    assert ben_and_cat["macro"]["details"]["f1"]["n"] == 3
    assert ben_and_cat["macro_f1"] == near((1 + 0.8 + 0) / 3)


def test_against_the_majority_and_the_judge_beside(nominal_study):
    report = as_object("ferry", "--rubric", "question-type", "--judge", "judge")["between_raters"]
    by_rater = {row["rater"]: row for row in report["against_majority"]}
    # ann: of pairs 1, 2, 3, 5 the others have a majority, 1 2 2 1, and ann says 1 1 2 1. Pooled shares 5/8
    # and 3/8, chance 34/64: (3/4 - 34/64) / (30/64) = 7/15. The judge says 1 2 2 2: as much.
    ann = by_rater["ann"]
    assert (ann["scott_pi"]["value"], ann["scott_pi"]["n"]) == (near(7 / 15), 4)
    assert ann["n_without_majority"] == 2
    assert (ann["judge_scott_pi"], ann["relative_drop"]) == (near(7 / 15), near(0))
    # ben: 1 2 1 of pairs 1, 3, 5, as the majority; the judge 1 2 2: (2/3 - 1/2) / (1/2) = 1/3.
    ben = by_rater["ben"]
    assert (ben["scott_pi"]["value"], ben["judge_scott_pi"]) == (near(1), near(1 / 3))
    assert ben["relative_drop"] == near(2 / 3)
    # cat: 1 2 2 1 where the majority says 1 2 3 1, chance 26/64: 11/19; the judge 1 2 3 2, chance 22/64: 13/21.
    cat = by_rater["cat"]
    assert cat["relative_drop"] == near(1 - (13 / 21) / (11 / 19))
    assert (
        by_rater["judge"]["details"]["relative_drop"]["reason"]
        == "undefined, because this is the judge"
    )


def test_judge_of_names_has_no_eta(nominal_study):
    report = as_object("ferry", "--rubric", "question-type", "--judge", "judge")
    assert (report["eta"], report["confusion"], report["sweep"], report["f1_answerable"]) == (
        None,
        None,
        [],
        None,
    )
    assert "no grade of this rubric says answerable" in report["details"]["cohen_binary"]["reason"]
    # 17 ratings: ann's 4 of 6 equal the judge's, ben's 5 of 6, cat's 3 of 5.
    assert (report["n"], report["accuracy"]) == (17, near(12 / 17))
    assert report["classes"]["0"]["f1"] == 1


@pytest.mark.soak
def test_links_open_the_pairs_that_numbers_count(cast):
    make_nominal()
    rosa = cast.client("researcher")
    page = rosa.get(f"{PAGE}?{NOMINAL_QUERY}&of=ben&against=ann&by=question-type:cat")
    assert count_pair_links(rosa, markup(page)) > 20


def test_files_and_command_follow(rosa, nominal_study):
    for table in set(TABLES) - {"sweep"}:
        rows(rosa, table)
    header = rows(rosa, "pairs")[0]
    assert "macro_f1" in header
    assert not {"prevalence", "cohen_quadratic", "spearman", "spans_meet"} & set(header)
    measures = {row["measure"] for row in rows(rosa, "numbers")}
    assert "grade_1" in measures
    assert not {"prevalence", "cohen_quadratic", "cohen_binary", "f1_answerable"} & measures
    counts = {
        (row["rater"], row["level"]): row["count"]
        for row in rows(rosa, "composition")
        if row["system"] == "all"
    }
    assert counts["ann", "fact_single"] == "3"
    printed = output("ferry", "--rubric", "question-type", "--judge", "judge")
    assert "eta" not in printed
    assert "macro F1" in printed


def test_majority_may_be_a_plurality(rosa, nominal_study):
    # With a fourth person, dan, pair 2 has others that say 2 2 3 beside ann: no more than half of four.
    rate(
        nominal_study, add_standard(STANDARD["question-type"]), {"dan": (1, 3, 2), "eve": (1, 0, 2)}
    )
    strict, plurality = (
        as_object("ferry", "--rubric", "question-type", "--majority", rule)
        for rule in ("strict", "plurality")
    )
    ann = [report["against_majority"][0] for report in (strict, plurality)]
    assert [row["n_without_majority"] for row in ann] == [3, 2]
    assert [row["scott_pi"]["n"] for row in ann] == [3, 4]
    assert "is most frequent among the other raters" in text_of_page(
        rosa.get(f"{PAGE}?{NOMINAL_QUERY}&majority=plurality")
    )
    assert rosa.get(f"{PAGE}?{NOMINAL_QUERY}&majority=most").status_code == 400


@pytest.mark.parametrize(
    "query",
    [
        "eta=3",
        "of=nobody",
        "of=ann&against=nobody",
        "by=question-type",
        "by=question-type:nobody",
        "by=nothing:ann",
    ],
)
def test_invalid_selection_is_refused(rosa, nominal_study, query):
    response = rosa.get(f"{PAGE}?rubric=question-type&{query}")
    assert response.status_code == 400
    assert "There " in text_of_page(response) or "eta cannot be chosen" in text_of_page(response)


@pytest.mark.parametrize(
    "query",
    ["gave=ann:9", "gave=ann", "either=most:nobody:1", "called=1", "cell=tp", "kind=across"],
)
def test_pairs_refuse_what_the_rubric_has_not(rosa, nominal_study, query):
    assert rosa.get(f"/datasets/ferry/disagreements/?{NOMINAL_QUERY}&{query}").status_code == 400


def test_distance_of_nominal_grades_is_0_or_1(rosa, nominal_study):
    listed = rosa.get(
        "/datasets/ferry/disagreements/?rubric=question-type&kind=differ&judge="
    ).context["listed"]
    # Pair 2: ann stands against two. Pair 4: cat against two. 2 of 3 pairs of raters differ in both.
    assert [row.weight for row in listed.rows(0, 5)] == [near(2 / 3), near(2 / 3)]
    page = text_of_page(rosa.get("/datasets/ferry/disagreements/?rubric=question-type"))
    assert "fact_single 1" in page
    assert "0: equal, 1: not equal, as these grades are names" in page


def test_pair_page_displays_names_of_grades(rosa, nominal_study):
    listed = rosa.get("/datasets/ferry/disagreements/?rubric=question-type").context["listed"]
    page = text_of_page(
        rosa.get("/datasets/ferry/pairs/{}/{}/?rubric=question-type".format(*listed.key(0)))
    )
    shown_text = re.sub(
        r"Choose another rubric.*? Apply ", "", page
    )  # other rubrics are to choose there
    assert shown_text != page
    assert "answerable" not in shown_text.replace("unanswerable", "")


def test_slices_by_the_names_that_a_rater_gave(rosa, study):
    """The small study of yes and no, by the types that ann gave its pairs: 1 1 2 3 1 0."""
    make_nominal()
    query = "rubric=answerable&raters=ann,ben&by=question-type:ann"
    page = rosa.get(f"{PAGE}?{query}")
    slices = {part.name: part for part in page.context["report"].slices}
    # Facts: oracle 1 (1 1), oracle 2 (1 0), bm25 2 (0 0). Equal on 2 of 3.
    assert (slices["fact_single"].n_items, slices["fact_single"].percent.value) == (3, near(2 / 3))
    assert [slices[name].n_items for name in ("summary", "reasoning", "unanswerable")] == [1, 1, 1]
    assert "By Type of question, graded by ann" in text_of_page(page)
    listed = rosa.get(f"/datasets/ferry/disagreements/?{query}&called=1").context["listed"]
    assert len(listed) == 3
    by_rating = as_object("ferry", "--raters", "ann,ben", "--by", "question-type:ann")["by_rating"]
    assert by_rating["slices"]["fact_single"]["percent_agreement"] == near(2 / 3)


def test_scale_without_an_eta_has_order_and_means(rosa, nominal_study):
    rate(
        nominal_study,
        add_standard(STANDARD["utility"]),
        {"ann": (5, 4, 3, 1, 1, 2), "ben": (5, 5, 3, 2, 1, 2)},
    )
    report = as_object("ferry", "--rubric", "utility")
    assert (report["eta"], report["prevalence"], report["mean_coverage"]) == (None, None, {})
    assert report["krippendorff_alpha"]["metric"] == "ordinal"
    assert report["mean_grade"]["all"]["ann"]["value"] == near(16 / 6)
    page = text_of_page(rosa.get(f"{PAGE}?rubric=utility"))
    assert "Linear κ" in page
    for term in ("η", "Prev", "Binary", "Macro"):
        assert term not in page
    with pytest.raises(CommandError, match="eta cannot be chosen"):
        output("ferry", "--rubric", "utility", "--eta", "3")


def test_many_levels_are_quantities(rosa, nominal_study):
    """Levels 0 to 20.

    Differences ann - ben: 0 -2 0 2 1 -1, mean 0, sd sqrt(10 / 5): limits -+ 1.96 sqrt(2).
    """
    rubric = make_rubric("points", {grade: f"p{grade}" for grade in range(21)})
    rate(nominal_study, rubric, {"ann": (20, 10, 5, 4, 3, 0), "ben": (20, 12, 5, 2, 2, 1)})
    report = as_object("ferry", "--rubric", "points")
    limits = report["cohen"][0]["bland_altman"]
    assert limits["bias"]["value"] == near(0)
    assert (limits["low"]["value"], limits["high"]["value"]) == (
        near(-1.96 * 2**0.5),
        near(1.96 * 2**0.5),
    )
    assert 0.98 < report["icc"]["single"]["value"] < report["icc"]["mean"]["value"] < 1
    page = text_of_page(rosa.get(f"{PAGE}?rubric=points"))
    assert "ICC(2,1)" in page
    assert "Limits" in page


def test_few_lines_beside_a_judge(rosa, nominal_study):
    judge = Rater.objects.get(name="judge")
    response = rosa.get(f"{PAGE}with/{judge.pk}/", headers={"HX-Request": "true"})
    # 17 ratings, 12 of them equal; see above.
    assert "Equal: 0.71" in text_of_page(response)
    assert "η" not in text_of_page(response)


def test_judge_on_the_graded_levels_is_not_beside_others_at_one_eta(nominal_study):
    relevance = make_rubric("relevance", {grade: f"r{grade}" for grade in range(4)}, eta=2)
    rate(nominal_study, relevance, {"ann": (0, 1, 2, 3, 2, 1), "ben": (0, 1, 2, 3, 1, 1)})
    graded = Rubric.objects.get(slug="graded")
    rate(nominal_study, graded, {"ann": (0, 1, 2, 3, 4, 5), "judge": (0, 1, 2, 3, 4, 5)})
    answerable = Rubric.objects.get(slug="answerable")
    rate(nominal_study, answerable, {"ann": (0, 0, 0, 1, 1, 1)})
    assert select(nominal_study, rubric="answerable", judge="judge").judge_rubric == graded
    with pytest.raises(SelectionError, match="no judge of these pairs called"):
        select(nominal_study, rubric="relevance", judge="judge")
