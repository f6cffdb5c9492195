"""Handing out: each item to k raters, never twice to one, balanced, in an order of one's own."""

import random
from collections import Counter
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation import assigning, drawing, saving
from annotation.models import (
    Answer,
    Assignment,
    AttentionCheck,
    Campaign,
    Item,
    ItemQuestion,
    Rater,
    Rating,
    Rubric,
    Sitting,
    SubQuestion,
    Text,
    Topic,
)
from annotation.spans import Span
from tests.factories import make_dataset
from tests.threads import in_threads

SYSTEMS = ("bm25", "dense", "oracle")


@pytest.fixture
def pool(db):
    return make_pool()


def make_pool(texts: int = 12, **options) -> Campaign:
    """An open campaign of reports by three systems, one question each, for whoever comes."""
    dataset = make_dataset("pool")
    topic = Topic.objects.create(dataset=dataset, name="t", request="Write.", position=1)
    SubQuestion.objects.create(topic=topic, position=0, body="What?")
    made = [
        Text.objects.create(
            dataset=dataset,
            topic=topic,
            kind="report",
            system=SYSTEMS[number % 3],
            name=f"r{number}",
            body=f"Report {number}.",
        )
        for number in range(texts)
    ]
    campaign = Campaign.objects.create(
        dataset=dataset,
        rubric=Rubric.objects.get(slug="answerable"),
        slug="pool",
        title="Pool",
        **{"raters_per_item": 2, "items_per_part": 4} | options,
    )
    drawing.draw(campaign, made)
    drawing.publish(campaign)
    return campaign


def newcomer(campaign, name):
    rater, _ = Rater.objects.get_or_create(name=name, dataset=None, defaults={"kind": "human"})
    return assigning.invite(campaign, rater)


def items(sitting):
    return [one.item_id for one in sitting.assignments.order_by("position")]


def work_through(sitting, grade=0):
    for one in sitting.assignments.filter(state="open").order_by("position"):
        answer(one, grade)
        saving.submit(one)


def answer(one, grade=0, **more):
    one = Assignment.objects.select_related("item__text", "participant__campaign").get(pk=one.pk)
    asked = one.item.asked.get().question
    return saving.save_answer(one, asked, key=uuid4(), grade=grade, spans=[], **more)


def test_a_part_has_its_size_and_is_balanced_over_systems(pool):
    sitting = assigning.begin_part(newcomer(pool, "ann"))
    systems = Counter(one.item.text.system for one in sitting.assignments.all())
    assert sum(systems.values()) == 4
    assert max(systems.values()) - min(systems.values()) == 1
    work_through(sitting)
    assigning.begin_part(newcomer(pool, "ann"))
    systems = Counter(one.item.text.system for one in Assignment.objects.all())
    assert sorted(systems.values()) == [2, 3, 3]


def test_who_asks_again_is_given_the_same_part(pool):
    ann = newcomer(pool, "ann")
    assert assigning.begin_part(ann) == assigning.begin_part(ann)
    assert Assignment.objects.count() == 4


def test_an_item_goes_to_k_raters_and_to_nobody_twice(pool):
    for name in ("ann", "ben", "cleo", "dan"):
        for _ in range(9):
            if sitting := assigning.begin_part(newcomer(pool, name)):
                work_through(sitting)
    held = Counter(Assignment.objects.values_list("item", flat=True))
    assert set(held.values()) == {2}
    assert len(held) == 12
    assert assigning.begin_part(newcomer(pool, "eve")) is None


def test_the_database_refuses_a_slot_to_two(pool):
    sitting = assigning.begin_part(newcomer(pool, "ann"))
    one = sitting.assignments.first()
    ben = newcomer(pool, "ben")
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(participant=ben, item=one.item, position=0, slot=one.slot)


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
    one, again = (
        assigning.pick(candidates, 20, Counter(), random.Random(seed)) for seed in ("7:1", "7:1")
    )
    assert one == again


def test_an_untouched_item_returns_to_the_pool_and_a_begun_one_stays(pool):
    Campaign.objects.update(lease_hours=2, raters_per_item=1, items_per_part=12)
    ann = newcomer(pool, "ann")
    sitting = assigning.begin_part(ann)
    begun, done, *untouched = sitting.assignments.order_by("position")
    answer(begun, None)
    answer(done)
    saving.submit(done)
    assert assigning.begin_part(newcomer(pool, "ben")) is None
    assert assigning.expire(pool, timezone.now() + timedelta(hours=3)) == 10
    sitting.refresh_from_db()
    assert (sitting.outcome, sitting.ended) == ("expired", sitting.expires)
    assert set(items(assigning.begin_part(newcomer(pool, "ben")))) == {
        one.item_id for one in untouched
    }
    assert Answer.objects.count() == 2
    assert Rating.objects.count() == 1
    again = assigning.begin_part(ann)
    assert [one.pk for one in again.assignments.all()] == [begun.pk]


