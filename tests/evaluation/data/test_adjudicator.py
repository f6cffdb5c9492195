"""An adjudicator is a rater like any other, and is taken only where it is asked for."""

import pytest

from annotation.adjudication.decisions import adjudicator_of
from annotation.models import Rating
from evaluation.data.selection import select
from tests.toolbox.answers import label_item


@pytest.fixture
def decided(cast, campaign):
    """Both workers have rated a report, and an expert has decided about it."""
    for user in (cast.worker, cast.other_worker):
        label_item(campaign, user, "bm25", 1, 0, 0)
    decider = adjudicator_of(campaign)
    for rating in Rating.objects.filter(rater__user=cast.worker):
        rating.pk, rating.rater = None, decider
        rating.save(force_insert=True)
    return campaign


def names(columns):
    return [column.name for column in columns]


def test_adjudicator_is_left_out_of_agreement_by_default(decided):
    chosen = select(decided.dataset)
    assert names(chosen.raters) == ["uma", "wil"]
    assert "ferry-answerable-adjudicated" in names(chosen.everyone)


def test_adjudicator_is_included_by_name(decided):
    chosen = select(decided.dataset, raters=["ferry-answerable-adjudicated", "wil"])
    assert names(chosen.raters) == ["ferry-answerable-adjudicated", "wil"]


def test_adjudicator_is_the_default_where_nobody_else_has_rated(cast, decided):
    Rating.objects.filter(rater__user__isnull=False).delete()
    assert names(select(decided.dataset).raters) == ["ferry-answerable-adjudicated"]
