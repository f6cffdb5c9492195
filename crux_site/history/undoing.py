"""Taking an import back: the rows that it alone made, and the entry of the log that says so."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from annotation.models import (
    Dataset,
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
from crux_site.versions.needed import needed, taken
from judging.engine.background import GOING
from judging.models import JudgeRun


class AlreadyUndone(Exception):
    """Somebody else has undone the import."""


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
    reworded = rows[Version].filter(author=None)  # others came in the files, and only go
    reasons += needed(reworded, rows[Rating]) + taken(reworded, rows[SubQuestion])
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

    Raises IntegrityError where somebody has just built on what it made, and AlreadyUndone.
    """
    with transaction.atomic():
        Dataset.objects.lock(dataset.pk)
        if ProjectEntry.objects.filter(undoes=entry).exists():
            raise AlreadyUndone("This import is undone already.")
        list(dataset.campaigns.select_for_update())  # or one could open with words that go
        found = undoing(entry, dataset)
        if not found.reasons:
            _forget(entry, dataset)
            versions = list(found.removal.rows[Version].filter(author=None).order_by("-pk"))
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


def _filled(later: list[ProjectEntry]) -> list[Standing]:
    """What later imports put into rows that were there: which rows is not known, and it would go with them."""
    what = "rows that it filled, perhaps of this one: undo it first"
    return [
        Standing(f"The import of {called(entry)}", n, what)
        for entry in later
        if (n := entry.rows.get("filled", 0))
    ]
