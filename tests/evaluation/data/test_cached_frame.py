"""Ratings that are read again only after one of their raters has rated."""

import pytest
from django.db import transaction

from annotation.models import NuggetSpan, Rater, Rating, Rubric
from evaluation.data.ratings import cached_frame, frame
from tests.toolbox.caches import clear_caches

pytestmark = pytest.mark.django_db


@pytest.fixture
def judge(study):
    clear_caches()
    return Rater.objects.get(name="judge")


def read(study, *raters):
    rubrics = list(Rubric.objects.values_list("pk", flat=True))
    keys = [rater.pk for rater in raters]
    rows = cached_frame(study.dataset, keys, rubrics)
    stored = frame(study.dataset, keys, rubrics)
    assert sorted(rows.itertuples(index=False)) == sorted(stored.itertuples(index=False))
    return rows


CHANGES = {
    "a grade": lambda rater: Rating.objects.filter(rater=rater, grade=5).update(grade=1),
    "a removal": lambda rater: Rating.objects.filter(rater=rater, grade=5).delete(),
    "a span": lambda rater: NuggetSpan.objects.create(
        rating=Rating.objects.filter(rater=rater).first(), position=0, start=0, end=2, quote="En"
    ),
}


def test_work_of_others_changes_nothing(study, judge):
    rows = read(study, judge)
    assert len(rows) > 10
    study.rate("cay", study.passages["ferry-1:0#0"], (1,))
    Rating.objects.filter(rater__name="ann").delete()
    assert read(study, judge) is rows


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_read_again_after_a_change(study, judge, change):
    rows = read(study, judge)
    change(judge)
    assert read(study, judge) is not rows


def test_each_of_several_raters_counts(study, judge):
    cay = Rater.objects.get(name="cay")
    rows = read(study, judge, cay)
    assert read(study, cay, judge) is rows
    study.rate("cay", study.passages["ferry-1:0#0"], (1,))
    assert len(read(study, judge, cay)) == len(rows) + 1


def test_first_rating_of_a_rater_is_read(study, judge):
    new = Rater.objects.create(name="new", kind="human")
    assert read(study, new).empty
    rows = read(study, judge, new)
    Rating.objects.filter(rater__name="ann").update(rater=new)
    assert not read(study, new).empty
    assert len(read(study, judge, new)) > len(rows)


def test_undone_change_is_not_kept(study, judge):
    rows = read(study, judge)
    with transaction.atomic():
        Rating.objects.filter(rater=judge).delete()
        assert read(study, judge).empty
        transaction.set_rollback(True)
    assert len(read(study, judge)) == len(rows)
