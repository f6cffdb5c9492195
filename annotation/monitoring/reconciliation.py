"""Reconciliation: a campaign beside Prolific's own list of its submissions: where both agree, and where not.

Nothing is changed here and nothing is kept: staff decide, on Prolific. A submission there is a
part here.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, Q, Sum

from annotation.formats.prolific import Submission
from annotation.formats.writing import safe
from annotation.models import Assignment, Campaign, Part, Participant
from annotation.participation.earnings import MINUTE_MS
from annotation.participation.skips import Skips, by_part

OUT = (
    "Submission id",
    "Participant id",
    "Status there",
    "Outcome here",
    "Code there",
    "Code here",
    "Items handed in",
    "Items skipped",
    "Active minutes",
    "Finding",
    "Suggestion",
)
WAITING, TIMED_OUT = "AWAITING REVIEW", "TIMED OUT"
PAID = ("APPROVED", "PARTIALLY APPROVED", "SCREENED OUT")
GONE = ("RETURNED", "REJECTED")
FINDINGS = {
    "agree": "in both, and agreeing",
    "code": "another code",
    "late": "timed out there, done here",
    "here": "done here, not there",
    "there": "there, not done here",
    "differs": "another outcome",
    "unknown": "a status that is unknown here",
}


@dataclass
class OurPart:
    """What we have of a submission: a part, or a stay that ended before one was begun."""

    person: str
    session: str
    study: str
    outcome: str
    code: str
    participant: int
    submitted: int = 0
    skips: Skips | None = None
    active_ms: int = 0
    has_begun: bool = True

    @property
    def is_done(self) -> bool:
        return self.outcome == Part.Outcome.DONE

    @property
    def label(self) -> str:
        if not self.outcome and not self.has_begun:
            return "not begun"
        return {**dict(Participant.Outcome.choices), **dict(Part.Outcome.choices)}[self.outcome]


@dataclass(frozen=True)
class Row:
    """One submission, there and here; either may be missing."""

    finding: str
    suggestion: str
    why: str
    there: Submission | None = None
    here: OurPart | None = None

    @property
    def label(self) -> str:
        return FINDINGS[self.finding]

    @property
    def pk(self) -> str:
        return self.there.pk if self.there else self.here.session if self.here else ""

    @property
    def person(self) -> str:
        return self.there.person if self.there else self.here.person if self.here else ""

    @property
    def minutes(self) -> str:
        return f"{self.here.active_ms / MINUTE_MS:.1f}" if self.here and self.here.active_ms else ""

    @property
    def skipped(self) -> str:
        return str(self.here.skips.used) if self.here and self.here.skips else ""

    def cells(self) -> list[str]:
        there, here = self.there, self.here
        return [
            self.pk,
            self.person,
            there.status if there else "",
            here.label if here else "",
            there.code if there else "",
            here.code if here else "",
            str(here.submitted) if here else "",
            self.skipped,
            self.minutes,
            self.label,
            self.suggestion,
        ]


@dataclass(frozen=True)
class Reconciled:
    """All rows, and how many parts belong to studies of Prolific that the file is not about."""

    rows: list[Row]
    elsewhere: int

    def counts(self) -> list[tuple[str, str, int]]:
        counts = Counter(row.finding for row in self.rows)
        return [(key, label, counts[key]) for key, label in FINDINGS.items()]


def reconcile(campaign: Campaign, submissions: list[Submission]) -> Reconciled:
    """Every submission beside its part, and the parts that are done and have no submission.

    A submission is found by its own id, else by its person, where that person has one part of
    which no id is known, or none at all. Parts of a study of Prolific that no submission of this
    file belongs to are only counted: an export is of one study.
    """
    parts, ended = _parts(campaign), _ended(campaign)
    by_session = {part.session: part for part in parts if part.session}
    nameless: dict[str, list[OurPart]] = {}
    for part in parts:
        if not part.session:
            nameless.setdefault(part.person, []).append(part)
    rows, met, studies = [], set(), set()
    for there in submissions:
        here = by_session.get(there.pk)
        if here is None and len(nameless.get(there.person, [])) == 1:
            [here] = nameless[there.person]
        if here:
            met.add(id(here))
            studies.add(here.study)
        rows.append(_row(there, here or ended.get(there.person)))
    done = [part for part in parts if part.is_done and id(part) not in met]
    ours = [part for part in done if not studies or part.study in studies or not part.study]
    rows += [
        Row("here", "ask", "Prolific's list does not name it: ask for the submission.", here=part)
        for part in ours
    ]
    return Reconciled(rows, len(done) - len(ours))


def _parts(campaign: Campaign) -> list[OurPart]:
    """The parts of people who came from Prolific."""
    parts = Part.objects.filter(
        participant__campaign=campaign, participant__source=Participant.Source.PROLIFIC
    ).select_related("participant")
    handed_in = Count("pk", filter=Q(state=Assignment.State.SUBMITTED))
    assignments = Assignment.objects.filter(part__in=parts).order_by().values_list("part")
    submitted = {
        pk: (n, ms) for pk, n, ms in assignments.annotate(n=handed_in, ms=Sum("active_ms"))
    }
    answered = dict(assignments.annotate(Sum("answers__active_ms")))
    skips = by_part(campaign, Assignment.objects.filter(part__in=parts))
    our_parts = []
    for part in parts:
        n, ms = submitted.get(part.pk, (0, 0))
        our_parts.append(
            OurPart(
                part.participant.external_id,
                part.session_id,
                part.study_id,
                part.outcome,
                campaign.code_done if part.outcome == Part.Outcome.DONE else "",
                part.participant_id,
                n,
                skips.get(part.pk),
                ms + (answered.get(part.pk) or 0),
            )
        )
    return our_parts


def _ended(campaign: Campaign) -> dict[str, OurPart]:
    """By person: the stays that ended, or have not come to a part yet."""
    codes = {
        Participant.Outcome.SCREENED_OUT: campaign.code_screened_out,
        Participant.Outcome.FAILED_CHECK: campaign.code_failed_check,
    }
    participants = campaign.participants.filter(source=Participant.Source.PROLIFIC)
    return {
        participant.external_id: OurPart(
            participant.external_id,
            "",
            "",
            participant.outcome,
            codes.get(Participant.Outcome(participant.outcome), ""),
            participant.pk,
            has_begun=False,
        )
        for participant in participants.filter(
            Q(parts=None) | ~Q(outcome__in=["", "done"])
        ).distinct()
        if participant.external_id
    }


def _row(there: Submission, here: OurPart | None) -> Row:
    """What to make of a submission."""
    status, outcome = there.status, here.outcome if here else ""
    is_over = outcome in (Participant.Outcome.SCREENED_OUT, Participant.Outcome.FAILED_CHECK)

    def row(finding: str, suggestion: str, why: str) -> Row:
        return Row(finding, suggestion, why, there, here)

    if not there.has_known_status:
        return row("unknown", "look", "Prolific has a new word for it; nothing is made of it here.")
    if here and here.is_done:
        if status == WAITING and here.skips and here.skips.are_too_many:
            many = f"{here.skips.used} of {here.skips.texts} texts were skipped"
            return row("agree", "ask", f"{many}; the study allows {here.skips.limit}.")
        if status == TIMED_OUT:
            return row(
                "late", "approve", "The work is here, and it took longer than Prolific allows."
            )
        if status in GONE:
            return row("differs", "ask", "The work is here, and there is no pay for it there.")
        if status in ("ACTIVE", "RESERVED"):
            return row("differs", "ask", "The work is here, and the code was not taken back yet.")
        if here.code and there.code != here.code:
            if status == WAITING:
                return row("code", "approve", "The work is here: a lost code is no fault of it.")
            return row("code", "", "It is reviewed already.")
        return row("agree", "approve" if status == WAITING else "", "")
    if is_over and here:
        if status in (WAITING, "APPROVED") and there.code != here.code:
            return row("code", "ask" if status == WAITING else "", f"Here it is {here.label}.")
        return row("agree", "return" if status == WAITING else "", "")
    if status == WAITING and here and here.submitted:
        return row("there", "ask", f"{here.submitted} handed in, and the part is {here.label}.")
    if status == WAITING:
        return row("there", "return", "Nothing was handed in here.")
    if status in PAID:
        return row("there", "", "It is paid already.")
    return row("agree", "", "")


def csv_lines(compared: Reconciled) -> Iterator[str]:
    """The comparison as a CSV; no cell of it is a formula."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    for cells in (list(OUT), *(row.cells() for row in compared.rows)):
        writer.writerow([safe(cell) for cell in cells])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
