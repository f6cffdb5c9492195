"""Planned against actual figures of a running study, computed by hand."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from annotation.models import Answer, Campaign, Part, Participant
from annotation.monitoring import plan_comparison, progress
from annotation.monitoring.plan_comparison import arrivals
from tests.toolbox import participant_states
from tests.toolbox.prolific_study import make_study
from tests.toolbox.responses import markup

HOME = "/campaigns/crowd/"


@pytest.fixture
def study(db) -> Campaign:
    """12 texts for 2 raters each, in parts of 2: 24 slots, 12 parts."""
    study = make_study(texts=12, platform_fee=Decimal("33.33"), workers_a_day=4)
    study.refresh_from_db()
    return study


@pytest.fixture
def people(study):
    """Three parts done and three arrivals under way; five left.

    Of these one ran out, one is overdue, and three ended.
    """
    return participant_states.fill(study)


def lines(study) -> dict[str, plan_comparison.Line]:
    total, *_ = progress.items(study)
    amount_due = progress.total_due(progress.pay_due(study))
    return {
        line.label: line
        for line in plan_comparison.compare_with_plan(study, total.submitted, amount_due)
    }


def test_arrivals_are_done_left_or_under_way(study, people):
    counts = arrivals(study)
    assert (counts.done, counts.n_left, counts.under_way, counts.n) == (3, 5, 3, 11)
    # After the time of a part nobody is under way any more; Maria was invited, and never came.
    counts = arrivals(study, timezone.now() + timedelta(hours=21))
    assert (counts.done, counts.n_left, counts.under_way) == (3, 8, 0)
    Campaign.objects.update(lease_hours=None)
    study.refresh_from_db()
    counts = arrivals(study, timezone.now() + timedelta(hours=21))
    assert (counts.done, counts.n_left, counts.under_way) == (3, 6, 2)  # parts have ends still


def test_somebody_who_was_invited_comes_with_the_first_act(study):
    invited = Participant.objects.create(
        campaign=study, rater=study.gold_source, source=Participant.Source.ACCOUNT
    )
    assert arrivals(study).n == 0
    for tries, consented in ((1, None), (0, timezone.now())):
        Participant.objects.filter(pk=invited.pk).update(check_tries=tries, consented_at=consented)
        assert arrivals(study).under_way == 1


def test_too_few_arrivals_say_so_and_give_no_rate(cast, study, people):
    table = lines(study)
    reason = "only 8 arrivals have ended; at least 10 are needed"
    for figure in (
        table["Arrivals without a finished part, in %"].so_far,
        table["Arrivals"].remaining,
        table["Days"].remaining,
    ):
        assert (figure.value, figure.how) == (None, reason)
    assert table["Minutes"].remaining.how == "only 3 parts are done; at least 5 are needed"
    assert table["Arrivals without a finished part, in %"].planned.how == "not stated"
    page = markup(cast.client("researcher").get(HOME))
    assert "Plan and progress" in page
    assert f"undefined, because {reason}" in page


def test_planned_so_far_and_still_to_come(study, people, monkeypatch):
    monkeypatch.setattr(plan_comparison, "ENOUGH_ARRIVALS", 8)
    monkeypatch.setattr(plan_comparison, "ENOUGH", 3)
    Campaign.objects.update(drop_out_percent=25, lease_hours=None)  # nobody came too long ago
    study.refresh_from_db()
    first, next_day = datetime(2026, 3, 2, 9, tzinfo=UTC), datetime(2026, 3, 3, 9, tzinfo=UTC)
    Participant.objects.update(joined=first, consented_at=None, checked_at=None)
    Part.objects.update(began=first)
    Part.objects.filter(participant=people["working"]).update(began=next_day)
    for part, minutes in zip(Part.objects.filter(outcome="done"), (10, 60, 20), strict=True):
        answers = Answer.objects.filter(assignment__part=part).order_by("pk")
        answers.update(created=first)
        part.assignments.update(opened_at=first, submitted_at=first)
        Answer.objects.filter(pk=answers.last().pk).update(
            created=first + timedelta(minutes=minutes)
        )
    expected = {
        # 6 slots of 24 are submitted: 18 are left, in 9 parts of 2.
        "Assignments": ("24", "6", "18"),
        "Parts": ("12", "3", "9"),
        # 12 ÷ 0.75; 9 × 8 ÷ 3
        "Arrivals": ("16", "11", "24"),
        # 5 of 8 that ended
        "Arrivals without a finished part, in %": ("25", "62.5", ""),
        # 12 × 30, and 6 people × 1 practice text × 15; 10 + 60 + 20; 9 × 20, the median
        "Minutes": ("450", "90.0", "180.0"),
        # at 4.50, and 1.50
        "Pay (GBP)": ("54.00", "13.50", "40.50"),
        "Fee (GBP)": ("18.00", "4.50", "13.50"),
        "Pay and fee (GBP)": ("72.00", "18.00", "54.00"),
        # 16 ÷ 4; 24 at 11 in two days
        "Days": ("4", "2", "5"),
    }
    table = lines(study)
    assert {
        label: (line.planned.text, line.so_far.text, line.remaining.text)
        for label, line in table.items()
    } == expected
    assert table["Arrivals"].remaining.how == "at the rate of 3 finished parts of 8"
    assert table["Days"].remaining.how == "at 5.5 arrivals a day, of 11"
    Campaign.objects.update(state="closed", pay_per_part=None)
    study.refresh_from_db()
    table = lines(study)
    assert {line.remaining.how for line in table.values()} == {"the study is closed"}
    assert table["Pay (GBP)"].so_far.how == "no pay is stated"


def test_estimate_without_finished_or_remaining_parts(study, monkeypatch):
    monkeypatch.setattr(plan_comparison, "ENOUGH_ARRIVALS", 1)
    participant_states.end(participant_states.arrive(study, "pid-1"), "screened_out")
    assert lines(study)["Arrivals"].remaining.how == "none of 1 ended arrivals finished a part"
    monkeypatch.setattr(progress, "items", lambda _: [progress.ItemsOf("", submitted=24)])
    for label in ("Assignments", "Parts", "Arrivals", "Minutes", "Days"):
        assert lines(study)[label].remaining.value == 0


def test_draft_and_a_study_without_texts_have_no_table(cast, study):
    Campaign.objects.update(state="draft")
    assert "Plan and progress" not in cast.client("admin").get(HOME).content.decode()
    study.items.all().delete()
    assert lines(study) == {}
