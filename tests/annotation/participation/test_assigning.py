"""Assignment: k raters for each item, never twice to one, balanced, in their own order."""

import random
from collections import Counter
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.builder import sampling
from annotation.models import Assignment, AttentionCheck, Campaign, Item, ItemQuestion, Rating, Text
from annotation.participation import assigning
from annotation.task import saving
from tests.toolbox.assignment_pool import answer, items, make_pool, newcomer, work_through


@pytest.fixture
def pool(db):
    return make_pool()


def test_part_has_its_size_and_is_balanced_over_systems(pool):
    part = assigning.begin_part(newcomer(pool, "ann"))
    systems = Counter(assignment.item.text.system for assignment in part.assignments.all())
    assert sum(systems.values()) == 4
    assert max(systems.values()) - min(systems.values()) == 1
    work_through(part)
    assigning.begin_part(newcomer(pool, "ann"))
    systems = Counter(assignment.item.text.system for assignment in Assignment.objects.all())
    assert sorted(systems.values()) == [2, 3, 3]


def test_begin_part_is_idempotent(pool):
    ann = newcomer(pool, "ann")
    assert assigning.begin_part(ann) == assigning.begin_part(ann)
    assert Assignment.objects.count() == 4


def test_studies_of_the_same_texts_have_separate_orders(pool):
    texts = [item.text for item in pool.items.order_by("position")]
    later = Campaign.objects.create(
        dataset=pool.dataset, rubric=pool.rubric, slug="later", title="Later", seed=pool.seed
    )
    sampling.sample(later, texts)
    sampling.publish(later)
    Campaign.objects.update(items_per_part=None)
    orders = [
        [assignment.item.text for assignment in part.assignments.order_by("position")]
        for part in (
            assigning.begin_part(newcomer(pool, "ann")),
            assigning.begin_part(newcomer(later, "ann")),
        )
    ]
    assert set(orders[0]) == set(orders[1]) == set(texts)
    assert orders[0] != orders[1]


def test_item_goes_to_k_raters_and_to_nobody_twice(pool):
    for name in ("ann", "ben", "cleo", "dan"):
        for _ in range(9):
            if part := assigning.begin_part(newcomer(pool, name)):
                work_through(part)
    raters_of_item = Counter(Assignment.objects.values_list("item", flat=True))
    assert set(raters_of_item.values()) == {2}
    assert len(raters_of_item) == 12
    assert assigning.begin_part(newcomer(pool, "eve")) is None


def test_database_refuses_a_slot_to_two(pool):
    part = assigning.begin_part(newcomer(pool, "ann"))
    assignment = part.assignments.first()
    ben = newcomer(pool, "ben")
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(
            participant=ben, item=assignment.item, position=0, slot=assignment.slot
        )


def test_items_that_others_have_begun_come_first(pool):
    first = assigning.begin_part(newcomer(pool, "ann"))
    second = assigning.begin_part(newcomer(pool, "ben"))
    assert len(set(items(first)) & set(items(second))) >= 3  # ties between systems may move one


def test_orders_differ_between_raters_and_can_be_redone(pool):
    Campaign.objects.update(items_per_part=None)
    ann, ben = (assigning.begin_part(newcomer(pool, name)) for name in ("ann", "ben"))
    assert set(items(ann)) == set(items(ben))
    assert items(ann) != items(ben)
    candidates = [assigning.Candidate(item, "", 0) for item in range(50)]
    first, repeated = (
        assigning.pick(candidates, 20, Counter(), random.Random(seed)) for seed in ("7:1", "7:1")
    )
    assert first == repeated


@pytest.mark.parametrize("change", [{"state": "paused"}, {"state": "closed"}])
def test_inactive_campaign_assigns_nothing(pool, change):
    Campaign.objects.update(**change)
    assert assigning.begin_part(newcomer(pool, "ann")) is None


def test_campaign_outside_its_times_assigns_nothing(pool):
    hour = timedelta(hours=1)
    for change in ({"opens_at": timezone.now() + hour}, {"closes_at": timezone.now() - hour}):
        Campaign.objects.update(**{"opens_at": None, "closes_at": None} | change)
        assert assigning.begin_part(newcomer(pool, "ann")) is None


def test_screened_out_participant_gets_no_items(pool):
    ann = newcomer(pool, "ann")
    ann.outcome = "screened_out"
    ann.save(update_fields=["outcome"])
    assert assigning.begin_part(ann) is None


def test_attention_checks_go_to_some_items_of_each_part(pool):
    for position in range(3):
        AttentionCheck.objects.create(
            campaign=pool, position=position, body="Choose 0.", expected=0
        )
    Campaign.objects.update(attention_per_part=2)
    part = assigning.begin_part(newcomer(pool, "ann"))
    checked = part.assignments.exclude(check_asked=None)
    assert [assignment.check_asked.position for assignment in checked.order_by("check_asked")] == [
        0,
        1,
    ]


def with_training(pool):
    """A pool with a training item, which is assigned first, and to all people."""
    item = pool.items.first()
    text = Text.objects.create(
        dataset=pool.dataset, topic=item.text.topic, kind="passage", name="easy", body="Easy."
    )
    training = Item.objects.create(campaign=pool, text=text, position=99, purpose="training")
    ItemQuestion.objects.create(
        item=training, question=item.asked.get().question, position=0, expected=0
    )
    return training


def test_training_is_lent_first_and_makes_no_part_done(pool):
    training = with_training(pool)
    part = assigning.begin_part(newcomer(pool, "ann"))
    first, *remaining = part.assignments.select_related("participant__campaign", "item")
    assert (first.item, first.slot) == (training, None)
    assert len(remaining) == 4
    for assignment in remaining:  # as before there was a limit
        Assignment.objects.filter(pk=assignment.pk).update(state="skipped")
    answer(first)
    saving.submit(first)
    part.refresh_from_db()
    assert part.outcome == ""
    assert not Rating.objects.exists()


def test_training_waits_for_who_comes_back_and_costs_no_place(pool):
    with_training(pool)
    Campaign.objects.update(lease_hours=2)
    ann = newcomer(pool, "ann")
    assigning.begin_part(ann)
    assigning.expire(pool, timezone.now() + timedelta(hours=3))
    purposes = assigning.begin_part(ann).assignments.values_list("item__purpose", flat=True)
    assert Counter(purposes) == {"training": 1, "study": 4}


def test_item_whose_last_slot_was_taken_up_since_is_not_dealt(pool, monkeypatch):
    Campaign.objects.update(raters_per_item=1)
    ann, ben = newcomer(pool, "ann"), newcomer(pool, "ben")
    real_left_for = assigning.available_items
    stale = [real_left_for(pool, ben)]  # what ben's request saw before ann was given hers
    hers = items(assigning.begin_part(ann))
    monkeypatch.setattr(
        assigning, "available_items", lambda *args: stale.pop() if stale else real_left_for(*args)
    )
    monkeypatch.setattr(
        assigning, "pick", lambda candidates, *_: [candidate.item for candidate in candidates][:12]
    )
    his = items(assigning.begin_part(ben))
    assert not stale
    assert not set(hers) & set(his)
    assert set(Assignment.objects.values_list("slot", flat=True)) == {0}
