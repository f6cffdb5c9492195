"""Our record of each part for the reconciliation with a platform, and the review rules.

A participation that ended before a part was begun counts as one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Q, QuerySet

from annotation.models import Answer, Assignment, Campaign, Item, ItemQuestion, Part, Participant
from annotation.participation import active_time
from annotation.participation.attention_checks import min_failed_checks
from annotation.participation.pay_rate import MINUTE_MS, part_durations
from annotation.participation.payout import Amount, outcome_payout
from annotation.participation.skips import Skips, skips_by_part
from annotation.plurals import n_of


def review_rules(campaign: Campaign) -> list[str]:
    """Return the rules by which a part is flagged for review, with the campaign's numbers."""
    skipped, n_failed = campaign.look_skipped_percent, failed_checks_for_review(campaign)
    gold, n_gold = campaign.look_gold_percent, campaign.look_gold_answers
    return [
        "more texts skipped than the study allows"
        if skipped is None
        else f"more than {skipped}% of the texts skipped",
        "a failed attention check"
        if n_failed == 1
        else f"{n_failed} or more failed attention checks",
        f"under {gold}% of {n_gold} gold answers or more right",
        f"under {campaign.look_active_percent}% of the stated minutes active",
        "excluded work",
    ]


def failed_checks_for_review(campaign: Campaign) -> int:
    """Return the failed attention checks of a part from which on it is flagged for review.

    The campaign's number, but never fewer than Prolific lets count.
    """
    return max(campaign.look_checks_missed + 1, min_failed_checks(campaign.minutes_per_part))


@dataclass
class PartRecord:
    """Our record of a submission: a part, or a participation that ended before one.

    Practice is counted in the times alone.
    """

    person: str
    session: str
    study: str
    outcome: str
    code: str
    participant: int
    part: int | None = None
    """Key of the part; None for a participation without one."""
    submitted: int = 0
    assigned: int = 0
    skips: Skips | None = None
    checks: tuple[int, int] = (0, 0)
    """Attention checks passed, and attention checks answered."""
    gold: tuple[int, int] = (0, 0)
    """Gold answers on the right side of eta, and all gold answers."""
    active_ms: int = 0
    clock: timedelta | None = None
    """Server-side duration, from the first opening of a text to the last event."""
    is_set_aside: bool = False
    has_begun: bool = True
    payout: Amount | None = None
    """Payout; None where no pay is stated."""

    @property
    def is_done(self) -> bool:
        return self.outcome == Part.Outcome.DONE

    @property
    def label(self) -> str:
        if not self.outcome and not self.has_begun:
            return "not begun"
        return {**dict(Participant.Outcome.choices), **dict(Part.Outcome.choices)}[self.outcome]

    def review_reasons(self, campaign: Campaign) -> Iterator[str]:
        """Yield the reasons to review the part before approval, by the campaign's rules."""
        yield from self._skipped_too_many(campaign.look_skipped_percent)
        n_passed, n_asked = self.checks
        if n_asked - n_passed >= failed_checks_for_review(campaign):
            yield f"{n_passed} of {n_of(n_asked, 'attention check')} passed."
        right, n = self.gold
        if n >= campaign.look_gold_answers and 100 * right < campaign.look_gold_percent * n:
            yield f"{right} of {n} gold answers right."
        active_minutes, stated_minutes = self.active_ms / MINUTE_MS, campaign.minutes_per_part
        if stated_minutes and 100 * active_minutes < campaign.look_active_percent * stated_minutes:
            yield f"{active_minutes:.1f} active minutes, of {stated_minutes} stated."
        if self.is_set_aside:
            yield "The work was excluded."

    def _skipped_too_many(self, percent: int | None) -> Iterator[str]:
        if not self.skips:
            return
        skipped = f"{self.skips.used} of {self.skips.texts} texts were skipped"
        if percent is None and self.skips.are_too_many:
            yield f"{skipped}; the study allows {self.skips.limit}."
        if percent is not None and 100 * self.skips.used > percent * self.skips.texts:
            yield f"{skipped}, more than {percent}%."


