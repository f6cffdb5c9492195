"""Reconciliation with Prolific's list: agreement, differences, reasons for review."""

from decimal import Decimal
from uuid import uuid4

import pytest

from annotation.formats.prolific import KNOWN_STATUSES, read
from annotation.models import Assignment, Campaign, Part, Participant
from annotation.monitoring import actions
from annotation.monitoring.reconciliation import reconcile
from annotation.participation import assigning
from annotation.task import saving
from tests.toolbox import participant_states
from tests.toolbox.prolific_list import export
from tests.toolbox.prolific_study import make_study


@pytest.fixture
def study(db) -> Campaign:
    return make_study(texts=12)


@pytest.fixture
def done(study) -> Participant:
    """Has done one part, for the submission sub-1."""
    participant = participant_states.make_consented(study, "pid-1")
    participant_states.finish(participant, "sub-1")
    return participant


def findings(study, *rows) -> list[tuple[str, str]]:
    rows = reconcile(study, read(export(*rows))).rows
    return [(row.finding, row.suggestion) for row in rows]


@pytest.mark.parametrize(
    ("status", "code", "finding", "suggestion"),
    [
        ("AWAITING REVIEW", "DONE1", "agree", "approve"),
        ("AWAITING REVIEW", " done1 ", "agree", "approve"),
        ("APPROVED", "DONE1", "agree", ""),
        ("AWAITING REVIEW", "NOCODE", "code", "approve"),
        ("AWAITING REVIEW", "", "code", "approve"),
        ("APPROVED", "NOCODE", "code", ""),
        ("TIMED-OUT", "", "late", "approve"),
        ("RETURNED", "", "differs", "ask"),
        ("REJECTED", "DONE1", "differs", "ask"),
        ("ACTIVE", "", "differs", "ask"),
    ],
)
def test_part_that_is_done(study, done, status, code, finding, suggestion):
    assert findings(study, ("sub-1", "pid-1", status, code)) == [(finding, suggestion)]


def test_missing_own_code_is_no_code_difference(study, done):
    Campaign.objects.update(code_done="")
    study.refresh_from_db()
    assert findings(study, ("sub-1", "pid-1", "AWAITING REVIEW", "ANY")) == [("agree", "approve")]


@pytest.mark.parametrize(
    ("outcome", "status", "code", "finding", "suggestion"),
    [
        ("screened_out", "AWAITING REVIEW", "SCREEN1", "agree", "return"),
        ("screened_out", "SCREENED OUT", "SCREEN1", "agree", ""),
        ("screened_out", "AWAITING REVIEW", "DONE1", "code", "ask"),
        ("failed_check", "AWAITING REVIEW", "failed1", "agree", "return"),
        ("failed_check", "APPROVED", "DONE1", "code", ""),
        ("failed_check", "RETURNED", "", "agree", ""),
        ("returned", "RETURNED", "", "agree", ""),
        ("returned", "AWAITING REVIEW", "DONE1", "there", "return"),
        ("", "AWAITING REVIEW", "DONE1", "there", "return"),
        ("", "ACTIVE", "", "agree", ""),
        ("", "APPROVED", "DONE1", "there", ""),
    ],
)
def test_stay_without_a_part(study, outcome, status, code, finding, suggestion):
    participant_states.end(participant_states.arrive(study, "pid-2"), outcome)
    assert findings(study, ("sub-2", "pid-2", status, code)) == [(finding, suggestion)]


def test_part_that_is_half_done_is_asked_about(study):
    participant = participant_states.make_working(study, "pid-3", "sub-3")
    assert findings(study, ("sub-3", "pid-3", "AWAITING REVIEW", "DONE1")) == [("there", "return")]
    practice, first, _ = participant_states.open_assignments(participant)
    participant_states.submit_item(practice)
    assert findings(study, ("sub-3", "pid-3", "AWAITING REVIEW", "DONE1")) == [("there", "return")]
    participant_states.submit_item(first)
    assert findings(study, ("sub-3", "pid-3", "AWAITING REVIEW", "DONE1")) == [("there", "ask")]
    assert findings(study, ("sub-3", "pid-3", "TIMED-OUT", "")) == [("agree", "")]


