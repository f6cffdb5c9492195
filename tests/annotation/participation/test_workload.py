"""Workload of a study by its settings, computed by hand."""

from decimal import Decimal

import pytest

from annotation.models import Campaign, Item, Rubric
from annotation.participation.workload import workload
from tests.toolbox.campaign_builder import make_labelled


@pytest.fixture
def draft(db):
    dataset = make_labelled()
    campaign = Campaign.objects.create(
        dataset=dataset, rubric=Rubric.objects.get(slug="graded"), slug="draft", title="Draft"
    )
    texts = dataset.texts.filter(kind="passage", body__isnull=False, topic__isnull=False)
    Item.objects.bulk_create(
        Item(campaign=campaign, text=text, position=position) for position, text in enumerate(texts)
    )
    assert campaign.items.count() == 10
    return campaign


@pytest.mark.parametrize(
    ("raters", "in_part", "max_parts", "parts", "parts_each", "people"),
    [
        # 10 texts, 3 raters each: 30 gradings. Parts of 4: 7.5, so 8; nobody can do more than the
        # 3 parts (4 + 4 + 2) that hold every text once.
        (3, 4, None, 8, 3, 3),
        # One part of 4 each: 30 gradings at 4 a person need 8 people.
        (3, 4, 1, 8, 1, 8),
        # Two parts, 8 texts each: 30 / 8 needs 4.
        (3, 4, 2, 8, 2, 4),
        # Everything in one part: each rater does one.
        (3, None, None, 3, 1, 3),
        # A part that is larger than the study holds the study.
        (2, 50, None, 2, 1, 2),
        (1, 1, 5, 10, 5, 2),
    ],
)
def test_parts_and_people(draft, raters, in_part, max_parts, parts, parts_each, people):
    draft.raters_per_item, draft.items_per_part, draft.max_parts = raters, in_part, max_parts
    work = workload(draft)
    assert (work.gradings, work.parts, work.parts_each, work.people) == (
        10 * raters,
        parts,
        parts_each,
        people,
    )


def test_pay_of_an_hour_is_known_where_pay_and_minutes_are(draft):
    assert workload(draft).hourly is None
    draft.pay_per_part, draft.minutes_per_part = Decimal("3.50"), 25
    assert workload(draft).hourly == Decimal("8.40")


def test_without_texts_there_is_none(draft):
    draft.items.all().delete()
    assert workload(draft) is None