def test_who_comes_back_first_takes_up_the_same_items(pool):
    Campaign.objects.update(lease_hours=2, items_per_part=12)
    ann = newcomer(pool, "ann")
    first = items(assigning.begin_part(ann))
    assigning.expire(pool, timezone.now() + timedelta(hours=3))
    again = assigning.begin_part(ann)
    assert set(items(again)) == set(first)
    assert Assignment.objects.filter(participant=ann).count() == 12
    assert [sitting.number for sitting in ann.sittings.all()] == [1, 2]


def test_a_late_answer_counts_while_a_slot_is_free_and_is_kept_in_any_case(pool):
    Campaign.objects.update(lease_hours=2, raters_per_item=1, items_per_part=12)
    sitting = assigning.begin_part(newcomer(pool, "ann"))
    free, given = sitting.assignments.order_by("position")[:2]
    assigning.expire(pool, timezone.now() + timedelta(hours=3))
    answer(free)
    free.refresh_from_db()
    assert (free.state, free.slot) == ("open", 0)
    ben = assigning.begin_part(newcomer(pool, "ben"))
    assert given.item_id in items(ben)
    assert free.item_id not in items(ben)
    answer(given)
    given.refresh_from_db()
    assert (given.state, given.slot) == ("released", None)
    assert Answer.objects.filter(assignment=given).count() == 1
    assert [rating.text for rating in Rating.objects.all()] == [free.item.text]
    with pytest.raises(saving.AnswerRefusedError, match="given to somebody else"):
        saving.submit(given)


def test_a_part_ends_with_its_last_item_and_the_stay_with_its_last_part(pool):
    Campaign.objects.update(max_parts=2)
    ann = newcomer(pool, "ann")
    for number in (1, 2):
        sitting = assigning.begin_part(ann)
        work_through(sitting)
        sitting.refresh_from_db()
        assert (sitting.number, sitting.outcome) == (number, "done")
    ann.refresh_from_db()
    assert ann.outcome == "done"
    assert assigning.begin_part(ann) is None
    assert Sitting.objects.count() == 2


def test_what_is_skipped_untouched_goes_back_at_the_end_of_a_part_with_a_lease(pool):
    for lease, state, slot in ((None, "skipped", 0), (2, "released", None)):
        Campaign.objects.update(lease_hours=lease)
        sitting = assigning.begin_part(newcomer(pool, f"with-{lease}"))
        one, *rest = sitting.assignments.select_related("participant__campaign")
        for other in rest:
            answer(other)
            saving.submit(other)
        saving.skip(one, "Not for me.")
        sitting.refresh_from_db()
        one.refresh_from_db()
        assert (sitting.outcome, one.state, one.slot is None) == ("done", state, slot is None)


@pytest.mark.parametrize("change", [{"state": "paused"}, {"state": "closed"}])
def test_nothing_is_handed_out_while_it_does_not_run(pool, change):
    Campaign.objects.update(**change)
    assert assigning.begin_part(newcomer(pool, "ann")) is None


def test_nothing_is_handed_out_before_it_opens_or_after_it_closes(pool):
    hour = timedelta(hours=1)
    for change in ({"opens_at": timezone.now() + hour}, {"closes_at": timezone.now() - hour}):
        Campaign.objects.update(**{"opens_at": None, "closes_at": None} | change)
        assert assigning.begin_part(newcomer(pool, "ann")) is None


def test_who_is_screened_out_is_given_nothing(pool):
    ann = newcomer(pool, "ann")
    ann.outcome = "screened_out"
    assert assigning.begin_part(ann) is None


def test_attention_checks_go_to_some_items_of_each_part(pool):
    for position in range(3):
        AttentionCheck.objects.create(
            campaign=pool, position=position, body="Choose 0.", expected=0
        )
    Campaign.objects.update(attention_per_part=2)
    sitting = assigning.begin_part(newcomer(pool, "ann"))
    asked = sitting.assignments.exclude(check_asked=None)
    assert [one.check_asked.position for one in asked.order_by("check_asked")] == [0, 1]


def test_many_who_arrive_at_once_are_never_given_more_than_there_is(transactional_db):
    campaign = make_pool(texts=9, raters_per_item=3, items_per_part=3)

    def arrive(number):
        rater = Rater.objects.create(name=f"w{number}", kind="human")
        stay = assigning.invite(campaign, rater)
        for _ in range(3):
            if sitting := assigning.begin_part(stay):
                work_through(sitting)

    in_threads(arrive, range(12))
    held = Counter(Assignment.objects.values_list("item", flat=True))
    assert set(held.values()) == {3}
    pairs = Assignment.objects.values_list("participant", "item")
    assert len(set(pairs)) == len(pairs) == 27


