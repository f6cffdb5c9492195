"""Trial of another parser on the stored replies of a judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db.models import Case, IntegerField, Value, When

from annotation.models import User
from annotation.models.projects import visibility_filter
from judging.grading.labels import outcome_label
from judging.grading.pairs import State
from judging.grading.parse import PARSERS, Parsed, parse
from judging.grading.spec import Spec
from judging.llm.errors import Failure
from judging.models import Attempt, Judge

MAX_REPLIES = 50_000  # replies that are read for one page, those without a grade first

Outcome = tuple[str, str, int | None]  # state, failure, grade


@dataclass
class ParserTrial:
    """Outcomes of another parser on a judge's replies.

    A change is the key of an attempt and its new outcome.
    """

    parser: str
    n: int = 0
    n_left_out: int = 0
    n_errors: int = 0
    changes: list[tuple[int, Outcome]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    moves: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def rows(self) -> list[tuple[str, str, int]]:
        """Return (old, new, count) of the changed outcomes, the most frequent first."""
        return [(old, new, n) for (old, new), n in self.moves.most_common()]


@dataclass(frozen=True)
class Change:
    """Reply with another outcome under the other parser, before and after."""

    attempt: Attempt
    before: str
    after: str


def parser_trial_problem(judge: Judge) -> str:
    """Return why no other parser can be tried on a judge's replies; "" if one can."""
    if PARSERS[judge.parser].reads_several:
        return (
            "Each reply is about all questions of a text, so it needs a parser that reads a "
            "grade by its number."
        )
    if judge.spec.sampling.samples > 1:
        return "Each reply consists of several samples, which were parsed separately."
    return ""


def try_parser(judge: Judge, parser: str, user: User) -> ParserTrial:
    """Read the judge's replies that count with another parser; nothing is stored.

    Only replies that `user` sees are read. Copies are left out, as they are the same replies, and so
    are errors, which no parser sees. Raises KeyError for a parser that is unknown.
    """
    replies = judge.attempts.filter(
        visibility_filter("text__dataset", user), counts=True, copied=False
    )
    tried = ParserTrial(parser, n_errors=replies.filter(state=State.ERROR).count())
    replies = replies.exclude(state=State.ERROR)
    graded_last = Case(
        When(state=State.GRADED, then=Value(1)), default=Value(0), output_field=IntegerField()
    )
    rows = replies.order_by(graded_last, "pk").values_list("pk", "raw", "state", "failure", "grade")
    spec = judge.spec
    outcomes: dict[tuple[str, str], Outcome] = {}
    for pk, raw, state, failure, grade in rows[:MAX_REPLIES].iterator(2_000):
        if (raw, state) not in outcomes:
            outcomes[raw, state] = _outcome(_reparsed(spec, parser, raw, state))
        before, new = (state, failure, grade), outcomes[raw, state]
        tried.n += 1
        tried.counts[_kind(before[2], new[2])] += 1
        if before != new:
            tried.moves[outcome_text(before), outcome_text(new)] += 1
        if before[2] != new[2]:
            tried.changes.append((pk, new))
    tried.n_left_out = replies.count() - tried.n
    return tried


def changes_of(judge: Judge, changes: list[tuple[int, Outcome]]) -> Iterator[Change]:
    """Yield changes with their attempts."""
    attempts = judge.attempts.select_related("text", "question__topic").in_bulk(
        [pk for pk, _ in changes]
    )
    for pk, outcome in changes:
        if attempt := attempts.get(pk):
            before = (attempt.state, attempt.failure, attempt.grade)
            yield Change(attempt, outcome_text(before), outcome_text(outcome))


def outcome_text(outcome: Outcome) -> str:
    state, failure, grade = outcome
    return outcome_label(state, failure) if grade is None else str(grade)


def _kind(before: int | None, new: int | None) -> str:
    if before == new:
        return "same"
    if before is None:
        return "more"
    return "lost" if new is None else "other"


def _outcome(parsed: Parsed) -> Outcome:
    return parsed.state.value, parsed.failure.value if parsed.failure else "", parsed.grade


def _reparsed(spec: Spec, parser: str, raw: str, state: str) -> Parsed:
    """Read a reply with the parser.

    The finish reason is inferred from the stored state.
    """

    def read(name: str, finish_reason: str | None) -> Parsed:
        return parse(
            name,
            raw,
            spec.grades,
            finish_reason=finish_reason,
            max_tokens=spec.sampling.max_tokens,
            words=spec.words,
        )

    if state == State.TRUNCATED:
        return read(parser, "length")
    is_refusal_text = (
        PARSERS[spec.parser].is_literal or read(spec.parser, None).failure is Failure.REFUSAL
    )
    filtered = state == State.REFUSED and not is_refusal_text
    return read(parser, "content_filter" if filtered else None)
