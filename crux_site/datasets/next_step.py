"""Next step of work on a dataset: the reason in a sentence, and the page to do it on."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.http import urlencode

from annotation.models import Dataset, Role
from annotation.plurals import n_of
from crux_site.datasets.page import Overview
from crux_site.datasets.summary import DatasetSummary


@dataclass(frozen=True)
class NextStep:
    """Next step; `action` and `url` are empty for a reader who may not do it."""

    reason: str
    action: str = ""
    url: str = ""


def next_step(
    dataset: Dataset, counts: Overview, summary: DatasetSummary, role: Role | None
) -> NextStep:
    """Return the next step for a reader with this role in the dataset's project.

    Texts come first, then grades, people's grades, decisions, a second grader and a judge.
    """
    if not counts.texts:
        return _import_step(dataset, role)
    if not counts.fills:
        return _first_grades_step(dataset, summary, role)
    if not counts.n_people:
        reason = "Only judges have graded. Grades by people show how far to trust them."
        if counts.has_rated_reports:
            return NextStep(reason, "Label next", reverse("label_next", args=[dataset.slug]))
        return _campaign_step(dataset, role, reason)
    if counts.n_people == 1 and not counts.n_judges:
        reason = "One person has graded. Agreement needs a second one, or a judge."
        return _campaign_step(dataset, role, reason)
    if summary.disagreements.n_undecided:
        return _disagreements_step(dataset, summary)
    if not counts.n_judges:
        reason = "Only people have graded. A judge can grade the same pairs."
        if role == Role.OWNER:
            return NextStep(reason, "New judge run", _of_dataset("judge_run_new", dataset))
        return NextStep(reason, "Judge runs", _of_dataset("judge_runs", dataset))
    reason = "People and judges have graded, and no disagreement waits for a decision."
    return NextStep(reason, "Compare them", reverse("agreement", args=[dataset.slug]))


def _import_step(dataset: Dataset, role: Role | None) -> NextStep:
    reason = "The dataset has no texts."
    if role == Role.OWNER:
        query = {"project": dataset.project.slug, "dataset": dataset.slug}
        return NextStep(reason, "Import", f"{reverse('import')}?{urlencode(query)}")
    return NextStep(f"{reason} An owner of the project can import them.")


def _first_grades_step(dataset: Dataset, summary: DatasetSummary, role: Role | None) -> NextStep:
    reason = "Nobody has graded a text yet. The first grades are on their way."
    if summary.campaigns:
        return NextStep(reason, "Open campaign", summary.campaigns[0].get_absolute_url())
    if summary.runs:
        return NextStep(reason, "Open judge run", summary.runs[0].get_absolute_url())
    return _campaign_step(dataset, role, "Nobody has graded a text yet.")


def _campaign_step(dataset: Dataset, role: Role | None, reason: str) -> NextStep:
    if role and role.includes(Role.COORDINATOR):
        return NextStep(reason, "New campaign", _of_dataset("campaign_new", dataset))
    return NextStep(f"{reason} A coordinator of the project can create a campaign.")


def _disagreements_step(dataset: Dataset, summary: DatasetSummary) -> NextStep:
    n, n_undecided = summary.disagreements.n, summary.disagreements.n_undecided
    if n == n_undecided:
        reason = f"People differ on {n_of(n, 'pair', ',')}, and nobody has decided."
    else:
        verb = "has" if n_undecided == 1 else "have"
        reason = f"People differ on {n_of(n, 'pair', ',')}: {n_undecided:,} {verb} no decision."
    assert summary.selection is not None
    query = summary.selection.query(kind="differ")
    url = f"{reverse('pairs', args=[dataset.slug])}?{query}"
    return NextStep(reason, "Read disagreements", url)


def _of_dataset(url_name: str, dataset: Dataset) -> str:
    return f"{reverse(url_name)}?{urlencode({'dataset': dataset.slug})}"
