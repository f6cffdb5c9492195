"""Profile of one rater's work in a campaign, and its flags for review."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from annotation.decimals import printed
from annotation.participation import gold
from evaluation.quality.signals.copies import Copy
from evaluation.quality.signals.marks import Marks
from evaluation.quality.signals.pace import Pace
from evaluation.quality.signals.runs import Straight
from evaluation.quality.signals.task_consistency import TaskConsistency
from evaluation.stats.estimate import Estimate
from evaluation.stats.feedback_effect import FeedbackEffect
from evaluation.stats.intra_rater import IntraRater

ENOUGH = 20  # answers, or pairs of them, below which a share says little
LOW_KAPPA = 0.2
TOP_SHARE = 0.95
MIRROR_SHARE = 0.95
RARE_RUN = 0.001
EXCESS_MS = 60_000  # active time beyond the server's clock from which on it is flagged
QUICK = 1 / 3  # of the median time per item over all raters
MANY_WHOLE = 0.1
MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of submitted items, or of valid answers, by the purpose of the item."""

    study: int
    gold: int
    training: int

    @property
    def all(self) -> int:
        return self.study + self.gold + self.training


@dataclass(frozen=True, slots=True)
class Flag:
    """Reason to review a rater's work, with the number behind it. It decides nothing.

    `partner` is the other rater of a copy.
    """

    kind: str
    words: str
    partner: str = ""


@dataclass(frozen=True)
class Profile:
    """Quality statistics of one rater.

    Training answers are in `answers` and `pace` alone: feedback follows them.
    `intra_rater` compares first and second grades of repeats, which nothing else counts. `feedback` compares
    agreement with the expert before and after the first feedback on decisions.
    `gold` is the share of gold answers on the right side of eta, `gold_exact` how many of them
    are the very grade. `checks` are attention checks answered, `checks_open` asked and not answered.
    """

    name: str
    answers: Tally
    items: Tally
    pace: Pace
    kappa: Estimate
    equal: Estimate
    n_others: int
    intra_rater: IntraRater
    feedback: FeedbackEffect
    majority: Estimate
    gold: Estimate
    gold_exact: int
    weight: Estimate
    checks: Estimate
    checks_open: int
    straight: Straight
    marks: Marks
    task_consistencies: tuple[TaskConsistency, ...]
    copies: tuple[tuple[str, Copy], ...] = ()
    """Other raters, by name, whose answers are the same as these to the letter."""
    is_set_aside: bool = False
    flags: tuple[Flag, ...] = ()

    @property
    def has_begun(self) -> bool:
        """Return whether there is an answer, time on a page, or an attention check."""
        return bool(self.answers.all or self.pace.active_ms or self.pace.excess_ms or self.checks.n)

    @property
    def n_right(self) -> int:
        return round((self.gold.value or 0) * self.gold.n)

    @property
    def n_passed(self) -> int:
        return round((self.checks.value or 0) * self.checks.n)

    @property
    def mirror(self) -> TaskConsistency | None:
        """Task that these answers repeat most."""
        return self.task_consistencies[0] if self.task_consistencies else None


def flags(
    profile: Profile,
    typical_seconds: float | None,
    min_failed_checks: int = 1,
    name_of: Callable[[int], str] = str,
) -> tuple[Flag, ...]:
    """Return the flags for review of a rater's work, with the number behind each.

    `typical_seconds` is the median time per item over the raters; None where none is known.
    `name_of` gives the display name of a grade.
    `min_failed_checks` is the number of failed attention checks from which on they are a flag. An
    undefined statistic, or one of too few answers, raises no flag.
    """
    reasons = [
        *_attention(profile, min_failed_checks),
        *_against_labels(profile),
        *_time(profile, typical_seconds),
        *_straight(profile, name_of),
        *_marks(profile.marks),
        *_mirror_flags(profile),
    ]
    return (*(Flag(kind, text) for kind, text in reasons), *_copies(profile))


def _attention(profile: Profile, min_failed_checks: int) -> list[tuple[str, str]]:
    if profile.checks.n - profile.n_passed >= min_failed_checks:
        return [("attention", f"{profile.n_passed} of {profile.checks.n} attention checks passed")]
    return []


def _against_labels(profile: Profile) -> list[tuple[str, str]]:
    reasons = []
    if (
        profile.gold.value is not None
        and profile.gold.n >= gold.ENOUGH
        and profile.gold.value < gold.LOW
    ):
        reasons.append(("gold", f"{profile.n_right} of {profile.gold.n} gold answers right"))
    if (
        profile.kappa.value is not None
        and profile.kappa.n >= ENOUGH
        and profile.kappa.value < LOW_KAPPA
    ):
        value = printed(profile.kappa.value)
        reasons.append(("agreement", f"κ {value} with the others, n = {profile.kappa.n}"))
    return reasons


def _time(profile: Profile, typical: float | None) -> list[tuple[str, str]]:
    per_item, excess = profile.pace.per_item, profile.pace.excess_ms
    reasons = []
    if excess > EXCESS_MS:
        text = f"{excess / MINUTE_MS:.0f} min more active time than the server’s clock allows"
        reasons.append(("clock", text))
    if (
        typical
        and per_item.value is not None
        and per_item.n >= 3
        and per_item.value < QUICK * typical
    ):
        reasons.append(("quick", f"{per_item.value:.0f} s an item; typical: {typical:.0f} s"))
    return reasons


def _straight(profile: Profile, name_of: Callable[[int], str]) -> list[tuple[str, str]]:
    line = profile.straight
    if line.n < ENOUGH or line.top.value is None or line.chance.value is None:
        return []
    if line.top.value >= TOP_SHARE and line.top_grade is not None:
        grade = name_of(line.top_grade)
        return [("one-grade", f"{grade} in {line.top.value:.0%} of {line.n} answers")]
    if line.chance.value < RARE_RUN and line.grade is not None:
        grade = name_of(line.grade)
        return [("run", f"{line.length} times {grade} in a row, by chance 1 in over 1,000")]
    return []


def _marks(marks: Marks) -> list[tuple[str, str]]:
    reasons = []
    if marks.whole >= 2 and marks.whole >= MANY_WHOLE * marks.n:
        reasons.append(("whole", f"{marks.whole} of {marks.n} spans cover a whole text"))
    if marks.wordless:
        are = "spans have" if marks.wordless > 1 else "span has"
        reasons.append(("wordless", f"{marks.wordless} {are} no word"))
    if marks.shared >= 2 and 2 * marks.shared >= marks.comparable:
        reasons.append(("shared", f"one span for all questions in {marks.shared} items"))
    return reasons


def _mirror_flags(profile: Profile) -> list[tuple[str, str]]:
    return [
        ("mirrors", f"{same.same} of {same.n} verdicts as in {' '.join(same.other)}")
        for same in profile.task_consistencies
        if same.n >= ENOUGH and same.same >= MIRROR_SHARE * same.n
    ]


def _copies(profile: Profile) -> list[Flag]:
    return [
        Flag(
            "copies",
            f"same as {name}: {copy.same} of {copy.n} grades ({copy.by_chance:.0f} by chance), "
            f"{copy.same_marks} of {copy.marked} highlights",
            name,
        )
        for name, copy in profile.copies
    ]
