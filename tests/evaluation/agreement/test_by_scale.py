"""What the page, its files and the command show under rubrics of other scales than yes and no, and 0 to 5."""

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
from tests.evaluation.agreement.named import make_named, rate
from tests.evaluation.agreement.test_command import as_object, output
from tests.evaluation.agreement.test_links import counted
from tests.evaluation.agreement.test_page import words
from tests.markup import markup
from tests.neighbours import make_rubric

pytestmark = pytest.mark.any_database

PAGE = "/datasets/ferry/agreement/"
NAMED = "rubric=question-type&judge=judge"
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
def named(db) -> Dataset:
    return make_named()


@pytest.fixture
def rosa(cast) -> Client:
    return cast.client("researcher")


def rows(rosa: Client, table: str, query: str = NAMED) -> list[dict[str, str]]:
    response = rosa.get(f"{PAGE}{table}.csv?{query}")
    assert response.status_code == 200
    return list(csv.DictReader(io.StringIO(response.content.decode())))


def near(value: float) -> object:
    return pytest.approx(value, abs=1e-12)


def test_the_page_of_names_has_their_measures_alone(rosa, named):
    response = rosa.get(f"{PAGE}?{NAMED}")
    page = words(response)
    for word in NOT_OF_NAMES:
        assert word not in page, word
    for word in (
        "Nominal: these grades have no order",
        "Macro F1",
        "Cohen κ",
        "fact_single 1",
        "Lower by",
    ):
        assert word in page, word
    assert response.context["sweeps"] == []


def test_highlights_of_a_rubric_without_any_are_no_measure(named):
    found = as_object("ferry", "--rubric", "question-type")["krippendorff_alpha_highlights"]
    assert (found["value"], found["n"]) == (None, 0)
    assert found["reason"] == "undefined, because no grade of this rubric rests on marked words"


