"""Repeated items: order, slots, ratings, ends of parts, and concurrent clients."""

import csv
import io
import random
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.builder import drafts
from annotation.models import Answer, Assignment, Campaign, Rating, User
from annotation.monitoring import actions
from annotation.monitoring.export_tables import TABLES, Names
from annotation.participation import assigning, endings, repeats, skips, withdrawal, workflow
from annotation.task import saving
from tests.toolbox.assignment_pool import answer, make_pool, newcomer, work_through
from tests.toolbox.threads import in_threads

MIN_GAP = 3


@pytest.mark.parametrize(
    ("items", "percent", "gap", "n"),
    [
        (10, None, None, 0),
        (10, 20, 5, 2),
        (10, 1, 5, 1),  # rounded up
        (10, 100, 9, 1),
        (4, 50, 3, 1),
        (3, 50, 3, 0),  # nothing has three others behind it
    ],
)
def test_number_of_repeats_follows_the_settings(items, percent, gap, n):
    assert repeats.repeats_due(items, percent, gap) == n


def test_refusal_names_the_largest_distance():
    assert repeats.refusal(10, 20, 8) == ""
    assert "enter at most 8, or longer parts" in repeats.refusal(10, 20, 9)
    assert "has no text after it" in repeats.refusal(4, 100, 1)


@pytest.mark.parametrize("seed", range(20))
def test_repeat_comes_after_at_least_as_many_others(seed):
    queue = list(range(100, 110))
    entries = repeats.insert(queue, set(queue[1:]), 4, 5, random.Random(seed))
    assert [entry.item for entry in entries if not entry.is_repeat] == queue
    repeated = [entry.item for entry in entries if entry.is_repeat]
    assert len(repeated) == len(set(repeated)) == 4
    for item in repeated:
        first, second = (
            entries.index(repeats.QueueEntry(item, is_repeat)) for is_repeat in (False, True)
        )
        assert second - first > 5
    assert 100 not in repeated


@pytest.fixture
def pool(db):
    """Parts of six texts, of which two come again after three others."""
    return make_pool(
        texts=12, items_per_part=6, repeat_percent=30, repeat_after=MIN_GAP, lease_hours=1
    )


def begin(campaign, name="ann"):
    return assigning.begin_part(newcomer(campaign, name))


def repeats_of(part):
    return list(part.assignments.filter(repeats__isnull=False).order_by("position"))


def expire(part, hours=2):
    return assigning.expire(part.participant.campaign, timezone.now() + timedelta(hours=hours))


def test_part_has_its_texts_and_repeats_in_order(pool):
    ann = newcomer(pool, "ann")
    offered = workflow.next_part(ann).texts
    part = assigning.begin_part(ann)
    assert part.assignments.count() == offered == 6 + 2
    assert sorted(part.assignments.values_list("position", flat=True)) == list(range(8))
    for repeat in repeats_of(part):
        assert (repeat.item_id, repeat.participant_id) == (
            repeat.repeats.item_id,
            repeat.repeats.participant_id,
        )
        assert repeat.position - repeat.repeats.position > MIN_GAP
        assert (repeat.slot, repeat.check_asked) == (None, None)
    # Every text still has room for one more person.
    assert Assignment.objects.filter(slot__isnull=False).count() == 6
    work_through(part)
    part.refresh_from_db()
    assert part.outcome == "done"
    assert workflow.next_part(ann).texts == 8


def test_everybody_gets_every_text_with_repeats(pool):
    for name in ("ann", "bob"):
        while part := begin(pool, name):
            work_through(part)
    firsts = Assignment.objects.filter(repeats=None)
    assert firsts.filter(slot__isnull=False).count() == 12 * 2
    assert Assignment.objects.exclude(repeats=None).count() == 2 * 2 * 2
    assert begin(pool, "cleo") is None


def test_answers_of_a_repeat_change_no_rating(pool):
    part = begin(pool)
    repeat = repeats_of(part)[0]
    answer(repeat.repeats, grade=0)
    saving.submit(repeat.repeats)
    answer(repeat, grade=1)
    rating = Rating.objects.get(text=repeat.item.text_id)
    assert rating.grade == 0
    answer(repeat.repeats, grade=1)  # an edit of the first is the rating's
    assert Rating.objects.get(pk=rating.pk).grade == 1
    answer(repeat, grade=0)
    assert Rating.objects.get(pk=rating.pk).grade == 1
    # Excluded and included again, the repeat takes nothing and rates nothing.
    for assignment in (repeat.repeats, repeat):
        saving.submit(loaded(assignment))
    admin = User.objects.create(username="ada")
    participant = part.participant
    actions.exclude_work(participant, admin)
    assert not Rating.objects.exists()
    actions.include_work(participant, admin)
    assert Rating.objects.get().grade == 1
    assert not Assignment.objects.exclude(repeats=None).filter(slot__isnull=False).exists()


def test_remarks_of_a_repeat_are_not_shown_with_the_rating(pool):
    repeat = repeats_of(begin(pool))[0]
    for assignment in (repeat.repeats, repeat):
        answer(assignment)
    Answer.objects.update(note="unsure")
    assert [row.assignment for row in Answer.objects.remarks()] == [repeat.repeats]


def test_late_answer_to_a_submitted_repeat_takes_no_slot(pool):
    part = begin(pool)
    work_through(part)
    repeat = repeats_of(part)[0]
    answer(repeat, grade=1)
    repeat.refresh_from_db()
    assert (repeat.slot, Answer.objects.exclude(late="").count()) == (None, 0)


