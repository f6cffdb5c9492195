"""Multi-label rubrics: their rules, the grades of sets of labels, and their names."""

import pytest

from annotation.models import Rubric, RubricLevel
from annotation.models.rubric_rules import RubricError, store_rubric
from judging.engine.judges import JudgeError, make_judge
from tests.toolbox.responses import markup
from tests.toolbox.rubric_form import rubric_form_data
from tests.toolbox.rubric_studies import faults_of_answers

pytestmark = pytest.mark.django_db


def test_grades_are_sets_of_labels():
    rubric = faults_of_answers()
    assert rubric.grades() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert rubric.names()[0] == "none"
    assert rubric.names()[5] == "incomplete + unclear"
    assert (rubric.has_order, rubric.has_threshold, rubric.is_nominal) == (False, False, True)
    assert rubric.grades_in_words() == "0 or a sum of 1 incomplete, 2 false, 4 unclear"


def test_labels_need_not_be_numbered_without_gaps():
    rubric = faults_of_answers()
    RubricLevel.objects.filter(rubric=rubric, grade=2).delete()
    assert Rubric.objects.get(pk=rubric.pk).grades() == [0, 1, 4, 5]


def store(numbers=(1, 2), key="", **fields):
    rubric = Rubric(slug="tags", title="Tags", guideline="Any.", scale="labels", **fields)
    levels = [RubricLevel(grade=number, label=f"Label {number}") for number in numbers]
    levels[0].key = key
    return store_rubric(rubric, levels)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"numbers": range(1, 12)}, "Give 10 labels at most, not 11."),
        ({"numbers": (0, 1)}, "Number the labels from 1 to 10."),
        ({"numbers": (1, 11)}, "Number the labels from 1 to 10."),
        ({"key": "0"}, "0 is the key for none of the labels."),
        ({"eta": 1}, "Sets of labels have no order: leave this empty."),
        ({"span_from": 2}, "Give 1 if labels need highlights, or leave this empty."),
    ],
)
def test_invalid_labels_are_refused_with_message(change, message):
    with pytest.raises(RubricError, match=message):
        store(**change)
    assert not Rubric.objects.filter(slug="tags").exists()


def test_labels_that_need_highlights():
    rubric = store(span_from=1)
    assert [rubric.needs_spans(grade) for grade in rubric.grades()] == [False, True, True, True]


def test_rubric_is_created_on_the_page(cast):
    levels = {"levels-0-grade": "1", "levels-2-grade": "2"}
    client = cast.client("admin")
    assert (
        client.post("/rubrics/new/", rubric_form_data(scale="labels", **levels)).status_code == 302
    )
    assert "Labels; shows text." in markup(client.get("/rubrics/tone/"))


def test_judge_of_a_multi_label_rubric_is_refused():
    with pytest.raises(JudgeError, match="is multi-label, and a judge gives one grade"):
        make_judge("many", rubric=faults_of_answers(), model="m")


def test_page_of_the_rubric_does_not_offer_a_judge(cast):
    faults_of_answers()
    client = cast.client("admin")
    assert "Create a judge" in markup(client.get("/rubrics/graded/"))
    assert "Create a judge" not in markup(client.get("/rubrics/faults/"))
