"""Agreement under a multi-label rubric: on sets of labels, and on each label."""

import pytest
from django.core.management import call_command

from annotation.models import Dataset, Rating, RubricLevel
from evaluation.data.ratings import load
from evaluation.data.selection import select
from evaluation.pairs.weights import grade_distance
from tests.evaluation.agreement.command import as_object
from tests.evaluation.agreement.nominal import rate
from tests.toolbox.factories import make_dataset
from tests.toolbox.responses import csv_rows, text_of_page
from tests.toolbox.rubric_studies import faults_of_answers

# Sets of incomplete (1), false (2) and unclear (4).
SETS = {"ann": (3, 1, 2, 4, 7, 6), "ben": (1, 1, 4, 5, 6, 6), "cat": (3, 2, 4, 4, 4, 6)}
# Computed from SETS with nltk 3.9: AnnotationTask(..., masi_distance).alpha(), and jaccard_distance.
MASI, JACCARD = 0.32894736842105254, 0.3382352941176472
PAGE = "/datasets/ferry/agreement/"
QUERY = "?rubric=faults"


def near(value) -> object:
    return pytest.approx(value, abs=1e-12)


@pytest.fixture
def dataset(db) -> Dataset:
    dataset = make_dataset()
    rate(dataset, faults_of_answers(), SETS)
    return dataset


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def test_alpha_by_the_distances_of_sets(rosa, dataset):
    report = rosa.get(f"/datasets/ferry/agreement.json{QUERY}").json()
    assert report["krippendorff_alpha"]["metric"] == "masi"
    assert report["krippendorff_alpha"]["value"] == near(MASI)
    assert report["krippendorff_alpha_jaccard"]["value"] == near(JACCARD)
    assert report["scale"] == "labels"
    assert report["levels"] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert report["level_names"]["5"] == "incomplete + unclear"
    assert "composition" not in report
    assert report == as_object("ferry", "--rubric", "faults")


def test_agreement_on_each_label(rosa, dataset):
    rows = {row["label"]: row for row in csv_rows(rosa.get(f"{PAGE}labels.csv{QUERY}"))}
    assert list(rows) == ["incomplete", "false", "unclear", "none"]
    # Incomplete: ann 1 1 0 0 1 0, ben 1 1 0 1 0 0, cat 1 0 0 0 0 0; 7 of 18 ratings. Of 18 pairs of
    # ratings those of items 1, 3 and 6 agree, and one of three in each other item: 12.
    assert rows["incomplete"]["chosen"] == "7"
    assert float(rows["incomplete"]["percent_agreement"]) == near(12 / 18)
    expected = (7 / 18) ** 2 + (11 / 18) ** 2
    assert float(rows["incomplete"]["fleiss_kappa"]) == near((12 / 18 - expected) / (1 - expected))
    assert (rows["none"]["chosen"], rows["none"]["fleiss_kappa"]) == ("0", "")
    by_label = rosa.get(f"/datasets/ferry/agreement.json{QUERY}").json()["by_label"]
    assert (by_label["unclear"]["number"], by_label["none"]["number"]) == (3, 0)


def test_page_has_both_and_no_table_of_grades(rosa, dataset):
    page = text_of_page(rosa.get(PAGE + QUERY))
    assert "Distance of two sets of labels: MASI. By the Jaccard distance 0.34" in page
    assert "By label" in page
    assert "Grades of each rater" not in page


def test_pairs_differ_by_the_distance_of_sets(rosa, dataset):
    distances = grade_distance(load(select(dataset, rubric="faults")))
    # 3 1 3: twice 1 - 1/2 * 2/3 = 2/3 apart, and once equal. 1 1 2: twice no label in common.
    assert distances[:2] == near([(2 / 3 + 2 / 3) / 3, 2 / 3])
    assert distances[5] == 0
    page = text_of_page(rosa.get(f"/datasets/ferry/disagreements/{QUERY}"))
    assert "incomplete + unclear" in page


def test_majority_of_each_label_as_a_rater(dataset):
    call_command("aggregate", "ferry", "--method", "majority", "--rubric", "faults")
    grades = Rating.objects.filter(rater__name="majority.faults").order_by(
        "-text__system", "question__position"
    )
    # Of ann, ben and cat, label by label: 3 1 3 is incomplete and false, 7 6 4 false and unclear.
    assert list(grades.values_list("grade", flat=True)) == [3, 1, 4, 4, 6, 6]


def test_ten_labels_have_the_sets_that_were_given(rosa, dataset):
    rubric = faults_of_answers(slug="many")
    for number in range(4, 11):
        RubricLevel.objects.create(rubric=rubric, grade=number, label=f"Fault {number}")
    rate(dataset, rubric, {"ann": (1023, 512), "ben": (1023, 1)})
    report = rosa.get("/datasets/ferry/agreement.json?rubric=many").json()
    # Those of one label or none, and the others that were given.
    assert report["levels"] == [0, *(1 << bit for bit in range(10)), 1023]
    assert rosa.get(f"{PAGE}?rubric=many").status_code == 200
    assert rosa.get("/datasets/ferry/disagreements/?rubric=many").status_code == 200


@pytest.mark.parametrize("sets", [{}, {"ann": (2, 2), "ben": (2, 2)}])
def test_undefined_without_two_sets(rosa, db, sets):
    rate(make_dataset(), faults_of_answers(), sets)
    report = rosa.get(f"/datasets/ferry/agreement.json{QUERY}").json()
    assert report["krippendorff_alpha"]["value"] is None
    reason = "all ratings are in one category" if sets else "no unit has two ratings"
    assert report["krippendorff_alpha_jaccard"]["reason"] == f"undefined, because {reason}"
    assert "AC1 of each label" in report["details"]["gwet_ac1"]["reason"]
    assert rosa.get(PAGE + QUERY).status_code == 200
