"""Table of raters: its sort order, and the table as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from annotation.formats.writing import escape_cell
from evaluation.quality.page import QualityReport
from evaluation.quality.signals.profile import Profile
from evaluation.stats.estimate import Estimate

Key = Callable[[Profile], float | str | None]

# Sort keys of the table. None is last in either direction.
KEYS: dict[str, Key] = {
    "rater": lambda profile: profile.name,
    "flags": lambda profile: len(profile.flags),
    "answers": lambda profile: profile.answers.all,
    "items": lambda profile: profile.items.all,
    "time": lambda profile: profile.pace.active_ms or None,
    "item-time": lambda profile: profile.pace.per_item.value,
    "per-hour": lambda profile: profile.pace.per_hour.value,
    "equal": lambda profile: profile.equal.value,
    "kappa": lambda profile: profile.kappa.value,
    "majority": lambda profile: profile.majority.value,
    "gold": lambda profile: profile.gold.value,
    "weight": lambda profile: profile.weight.value,
    "checks": lambda profile: profile.checks.value,
    "run": lambda profile: profile.straight.length or None,
    "top": lambda profile: profile.straight.top.value,
    "spans": lambda profile: profile.marks.n,
    "whole": lambda profile: profile.marks.whole / profile.marks.n if profile.marks.n else None,
    "words": lambda profile: profile.marks.words.value,
    "mirrors": lambda profile: profile.mirror.share.value if profile.mirror else None,
}
DEFAULT = "-flags"


@dataclass(frozen=True)
class Order:
    """Sort column, and whether the greatest comes first."""

    by: str
    falls: bool

    @property
    def aria_sort(self) -> str:
        """Value of the attribute aria-sort."""
        return "descending" if self.falls else "ascending"


def order_of(sort: str) -> Order:
    """Parse the sort parameter of a URL; an unknown one gives the default."""
    name = sort if sort.removeprefix("-") in KEYS else DEFAULT
    return Order(name.removeprefix("-"), name.startswith("-"))


def ordered(profiles: Sequence[Profile], order: Order) -> list[Profile]:
    """Sort the raters; those without a value come last, equals by name."""
    key = KEYS[order.by]
    by_name = sorted(profiles, key=lambda profile: profile.name)
    defined = [profile for profile in by_name if key(profile) is not None]
    defined.sort(
        key=lambda profile: key(profile) or 0 if order.by != "rater" else profile.name,
        reverse=order.falls,
    )
    return defined + [profile for profile in by_name if key(profile) is None]


def csv_lines(report: QualityReport) -> Iterator[str]:
    """Yield a row for each rater, by name; an undefined value is empty, with its reason."""
    for number, profile in enumerate(report.profiles):
        row = _row(profile)
        if number == 0:
            yield _line(list(row))
        yield _line(list(row.values()))


def _row(profile: Profile) -> dict[str, object]:
    estimates = {
        "seconds_per_item": profile.pace.per_item,
        "answers_per_hour": profile.pace.per_hour,
        "equal": profile.equal,
        "kappa": profile.kappa,
        "equal_to_majority": profile.majority,
        "gold_right": profile.gold,
        "weight": profile.weight,
        "checks_passed": profile.checks,
        "top_grade_share": profile.straight.top,
        "run_by_chance": profile.straight.chance,
        "words_per_span": profile.marks.words,
    }
    mirror = profile.mirror
    name, copy = profile.copies[0] if profile.copies else ("", None)
    return {
        "rater": profile.name,
        "set_aside": int(profile.is_set_aside),
        "flags": "; ".join(flag.words for flag in profile.flags),
        "answers_study": profile.answers.study,
        "answers_gold": profile.answers.gold,
        "answers_training": profile.answers.training,
        "items_study": profile.items.study,
        "items_gold": profile.items.gold,
        "items_training": profile.items.training,
        "active_seconds": profile.pace.active_ms / 1000,
        "active_seconds_beyond_clock": profile.pace.excess_ms / 1000,
        "others": profile.n_others,
        "gold_exact": profile.gold_exact,
        "gold_low": _blank(profile.gold.low),
        "gold_high": _blank(profile.gold.high),
        "checks_unanswered": profile.checks_open,
        "longest_run": profile.straight.length,
        "longest_run_of": _blank(profile.straight.grade),
        "top_grade": _blank(profile.straight.top_grade),
        "spans": profile.marks.n,
        "spans_whole_text": profile.marks.whole,
        "spans_without_word": profile.marks.wordless,
        "items_with_one_span_for_all": profile.marks.shared,
        "items_with_two_marked_questions": profile.marks.comparable,
        "mirrors": " ".join(mirror.other) if mirror else "",
        "mirrors_same": _blank(mirror and mirror.same),
        "mirrors_n": _blank(mirror and mirror.n),
        "copies": name,
        "copies_same_highlights": _blank(copy and copy.same_marks),
        "copies_highlights": _blank(copy and copy.marked),
        "copies_same_grades": _blank(copy and copy.same),
        "copies_grades": _blank(copy and copy.n),
        **{
            key: value
            for name, estimate in estimates.items()
            for key, value in _estimate_cells(name, estimate)
        },
    }


def _estimate_cells(name: str, estimate: Estimate) -> list[tuple[str, object]]:
    return [
        (name, _blank(estimate.value)),
        (f"{name}_n", estimate.n),
        (f"{name}_why_not", estimate.reason or ""),
    ]


def _blank(value: object) -> object:
    return "" if value is None else value


def _line(cells: Sequence[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(map(escape_cell, cells))
    return out.getvalue()
