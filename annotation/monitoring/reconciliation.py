"""Reconciliation: a campaign beside Prolific's own list of its submissions: where both agree, and where not.

Nothing is changed here and nothing is kept: staff decide, on Prolific. A submission there is a
part here.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from annotation.formats.prolific import Submission
from annotation.formats.writing import safe
from annotation.models import Campaign, Participant
from annotation.monitoring.parts_here import OurPart, ended_without_part, parts_here
from annotation.participation.due import NOTHING, Amount
from annotation.participation.earnings import MINUTE_MS

MINUTE = timedelta(minutes=1)
OUT = (
    "Submission id",
    "Participant id",
    "Status there",
    "Outcome here",
    "Code there",
    "Code here",
    "Items handed in",
    "Items assigned",
    "Items skipped",
    "Checks passed",
    "Checks answered",
    "Gold right",
    "Gold answered",
    "Active minutes",
    "Minutes by the clock",
    "Pay due",
    "Platform's fee",
    "Pay and fee",
    "Finding",
    "Suggestion",
)
WAITING, TIMED_OUT = "AWAITING REVIEW", "TIMED OUT"
PAID = ("APPROVED", "PARTIALLY APPROVED", "SCREENED OUT")
GONE = ("RETURNED", "REJECTED")
SUGGESTIONS = ("approve", "look", "ask", "return")
FINDINGS = {
    "agree": "in both, and agreeing",
    "code": "another code",
    "late": "timed out there, done here",
    "here": "done here, not there",
    "there": "there, not done here",
    "differs": "another outcome",
    "unknown": "a status that is unknown here",
}


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
    def clock(self) -> str:
        return f"{self.here.clock / MINUTE:.1f}" if self.here and self.here.clock else ""

    @property
    def skipped(self) -> str:
        return str(self.here.skips.used) if self.here and self.here.skips else ""

    @property
    def numbers(self) -> list[str]:
        """Items handed in, assigned and skipped; checks passed and answered; gold right and answered."""
        if not self.here:
            return [""] * 7
        counts = (*self.here.checks, *self.here.gold)
        return [
            *(str(self.here.submitted), str(self.here.assigned), self.skipped),
            *(str(count) for count in counts),
        ]

    @property
    def amounts(self) -> list[str]:
        """Pay due, the platform's fee, and both; empty where nothing is known here or no pay is stated."""
        due = self.here.due if self.here else None
        return [f"{amount:.2f}" for amount in (due.pay, due.fee, due.total)] if due else [""] * 3

    @property
    def outcome(self) -> str:
        """How it ended here, and whether it is paid there."""
        if not self.here:
            return "not known here"
        is_paid = self.here.is_done and self.there and self.there.status in PAID
        return f"{self.here.label}, paid there already" if is_paid else self.here.label

    def cells(self) -> list[str]:
        there, here = self.there, self.here
        return [
            self.pk,
            self.person,
            there.status if there else "",
            here.label if here else "",
            there.code if there else "",
            here.code if here else "",
            *self.numbers,
            self.minutes,
            self.clock,
            *self.amounts,
            self.label,
            self.suggestion,
        ]


@dataclass(frozen=True)
class Reconciled:
    """All rows, and how many parts that are done are not in them.

    elsewhere: of studies of Prolific that the file is not about; erased: of people whose personal data was
    deleted, and with it what their submissions are called.
    """

    rows: list[Row]
    elsewhere: int
    erased: int

    def counts(self) -> list[tuple[str, str, int]]:
        counts = Counter(row.finding for row in self.rows)
        return [(key, label, counts[key]) for key, label in FINDINGS.items()]

    def due(self) -> list[tuple[str, int, Amount | None]]:
        """By how submissions ended here: how many, and what is due for them; all of them last.

        None for those that are not known here. Empty where no pay is stated.
        """
        if not any(row.here and row.here.due for row in self.rows):
            return []
        sums: dict[str, Amount | None] = {}
        counts = Counter(row.outcome for row in self.rows)
        for row in self.rows:
            due = row.here.due if row.here else None
            sums[row.outcome] = due and due + (sums.get(row.outcome) or NOTHING)
        total = sum((amount for amount in sums.values() if amount), start=NOTHING)
        listed = [(label, counts[label], sums[label]) for label in sorted(sums)]
        return [*listed, ("all", len(self.rows), total)]

    def lists(self) -> list[tuple[str, int, str]]:
        """The submissions by what is suggested: how many, and their ids, one a line, to be pasted."""
        return [
            (suggestion, len(ids), "\n".join(ids))
            for suggestion in SUGGESTIONS
            if (ids := [r.there.pk for r in self.rows if r.there and r.suggestion == suggestion])
        ]


def reconcile(campaign: Campaign, submissions: list[Submission]) -> Reconciled:
    """Every submission beside its part, and the parts that are done and have no submission.

    Parts of a study of Prolific that no submission of this file belongs to are only counted: an
    export is of one study.
    """
    parts, ended = parts_here(campaign), ended_without_part(campaign)
    found = _found(parts, submissions)
    rows = [
        _row(campaign, there, found.get(there.pk) or ended.get(there.person))
        for there in submissions
    ]
    met, studies = {id(here) for here in found.values()}, {here.study for here in found.values()}
    rest = [part for part in parts if part.is_done and id(part) not in met]
    done = [part for part in rest if part.person]
    ours = [part for part in done if not studies or part.study in studies or not part.study]
    rows += [
        Row("here", "ask", "Prolific's list does not name it: ask for the submission.", here=part)
        for part in ours
    ]
    return Reconciled(rows, len(done) - len(ours), len(rest) - len(done))


def _found(parts: list[OurPart], submissions: list[Submission]) -> dict[str, OurPart]:
    """The part of each submission, by the submission's id.

    It is found by its own id, else by its person, where that person has one part of which no id is
    known. That is the part of one submission: of one that was not given back, where there is one.
    """
    by_session = {part.session: part for part in parts if part.session}
    nameless: dict[str, list[OurPart]] = {}
    for part in parts:
        if not part.session and part.person:
            nameless.setdefault(part.person, []).append(part)
    found = {there.pk: by_session[there.pk] for there in submissions if there.pk in by_session}
    for there in sorted(submissions, key=lambda there: there.status in GONE):
        own = nameless.get(there.person, [])
        if there.pk not in found and len(own) == 1:
            found[there.pk] = own.pop()
    return found


def _row(campaign: Campaign, there: Submission, here: OurPart | None) -> Row:
    """What to make of a submission; where it would be approved, by the rules whether to look first."""
    row = _compared(there, here)
    looks = list(here.looks(campaign)) if here and row.suggestion == "approve" else []
    if not looks:
        return row
    return Row(row.finding, "look", " ".join(filter(None, [row.why, *looks])), there, here)


def _compared(there: Submission, here: OurPart | None) -> Row:
    status, outcome = there.status, here.outcome if here else ""
    is_over = outcome in (Participant.Outcome.SCREENED_OUT, Participant.Outcome.FAILED_CHECK)

    def row(finding: str, suggestion: str, why: str) -> Row:
        return Row(finding, suggestion, why, there, here)

    if not there.has_known_status:
        return row("unknown", "look", "Prolific has a new word for it; nothing is made of it here.")
    if here and here.is_done:
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
