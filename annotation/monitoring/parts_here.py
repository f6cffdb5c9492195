"""What is known here of each part, for the comparison with a platform's list, and what calls for a look.

A participation that ended before a part was begun counts as one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Q, QuerySet

from annotation.models import Answer, Assignment, Campaign, Item, ItemQuestion, Part, Participant
from annotation.participation import active_time
from annotation.participation.due import Amount, for_outcome
from annotation.participation.earnings import MINUTE_MS, clock
from annotation.participation.skips import Skips, by_part
from annotation.plurals import n_of


def rules(campaign: Campaign) -> list[str]:
    """What of a part calls for a look before it is approved, in words, with the campaign's numbers."""
    skipped, missed = campaign.look_skipped_percent, campaign.look_checks_missed
    gold, n_gold = campaign.look_gold_percent, campaign.look_gold_answers
    return [
        "more texts skipped than the study allows"
        if skipped is None
        else f"more than {skipped}% of the texts skipped",
        f"more than {n_of(missed, 'attention check')} answered otherwise than asked"
        if missed
        else "an attention check answered otherwise than it asks",
        f"under {gold}% of {n_gold} gold answers or more right",
        f"under {campaign.look_active_percent}% of the stated minutes active",
        "work that was set aside",
    ]


@dataclass
class OurPart:
    """What we have of a submission: a part, or a participation that ended before one was begun."""

    person: str
    session: str
    study: str
    outcome: str
    code: str
    participant: int
    submitted: int = 0
    assigned: int = 0
    skips: Skips | None = None
    checks: tuple[int, int] = (0, 0)
    """How many attention checks were answered as they ask, and how many were answered."""
    gold: tuple[int, int] = (0, 0)
    """How many gold answers are on the right side of eta, and how many there are."""
    active_ms: int = 0
    clock: timedelta | None = None
    """From the first look at a text to the last sign of work, by the server."""
    is_set_aside: bool = False
    has_begun: bool = True
    due: Amount | None = None
    """What is due for it; None where no pay is stated."""

    @property
    def is_done(self) -> bool:
        return self.outcome == Part.Outcome.DONE

    @property
    def label(self) -> str:
        if not self.outcome and not self.has_begun:
            return "not begun"
        return {**dict(Participant.Outcome.choices), **dict(Part.Outcome.choices)}[self.outcome]

    def looks(self, campaign: Campaign) -> Iterator[str]:
        """What of the part calls for a look before it is approved, by the campaign's rules."""
        yield from self._skipped_too_many(campaign.look_skipped_percent)
        passed, asked = self.checks
        if asked - passed > campaign.look_checks_missed:
            yield f"{passed} of {n_of(asked, 'attention check')} passed."
        right, n = self.gold
        if n >= campaign.look_gold_answers and 100 * right < campaign.look_gold_percent * n:
            yield f"{right} of {n} gold answers right."
        active, stated = self.active_ms / MINUTE_MS, campaign.minutes_per_part
        if stated and 100 * active < campaign.look_active_percent * stated:
            yield f"{active:.1f} active minutes, of {stated} stated."
        if self.is_set_aside:
            yield "The work was set aside."

    def _skipped_too_many(self, percent: int | None) -> Iterator[str]:
        if not self.skips:
            return
        many = f"{self.skips.used} of {self.skips.texts} texts were skipped"
        if percent is None and self.skips.are_too_many:
            yield f"{many}; the study allows {self.skips.limit}."
        if percent is not None and 100 * self.skips.used > percent * self.skips.texts:
            yield f"{many}, more than {percent}%."


