"""Taking an import back: the rows that it alone made, and the entry of the log that says so."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.models import (
    Answer,
    Campaign,
    Dataset,
    Item,
    Project,
    ProjectEntry,
    Rating,
    SubQuestion,
    User,
    Version,
)
from building.models import Writing
from crux_site.removal import (
    BROUGHT,
    Going,
    Removal,
    Standing,
    had_citations_within,
    made_within,
    set_aside_within,
)
from crux_site.versions.changing import take_back
from judging.engine.background import GOING
from judging.models import JudgeRun

SET_ASIDE = "grades that are set aside with earlier words"


def undoing(entry: ProjectEntry, dataset: Dataset) -> Going:
    """How it stands now. Nothing is changed."""
    keys = entry.rows
    before = {model: keys.get(model._meta.label_lower, [1])[0] - 1 for model in BROUGHT}
    rows = made_within(dataset, keys)
    removal = Removal(rows, before)
    later = _later(entry, dataset)
    makers = [(called(each), made_within(dataset, each.rows)) for each in later]
    reasons = at_work(dataset) + removal.standing(makers) + _filled(later)
    reasons += _needed(rows[Version], rows[Rating]) + _taken(rows[Version], rows[SubQuestion])
    n_set_aside = sum(n for _version, n in set_aside_within(dataset, keys))
    set_aside = {SET_ASIDE: n_set_aside} if n_set_aside else {}
    return Going(removal, removal.counts() | set_aside, reasons)


def at_work(dataset: Dataset) -> list[Standing]:
    """Models that are at work for a dataset: they have its rows in hand."""
    runs: list[JudgeRun | Writing] = [
        *JudgeRun.objects.filter(dataset=dataset, state__in=GOING),
        *Writing.objects.filter(dataset=dataset, state__in=GOING),
    ]
    return [
        Standing(run.called, run.parts.exclude(state="done").count(), "parts to do: end it first")
        for run in runs
    ]


def undo(entry: ProjectEntry, dataset: Dataset, by: User) -> Going:
    """Take it back, unless there are reasons. Imports wait for it, as for each other.

    Raises IntegrityError where somebody has just built on what it made.
    """
    with transaction.atomic():
        Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
        list(dataset.campaigns.select_for_update())  # or one could open with words that go
        found = undoing(entry, dataset)
        if not found.reasons:
            _forget(entry, dataset)
            versions = list(found.removal.rows[Version].order_by("-pk"))
            found.removal.delete()
            for version in versions:
                take_back(version)
            detail = f"of {called(entry)}: {found}"
            project = Project.objects.get(datasets=dataset)
            ProjectEntry.record(project, by, "undid the import", detail, dataset, undoes=entry)
    return found


def _forget(entry: ProjectEntry, dataset: Dataset) -> None:
    """Let nothing that it brought come back with earlier words."""
    for version, _n in set_aside_within(dataset, entry.rows):
        version.save(update_fields=["set_aside"])
    for version in had_citations_within(dataset, entry.rows):
        version.save(update_fields=["had"])


def called(entry: ProjectEntry) -> str:
    """How people tell an import from others."""
    return f"{timezone.localtime(entry.at):%-d %B %Y, %H:%M}"


def _later(entry: ProjectEntry, dataset: Dataset) -> list[ProjectEntry]:
    imports = dataset.log.filter(pk__gt=entry.pk, undone_by=None).exclude(rows={})
    return list(imports.order_by("pk"))


def _needed(versions: QuerySet[Version], brought: QuerySet[Rating]) -> list[Standing]:
    """Who needs the words that took the place of these versions; `brought` are ratings that go as well."""
    since = Version.objects.filter(
        Q(text=OuterRef("text")) | Q(question=OuterRef("question")), number__gt=OuterRef("number")
    )
    found = [
        Standing(
            "Words", versions.filter(Exists(since)).count(), "that are other ones again since"
        ),
        Standing("Words", versions.filter(had={}).count(), "from before they could be given back"),
    ]
    for thing in ("text", "question"):
        rated = Rating.objects.filter(
            **{f"{thing}__versions__in": versions},
            created__gt=F(f"{thing}__versions__replaced"),
        ).exclude(pk__in=brought.values("pk"))
        for rater, n in (
            rated.order_by("rater__name").values_list("rater__name").annotate(Count("pk"))
        ):
            found.append(Standing(f"Rater {rater}", n, f"grades of new words of a {thing}"))
        found += _said(versions, thing)
    shown = Q(items__text__versions__in=versions) | Q(items__asked__question__versions__in=versions)
    going_on = Campaign.objects.exclude(state=Campaign.State.CLOSED).filter(shown)
    for campaign, n in (
        going_on.order_by("pk").values_list("title").annotate(Count("items", distinct=True))
    ):
        found.append(
            Standing(f"Campaign {campaign}", n, "items with new words: close or discard it first")
        )
    return [standing for standing in found if standing.n]


def _taken(versions: QuerySet[Version], brought: QuerySet[SubQuestion]) -> list[Standing]:
    """Words that another question of the topic has got since; `brought` are questions that go as well."""
    others = SubQuestion.objects.filter(topic=OuterRef("question__topic"), body=OuterRef("body"))
    others = others.exclude(pk__in=brought.values("pk")).exclude(versions__in=versions)
    n = versions.exclude(body="").filter(Exists(others)).count()
    return [Standing("Words", n, "that another question has by now")] if n else []


def _said(versions: QuerySet[Version], thing: str) -> list[Standing]:
    """What people answered to the new words, by campaign: also what took a grade back, and left no rating."""
    path = "assignment__item__text" if thing == "text" else "question"
    since = Answer.objects.filter(
        **{f"{path}__versions__in": versions},
        created__gt=F(f"{path}__versions__replaced"),
        late=Answer.Late.NO,
        question__isnull=False,
        assignment__item__campaign__is_pilot=False,
    ).exclude(assignment__item__purpose=Item.Purpose.TRAINING)
    by_campaign = since.order_by("assignment__item__campaign").values_list(
        "assignment__item__campaign", "assignment__item__campaign__title"
    )
    return [
        Standing(f"Campaign {title}", n, f"answers to new words of a {thing}")
        for _campaign, title, n in by_campaign.annotate(Count("pk"))
    ]


def _filled(later: list[ProjectEntry]) -> list[Standing]:
    """What later imports put into rows that were there: which rows is not known, and it would go with them."""
    what = "rows that it filled, perhaps of this one: undo it first"
    return [
        Standing(f"The import of {called(entry)}", n, what)
        for entry in later
        if (n := entry.rows.get("filled", 0))
    ]
