"""History of a dataset: acts on its data, campaigns, judging and generation runs, samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from annotation.models import Campaign, Dataset, LogEntry, User
from building.models import Writing
from crux_site.history.import_undo import import_noun
from evaluation.models import LabelSample
from judging.models import JudgeRun

# Of a campaign's log what changes its state; the rest is on the campaign's own pages.
STATES = ("opened", "opened again", "paused", "closed")


@dataclass(frozen=True)
class Event:
    """Event of the history; `undoes` is the log entry of an import that can still be undone.

    `noun` calls it an import or an addition.
    """

    at: datetime
    by: User | None
    action: str
    detail: str = ""
    url: str = ""
    undoes: int | None = None
    noun: str = ""


def events(dataset: Dataset, limit: int | None = None) -> list[Event]:
    """Return the events of a dataset, newest first: all of them, or so many."""
    judge_runs = JudgeRun.objects.filter(dataset=dataset).select_related(
        "created_by", "judge__rater"
    )
    writings = Writing.objects.filter(dataset=dataset).select_related("created_by", "writer")
    unsorted = [
        *_acts(dataset, limit),
        *_campaigns(dataset, limit),
        *_runs(judge_runs.order_by("-created")[:limit]),
        *_runs(writings.order_by("-created")[:limit]),
        *_samples(dataset, limit),
        *_sequences(dataset, limit),
        *_certificates(dataset, limit),
    ]
    return sorted(unsorted, key=lambda event: event.at, reverse=True)[:limit]


def _acts(dataset: Dataset, limit: int | None) -> Iterator[Event]:
    for entry in dataset.log.select_related("by", "undone_by").order_by("-at", "-pk")[:limit]:
        can_be_undone = bool(entry.rows) and not hasattr(entry, "undone_by")
        detail = entry.detail + ("; undone since" if entry.rows and not can_be_undone else "")
        undoes = entry.pk if can_be_undone else None
        noun = import_noun(entry)
        yield Event(entry.at, entry.by, entry.action, detail, undoes=undoes, noun=noun)


def _campaigns(dataset: Dataset, limit: int | None) -> Iterator[Event]:
    campaigns = dataset.campaigns.select_related("created_by").order_by("-created")
    for campaign in campaigns[:limit]:
        url = _url(campaign)
        yield Event(
            campaign.created, campaign.created_by, "created a campaign", campaign.title, url
        )
    entries = LogEntry.objects.filter(campaign__dataset=dataset, action__in=STATES)
    for entry in entries.select_related("by", "campaign").order_by("-at")[:limit]:
        action = f"{entry.action} a campaign"
        yield Event(entry.at, entry.by, action, entry.campaign.title, _url(entry.campaign))


def _url(campaign: Campaign) -> str:
    return "" if campaign.is_draft else campaign.get_absolute_url()


def _runs(runs: Iterable[JudgeRun | Writing]) -> Iterator[Event]:
    for run in runs:
        model = run.judge.title if isinstance(run, JudgeRun) else run.writer.title
        detail = f"{run.display_name}, {model}: {run.get_state_display()}"
        url = run.get_absolute_url()
        yield Event(run.created, run.created_by, f"created a {run.KIND.lower()}", detail, url)


def _samples(dataset: Dataset, limit: int | None) -> Iterator[Event]:
    samples = LabelSample.objects.filter(dataset=dataset).select_related("made_by")
    for sample in samples.order_by("-made")[:limit]:
        yield Event(sample.made, sample.made_by, "drew a sample for Label next", str(sample))


def _sequences(dataset: Dataset, limit: int | None) -> Iterator[Event]:
    sequences = dataset.label_sequences.defer("units").select_related("created_by", "dataset")
    for sequence in sequences.order_by("-created")[:limit]:
        url = sequence.get_absolute_url()
        action = "started a label sequence"
        yield Event(sequence.created, sequence.created_by, action, sequence.question, url)


def _certificates(dataset: Dataset, limit: int | None) -> Iterator[Event]:
    certificates = dataset.certificates.select_related(
        "created_by", "judge", "rubric", "dataset"
    ).order_by("-created")
    for certificate in certificates[:limit]:
        outcome = "passed" if certificate.is_certified else "not passed"
        detail = f"{certificate.judge.name} under {certificate.rubric.title}: {outcome}"
        url = certificate.get_absolute_url()
        yield Event(certificate.created, certificate.created_by, "tested a judge", detail, url)
