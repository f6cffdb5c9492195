"""Table of raters as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from annotation.formats.writing import escape_cell
from evaluation.quality.page import QualityReport
from evaluation.quality.signals.profile import Profile
from evaluation.stats.estimate import Estimate


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
        "equal_to_self": profile.intra_rater.equal,
        "kappa_with_self": profile.intra_rater.kappa,
        "as_expert_before_feedback": profile.feedback.share_before,
        "as_expert_after_feedback": profile.feedback.share_after,
        "feedback_difference": profile.feedback.difference,
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
        "feedback_difference_low": _blank(profile.feedback.difference.low),
        "feedback_difference_high": _blank(profile.feedback.difference.high),
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
