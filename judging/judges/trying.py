"""Another parser on the replies that a judge has: how many more it would read, and which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db.models import Case, IntegerField, Value, When

from annotation.models import User
from annotation.models.projects import seen_by
from judging.grading.pairs import Failure, State
from judging.grading.parse import PARSERS, Parsed, parse
from judging.grading.spec import Spec
from judging.grading.words import outcome_words
from judging.models import Attempt, Judge

MOST = 50_000  # replies that are read for one page, those without a grade first

Outcome = tuple[str, str, int | None]  # state, failure, grade


@dataclass
class Tried:
    """What another parser makes of a judge's replies. A change is the key of an attempt and its outcome."""

    parser: str
    n: int = 0
    n_left_out: int = 0
    n_errors: int = 0
    changes: list[tuple[int, Outcome]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    moves: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def rows(self) -> list[tuple[str, str, int]]:
        """(what it was, what it would be, how often) where that differs, the most frequent first."""
        return [(old, new, n) for (old, new), n in self.moves.most_common()]


@dataclass(frozen=True)
class Change:
    """A reply that another parser reads otherwise, before and after."""

    attempt: Attempt
    before: str
    after: str


def why_not(judge: Judge) -> str:
    """Why no other parser can be tried on a judge's replies; "" where one can."""
    if PARSERS[judge.parser].of_several:
        return "A reply is about all questions of a text, and each of its grades is read by its number."
    if judge.spec.sampling.samples > 1:
        return "A reply is made of several samples, and each of them was read by itself."
    return ""


def try_parser(judge: Judge, parser: str, user: User) -> Tried:
    """Read the judge's replies that count, and that somebody sees, by the rules of `parser`; nothing is stored.

    Copies are left out, as they are the same replies, and so are errors, which no parser sees. Raises
    KeyError for a parser that is unknown.
    """
    replies = judge.attempts.filter(seen_by("text__dataset", user), counts=True, copied=False)
    tried = Tried(parser, n_errors=replies.filter(state=State.ERROR).count())
    replies = replies.exclude(state=State.ERROR)
    graded_last = Case(
        When(state=State.GRADED, then=Value(1)), default=Value(0), output_field=IntegerField()
    )
    rows = replies.order_by(graded_last, "pk").values_list("pk", "raw", "state", "failure", "grade")
    spec = judge.spec
    known: dict[tuple[str, str], Outcome] = {}
    for pk, raw, state, failure, grade in rows[:MOST].iterator(2_000):
        if (raw, state) not in known:
            known[raw, state] = _outcome(_again(spec, parser, raw, state))
        before, after = (state, failure, grade), known[raw, state]
        tried.n += 1
        tried.counts[_kind(before[2], after[2])] += 1
        if before != after:
            tried.moves[in_words(before), in_words(after)] += 1
        if before[2] != after[2]:
            tried.changes.append((pk, after))
    tried.n_left_out = replies.count() - tried.n
    return tried


def changes_of(judge: Judge, some: list[tuple[int, Outcome]]) -> Iterator[Change]:
    """Some changes with their attempts."""
    attempts = judge.attempts.select_related("text", "question__topic").in_bulk(
        [pk for pk, _ in some]
    )
    for pk, outcome in some:
        if attempt := attempts.get(pk):
            before = (attempt.state, attempt.failure, attempt.grade)
            yield Change(attempt, in_words(before), in_words(outcome))


def in_words(outcome: Outcome) -> str:
    state, failure, grade = outcome
    return outcome_words(state, failure) if grade is None else str(grade)


def _kind(before: int | None, after: int | None) -> str:
    if before == after:
        return "same"
    if before is None:
        return "more"
    return "lost" if after is None else "other"


def _outcome(parsed: Parsed) -> Outcome:
    return parsed.state.value, parsed.failure.value if parsed.failure else "", parsed.grade


def _again(spec: Spec, parser: str, raw: str, state: str) -> Parsed:
    """What the parser makes of a reply. Why the server stopped is known from what became of it then."""

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
    said_in_words = (
        PARSERS[spec.parser].is_literal or read(spec.parser, None).failure is Failure.REFUSAL
    )
    filtered = state == State.REFUSED and not said_in_words
    return read(parser, "content_filter" if filtered else None)
