"""A row comes back under its own key, where no other row has it and none will be given it."""

import pytest
from django.db import connection

from annotation.models import Rating, Rubric
from annotation.models.keys import free_keys
from tests.toolbox.factories import make_dataset

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair():
    dataset = make_dataset()
    return {
        "rater_id": dataset.raters.create(name="ann", kind="human").pk,
        "rubric_id": Rubric.objects.get(slug="graded").pk,
        "text_id": dataset.texts.first().pk,
        "question_id": dataset.topics.get().questions.first().pk,
    }


def test_key_that_was_given_up_is_free_and_one_that_is_taken_is_not(pair):
    deleted_key = Rating.objects.create(**pair, grade=1).pk
    Rating.objects.all().delete()
    taken_key = Rating.objects.create(**pair, grade=2).pk
    assert free_keys(Rating, [deleted_key, taken_key, None]) == {deleted_key}


def test_rating_comes_back_under_its_key(pair):
    key = Rating.objects.create(**pair, grade=1).pk
    rows = Rating.objects.all().set_aside()
    assert Rating.objects.restore(rows) == []
    assert Rating.objects.get().pk == key


def test_imported_row_takes_no_future_key(pair):
    key = Rating.objects.create(**pair, grade=1).pk
    (row,) = Rating.objects.all().set_aside()
    assert Rating.objects.restore([row | {"key": key + 2}]) == []
    imported_key = Rating.objects.get().pk
    Rating.objects.all().delete()
    later = [Rating.objects.create(**pair, grade=1).pk]
    Rating.objects.all().delete()
    later.append(Rating.objects.create(**pair, grade=1).pk)
    assert imported_key not in later
    if connection.vendor == "postgresql":
        assert imported_key == key + 1