def test_somebody_who_never_came(study):
    assert findings(study, ("sub-9", "pid-9", "AWAITING REVIEW", "DONE1")) == [("there", "return")]
    assert findings(study, ("sub-9", "pid-9", "RETURNED", "")) == [("agree", "")]


def test_finished_part_without_submission_is_listed(study, done):
    other_participant = participant_states.make_consented(study, "pid-4")
    participant_states.finish(other_participant, "sub-4")
    got = findings(study, ("sub-1", "pid-1", "APPROVED", "DONE1"))
    assert got == [("agree", ""), ("here", "ask")]
    assert findings(study) == [("here", "ask"), ("here", "ask")]


def test_parts_of_a_person_match_separate_submissions(study, done):
    participant_states.finish(done, "sub-1b")
    got = findings(
        study,
        ("sub-1", "pid-1", "APPROVED", "DONE1"),
        ("sub-1b", "pid-1", "AWAITING REVIEW", "DONE1"),
    )
    assert got == [("agree", ""), ("agree", "approve")]


def test_parts_of_another_study_on_prolific_are_only_counted(study, done):
    participant_states.finish(done, "sub-1b", study="st2")
    compared = reconcile(study, read(export(("sub-1", "pid-1", "APPROVED", "DONE1"))))
    assert [row.finding for row in compared.rows] == ["agree"]
    assert compared.elsewhere == 1


def test_part_without_an_id_is_found_by_its_person(study, done):
    Part.objects.update(session_id="", study_id="")
    assert findings(study, ("sub-1", "pid-1", "APPROVED", "DONE1")) == [("agree", "")]


def test_part_without_an_id_is_that_of_one_submission(study, done):
    Part.objects.update(session_id="", study_id="")
    study.pay_per_part = Decimal(2)
    study.save()
    raw = export(("sub-0", "pid-1", "RETURNED", ""), ("sub-1", "pid-1", "AWAITING REVIEW", "DONE1"))
    compared = reconcile(study, read(raw))
    assert [(row.finding, row.suggestion) for row in compared.rows] == [
        ("agree", ""),
        ("agree", "approve"),
    ]
    assert compared.payouts()[-1][2].pay == 2


def test_part_of_somebody_who_was_erased_is_counted_and_in_no_sum(cast, study, done):
    study.pay_per_part = Decimal(2)
    study.save()
    actions.erase(done, cast.admin, with_notes=False)
    compared = reconcile(study, read(export(("sub-1", "pid-1", "APPROVED", "DONE1"))))
    assert [row.finding for row in compared.rows] == ["there"]
    assert (compared.erased, compared.elsewhere, compared.payouts()) == (1, 0, [])


def test_people_who_came_by_other_ways_are_not_in_question(study, done):
    Participant.objects.update(source="link")
    assert findings(study) == []


def test_minutes_and_items_are_shown(study, done):
    [row] = reconcile(study, read(export(("sub-1", "pid-1", "APPROVED", "DONE1")))).rows
    assert row.cells() == [
        *(
            "sub-1",
            "pid-1",
            "APPROVED",
            "done",
            "DONE1",
            "DONE1",
            "2",
            "2",
            "0",
            "1",
            "1",
            "0",
            "0",
            "10.0",
        ),
        row.clock,
        *("4.50", "0.00", "4.50"),
        *("in both, consistent", "", ""),
    ]


def test_payout_is_computed_for_each_part_and_in_total(study, done):
    Campaign.objects.update(platform_fee="33.33")  # 1.50 of 4.50
    study.refresh_from_db()
    participant_states.finish(done, "sub-2")
    participant_states.end(participant_states.arrive(study, "pid-3"), "screened_out")
    participant_states.end(participant_states.arrive(study, "pid-4"), "failed_check")
    participant_states.make_working(study, "pid-5", "sub-5")
    raw = export(
        ("sub-1", "pid-1", "APPROVED", "DONE1"),
        ("sub-2", "pid-1", "AWAITING REVIEW", "DONE1"),
        ("sub-3", "pid-3", "SCREENED OUT", "SCREEN1"),
        ("sub-4", "pid-4", "RETURNED", ""),
        ("sub-5", "pid-5", "ACTIVE", ""),
        ("sub-6", "pid-6", "RETURNED", ""),
    )
    compared = reconcile(study, read(raw))
    none = ["0.00", "0.00", "0.00"]
    assert [row.amounts for row in compared.rows] == [
        *([["4.50", "1.50", "6.00"]] * 2),
        *([none] * 3),
        ["", "", ""],
    ]
    assert [
        (label, n, amount and str(amount.total)) for label, n, amount in compared.payouts()
    ] == [
        ("done", 1, "6.00"),
        ("done, already paid on Prolific", 1, "6.00"),
        ("failed the check", 1, "0.00"),
        ("screened out", 1, "0.00"),
        ("under way", 1, "0.00"),
        ("unknown on this site", 1, None),
        ("all", 6, "12.00"),
    ]
    Campaign.objects.update(pay_per_part=None)
    compared = reconcile(Campaign.objects.get(), read(raw))
    assert compared.payouts() == []
    assert {tuple(row.amounts) for row in compared.rows} == {("", "", "")}


