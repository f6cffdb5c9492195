import numpy as np
import pandas as pd
import pytest

from annotation.models import Rater, Rating, Rubric, SubQuestion, Text
from evaluation.data.ratings import answerable, frame, key_positions, load
from evaluation.data.selection import select


def test_row_a_rating(study, django_assert_num_queries):
    with django_assert_num_queries(2):
        rows = frame(study.dataset)
    names = ["rater", "rubric", "text", "question", "grade", "read_text"]
    assert rows.columns.tolist() == names
    assert {dtype.name for dtype in rows.dtypes} == {"int32", "int16"}
    stored = Rating.objects.values_list("rater", "rubric", "text", "question", "grade", "text")
    assert sorted(rows.itertuples(index=False, name=None)) == sorted(stored)


def test_only_what_is_asked_for(study):
    ann, graded = Rater.objects.get(name="ann"), Rubric.objects.get(slug="graded")
    passages = Text.objects.filter(kind="passage")
    rows = frame(study.dataset, [ann.pk], [graded.pk], texts=passages)
    stored = Rating.objects.filter(rater=ann, rubric=graded, text__kind="passage")
    assert len(rows) == stored.count() > 0
    assert frame(study.dataset, []).empty


def test_filtered_questions(study):
    SubQuestion.objects.filter(position=1).update(filtered_because="nobody answers it")
    stored = Rating.objects.exclude(question__position__in=[1, 3])  # 3 already was
    assert len(frame(study.dataset, with_filtered=False)) == stored.count()
    # They count for grades of passages, and not for the coverage of reports.
    matrices = {
        rubric: load(select(study.dataset, rubric=rubric)) for rubric in ("graded", "answerable")
    }
    positions = {
        rubric: {matrix.questions[pk].position for pk in matrix.question.tolist()}
        for rubric, matrix in matrices.items()
    }
    assert 1 in positions["graded"]
    assert 1 not in positions["answerable"]


@pytest.mark.parametrize("eta", [1, 3, 5])
def test_yes_and_no_have_an_eta_of_their_own(study, eta):
    rows = frame(study.dataset)
    mask = answerable(rows, Rubric.objects.all(), eta)
    assert isinstance(mask, np.ndarray)
    is_graded = rows["rubric"] == Rubric.objects.get(slug="graded").pk
    np.testing.assert_array_equal(mask[is_graded], rows["grade"][is_graded] >= eta)
    np.testing.assert_array_equal(mask[~is_graded], rows["grade"][~is_graded] == 1)


def test_place_for_each_pair_and_for_no_other(study):
    matrix = load(select(study.dataset))
    items = matrix.places(np.append(matrix.text, 0), np.append(matrix.question, matrix.question[0]))
    assert items.tolist() == [*range(matrix.n_items), -1]


@pytest.mark.parametrize("key", [2**31, 2**40, 2**62])
def test_text_whose_key_does_not_fit_is_refused(study, key):
    text = study.passages["ferry-1:0#0"]
    far = Text.objects.create(
        pk=key, dataset=study.dataset, topic=text.topic, kind="passage", name="far"
    )
    Rating.objects.filter(text=text).update(text=far)
    with pytest.raises(OverflowError, match=f"{key} is too large a key"):
        frame(study.dataset)


@pytest.mark.parametrize("key", [2**31, 2**40])
def test_question_whose_key_does_not_fit_is_refused(study, key):
    question = SubQuestion.objects.first()
    far = SubQuestion.objects.create(pk=key, topic=question.topic, position=99, body="Far?")
    Rating.objects.filter(question=question).update(question=far)
    with pytest.raises(OverflowError, match=f"{key} is too large a key"):
        frame(study.dataset)


@pytest.mark.parametrize("scale", [1, 1000])  # keys that lie close together, and far apart
def test_position_of_each_key_and_of_no_other(scale):
    keys = [7 * scale, 3 * scale, 5 * scale]
    values = [3 * scale, 5 * scale, 4 * scale, 2, 9 * scale, 7 * scale, 3 * scale, 2**31 - 1]
    positions = key_positions(keys, pd.Series(values, dtype=np.int32))
    assert positions.tolist() == [1, 2, -1, -1, -1, 0, 1, -1]
    assert key_positions([], pd.Series(values)).tolist() == [-1] * len(values)
    assert key_positions(keys, pd.Series([], dtype=np.int32)).tolist() == []
