"""Grades of earlier words, on the mill study, whose grades can be counted by hand."""

import json

import pytest

from annotation.models import Rating
from annotation.text.versions import choose, reword
from evaluation.data.earlier_words import EarlierWords, earlier_words
from evaluation.paper.bundle import make_all
from tests.evaluation.paper.material import make_mill
from tests.evaluation.scoring.choosing import choose as options


@pytest.fixture
def mill(db):
    return make_mill()


def test_counted_by_hand(mill, django_assert_num_queries):
    make_mill("other")
    with django_assert_num_queries(1):
        assert earlier_words(mill) is None
    passage = mill.texts.get(name="mill-1:0#0")
    question = mill.topics.get(name="mill-1").questions.first()
    reword(passage, "Other words.", by=None, why="", counts=True)
    with django_assert_num_queries(2):
        assert earlier_words(mill) == EarlierWords(3, 1, 0, 0)  # the judge's, of three questions
    # Under the question the judge has graded 4 passages and 6 reports, two people 3 reports each.
    version = reword(question, "Another question?", by=None, why="", counts=False)
    assert earlier_words(mill) == EarlierWords(2, 1, 0, 16)
    # What is given to the new words is no earlier one, and keeps what was set aside for its pair there.
    judge = mill.raters.get(name="judge")
    graded = Rating.objects.filter(rater=judge).first().rubric
    Rating.objects.create(rater=judge, rubric=graded, text=passage, question=question, grade=4)
    assert earlier_words(mill) == EarlierWords(2, 1, 0, 16)
    choose(version, counts=True, by=None)
    earlier = earlier_words(mill)
    assert earlier == EarlierWords(17, 1, 1, 1)
    assert earlier.sentences == [
        "17 grades that count in this dataset were given to earlier words of 1 text and 1 sub-question.",
        "1 grade set aside with earlier words is not counted.",
    ]
    made = make_all(mill, options(mill, source="judge"))
    assert json.loads(made.files["provenance.json"])["data"]["grades_of_earlier_words"] == {
        "counted": 17,
        "of_texts": 1,
        "of_questions": 1,
        "set_aside": 1,
    }
    assert earlier_words(type(mill).objects.get(slug="other")) is None


def test_words_that_nobody_had_graded_say_nothing(mill):
    text = mill.texts.create(kind="reference", name="new", topic=mill.topics.first(), body="Words.")
    reword(text, "Other words.", by=None, why="", counts=True)
    assert earlier_words(mill) == EarlierWords(0, 0, 0, 0)
    assert earlier_words(mill).sentences == []