def test_review_rules_come_before_approval(study, done, cast):
    sent = read(export(("sub-1", "pid-1", "AWAITING REVIEW", "DONE1")))

    def suggested() -> tuple[str, str]:
        [row] = reconcile(Campaign.objects.get(), sent).rows
        return row.suggestion, row.reason

    assert suggested() == ("approve", "")
    Campaign.objects.update(minutes_per_part=200)
    assert suggested() == ("review", "10.0 active minutes, of 200 stated.")
    Campaign.objects.update(minutes_per_part=4)  # in 5 minutes or more, one check is not enough
    checked = Assignment.objects.get(participant=done, check_asked__isnull=False)
    saving.save_answer(checked, checked.check_asked, key=uuid4(), grade=1, spans=[])
    assert suggested() == ("review", "0 of 1 attention check passed.")
    Campaign.objects.update(minutes_per_part=5)
    assert suggested() == ("approve", "")
    actions.exclude_work(done, cast.admin)
    assert suggested() == ("review", "The work was excluded.")
    # What is paid already, or not there, is not looked at again.
    assert findings(study, ("sub-1", "pid-1", "APPROVED", "DONE1")) == [("agree", "")]


@pytest.mark.parametrize(
    ("wrong", "gold", "suggestion"),
    [(0, (4, 4), "approve"), (1, (3, 4), "approve"), (2, (2, 4), "review")],
)
def test_low_gold_share_is_flagged_for_review(db, wrong, gold, suggestion):
    study = make_study(
        texts=4, training=3, n_training=1, n_gold=2, items_per_part=None, minutes_per_part=None
    )
    participant = participant_states.make_consented(study, "pid-1")
    assigning.begin_part(participant, study_id="st1", session_id="sub-1")
    n_wrong = wrong
    for assignment in participant_states.open_assignments(participant):
        participant_states.submit_item(assignment)
        if assignment.item.purpose != "gold":
            continue
        for item_question in assignment.item.asked.all():
            right = item_question.expected
            grade = 1 - right if n_wrong else right
            n_wrong -= grade != right
            spans = [participant_states.FIRST_WORDS] if grade else []
            saving.save_answer(
                assignment, item_question.question, key=uuid4(), grade=grade, spans=spans
            )
    [row] = reconcile(study, read(export(("sub-1", "pid-1", "AWAITING REVIEW", "DONE1")))).rows
    assert (row.part.gold, row.suggestion) == (gold, suggestion)


def test_ids_are_listed_by_what_is_suggested(study, done):
    raw = export(
        ("sub-1", "pid-1", "AWAITING REVIEW", "DONE1"),
        ("sub-8", "pid-8", "AWAITING REVIEW", "DONE1"),
        ("sub-9", "pid-9", "AWAITING REVIEW", "DONE1"),
    )
    compared = reconcile(study, read(raw))
    assert compared.lists() == [("approve", 1, "sub-1"), ("return", 2, "sub-8\nsub-9")]


def test_prolific_statuses_are_known_and_a_new_one_has_its_own_row(study, done):
    for status in KNOWN_STATUSES:
        [(finding, _)] = findings(study, ("sub-1", "pid-1", status, "DONE1"))
        assert finding != "unknown", status
    assert findings(study, ("sub-1", "pid-1", "PAUSED-FOR-REVIEW", "DONE1")) == [
        ("unknown", "review")
    ]
