"""Footnotes on Kendall's tau in the paper's tables: reversed pairs, missing intervals."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.scoring.ordering import OrderAgreement

REVERSED = (
    "Reversed pairs: of the pairs of systems that a paired t test over topics separates under either "
    "metric (p < 0.05, each pair alone), those whose means the two metrics put in opposite orders."
)


def tau_note(taus: Sequence[tuple[str, OrderAgreement]]) -> str:
    """Return the number of reversed pairs by title, and reasons for missing intervals."""
    counts = [
        f"{title} {tau.reversals.wording}".strip()
        for title, tau in taus
        if tau.reversals is not None
    ]
    reasons = [
        (title, tau.interval_reason)
        for title, tau in taus
        if tau.value is not None and tau.interval_reason
    ]
    parts = [f"reversed pairs: {', '.join(counts)}"] * bool(counts)
    for reason in dict.fromkeys(reason for _, reason in reasons):
        titles = [title for title, of_title in reasons if of_title == reason]
        of = "" if len(titles) == len(taus) else f" of {', '.join(titles)}"
        parts.append(f"no interval{of}, {reason.removeprefix('no interval, ')}")
    return "; ".join(parts)
