"""Reconciliation of a campaign with Prolific's list of submissions.

Nothing is changed or stored by it: staff decide, on Prolific. A submission there is a
part here. The strongest suggestion is a review.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from annotation.formats.prolific import Submission
from annotation.formats.writing import escape_formula
from annotation.models import Campaign, Participant
from annotation.monitoring.part_records import PartRecord, ended_without_part, list_part_records
from annotation.participation.pay_rate import MINUTE_MS
from annotation.participation.payout import ZERO, Amount

MINUTE = timedelta(minutes=1)
OUT = (
    "Submission id",
    "Participant id",
    "Status there",
    "Outcome here",
    "Code there",
    "Code here",
    "Items submitted",
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
    "Reasons",
)
WAITING, TIMED_OUT = "AWAITING REVIEW", "TIMED OUT"
PAID = ("APPROVED", "PARTIALLY APPROVED", "SCREENED OUT")
UNPAID = ("RETURNED", "REJECTED")
SUGGESTIONS = ("approve", "review", "ask", "return")
FINDINGS = {
    "agree": "in both, consistent",
    "code": "another code",
    "late": "timed out on Prolific, done here",
    "here": "done here, not on Prolific",
    "there": "on Prolific, not done here",
    "differs": "another outcome",
    "unknown": "unknown status",
}


@dataclass(frozen=True)
class Link:
    """Link to what a reason is about."""

    label: str
    url: str


@dataclass(frozen=True)
class Reason:
    """Reason of a suggestion, as a sentence."""

    text: str
    links: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Row:
    """A submission on Prolific and its part here; either may be missing."""

    finding: str
    suggestion: str
    reasons: tuple[Reason, ...] = ()
    submission: Submission | None = None
    part: PartRecord | None = None

    @property
    def label(self) -> str:
        return FINDINGS[self.finding]

    @property
    def reason(self) -> str:
        """All reasons, without their links."""
        return " ".join(reason.text for reason in self.reasons)

    @property
    def pk(self) -> str:
        return self.submission.pk if self.submission else self.part.session if self.part else ""

    @property
    def person(self) -> str:
        return self.submission.person if self.submission else self.part.person if self.part else ""

    @property
    def minutes(self) -> str:
        return f"{self.part.active_ms / MINUTE_MS:.1f}" if self.part and self.part.active_ms else ""

    @property
    def clock(self) -> str:
        return f"{self.part.clock / MINUTE:.1f}" if self.part and self.part.clock else ""

    @property
    def skipped(self) -> str:
        return str(self.part.skips.used) if self.part and self.part.skips else ""

    @property
    def numbers(self) -> list[str]:
        """Counts of items, checks and gold answers.

        Items submitted, assigned and skipped; checks passed and answered; gold right and answered.
        """
        if not self.part:
            return [""] * 7
        counts = (*self.part.checks, *self.part.gold)
        return [
            *(str(self.part.submitted), str(self.part.assigned), self.skipped),
            *(str(count) for count in counts),
        ]

    @property
    def amounts(self) -> list[str]:
        """Pay due, the platform's fee, and both; empty where unknown or no pay is stated."""
        amount_due = self.part.payout if self.part else None
        if not amount_due:
            return [""] * 3
        return [f"{amount:.2f}" for amount in (amount_due.pay, amount_due.fee, amount_due.total)]

    @property
    def outcome(self) -> str:
        """Outcome of the part here, and whether Prolific has paid it already."""
        if not self.part:
            return "unknown on this site"
        is_paid = self.part.is_done and self.submission and self.submission.status in PAID
        return f"{self.part.label}, already paid on Prolific" if is_paid else self.part.label

    def cells(self) -> list[str]:
        submission, part = self.submission, self.part
        return [
            self.pk,
            self.person,
            submission.status if submission else "",
            part.label if part else "",
            submission.code if submission else "",
            part.code if part else "",
            *self.numbers,
            self.minutes,
            self.clock,
            *self.amounts,
            self.label,
            self.suggestion,
            self.reason,
        ]


@dataclass(frozen=True)
class Reconciled:
    """Result of a reconciliation: its rows, and the number of finished parts without one.

    elsewhere: of studies of Prolific that the file is not about; erased: of people whose personal
    data was deleted, and with it the ids of their submissions.
    """

    rows: list[Row]
    elsewhere: int
    erased: int

    def counts(self) -> list[tuple[str, str, int]]:
        counts = Counter(row.finding for row in self.rows)
        return [(key, label, counts[key]) for key, label in FINDINGS.items()]

    def payouts(self) -> list[tuple[str, int, Amount | None]]:
        """Return the number of submissions and the amount due, by outcome here; the total last.

        None for those that are not known here. Empty where no pay is stated.
        """
        if not any(row.part and row.part.payout for row in self.rows):
            return []
        sums: dict[str, Amount | None] = {}
        counts = Counter(row.outcome for row in self.rows)
        for row in self.rows:
            amount_due = row.part.payout if row.part else None
            sums[row.outcome] = amount_due and amount_due + (sums.get(row.outcome) or ZERO)
        total = sum((amount for amount in sums.values() if amount), start=ZERO)
        summary = [(label, counts[label], sums[label]) for label in sorted(sums)]
        return [*summary, ("all", len(self.rows), total)]

    def lists(self) -> list[tuple[str, int, str]]:
        """Return the submissions by suggestion: the number, and the ids one a line, to be pasted."""
        return [
            (suggestion, len(ids), "\n".join(ids))
            for suggestion in SUGGESTIONS
            if (
                ids := [
                    r.submission.pk
                    for r in self.rows
                    if r.submission and r.suggestion == suggestion
                ]
            )
        ]


