"""Grades of earlier words, on the mill study, whose grades can be counted by hand."""

import json

import pytest

from annotation.models import Rating
from annotation.text.versions import edit_wording, set_grades_count
from evaluation.data.edited_text_grades import EditedTextGrades, edited_text_grades
from evaluation.replications.crux_paper.bundle import make_all
from tests.evaluation.replications.crux_paper.material import make_mill
from tests.evaluation.scoring.choosing import choose as options


@pytest.fixture
def mill(db):
    return make_mill()


def test_counted_by_hand(mill, django_assert_num_queries):
    make_mill("other")
    with django_assert_num_queries(1):
        assert edited_text_grades(mill) is None
    passage = mill.texts.get(name="mill-1:0#0")
    question = mill.topics.get(name="mill-1").questions.first()
    edit_wording(passage, "Other words.", by=None, reason="", counts=True)
    with django_assert_num_queries(2):
        assert edited_text_grades(mill) == EditedTextGrades(
            3, 1, 0, 0
        )  # the judge's, of three questions
    # Under the question the judge has graded 4 passages and 6 reports, two people 3 reports each.
    version = edit_wording(question, "Another question?", by=None, reason="", counts=False)
    assert edited_text_grades(mill) == EditedTextGrades(2, 1, 0, 16)
    # What is given to the new words is no earlier one, and keeps what was superseded for its pair there.
    judge = mill.raters.get(name="judge")
    graded = Rating.objects.filter(rater=judge).first().rubric
    Rating.objects.create(rater=judge, rubric=graded, text=passage, question=question, grade=4)
    assert edited_text_grades(mill) == EditedTextGrades(2, 1, 0, 16)
    set_grades_count(version, counts=True, by=None)
    earlier = edited_text_grades(mill)
    assert earlier == EditedTextGrades(17, 1, 1, 1)
    assert earlier.sentences == [
        "17 grades that count in this dataset were given to an earlier version of 1 text and 1 sub-question.",
        "1 grade of earlier versions is superseded and not counted.",
    ]
    bundle = make_all(mill, options(mill, source="judge"))
    assert json.loads(bundle.files["provenance.json"])["data"]["grades_of_earlier_words"] == {
        "counted": 17,
        "of_texts": 1,
        "of_questions": 1,
        "set_aside": 1,
    }
    assert edited_text_grades(type(mill).objects.get(slug="other")) is None


def test_edit_of_an_ungraded_text_gives_no_note(mill):
    text = mill.texts.create(kind="reference", name="new", topic=mill.topics.first(), body="Words.")
    edit_wording(text, "Other words.", by=None, reason="", counts=True)
    assert edited_text_grades(mill) == EditedTextGrades(0, 0, 0, 0)
    assert edited_text_grades(mill).sentences == []
