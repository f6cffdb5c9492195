"""The table of raters: its order, and the same as a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from annotation.formats.writing import safe_cell
from evaluation.quality.page import QualityReport
from evaluation.quality.signals.profile import Profile
from evaluation.stats.estimate import Estimate

Key = Callable[[Profile], float | str | None]

# What the table can be ordered by. None stands last in either direction.
KEYS: dict[str, Key] = {
    "rater": lambda one: one.name,
    "flags": lambda one: len(one.flags),
    "answers": lambda one: one.answers.all,
    "items": lambda one: one.items.all,
    "time": lambda one: one.pace.active_ms or None,
    "item-time": lambda one: one.pace.per_item.value,
    "per-hour": lambda one: one.pace.per_hour.value,
    "equal": lambda one: one.equal.value,
    "kappa": lambda one: one.kappa.value,
    "majority": lambda one: one.majority.value,
    "gold": lambda one: one.gold.value,
    "weight": lambda one: one.weight.value,
    "checks": lambda one: one.checks.value,
    "run": lambda one: one.straight.length or None,
    "top": lambda one: one.straight.top.value,
    "spans": lambda one: one.marks.n,
    "whole": lambda one: one.marks.whole / one.marks.n if one.marks.n else None,
    "words": lambda one: one.marks.words.value,
    "mirrors": lambda one: one.mirror.share.value if one.mirror else None,
}
DEFAULT = "-flags"


@dataclass(frozen=True)
class Order:
    """By which column, and whether the greatest comes first."""

    by: str
    falls: bool

    @property
    def said(self) -> str:
        """As aria-sort has it."""
        return "descending" if self.falls else "ascending"


def order_of(asked: str) -> Order:
    """The order that a URL asks for; what it does not know is the default one."""
    name = asked if asked.removeprefix("-") in KEYS else DEFAULT
    return Order(name.removeprefix("-"), name.startswith("-"))


def ordered(profiles: Sequence[Profile], order: Order) -> list[Profile]:
    """The raters in this order; those for whom it is undefined come last, equals by name."""
    key = KEYS[order.by]
    there = sorted(profiles, key=lambda one: one.name)
    known = [one for one in there if key(one) is not None]
    known.sort(
        key=lambda one: key(one) or 0 if order.by != "rater" else one.name, reverse=order.falls
    )
    return known + [one for one in there if key(one) is None]


def csv_lines(report: QualityReport) -> Iterator[str]:
    """One row for each rater, by name; an undefined value is empty, with its reason beside it."""
    for number, one in enumerate(report.profiles):
        row = _row(one)
        if number == 0:
            yield _line(list(row))
        yield _line(list(row.values()))


def _row(one: Profile) -> dict[str, object]:
    estimates = {
        "seconds_per_item": one.pace.per_item,
        "answers_per_hour": one.pace.per_hour,
        "equal": one.equal,
        "kappa": one.kappa,
        "equal_to_majority": one.majority,
        "gold_right": one.gold,
        "weight": one.weight,
        "checks_passed": one.checks,
        "top_grade_share": one.straight.top,
        "run_by_chance": one.straight.chance,
        "words_per_span": one.marks.words,
    }
    mirror = one.mirror
    return {
        "rater": one.name,
        "flags": "; ".join(flag.words for flag in one.flags),
        "answers_study": one.answers.study,
        "answers_gold": one.answers.gold,
        "answers_training": one.answers.training,
        "items_study": one.items.study,
        "items_gold": one.items.gold,
        "items_training": one.items.training,
        "active_seconds": one.pace.active_ms / 1000,
        "others": one.n_others,
        "gold_exact": one.gold_exact,
        "gold_low": _blank(one.gold.low),
        "gold_high": _blank(one.gold.high),
        "checks_unanswered": one.checks_open,
        "longest_run": one.straight.length,
        "longest_run_of": _blank(one.straight.grade),
        "top_grade": _blank(one.straight.top_grade),
        "spans": one.marks.n,
        "spans_whole_text": one.marks.whole,
        "spans_without_word": one.marks.wordless,
        "items_with_one_span_for_all": one.marks.shared,
        "items_with_two_marked_questions": one.marks.comparable,
        "mirrors": " ".join(mirror.other) if mirror else "",
        "mirrors_same": _blank(mirror and mirror.same),
        "mirrors_n": _blank(mirror and mirror.n),
        **{key: value for name, found in estimates.items() for key, value in _said(name, found)},
    }


def _said(name: str, found: Estimate) -> list[tuple[str, object]]:
    return [
        (name, _blank(found.value)),
        (f"{name}_n", found.n),
        (f"{name}_why_not", found.reason or ""),
    ]


def _blank(value: object) -> object:
    return "" if value is None else value


def _line(cells: Sequence[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(map(safe_cell, cells))
    return out.getvalue()
