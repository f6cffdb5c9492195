"""Ratings under a rubric without texts: ratings of any text of a topic count for it."""

import numpy as np
import pytest

from annotation.models import Rater, Rating, SubQuestion, Text
from annotation.models.standard import IMPORTANCE, add_standard
from evaluation.data.ratings import load
from evaluation.data.selection import select
from tests.evaluation.replications.nuggets.material import make_nuggets

pytestmark = pytest.mark.django_db


@pytest.fixture
def weighed(tmp_path):
    """Weights from the file for texts of their own; by ann for alder's report, once birch's."""
    dataset = make_nuggets(tmp_path)
    ann = Rater.objects.create(dataset=dataset, name="ann", kind="human")
    alder, birch = (Text.objects.get(system=system, name="t1") for system in ("alder", "birch"))
    first, second = SubQuestion.objects.filter(topic__name="t1").order_by("position")[:2]
    grades = [(alder.pk, first.pk, 2), (alder.pk, second.pk, 1), (birch.pk, second.pk, 2)]
    Rating.objects.add(ann.pk, add_standard(IMPORTANCE).pk, grades)
    return dataset


def test_raters_of_different_texts_are_compared(weighed):
    matrix = load(select(weighed, rubric="importance", raters=["ann,model-a"]))
    # The file weighed the nuggets of three topics, ann two of the first: hers are the items.
    assert matrix.n_items == 2
    assert len(set(matrix.text.tolist())) == 1
    # vital, vital by the file; by ann vital, and of two texts what she said of the last.
    np.testing.assert_array_equal(matrix.grades, [[2, 2], [2, 2]])


def test_model_alone_makes_the_items(weighed):
    matrix = load(select(weighed, rubric="importance", raters=["model-a"]))
    assert (matrix.n_items, len(set(matrix.text.tolist()))) == (9, 3)


def test_judge_is_compared_on_whatever_text(weighed):
    matrix = load(select(weighed, rubric="importance", raters=["ann"], judge="model-a"))
    np.testing.assert_array_equal(matrix.judge, [2, 2])


def test_page_of_a_pair_has_everybody(weighed, cast):
    """Of the report that ann weighed, also the weight that the file gave to a text of its own."""
    matrix = load(select(weighed, rubric="importance", raters=["ann,model-a"]))
    text, question = matrix.text[0], matrix.question[0]
    page = f"/datasets/nuggets/pairs/{text}/{question}/?rubric=importance&raters=ann,model-a"
    html = cast.client("researcher").get(page).content.decode()
    assert "ann" in html
    assert "model-a" in html
    assert "no grade" not in html.lower()
