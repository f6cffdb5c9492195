"""Under what the numbers of a table were computed, in words for its caption."""

from __future__ import annotations

from evaluation.scoring.options import ORACLE, Options
from evaluation.scoring.score import Scores


def conditions(options: Options, *, eta: bool = True, cutoff: bool = True) -> str:
    """Judge, eta, rules, the reading of alpha-nDCG, size of Z and tokenizer, as sentences.

    Without `eta` or `cutoff` that part is left out, where the table itself says it.
    """
    parts = [f"Grades: {options.source.title}"]
    parts += [f"η = {options.eta}"] * eta
    parts += [f"rules: {options.rules.name}"]
    parts += [f"ideal of α-nDCG: {options.ideal}, α = {options.alpha:g}"]
    parts += [f"Z: {_size(options)}"] * cutoff
    parts += [f"tokens: {options.tokenizer.name}"]
    verdicts = "" if options.source.kind == "rater" else " Each grade is taken as a verdict at η."
    return f"{'; '.join(parts)}.{verdicts}"


def n_scored(scores: Scores) -> int:
    """The topics that have answerable questions: all that a mean can be over."""
    return sum(bool(pool.answerable) for pool in scores.pools.values())


def topics(scores: Scores) -> str:
    """How many topics the means are over, and of how many where some have no mean."""
    n, whole = n_scored(scores), len(scores.pools)
    return f"{n} topics" if n == whole else f"the {n} of {whole} topics with answerable questions"


def _size(options: Options) -> str:
    if options.cutoff is None:
        return "all passages of a run"
    if options.cutoff == ORACLE:
        return "as many passages of a run as Z* has"
    return f"the first {options.cutoff} passages of a run"
