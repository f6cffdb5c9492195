"""Handing out and taking back by many at once, on a real database with real threads."""

from collections import Counter
from datetime import timedelta

from django.utils import timezone

from annotation.models import Answer, Assignment, Rater, Rating
from annotation.participation import assigning
from tests.annotation.pool_material import answer, make_pool, newcomer, work_through
from tests.threads import in_threads


def test_many_who_arrive_at_once_are_never_given_more_than_there_is(transactional_db):
    campaign = make_pool(texts=9, raters_per_item=3, items_per_part=3)

    def arrive(number):
        rater = Rater.objects.create(name=f"w{number}", kind="human")
        participant = assigning.invite(campaign, rater)
        for _ in range(3):
            if part := assigning.begin_part(participant):
                work_through(part)

    in_threads(arrive, range(12))
    held = Counter(Assignment.objects.values_list("item", flat=True))
    assert set(held.values()) == {3}
    pairs = Assignment.objects.values_list("participant", "item")
    assert len(set(pairs)) == len(pairs) == 27


def test_one_who_asks_in_many_tabs_is_given_one_part(transactional_db):
    campaign = make_pool()
    ann = newcomer(campaign, "ann")
    parts = in_threads(lambda _: assigning.begin_part(ann).pk, range(8))
    assert len(set(parts)) == 1
    assert Assignment.objects.count() == 4


def test_saving_and_taking_back_at_once_lose_nothing(transactional_db):
    campaign = make_pool(texts=6, lease_hours=1, raters_per_item=1, items_per_part=6)
    part = assigning.begin_part(newcomer(campaign, "ann"))
    mine = list(part.assignments.all())
    later = timezone.now() + timedelta(hours=2)

    def act(number):
        if number % 2:
            assigning.expire(campaign, later)
        else:
            answer(mine[number // 2])

    in_threads(act, range(12))
    assert Answer.objects.count() == 6
    assert Rating.objects.count() == 6  # nobody else had come for them
    for assignment in Assignment.objects.all():
        assert (assignment.state, assignment.slot) == ("open", 0)
