"""Assigning and taking back by many at once, on a real database with real threads."""

from collections import Counter
from datetime import timedelta

from django.utils import timezone

from annotation.models import Answer, Assignment, Rater, Rating
from annotation.participation import assigning
from annotation.task import saving
from tests.toolbox.assignment_pool import answer, make_pool, newcomer, work_through
from tests.toolbox.threads import in_threads


def test_concurrent_arrivals_never_exceed_the_slots(transactional_db):
    campaign = make_pool(texts=9, raters_per_item=3, items_per_part=3)

    def arrive(number):
        rater = Rater.objects.create(name=f"w{number}", kind="human")
        participant = assigning.invite(campaign, rater)
        for _ in range(3):
            if part := assigning.begin_part(participant):
                work_through(part)

    in_threads(arrive, range(12))
    raters_of_item = Counter(Assignment.objects.values_list("item", flat=True))
    assert set(raters_of_item.values()) == {3}
    pairs = Assignment.objects.values_list("participant", "item")
    assert len(set(pairs)) == len(pairs) == 27


def test_concurrent_begin_in_many_tabs_gives_one_part(transactional_db):
    campaign = make_pool()
    ann = newcomer(campaign, "ann")
    parts = in_threads(lambda _: assigning.begin_part(ann).pk, range(8))
    assert len(set(parts)) == 1
    assert Assignment.objects.count() == 4


def test_concurrent_late_submission_and_begin_are_paid_once(transactional_db):
    for turn in range(6):
        campaign = make_pool(f"pool{turn}", texts=8, lease_hours=1, items_per_part=4)
        ann = newcomer(campaign, "ann")
        part = assigning.begin_part(ann)
        *earlier, last = part.assignments.order_by("position")
        for assignment in (*earlier, last):
            answer(assignment)
        for assignment in earlier:
            saving.submit(loaded(assignment))
        part.expires = timezone.now() - timedelta(minutes=1)
        part.save()
        assigning.expire(campaign)
        late = loaded(last)
        acts = [lambda late=late: saving.submit(late), lambda ann=ann: assigning.begin_part(ann)]
        in_threads(lambda number, acts=acts: acts[number](), range(2))
        while more := assigning.begin_part(ann):
            assert more.assignments.filter(state="open").exists(), "a part that nobody can end"
            work_through(more)
        outcomes = Counter(ann.parts.values_list("outcome", flat=True))
        assert (outcomes["done"], outcomes[""]) == (2, 0)
        assert ann.assignments.filter(state="submitted").count() == 8


def loaded(assignment):
    """As a page has it: with the part that it was in then."""
    return Assignment.objects.select_related("participant__campaign", "part").get(pk=assignment.pk)


def test_concurrent_save_and_release_lose_no_answer(transactional_db):
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