def reconcile(
    campaign: Campaign,
    submissions: list[Submission],
    quality_reasons: Mapping[int, Sequence[Reason]] | None = None,
) -> Reconciled:
    """Match submissions with parts; add the finished parts without a submission.

    `quality_reasons` are further reasons for review, by participant, from the quality of all their
    work. Parts of a study of Prolific that no submission of this file belongs to are only counted: an
    export is of one study.
    """
    parts, ended = list_part_records(campaign), ended_without_part(campaign)
    part_of_submission = _match_parts(parts, submissions)
    rows = [
        _row(
            campaign,
            submission,
            part_of_submission.get(submission.pk) or ended.get(submission.person),
            quality_reasons or {},
        )
        for submission in submissions
    ]
    matched = {id(part) for part in part_of_submission.values()}
    studies = {part.study for part in part_of_submission.values()}
    unmatched = [part for part in parts if part.is_done and id(part) not in matched]
    done = [part for part in unmatched if part.person]
    ours = [part for part in done if not studies or part.study in studies or not part.study]
    rows += [
        Row("here", "ask", (Reason("Not in Prolific's list: ask for the submission."),), part=part)
        for part in ours
    ]
    return Reconciled(rows, len(done) - len(ours), len(unmatched) - len(done))


def _match_parts(parts: list[PartRecord], submissions: list[Submission]) -> dict[str, PartRecord]:
    """Match the part of each submission, by the submission's id.

    It is found by its own id, else by its person, where that person has one part of which no id is
    known. That is the part of one submission: of one that was not given back, where there is one.
    """
    by_session = {part.session: part for part in parts if part.session}
    nameless: dict[str, list[PartRecord]] = {}
    for part in parts:
        if not part.session and part.person:
            nameless.setdefault(part.person, []).append(part)
    matches = {
        submission.pk: by_session[submission.pk]
        for submission in submissions
        if submission.pk in by_session
    }
    for submission in sorted(submissions, key=lambda submission: submission.status in UNPAID):
        candidates = nameless.get(submission.person, [])
        if submission.pk not in matches and len(candidates) == 1:
            matches[submission.pk] = candidates.pop()
    return matches


def _row(
    campaign: Campaign,
    submission: Submission,
    part: PartRecord | None,
    quality_reasons: Mapping[int, Sequence[Reason]],
) -> Row:
    """Return the row of a submission; a reason for review replaces an approval by a review."""
    row = _compare(submission, part)
    if not part or row.suggestion != "approve":
        return row
    for_review = [
        *map(Reason, part.review_reasons(campaign)),
        *quality_reasons.get(part.participant, ()),
    ]
    if not for_review:
        return row
    return replace(row, suggestion="review", reasons=(*row.reasons, *for_review))


def _compare(submission: Submission, part: PartRecord | None) -> Row:
    status, outcome = submission.status, part.outcome if part else ""
    ended_before_part = outcome in (
        Participant.Outcome.SCREENED_OUT,
        Participant.Outcome.FAILED_CHECK,
    )

    def row(finding: str, suggestion: str, reason: str) -> Row:
        reasons = (Reason(reason),) if reason else ()
        return Row(finding, suggestion, reasons, submission, part)

    if not submission.has_known_status:
        return row("unknown", "review", "This site does not know this status of Prolific.")
    if part and part.is_done:
        if status == TIMED_OUT:
            return row(
                "late", "approve", "The work is done, but it took longer than Prolific allows."
            )
        if status in UNPAID:
            return row("differs", "ask", "The work is done, but it is not paid on Prolific.")
        if status in ("ACTIVE", "RESERVED"):
            return row("differs", "ask", "The work is done, but the code was not submitted yet.")
        if part.code and not submission.has_code(part.code):
            if status == WAITING:
                return row("code", "approve", "The work is done, whatever the code.")
            return row("code", "", "Already reviewed.")
        return row("agree", "approve" if status == WAITING else "", "")
    if ended_before_part and part:
        if status in (WAITING, "APPROVED") and not submission.has_code(part.code):
            return row("code", "ask" if status == WAITING else "", f"On this site: {part.label}.")
        return row("agree", "return" if status == WAITING else "", "")
    if status == WAITING and part and part.submitted:
        return row("there", "ask", f"{part.submitted} submitted, and the part is {part.label}.")
    if status == WAITING:
        return row("there", "return", "Nothing was submitted here.")
    if status in PAID:
        return row("there", "", "Already paid.")
    return row("agree", "", "")


def csv_lines(compared: Reconciled) -> Iterator[str]:
    """Yield the comparison as lines of CSV; no cell of it is a formula."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    for cells in (list(OUT), *(row.cells() for row in compared.rows)):
        writer.writerow([escape_formula(cell) for cell in cells])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