def test_classes(named):
    found = as_object("ferry", "--rubric", "question-type")
    pair = found["cohen"][0]
    assert (pair["a"], pair["b"]) == ("ann", "ben")
    assert pair["matrix"] == [[1, 0, 0, 0], [0, 2, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    # fact_single: ben gave it 2 times, rightly; ann 3 times. F1 = 2 * 2 / (2 + 3).
    fact, summary = pair["classes"]["1"], pair["classes"]["2"]
    assert (fact["precision"], fact["recall"], fact["f1"]) == (1, near(2 / 3), near(0.8))
    assert (summary["precision"], summary["recall"], summary["f1"]) == (0.5, 1, near(2 / 3))
    assert pair["macro_f1"] == near((1 + 0.8 + 2 / 3 + 1) / 4)
    assert pair["accuracy"] == near(5 / 6)
    # cat and ben share five pairs, none of them unanswerable: its scores are undefined, and in no mean.
    other = next(pair for pair in found["cohen"] if (pair["a"], pair["b"]) == ("ben", "cat"))
    nobody = other["classes"]["0"]["details"]["f1"]
    assert (nobody["value"], nobody["reason"]) == (
        None,
        "undefined, because neither side gave this level",
    )
    # reasoning: 0 of 1; F1 of the others 1 (two of two) and 2 * 2 / (2 + 3).
    assert other["macro"]["details"]["f1"]["n"] == 3
    assert other["macro_f1"] == near((1 + 0.8 + 0) / 3)


def test_against_the_majority_and_the_judge_beside(named):
    found = as_object("ferry", "--rubric", "question-type", "--judge", "judge")["between_raters"]
    by_rater = {row["rater"]: row for row in found["against_majority"]}
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


def test_the_judge_of_names_has_no_eta(named):
    found = as_object("ferry", "--rubric", "question-type", "--judge", "judge")
    assert (found["eta"], found["confusion"], found["sweep"], found["f1_answerable"]) == (
        None,
        None,
        [],
        None,
    )
    assert "no grade of this rubric says answerable" in found["details"]["cohen_binary"]["reason"]
    # 17 ratings: ann's 4 of 6 equal the judge's, ben's 5 of 6, cat's 3 of 5.
    assert (found["n"], found["accuracy"]) == (17, near(12 / 17))
    assert found["classes"]["0"]["f1"] == 1


@pytest.mark.soak
@pytest.mark.django_db(transaction=True)
def test_every_link_opens_and_counts_what_the_number_says(cast):
    make_named()
    rosa = cast.client("researcher")
    page = rosa.get(f"{PAGE}?{NAMED}&of=ben&against=ann&by=question-type:cat")
    assert counted(rosa, markup(page)) > 20


def test_files_and_command_follow(rosa, named):
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


def test_a_majority_may_be_a_plurality(rosa, named):
    # With a fourth person, dan, pair 2 has others that say 2 2 3 beside ann: no more than half of four.
    rate(named, add_standard(STANDARD["question-type"]), {"dan": (1, 3, 2), "eve": (1, 0, 2)})
    strict, plurality = (
        as_object("ferry", "--rubric", "question-type", "--majority", rule)
        for rule in ("strict", "plurality")
    )
    ann = [found["against_majority"][0] for found in (strict, plurality)]
    assert [row["n_without_majority"] for row in ann] == [3, 2]
    assert [row["scott_pi"]["n"] for row in ann] == [3, 4]
    assert "more of at least two others say than any other" in words(
        rosa.get(f"{PAGE}?{NAMED}&majority=plurality")
    )
    assert rosa.get(f"{PAGE}?{NAMED}&majority=most").status_code == 400


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
def test_what_is_not_there_is_refused(rosa, named, query):
    response = rosa.get(f"{PAGE}?rubric=question-type&{query}")
    assert response.status_code == 400
    assert "There " in words(response) or "there is no eta" in words(response)


@pytest.mark.parametrize(
    "query",
    ["gave=ann:9", "gave=ann", "either=most:nobody:1", "called=1", "cell=tp", "kind=across"],
)
def test_pairs_refuse_what_the_rubric_has_not(rosa, named, query):
    assert rosa.get(f"/datasets/ferry/pairs/?{NAMED}&{query}").status_code == 400


def test_names_are_apart_by_all_or_nothing(rosa, named):
    listed = rosa.get("/datasets/ferry/pairs/?rubric=question-type&kind=differ&judge=").context[
        "listed"
    ]
    # Pair 2: ann stands against two. Pair 4: cat against two. 2 of 3 pairs of raters differ in both.
    assert [row.weight for row in listed.rows(0, 5)] == [near(2 / 3), near(2 / 3)]
    page = words(rosa.get("/datasets/ferry/pairs/?rubric=question-type"))
    assert "fact_single 1" in page
    assert "0 equal, 1 not equal: they are names" in page


def test_a_pair_is_told_by_names(rosa, named):
    listed = rosa.get("/datasets/ferry/pairs/?rubric=question-type").context["listed"]
    page = words(
        rosa.get("/datasets/ferry/pairs/{}/{}/?rubric=question-type".format(*listed.key(0)))
    )
    said = re.sub(r"Choose another rubric.*? Show ", "", page)  # other rubrics are to choose there
    assert said != page
    assert "answerable" not in said.replace("unanswerable", "")


def test_slices_by_the_names_that_a_rater_gave(rosa, study):
    """The small study of yes and no, by the types that ann gave its pairs: 1 1 2 3 1 0."""
    make_named()
    query = "rubric=answerable&raters=ann,ben&by=question-type:ann"
    page = rosa.get(f"{PAGE}?{query}")
    slices = {part.name: part for part in page.context["report"].slices}
    # Facts: oracle 1 (1 1), oracle 2 (1 0), bm25 2 (0 0). Equal on 2 of 3.
    assert (slices["fact_single"].n_items, slices["fact_single"].percent.value) == (3, near(2 / 3))
    assert [slices[name].n_items for name in ("summary", "reasoning", "unanswerable")] == [1, 1, 1]
    assert "By Type of question, as ann says" in words(page)
    listed = rosa.get(f"/datasets/ferry/pairs/?{query}&called=1").context["listed"]
    assert len(listed) == 3
    found = as_object("ferry", "--raters", "ann,ben", "--by", "question-type:ann")["by_rating"]
    assert found["slices"]["fact_single"]["percent_agreement"] == near(2 / 3)


def test_a_scale_without_an_eta_has_order_and_means(rosa, named):
    rate(
        named,
        add_standard(STANDARD["utility"]),
        {"ann": (5, 4, 3, 1, 1, 2), "ben": (5, 5, 3, 2, 1, 2)},
    )
    found = as_object("ferry", "--rubric", "utility")
    assert (found["eta"], found["prevalence"], found["mean_coverage"]) == (None, None, {})
    assert found["krippendorff_alpha"]["metric"] == "ordinal"
    assert found["mean_grade"]["all"]["ann"]["value"] == near(16 / 6)
    page = words(rosa.get(f"{PAGE}?rubric=utility"))
    assert "Linear κ" in page
    for word in ("η", "Prev", "Binary", "Macro"):
        assert word not in page
    with pytest.raises(CommandError, match="there is no eta to choose"):
        output("ferry", "--rubric", "utility", "--eta", "3")


def test_many_levels_are_quantities(rosa, named):
    """0 to 20. Differences ann - ben: 0 -2 0 2 1 -1, mean 0, sd sqrt(10 / 5): limits -+ 1.96 sqrt(2)."""
    rubric = make_rubric("points", {grade: f"p{grade}" for grade in range(21)})
    rate(named, rubric, {"ann": (20, 10, 5, 4, 3, 0), "ben": (20, 12, 5, 2, 2, 1)})
    found = as_object("ferry", "--rubric", "points")
    limits = found["cohen"][0]["bland_altman"]
    assert limits["bias"]["value"] == near(0)
    assert (limits["low"]["value"], limits["high"]["value"]) == (
        near(-1.96 * 2**0.5),
        near(1.96 * 2**0.5),
    )
    assert 0.98 < found["icc"]["single"]["value"] < found["icc"]["mean"]["value"] < 1
    page = words(rosa.get(f"{PAGE}?rubric=points"))
    assert "ICC(2,1)" in page
    assert "Limits" in page


def test_the_few_lines_beside_a_judge(rosa, named):
    judge = Rater.objects.get(name="judge")
    response = rosa.get(f"{PAGE}with/{judge.pk}/", headers={"HX-Request": "true"})
    # 17 ratings, 12 of them equal; see above.
    assert "Equal: 0.71" in words(response)
    assert "η" not in words(response)


def test_a_judge_on_the_graded_levels_is_not_beside_others_at_one_eta(named):
    relevance = make_rubric("relevance", {grade: f"r{grade}" for grade in range(4)}, eta=2)
    rate(named, relevance, {"ann": (0, 1, 2, 3, 2, 1), "ben": (0, 1, 2, 3, 1, 1)})
    graded = Rubric.objects.get(slug="graded")
    rate(named, graded, {"ann": (0, 1, 2, 3, 4, 5), "judge": (0, 1, 2, 3, 4, 5)})
    answerable = Rubric.objects.get(slug="answerable")
    rate(named, answerable, {"ann": (0, 0, 0, 1, 1, 1)})
    assert select(named, rubric="answerable", judge="judge").judge_rubric == graded
    with pytest.raises(SelectionError, match="no judge that rated what these raters rated"):
        select(named, rubric="relevance", judge="judge")
