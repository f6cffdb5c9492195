"""The matrix of random ratings is that of a loop over model instances."""

import numpy as np
import pytest

from annotation.models import Rating
from evaluation.data import ratings
from evaluation.data.selection import select
from tests.toolbox.random_ratings import make_random_ratings


@pytest.fixture(params=range(5))
def dataset(db, request):
    return make_random_ratings(request.param)


@pytest.mark.parametrize("reads_all", [True, False])
@pytest.mark.parametrize("look_up", [2, 5000])
def test_matrix_of_random_ratings(dataset, monkeypatch, look_up, reads_all):
    monkeypatch.setattr(ratings, "LOOK_UP", look_up)
    monkeypatch.setattr(ratings, "_is_majority", lambda *_: reads_all)
    names = ["ann", "ben", "everywhere", "cay"]
    matrix = ratings.load(select(dataset, rubric="graded", raters=names, judge="judge"))
    stored = {
        (rating.rater.name, rating.text_id, rating.question_id): rating
        for rating in Rating.objects.of_dataset(dataset)
        .filter(rubric__slug="graded")
        .select_related("rater", "question__topic")
    }
    by_people = [rating for rating in stored.values() if rating.rater.kind == "human"]
    items = {
        (rating.text_id, rating.question_id): (
            rating.question.topic.position,
            rating.text_id,
            rating.question.position,
        )
        for rating in by_people
    }
    expected = sorted(items, key=items.__getitem__)
    assert list(zip(matrix.text.tolist(), matrix.question.tolist(), strict=True)) == expected

    def grade(rater, item):
        return stored[rater, *item].grade if (rater, *item) in stored else np.nan

    columns = [rater.name for rater in matrix.selection.raters]
    assert sorted(columns) == sorted(names)
    np.testing.assert_array_equal(
        matrix.grades, [[grade(rater, item) for rater in columns] for item in expected]
    )
    np.testing.assert_array_equal(matrix.judge, [grade("judge", item) for item in expected])
    assert sorted(matrix.texts) == sorted({text for text, _ in expected})
    for rows, raters in ((matrix.rows, names), (matrix.judge_rows, ["judge"])):
        read = sorted(zip(rows["text"], rows["question"], rows["grade"], strict=True))
        assert read == sorted(
            (rating.text_id, rating.question_id, rating.grade)
            for (rater, text, _), rating in stored.items()
            if rater in raters and text in matrix.texts
        )
    system_of = {text.pk: text.system for text in dataset.texts.all()}
    assert matrix.system.tolist() == [system_of[text] for text, _ in expected]
    system_names = [matrix.systems[index] for index in matrix.system_index.tolist()]
    assert system_names == matrix.system.tolist()