def parts_here(campaign: Campaign) -> list[OurPart]:
    """The parts of people who came from Prolific."""
    parts = Part.objects.filter(
        participant__campaign=campaign, participant__source=Participant.Source.PROLIFIC
    ).select_related("participant")
    assignments = Assignment.objects.filter(part__in=parts).order_by()
    by_state = {
        pk: (submitted, assigned)
        for pk, submitted, assigned in assignments.values_list("part").annotate(
            n=Count("pk", filter=Q(state=Assignment.State.SUBMITTED)),
            assigned=Count("pk", filter=~Q(state=Assignment.State.RELEASED, was_skipped=False)),
        )
    }
    answers = Answer.objects.filter(assignment__part__in=parts).order_by()
    active_ms = active_time.by_part(parts)
    clocks = clock(parts)
    skips = by_part(campaign, Assignment.objects.filter(part__in=parts))
    checks, gold_right = _checks(answers), _gold(campaign, answers)
    our_parts = []
    for part in parts:
        submitted, assigned = by_state.get(part.pk, (0, 0))
        our_parts.append(
            OurPart(
                person=part.participant.external_id,
                session=part.session_id,
                study=part.study_id,
                outcome=part.outcome,
                code=campaign.code_done if part.outcome == Part.Outcome.DONE else "",
                participant=part.participant_id,
                submitted=submitted,
                assigned=assigned,
                skips=skips.get(part.pk),
                checks=checks.get(part.pk, (0, 0)),
                gold=gold_right.get(part.pk, (0, 0)),
                active_ms=active_ms.get(part.pk, 0),
                clock=clocks.get(part.pk),
                is_set_aside=part.participant.set_aside_at is not None,
                due=for_outcome(campaign, Participant.Source.PROLIFIC, part.outcome),
            )
        )
    return our_parts


def _checks(answers: QuerySet[Answer]) -> dict[int, tuple[int, int]]:
    """Of each part: how many attention checks the newest answers pass, and how many were answered."""
    newest: dict[int, tuple[int, bool]] = {
        assignment: (part, grade == expected)
        for assignment, part, grade, expected in answers.filter(check_asked__isnull=False)
        .order_by("pk")
        .values_list("assignment", "assignment__part", "grade", "check_asked__expected")
        if part
    }
    return _tally(newest.values())


def _gold(campaign: Campaign, answers: QuerySet[Answer]) -> dict[int, tuple[int, int]]:
    """Of each part: how many newest answers to hidden gold say what was expected, and all."""
    rubric = campaign.rubric
    known = ItemQuestion.objects.filter(
        item__campaign=campaign, item__purpose=Item.Purpose.GOLD, expected__isnull=False
    )
    expected = {
        (item, question): grade
        for item, question, grade in known.values_list("item", "question", "expected")
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
        wanted = expected.get((item, question or 0))
        if wanted is not None and part:
            is_right = grade is not None and rubric.reads_alike(grade, wanted)
            newest[assignment, question] = part, is_right
    return _tally(newest.values())


def _tally(outcomes: Iterable[tuple[int, bool]]) -> dict[int, tuple[int, int]]:
    right: Counter[int] = Counter()
    every: Counter[int] = Counter()
    for part, is_right in outcomes:
        right[part] += is_right
        every[part] += 1
    return {part: (right[part], n) for part, n in every.items()}


def ended_without_part(campaign: Campaign) -> dict[str, OurPart]:
    """By person: the participations that ended, or have not come to a part yet."""
    codes = {
        Participant.Outcome.SCREENED_OUT: campaign.code_screened_out,
        Participant.Outcome.FAILED_CHECK: campaign.code_failed_check,
    }
    participants = campaign.participants.filter(source=Participant.Source.PROLIFIC)
    return {
        participant.external_id: OurPart(
            person=participant.external_id,
            session="",
            study="",
            outcome=participant.outcome,
            code=codes.get(Participant.Outcome(participant.outcome), ""),
            participant=participant.pk,
            has_begun=False,
            due=for_outcome(campaign, Participant.Source.PROLIFIC, participant.outcome),
        )
        for participant in participants.filter(
            Q(parts=None) | ~Q(outcome__in=["", "done"])
        ).distinct()
        if participant.external_id
    }
