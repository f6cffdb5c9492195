"""The end of a part, in time or over it: what goes back to the others, and what stays."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db.models import Count, Q
from django.utils import timezone

from annotation.builder import sampling
from annotation.models import Answer, Assignment, Campaign, Part, Rating
from annotation.participation import assigning
from annotation.task import saving
from annotation.text.spans import Span
from tests.toolbox.assignment_pool import answer, items, make_pool, newcomer, work_through


@pytest.fixture
def pool(db):
    return make_pool()


def test_untouched_item_returns_to_the_pool_and_a_begun_one_stays(pool):
    Campaign.objects.update(lease_hours=2, raters_per_item=1, items_per_part=12)
    ann = newcomer(pool, "ann")
    part = assigning.begin_part(ann)
    begun, done, *untouched = part.assignments.order_by("position")
    answer(begun, None)
    answer(done)
    saving.submit(done)
    assert assigning.begin_part(newcomer(pool, "ben")) is None
    assert assigning.expire(pool, timezone.now() + timedelta(hours=3)) == 10
    part.refresh_from_db()
    assert (part.outcome, part.ended) == ("expired", part.expires)
    assert set(items(assigning.begin_part(newcomer(pool, "ben")))) == {
        assignment.item_id for assignment in untouched
    }
    assert Answer.objects.count() == 2
    assert Rating.objects.count() == 1
    second_part = assigning.begin_part(ann)
    assert [assignment.pk for assignment in second_part.assignments.all()] == [begun.pk]


def test_returning_rater_takes_the_same_items(pool):
    Campaign.objects.update(lease_hours=2, items_per_part=12)
    ann = newcomer(pool, "ann")
    first = items(assigning.begin_part(ann))
    assigning.expire(pool, timezone.now() + timedelta(hours=3))
    second_part = assigning.begin_part(ann)
    assert set(items(second_part)) == set(first)
    assert Assignment.objects.filter(participant=ann).count() == 12
    assert [part.number for part in ann.parts.all()] == [1, 2]


def test_late_answer_counts_while_a_slot_is_free_and_is_kept_in_any_case(pool):
    Campaign.objects.update(lease_hours=2, raters_per_item=1, items_per_part=12)
    part = assigning.begin_part(newcomer(pool, "ann"))
    free, reassigned = part.assignments.order_by("position")[:2]
    assigning.expire(pool, timezone.now() + timedelta(hours=3))
    answer(free)
    free.refresh_from_db()
    assert (free.state, free.slot) == ("open", 0)
    ben = assigning.begin_part(newcomer(pool, "ben"))
    assert reassigned.item_id in items(ben)
    assert free.item_id not in items(ben)
    answer(reassigned)
    reassigned.refresh_from_db()
    assert (reassigned.state, reassigned.slot) == ("released", None)
    assert Answer.objects.filter(assignment=reassigned).count() == 1
    assert [rating.text for rating in Rating.objects.all()] == [free.item.text]
    with pytest.raises(saving.AnswerError, match="Other people have this text now"):
        saving.submit(reassigned)


def test_part_ends_with_its_last_item_and_the_stay_with_its_last_part(pool):
    Campaign.objects.update(max_parts=2)
    ann = newcomer(pool, "ann")
    for number in (1, 2):
        part = assigning.begin_part(ann)
        work_through(part)
        part.refresh_from_db()
        assert (part.number, part.outcome) == (number, "done")
    ann.refresh_from_db()
    assert ann.outcome == "done"
    assert assigning.begin_part(ann) is None
    assert Part.objects.count() == 2


def test_untouched_skipped_item_is_released_at_the_end_of_a_leased_part(pool):
    for lease, state, slot in ((None, "skipped", 0), (2, "released", None)):
        Campaign.objects.update(lease_hours=lease)
        part = assigning.begin_part(newcomer(pool, f"with-{lease}"))
        assignment, *remaining = part.assignments.select_related("participant__campaign")
        for remaining_item in remaining:
            answer(remaining_item)
            saving.submit(remaining_item)
        saving.skip(assignment, "Not for me.")
        part.refresh_from_db()
        assignment.refresh_from_db()
        assert (part.outcome, assignment.state, assignment.slot is None) == (
            "done",
            state,
            slot is None,
        )


def hand_in(part):
    """Submit the open items of a part, whether its time is over or not."""
    for assignment in part.assignments.filter(state="open").select_related("participant__campaign"):
        saving.submit(assignment)
    part.refresh_from_db()
    return part.outcome


def run_out(pool, hours=3):
    return assigning.expire(pool, timezone.now() + timedelta(hours=hours))


@pytest.mark.parametrize("somebody_begins_meanwhile", [True, False])
def test_part_submitted_completely_after_its_time_is_done(pool, somebody_begins_meanwhile):
    Campaign.objects.update(lease_hours=2, items_per_part=3)
    part = assigning.begin_part(newcomer(pool, "ann"))
    for assignment in part.assignments.all():
        answer(assignment)
    part.expires = timezone.now() - timedelta(minutes=1)
    part.save()
    if somebody_begins_meanwhile:
        assigning.begin_part(newcomer(pool, "ben"))
        part.refresh_from_db()
        assert part.outcome == "expired"
    assert hand_in(part) == "done"


def test_part_of_which_something_went_back_is_not_done_and_makes_the_next_shorter(pool):
    Campaign.objects.update(lease_hours=2)
    ann = newcomer(pool, "ann")
    part = assigning.begin_part(ann)
    for assignment in part.assignments.order_by("position")[:3]:
        answer(assignment)
    assert run_out(pool) == 1
    assert hand_in(part) == "expired"
    assert assigning.unpaid(ann) == 3
    # Four texts are a part: one more, and the part is done and paid.
    second_part = assigning.begin_part(ann)
    assert second_part.assignments.count() == 1
    work_through(second_part)
    assert (ann.parts_done(), assigning.unpaid(ann)) == (1, 0)
    assert assigning.begin_part(ann).assignments.count() == 4


def test_part_whose_rest_went_into_a_later_one_is_not_paid_beside_it(pool):
    Campaign.objects.update(lease_hours=2)
    ann = newcomer(pool, "ann")
    part = assigning.begin_part(ann)
    first, *remaining = part.assignments.order_by("position")
    for assignment in (first, *remaining):
        answer(assignment)
    saving.submit(Assignment.objects.select_related("participant__campaign").get(pk=first.pk))
    run_out(pool)
    second_part = assigning.begin_part(ann)
    assert set(second_part.assignments.all()) == set(remaining)
    work_through(second_part)
    assert [part.outcome for part in ann.parts.all()] == ["expired", "done"]


def test_begun_item_is_released_after_the_longer_lease(pool):
    Campaign.objects.update(
        lease_hours=2, begun_lease_hours=10, raters_per_item=1, items_per_part=12
    )
    ann = newcomer(pool, "ann")
    part = assigning.begin_part(ann)
    begun, done, *_ = part.assignments.order_by("position")
    answer(begun)
    answer(done)
    saving.submit(Assignment.objects.select_related("participant__campaign").get(pk=done.pk))
    pool.refresh_from_db()
    assert run_out(pool, 9) == 10
    assert run_out(pool, 9) == 0
    begun.refresh_from_db()
    assert (begun.state, begun.slot) == ("open", 0)
    assert run_out(pool, 11) == 1
    begun.refresh_from_db()
    assert (begun.state, begun.slot) == ("released", None)
    assert [rating.text for rating in Rating.objects.all()] == [done.item.text]
    assert Answer.objects.get(assignment=begun).late == "taken_back"
    # Who comes back late has it again, as long as nobody else took it, and all that was said counts.
    assert assigning.retake(Assignment.objects.get(pk=begun.pk))
    begun.refresh_from_db()
    assert (begun.state, begun.slot) == ("open", 0)
    assert (Rating.objects.count(), Answer.objects.exclude(late="").count()) == (2, 0)


def test_item_that_is_dealt_to_the_same_person_again_counts_again(pool):
    Campaign.objects.update(lease_hours=2, begun_lease_hours=2)
    pool.refresh_from_db()
    ann = newcomer(pool, "ann")
    begun = assigning.begin_part(ann).assignments.order_by("position").first()
    answer(begun, 1)
    assert run_out(pool) == 4
    assert not Rating.objects.exists()
    while not (part := assigning.begin_part(ann)).assignments.filter(pk=begun.pk).exists():
        work_through(part)
    assert Rating.objects.get(text=begun.item.text).grade == 1


def test_answer_in_an_earlier_study_counts_again(pool):
    ann = newcomer(pool, "ann")
    earlier = assigning.begin_part(ann).assignments.order_by("position").first()
    answer(earlier, 1)
    later = Campaign.objects.create(
        dataset=pool.dataset, rubric=pool.rubric, slug="later", title="Later"
    )
    sampling.sample(later, [earlier.item.text])
    sampling.publish(later)
    later_assignment = assigning.begin_part(newcomer(later, "ann")).assignments.get()
    answer(later_assignment, 0)
    assert Rating.objects.get(text=earlier.item.text).grade == 0
    assigning.release_begun(Assignment.objects.filter(pk=later_assignment.pk))
    assert Rating.objects.get(text=earlier.item.text).grade == 1


def test_many_who_leave_after_one_answer_hold_nothing_for_ever(pool):
    """Nine people answer once and go: without the longer limit they would keep eighteen slots."""
    Campaign.objects.update(lease_hours=1, begun_lease_hours=2, raters_per_item=3, items_per_part=2)
    pool.refresh_from_db()
    for number in range(9):
        part = assigning.begin_part(newcomer(pool, f"gone{number}"))
        for assignment in part.assignments.all():
            answer(assignment)
    Part.objects.update(
        began=timezone.now() - timedelta(hours=3), expires=timezone.now() - timedelta(hours=2)
    )
    for number in range(9):
        next_rater = newcomer(pool, f"stays{number}")
        while part := assigning.begin_part(next_rater):
            work_through(part)
    handed_in = pool.items.annotate(
        n=Count("assignments", filter=Q(assignments__state="submitted", assignments__slot__gte=0))
    )
    assert [item.n for item in handed_in] == [3] * 12


def test_spans_of_a_counted_answer_follow_it_across_a_late_one(pool):
    Campaign.objects.update(raters_per_item=1, items_per_part=12)
    mine = assigning.begin_part(newcomer(pool, "ann")).assignments.first()
    assignment = Assignment.objects.select_related("item__text", "participant__campaign").get(
        pk=mine.pk
    )
    question = assignment.item.asked.get().question
    spans = [Span(0, 6, "Report")]
    saving.save_answer(assignment, question, key=uuid4(), grade=1, spans=spans)
    release = Assignment.objects.filter(pk=mine.pk)
    release.update(state="released", slot=None)
    ben = Assignment.objects.create(
        participant=newcomer(pool, "ben"), item=assignment.item, position=0, slot=0
    )
    answer(mine, 0)  # kept, and not counted
    assert [span.quote for span in Rating.objects.get().spans.all()] == ["Report"]
    ben.delete()
    answer(mine, 0)
    rating = Rating.objects.get()
    assert (rating.grade, rating.spans.count(), Answer.objects.count()) == (0, 0, 3)