def test_expiry_releases_repeats_of_untouched_texts_alone(pool):
    part = begin(pool)
    one, two = repeats_of(part)
    answer(one.repeats)
    n = expire(part)
    one.refresh_from_db()
    two.refresh_from_db()
    assert (one.state, two.state) == ("open", "released")
    assert n == 5 + 1  # texts without an answer, and the repeat of one of them
    begun = endings.stopped(part.participant, part.participant.parts.get())
    assert (begun.begun, begun.untouched) == (2, 6)
    # The next part has what was begun, and as many texts as are left to it.
    offered = workflow.next_part(part.participant).texts
    later = assigning.begin_part(part.participant)
    open_now = later.assignments.filter(state="open")
    assert open_now.filter(repeats=None).count() == 6
    assert open_now.count() == offered
    assert all(repeat.position - repeat.repeats.position > MIN_GAP for repeat in repeats_of(later))
    work_through(later)
    later.refresh_from_db()
    assert later.outcome == "done"


def test_expired_part_is_done_late_with_its_repeats(pool):
    part = begin(pool)
    for assignment in part.assignments.filter(repeats=None):
        answer(assignment)
        saving.submit(assignment)
    part.refresh_from_db()
    assert part.outcome == ""  # the repeats are part of the work
    assert expire(part) == 0
    assert assigning.unpaid(part.participant) == 6
    for repeat in repeats_of(part):
        answer(repeat)
        saving.submit(Assignment.objects.select_related("part").get(pk=repeat.pk))
    part.refresh_from_db()
    assert part.outcome == "done"


def test_return_releases_open_repeats_and_keeps_submitted_texts(pool):
    part = begin(pool)
    repeat = repeats_of(part)[0]
    answer(repeat.repeats)
    saving.submit(repeat.repeats)
    withdrawal.leave(part.participant)
    states = dict(part.assignments.values_list("pk", "state"))
    assert states.pop(repeat.repeats_id) == "submitted"
    assert set(states.values()) == {"released"}
    assert Rating.objects.count() == 1


def test_release_of_a_text_by_staff_takes_its_repeat_along(pool):
    part = begin(pool)
    repeat = repeats_of(part)[0]
    actions.release_item(repeat.repeats, User.objects.create(username="ada"))
    repeat.refresh_from_db()
    assert repeat.state == "released"
    assert answer(repeat).late == Answer.Late.RETURNED  # not without its first
    answer(repeat.repeats)
    assert answer(repeat).late == Answer.Late.NO


def test_text_skipped_twice_is_one_skip(pool):
    pool.skips_per_part = 1
    pool.save()
    part = begin(pool)
    repeat = repeats_of(part)[0]
    saving.skip(loaded(repeat.repeats), "cut off")
    saving.skip(loaded(repeat), "cut off again")
    used = skips.skips_of(part.participant, part)
    assert (used.used, used.limit, used.texts) == (1, 1, 8)
    third = part.assignments.filter(state="open").first()
    with pytest.raises(saving.AnswerError):
        saving.skip(loaded(third), "too many")
    for assignment in part.assignments.filter(state="open"):
        answer(assignment)
        saving.submit(assignment)
    part.refresh_from_db()
    assert part.outcome == "done"


def loaded(assignment):
    campaign = "participant__campaign__rubric"
    return Assignment.objects.select_related(campaign, "repeats").get(pk=assignment.pk)


def rows(campaign, name):
    function, header = TABLES[name]
    out = io.StringIO()
    writer = csv.DictWriter(out, header, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(function(Names(campaign, anonymous=True)))
    return list(csv.DictReader(io.StringIO(out.getvalue())))


def test_export_marks_repeats_and_has_labels_of_firsts(pool):
    repeat = repeats_of(begin(pool))[0]
    answer(repeat.repeats, grade=0)
    answer(repeat, grade=1)
    assignments = rows(pool, "assignments.csv")
    assert sorted(row["repeat"] for row in assignments) == ["0"] * 6 + ["1"] * 2
    answers = rows(pool, "answers.csv")
    assert [(row["repeat"], row["grade"]) for row in answers] == [("0", "0"), ("1", "1")]
    assert [row["grade"] for row in rows(pool, "labels.csv")] == ["0"]


def test_copied_campaign_has_the_settings_of_repeats(pool):
    copy = drafts.copy_draft(pool, User.objects.create(username="ada"))
    assert (copy.repeat_percent, copy.repeat_after) == (30, MIN_GAP)


@pytest.mark.parametrize("change", [{"repeat_percent": None}, {"repeat_after": 0}])
def test_incomplete_settings_violate_a_constraint(pool, change):
    with pytest.raises(IntegrityError), transaction.atomic():
        Campaign.objects.update(**change)


def test_repeat_with_a_slot_violates_a_constraint(pool):
    repeat = repeats_of(begin(pool))[0]
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.filter(pk=repeat.pk).update(slot=1)


def test_concurrent_begin_of_two_clients_gives_one_part_with_repeats(transactional_db):
    campaign = make_pool(texts=6, items_per_part=6, repeat_percent=30, repeat_after=MIN_GAP)
    ann = newcomer(campaign, "ann")
    parts = in_threads(lambda _: assigning.begin_part(ann).pk, range(4))
    assert len(set(parts)) == 1
    assert Assignment.objects.exclude(repeats=None).count() == 2
    assert Assignment.objects.count() == 8
