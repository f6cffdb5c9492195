"""Doors of a dataset's overview: five result pages, each with one number or what it lacks."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from annotation.decimals import printed
from annotation.models import Dataset, Text
from annotation.plurals import n_of
from crux_site.datasets.page import Overview
from crux_site.datasets.summary import DatasetSummary
from evaluation.stats.estimate import Estimate

NONE = "–"


@dataclass(frozen=True)
class Door:
    """Link to a result page; `figure` is NONE where `note` says what is missing."""

    title: str
    url: str
    figure: str
    note: str
    estimate: Estimate | None = None
    """Whose interval is drawn."""


def doors(dataset: Dataset, counts: Overview, summary: DatasetSummary, n_runs: int) -> list[Door]:
    """Return the doors of a dataset, in the order of its list of pages."""
    return [
        agreement_door(dataset, summary),
        _disagreements(dataset, summary),
        _systems(dataset, counts, summary, n_runs),
        _matrix(dataset, counts),
        _paper(dataset, counts, summary, n_runs),
    ]


def agreement_door(dataset: Dataset, summary: DatasetSummary) -> Door:
    """Return κ of people with its interval, or the reason why there is none."""
    url = _url("agreement", dataset)
    if summary.selection is None:
        return Door("Agreement", url, NONE, "Two people must grade the same pairs.")
    url = f"{url}?{summary.selection.query()}"
    if summary.report is None:
        return Door("Agreement", url, NONE, "Fleiss κ is not computed yet. Open the page.")
    kappa = summary.report.all.kappa
    raters = n_of(len(summary.selection.raters), "person").replace("persons", "people")
    if kappa.value is None:
        reason = (kappa.reason or "").removeprefix("undefined, ")
        return Door("Agreement", url, NONE, f"Fleiss κ is undefined, {reason}.")
    note = f"Fleiss κ of {raters}, {n_of(kappa.n, 'pair', ',')}"
    if kappa.low is None:
        note += f"; no interval, {(kappa.interval_reason or '').removeprefix('no interval, ')}"
    return Door("Agreement", url, printed(kappa.value, 2), note, kappa)


def _disagreements(dataset: Dataset, summary: DatasetSummary) -> Door:
    url = f"{_url('pairs', dataset)}?kind=differ"
    if summary.selection is None:
        return Door("Disagreements", url, NONE, "Two people must grade the same pairs.")
    url = f"{_url('pairs', dataset)}?{summary.selection.query(kind='differ')}"
    n, n_undecided = summary.disagreements.n, summary.disagreements.n_undecided
    if n == n_undecided:
        note = f"{'pair' if n == 1 else 'pairs'} on which people differ"
        return Door("Disagreements", url, f"{n:,}", note + (", none decided" if n else ""))
    note = f"{'pair' if n_undecided == 1 else 'pairs'} without a decision, of {n:,} on which people differ"
    return Door("Disagreements", url, f"{n_undecided:,}", note)


def _systems(dataset: Dataset, counts: Overview, summary: DatasetSummary, n_runs: int) -> Door:
    url = _url("retrieval", dataset)
    if best := summary.best_system:
        value = best.system.means["coverage"].value
        assert value is not None
        note = f"best coverage: {best.system.title}, of {best.n_compared:,} compared"
        if best.n_compared == 1:
            note = f"coverage of {best.system.title}, the only one compared"
        return Door("Systems", url, printed(value, 2), note)
    with_reports = {row.system for row in counts.texts if row.kind == Text.Kind.REPORT}
    if not n_runs and not with_reports:
        return Door("Systems", url, NONE, "There are no retrieval runs and no reports.")
    parts = [n_of(n_runs, "retrieval run", ",")] if n_runs else []
    if with_reports:
        parts.append(f"{n_of(len(with_reports), 'system', ',')} with reports")
    figure = f"{n_runs or len(with_reports):,}"
    if not counts.has_rated_passages:
        return Door("Systems", url, figure, f"{', '.join(parts)}. Scores need graded passages.")
    return Door("Systems", url, figure, f"{', '.join(parts)}. Coverage is not computed yet.")


def _matrix(dataset: Dataset, counts: Overview) -> Door:
    url = _url("matrices", dataset)
    if not counts.fills:
        return Door("Matrix", url, NONE, "Nobody has graded a pair.")
    n, possible = counts.graded_by_people
    if not possible:
        return Door("Matrix", url, NONE, "No person has graded a pair.")
    kinds = " and ".join(dict.fromkeys(row.texts for row in counts.people_coverage))
    note = f"of pairs of {kinds} graded by people; {possible - n:,} open"
    return Door("Matrix", url, whole_percent(n, possible), note)


def _paper(dataset: Dataset, counts: Overview, summary: DatasetSummary, n_runs: int) -> Door:
    url = _url("paper", dataset)
    if not counts.has_rated_reports and not (n_runs and counts.has_rated_passages):
        reason = "Needs graded reports, or runs and graded passages."
        return Door("Paper", url, NONE, reason)
    paper = summary.paper
    if paper is None:
        return Door("Paper", url, NONE, "Tables are not computed yet. Open the page.")
    note = "tables and figures are possible"
    if paper.missing:
        note += f"; missing: {paper.missing}"
    return Door("Paper", url, f"{paper.n_made} of {paper.n}", note)


def whole_percent(n: int, of: int) -> str:
    """Return a share in whole percent, rounded down: 100% means all of them."""
    return f"{100 * n // of}%"


def _url(url_name: str, dataset: Dataset) -> str:
    return reverse(url_name, args=[dataset.slug])
