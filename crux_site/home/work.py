"""Work in the datasets of a reader: what to review, what runs, and what finished lately.

The number of queries does not depend on the number of datasets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from annotation.models import (
    Assignment,
    Campaign,
    Dataset,
    Item,
    LogEntry,
    Message,
    ProjectEntry,
    Rubric,
    User,
)
from annotation.models.projects import visibility_filter
from annotation.plurals import n_of
from crux_site.datasets.disagreements import disagreements
from evaluation.data.cache_keys import CacheKey
from evaluation.data.process_cache import SHARED_CACHE
from judging.engine.progress import by_run
from judging.models import Attempt, JudgeRun

LATELY = timedelta(days=7)
FAILURES_SINCE = RECONCILE_SINCE = timedelta(days=30)
FINISHED_STATES = (JudgeRun.State.FINISHED, JudgeRun.State.STOPPED, JudgeRun.State.CANCELLED)
IMPORTS = ("imported", "replaced")  # actions of the log


@dataclass(frozen=True)
class WorkItem:
    """Link to work of one dataset; `done` of `total` is its progress, if it has one."""

    title: str
    url: str
    dataset: str
    detail: str = ""
    at: datetime | None = None
    done: int = 0
    total: int | None = None


def to_review(user: User) -> list[WorkItem]:
    """Return messages to answer, pairs to decide, failed replies, campaigns to reconcile."""
    return [
        *_unread_messages(user),
        *_undecided(user),
        *_failed_replies(user),
        *_to_reconcile(user),
    ]


def running(user: User) -> list[WorkItem]:
    """Return open campaigns and open judge runs, with their progress."""
    return [*_open_campaigns(user), *_open_runs(user)]


def finished(user: User) -> list[WorkItem]:
    """Return the judge runs, campaigns and imports of the last days, newest first."""
    since = timezone.now() - LATELY
    items = [*_ended_runs(user, since), *_closed_campaigns(user, since), *_imports(user, since)]
    return sorted(items, key=lambda item: item.at or since, reverse=True)


def _unread_messages(user: User) -> list[WorkItem]:
    """Return the campaigns with unread messages of people, which coordinators answer."""
    unread = Message.objects.unread().filter(campaign__dataset__in=Dataset.objects.run_by(user))
    counts = dict(unread.order_by().values_list("campaign").annotate(Count("pk")))
    campaigns = Campaign.objects.filter(pk__in=counts).select_related("dataset").order_by("pk")
    return [
        WorkItem(
            f"{n_of(counts[campaign.pk], 'unread message')} from people",
            reverse("campaign_messages", args=[campaign.slug]),
            campaign.dataset.title,
            campaign.title,
        )
        for campaign in campaigns
    ]


def _undecided(user: User) -> list[WorkItem]:
    reader = None if user.is_admin else user.pk
    by_group = SHARED_CACHE.until_db_write(
        (CacheKey.DISAGREEMENTS_OF_READER, reader),
        lambda: disagreements(Dataset.objects.visible_to(user)),
    )
    undecided = {group: row.n_undecided for group, row in by_group.items() if row.n_undecided}
    datasets = Dataset.objects.in_bulk({dataset for dataset, _ in undecided})
    rubrics = Rubric.objects.in_bulk({rubric for _, rubric in undecided})
    items = []
    for (dataset_pk, rubric_pk), n in sorted(undecided.items(), key=lambda row: -row[1]):
        dataset, rubric = datasets[dataset_pk], rubrics[rubric_pk]
        query = urlencode({"kind": "differ", "rubric": rubric.slug})
        items.append(
            WorkItem(
                f"{n_of(n, 'pair', ',')} without a decision",
                f"{reverse('pairs', args=[dataset.slug])}?{query}",
                dataset.title,
                f"People differ, and nobody has decided. {rubric.title}",
            )
        )
    return items


def _failed_replies(user: User) -> list[WorkItem]:
    since = timezone.now() - FAILURES_SINCE
    runs = _runs(user).filter(ended__gte=since)
    failed = (
        Attempt.objects.filter(counts=True, batch__run__in=runs.values("pk"))
        .exclude(state="graded")
        .order_by()
        .values_list("batch__run")
        .annotate(n=Count("pk"))
    )
    n_failed = dict(failed)
    return [
        WorkItem(
            f"{n_failed[run.pk]:,} {'reply' if n_failed[run.pk] == 1 else 'replies'} without a grade",
            run.get_absolute_url(),
            run.dataset.title,
            f"Judge {run.judge.rater.name}. Retry them, or read why.",
        )
        for run in runs.filter(pk__in=n_failed)
    ]


def _to_reconcile(user: User) -> list[WorkItem]:
    closed = LogEntry.objects.filter(
        campaign=OuterRef("pk"), action="closed", at__gte=timezone.now() - RECONCILE_SINCE
    )
    campaigns = Campaign.objects.filter(
        state=Campaign.State.CLOSED,
        platform=Campaign.Platform.PROLIFIC,
        dataset__in=Dataset.objects.run_by(user),
        pk__in=Subquery(closed.values("campaign")[:1]),
    ).select_related("dataset")
    return [
        WorkItem(
            f"Reconcile {campaign.title}",
            reverse("campaign_reconcile", args=[campaign.slug]),
            campaign.dataset.title,
            "Compare its parts with the submissions on Prolific before you pay.",
        )
        for campaign in campaigns
    ]


def _open_campaigns(user: User) -> list[WorkItem]:
    study_items = Item.objects.filter(campaign=OuterRef("pk"), purpose=Item.Purpose.STUDY)
    submitted = Assignment.objects.filter(
        item__campaign=OuterRef("pk"),
        item__purpose=Item.Purpose.STUDY,
        state=Assignment.State.SUBMITTED,
        slot__isnull=False,
    )
    campaigns = (
        Campaign.objects.visible_to(user)
        .filter(state=Campaign.State.OPEN)
        .select_related("dataset")
        .annotate(
            n_items=_number_of(study_items, "campaign"),
            n_submitted=_number_of(submitted, "item__campaign"),
        )
    )
    return [
        WorkItem(
            campaign.title,
            campaign.get_absolute_url(),
            campaign.dataset.title,
            "places submitted",
            done=campaign.n_submitted,
            total=campaign.n_items * campaign.raters_per_item,
        )
        for campaign in campaigns
    ]


def _number_of(rows: QuerySet[Item] | QuerySet[Assignment], group: str) -> Coalesce:
    counted = rows.order_by().values(group).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def _open_runs(user: User) -> list[WorkItem]:
    runs = list(_runs(user).filter(state__in=JudgeRun.OPEN))
    tallies = by_run(runs)
    return [
        WorkItem(
            _title(run),
            run.get_absolute_url(),
            run.dataset.title,
            f"pairs, {run.get_state_display()}",
            done=tallies[run.pk].n_replies if run.pk in tallies else 0,
            total=run.n_planned,
        )
        for run in runs
    ]


def _title(run: JudgeRun) -> str:
    return f"{'Test' if run.test else 'Judge run'} of {run.judge.rater.name}"


def _ended_runs(user: User, since: datetime) -> list[WorkItem]:
    runs = list(_runs(user).filter(state__in=FINISHED_STATES, ended__gte=since))
    tallies = by_run(runs)
    items = []
    for run in runs:
        tally = tallies.get(run.pk)
        n = tally.n_graded if tally else 0
        detail = f"{run.get_state_display()}; {n_of(n, 'pair', ',')} graded"
        if tally and tally.n_failed:
            detail += f", {tally.n_failed:,} without a grade"
        title, url = _title(run), run.get_absolute_url()
        items.append(WorkItem(title, url, run.dataset.title, detail, run.ended))
    return items


def _closed_campaigns(user: User, since: datetime) -> list[WorkItem]:
    entries = LogEntry.objects.filter(
        visibility_filter("campaign__dataset", user),
        action="closed",
        at__gte=since,
        campaign__state=Campaign.State.CLOSED,
    ).select_related("campaign__dataset")
    newest = {entry.campaign_id: entry for entry in entries.order_by("pk")}
    return [
        WorkItem(
            entry.campaign.title,
            entry.campaign.get_absolute_url(),
            entry.campaign.dataset.title,
            "campaign closed",
            entry.at,
        )
        for entry in newest.values()
    ]


def _imports(user: User, since: datetime) -> list[WorkItem]:
    entries: Iterable[ProjectEntry] = ProjectEntry.objects.filter(
        Q(dataset__isnull=False),
        visibility_filter("dataset", user),
        action__in=IMPORTS,
        at__gte=since,
    ).select_related("dataset")
    return [
        WorkItem(
            "Import",
            reverse("history", args=[entry.dataset.slug]),
            entry.dataset.title,
            entry.detail,
            entry.at,
        )
        for entry in entries
        if entry.dataset
    ]


def _runs(user: User) -> QuerySet[JudgeRun]:
    return JudgeRun.objects.visible_to(user).select_related("judge__rater", "dataset")
