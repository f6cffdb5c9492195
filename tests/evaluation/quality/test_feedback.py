"""Agreement with the expert before and after feedback, on the pages of Quality."""

import csv
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from annotation.adjudication.decisions import decide
from annotation.models import Assignment, Campaign, Item, Participant
from annotation.monitoring import actions
from annotation.participation import assigning
from evaluation.data.feedback import feedback_grades
from tests.toolbox.assignment_pool import answer, make_pool, newcomer
from tests.toolbox.responses import text_of_page

NAMES = ("ann", "bob", "cleo")


@pytest.fixture
def graded(cast) -> Campaign:
    """Campaign of three raters and twelve texts; the expert decides 0 on all of them.

    bob gives 0 and cleo 1 to everything. ann gives 1 to the first six texts, and then, after the first
    feedback, 0 to the others.
    """
    campaign = make_pool(texts=12, items_per_part=12, raters_per_item=3, feedback="part")
    for name in NAMES:
        assigning.begin_part(newcomer(campaign, name))
    for assignment in assignments(campaign):
        name, position = assignment.participant.rater.name, assignment.item.position
        answer(assignment, int(name == "cleo" or (name == "ann" and position < 6)))
    for item in campaign.items.all():
        settle(item, cast.admin)
    later = timezone.now() + timedelta(hours=1)
    Participant.objects.filter(rater__name="ann").update(feedback_opened_at=later)
    of_last = Assignment.objects.filter(participant__rater__name="ann", item__position__gte=6)
    for assignment in of_last:
        assignment.answers.update(created=later + timedelta(hours=1))
    return campaign


def assignments(campaign: Campaign):
    return Assignment.objects.filter(participant__campaign=campaign).select_related(
        "item", "participant__rater"
    )


def settle(item: Item, by, grade: int = 0) -> None:
    question = item.asked.get().question
    decide(item, question, key=uuid4(), grade=grade, spans=[], note="", by=by, base=None)


def effects(campaign: Campaign):
    grades = feedback_grades(campaign)
    raters = dict(campaign.participants.values_list("rater__name", "rater"))
    return {name: grades.effect(raters[name]) for name in raters}


def test_effect_of_a_rater_compares_pairs_before_and_after(graded):
    """For ann bob and cleo differ on all pairs; for bob, ann and cleo differ on the last six."""
    ann, bob, cleo = (effects(graded)[name] for name in NAMES)
    assert (ann.share_before.value, ann.share_before.n) == (0, 6)
    assert (ann.share_after.value, ann.share_after.n) == (1, 6)
    assert (ann.difference.value, ann.difference.n) == (1, 12)
    assert (bob.share_before.value, bob.share_before.n) == (1, 12)
    assert (
        bob.share_after.reason
        == "undefined, because no decided pair was graded after the first feedback"
    )
    assert cleo.difference.n == 0
    pooled = feedback_grades(graded).effect()
    assert (pooled.share_before.n, pooled.share_after.n, pooled.difference.value) == (30, 6, 1)


def test_edit_after_the_feedback_counts_as_the_grade_before_it(graded):
    assignment = assignments(graded).get(participant__rater__name="ann", item__position=0)
    edit = answer(assignment, 0)
    edit.created = timezone.now() + timedelta(hours=3)
    edit.save(update_fields=["created"])
    assert effects(graded)["ann"].share_before.value == 0


def test_pair_is_comparable_only_if_the_others_differ(graded):
    """Without cleo no pair has two other raters; with her grades as bob's none that differ."""
    for assignment in assignments(graded).filter(participant__rater__name="cleo"):
        answer(assignment, 0)
    reason = "undefined, because no decided pair has two other raters who differ"
    assert effects(graded)["ann"].difference.reason == reason
    assert effects(graded)["ann"].share_after.value == 1


def test_excluded_work_withdrawn_decisions_and_gold_are_left_out(graded, cast):
    actions.exclude_work(graded.participants.get(rater__name="cleo"), cast.admin)
    assert effects(graded)["cleo"].share_before.n == 0
    assert effects(graded)["ann"].difference.value is None
    Item.objects.filter(position=0).update(purpose=Item.Purpose.GOLD)
    assert effects(graded)["ann"].share_before.n == 5
    item = graded.items.get(position=1)
    newest = item.decisions.get()
    decide(
        item,
        newest.question,
        key=uuid4(),
        grade=None,
        spans=[],
        note="",
        by=cast.admin,
        base=newest.key,
    )
    assert effects(graded)["ann"].share_before.n == 4


def test_pages_and_file_have_the_effect(graded, cast):
    admin = cast.client("admin")
    page = text_of_page(admin.get(f"/campaigns/{graded.slug}/quality/"))
    assert "Grades equal to the expert’s decision, over all raters: 0.40" in page
    assert "(n = 30 pairs), 1.00 no interval after it (n = 6)." in page
    assert "Difference at equal difficulty: 1.00 no interval (n = 12 of both)." in page
    assert "As the expert before" in page
    of_rater = text_of_page(admin.get(f"/campaigns/{graded.slug}/quality/raters/ann/"))
    assert "Same as the expert before the first feedback 0.00" in of_rater
    assert "(n = 12 pairs before and after)" in of_rater
    lines = admin.get(f"/campaigns/{graded.slug}/quality.csv").content.decode().splitlines()
    ann, bob, _cleo = csv.DictReader(lines)
    assert (ann["as_expert_before_feedback"], ann["as_expert_after_feedback_n"]) == ("0.0", "6")
    assert (ann["feedback_difference"], ann["feedback_difference_n"]) == ("1.0", "12")
    assert bob["as_expert_after_feedback_why_not"].startswith("undefined, because no decided pair")


def test_campaign_without_feedback_has_no_columns(graded, cast):
    url = f"/campaigns/{graded.slug}/quality/"
    Campaign.objects.update(feedback="never")
    assert "As the expert before" in text_of_page(cast.client("admin").get(url))  # some was given
    Participant.objects.update(feedback_opened_at=None)
    assert "As the expert before" not in text_of_page(cast.client("admin").get(url))