def test_one_who_asks_in_many_tabs_is_given_one_part(transactional_db):
    campaign = make_pool()
    ann = newcomer(campaign, "ann")
    sittings = in_threads(lambda _: assigning.begin_part(ann).pk, range(8))
    assert len(set(sittings)) == 1
    assert Assignment.objects.count() == 4


def test_saving_and_taking_back_at_once_lose_nothing(transactional_db):
    campaign = make_pool(texts=6, lease_hours=1, raters_per_item=1, items_per_part=6)
    sitting = assigning.begin_part(newcomer(campaign, "ann"))
    mine = list(sitting.assignments.all())
    later = timezone.now() + timedelta(hours=2)

    def act(number):
        if number % 2:
            assigning.expire(campaign, later)
        else:
            answer(mine[number // 2])

    in_threads(act, range(12))
    assert Answer.objects.count() == 6
    assert Rating.objects.count() == 6  # nobody else had come for them
    for one in Assignment.objects.all():
        assert (one.state, one.slot) == ("open", 0)


def with_training(pool):
    """One more item, to train with: it is lent first, and to everybody."""
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
    sitting = assigning.begin_part(newcomer(pool, "ann"))
    first, *rest = sitting.assignments.select_related("participant__campaign", "item")
    assert (first.item, first.slot) == (training, None)
    assert len(rest) == 4
    answer(first)
    saving.submit(first)
    for other in rest:
        saving.skip(other, "")
    sitting.refresh_from_db()
    assert sitting.outcome == ""
    assert not Rating.objects.exists()


def test_training_waits_for_who_comes_back_and_costs_no_place(pool):
    with_training(pool)
    Campaign.objects.update(lease_hours=2)
    ann = newcomer(pool, "ann")
    assigning.begin_part(ann)
    assigning.expire(pool, timezone.now() + timedelta(hours=3))
    again = assigning.begin_part(ann).assignments.values_list("item__purpose", flat=True)
    assert Counter(again) == {"training": 1, "study": 4}


def test_a_part_whose_time_is_over_is_not_done_by_a_late_hand_in(pool):
    Campaign.objects.update(lease_hours=2, items_per_part=1)
    sitting = assigning.begin_part(newcomer(pool, "ann"))
    one = sitting.assignments.select_related("participant__campaign").get()
    answer(one)
    assigning.expire(pool, timezone.now() + timedelta(hours=3))
    one = Assignment.objects.select_related("participant__campaign", "sitting").get()
    saving.submit(one)
    sitting.refresh_from_db()
    assert (one.state, sitting.outcome) == ("submitted", "expired")


def test_words_of_an_answer_that_counted_go_with_it_though_a_kept_one_came_between(pool):
    Campaign.objects.update(raters_per_item=1, items_per_part=12)
    mine = assigning.begin_part(newcomer(pool, "ann")).assignments.first()
    one = Assignment.objects.select_related("item__text", "participant__campaign").get(pk=mine.pk)
    asked = one.item.asked.get().question
    words = [Span(0, 6, "Report")]
    saving.save_answer(one, asked, key=uuid4(), grade=1, spans=words)
    release = Assignment.objects.filter(pk=mine.pk)
    release.update(state="released", slot=None)
    ben = Assignment.objects.create(
        participant=newcomer(pool, "ben"), item=one.item, position=0, slot=0
    )
    answer(mine, 0)  # kept, and not counted
    assert [span.quote for span in Rating.objects.get().spans.all()] == ["Report"]
    ben.delete()
    answer(mine, 0)
    rating = Rating.objects.get()
    assert (rating.grade, rating.spans.count(), Answer.objects.count()) == (0, 0, 3)


def test_an_item_whose_last_slot_was_taken_up_since_is_not_dealt(pool, monkeypatch):
    Campaign.objects.update(raters_per_item=1)
    ann, ben = newcomer(pool, "ann"), newcomer(pool, "ben")
    look = assigning.left_for
    seen = [look(pool, ben)]  # what ben's request saw before ann was given hers
    hers = items(assigning.begin_part(ann))
    monkeypatch.setattr(assigning, "left_for", lambda *who: seen.pop() if seen else look(*who))
    monkeypatch.setattr(assigning, "pick", lambda found, *_: [one.item for one in found][:12])
    his = items(assigning.begin_part(ben))
    assert not seen
    assert not set(hers) & set(his)
    assert set(Assignment.objects.values_list("slot", flat=True)) == {0}