def list_part_records(campaign: Campaign) -> list[PartRecord]:
    """Return the parts of people who came from Prolific."""
    parts = Part.objects.filter(
        participant__campaign=campaign, participant__source=Participant.Source.PROLIFIC
    ).select_related("participant")
    assignments = Assignment.objects.filter(part__in=parts).order_by()
    work = assignments.exclude(item__purpose=Item.Purpose.TRAINING)
    by_state = {
        pk: (submitted, assigned)
        for pk, submitted, assigned in work.values_list("part").annotate(
            n=Count("pk", filter=Q(state=Assignment.State.SUBMITTED)),
            assigned=Count("pk", filter=~Q(state=Assignment.State.RELEASED, was_skipped=False)),
        )
    }
    answers = Answer.objects.filter(assignment__part__in=parts).order_by()
    active_ms = active_time.by_part(parts)
    clocks = part_durations(parts)
    skips = skips_by_part(campaign, Assignment.objects.filter(part__in=parts))
    checks, gold_right = _checks(answers), _gold(campaign, answers)
    our_parts = []
    for part in parts:
        submitted, assigned = by_state.get(part.pk, (0, 0))
        our_parts.append(
            PartRecord(
                person=part.participant.external_id,
                session=part.session_id,
                study=part.study_id,
                outcome=part.outcome,
                code=campaign.code_done if part.outcome == Part.Outcome.DONE else "",
                participant=part.participant_id,
                part=part.pk,
                submitted=submitted,
                assigned=assigned,
                skips=skips.get(part.pk),
                checks=checks.get(part.pk, (0, 0)),
                gold=gold_right.get(part.pk, (0, 0)),
                active_ms=active_ms.get(part.pk, 0),
                clock=clocks.get(part.pk),
                is_set_aside=part.participant.set_aside_at is not None,
                payout=outcome_payout(campaign, Participant.Source.PROLIFIC, part.outcome),
            )
        )
    return our_parts


def _checks(answers: QuerySet[Answer]) -> dict[int, tuple[int, int]]:
    """Return the passed and answered attention checks of each part, by the newest answers."""
    newest: dict[int, tuple[int, bool]] = {
        assignment: (part, grade == expected)
        for assignment, part, grade, expected in answers.filter(check_asked__isnull=False)
        .order_by("pk")
        .values_list("assignment", "assignment__part", "grade", "check_asked__expected")
        if part
    }
    return _tally(newest.values())


def _gold(campaign: Campaign, answers: QuerySet[Answer]) -> dict[int, tuple[int, int]]:
    """Return the right and all newest answers to hidden gold of each part."""
    rubric = campaign.rubric
    labelled = ItemQuestion.objects.filter(
        item__campaign=campaign, item__purpose=Item.Purpose.GOLD, expected__isnull=False
    )
    expected = {
        (item, question): grade
        for item, question, grade in labelled.values_list("item", "question", "expected")
        if grade is not None
    }
    # Under the campaign's own rubric alone: that is what gold is drawn for.
    of_gold = answers.filter(
        assignment__item__purpose=Item.Purpose.GOLD, question__isnull=False, rubric=None
    )
    newest: dict[tuple[int, int | None], tuple[int, bool]] = {}
    for assignment, item, question, part, grade in of_gold.order_by("pk").values_list(
        "assignment", "assignment__item", "question", "assignment__part", "grade"
    ):
        gold_grade = expected.get((item, question or 0))
        if gold_grade is not None and part:
            is_right = grade is not None and rubric.agrees(grade, gold_grade)
            newest[assignment, question] = part, is_right
    return _tally(newest.values())


def _tally(outcomes: Iterable[tuple[int, bool]]) -> dict[int, tuple[int, int]]:
    right: Counter[int] = Counter()
    total: Counter[int] = Counter()
    for part, is_right in outcomes:
        right[part] += is_right
        total[part] += 1
    return {part: (right[part], n) for part, n in total.items()}


def ended_without_part(campaign: Campaign) -> dict[str, PartRecord]:
    """Return the participations without a part, or ended, by person."""
    codes = {
        Participant.Outcome.SCREENED_OUT: campaign.code_screened_out,
        Participant.Outcome.FAILED_CHECK: campaign.code_failed_check,
    }
    participants = campaign.participants.filter(source=Participant.Source.PROLIFIC)
    return {
        participant.external_id: PartRecord(
            person=participant.external_id,
            session="",
            study="",
            outcome=participant.outcome,
            code=codes.get(Participant.Outcome(participant.outcome), ""),
            participant=participant.pk,
            has_begun=False,
            payout=outcome_payout(campaign, Participant.Source.PROLIFIC, participant.outcome),
        )
        for participant in participants.filter(
            Q(parts=None) | ~Q(outcome__in=["", "done"])
        ).distinct()
        if participant.external_id
    }
