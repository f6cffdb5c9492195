"""Taking an import back: the rows that it alone made, and the entry of the log that says so."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from annotation.models import Dataset, Project, ProjectEntry, User
from building.models import Writing
from crux_site.removal import BROUGHT, Going, Removal, Standing, made_within
from judging.engine.background import GOING
from judging.models import JudgeRun


def undoing(entry: ProjectEntry, dataset: Dataset) -> Going:
    """How it stands now. Nothing is changed."""
    keys = entry.rows
    before = {model: keys.get(model._meta.label_lower, [1])[0] - 1 for model in BROUGHT}
    removal = Removal(made_within(dataset, keys), before)
    later = _later(entry, dataset)
    makers = [(called(each), made_within(dataset, each.rows)) for each in later]
    reasons = at_work(dataset) + removal.standing(makers) + _filled(later) + _reworded(entry)
    return Going(removal, removal.counts(), reasons)


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
        found = undoing(entry, dataset)
        if not found.reasons:
            found.removal.delete()
            detail = f"of {called(entry)}: {found}"
            project = Project.objects.get(datasets=dataset)
            ProjectEntry.record(project, by, "undid the import", detail, dataset, undoes=entry)
    return found


def called(entry: ProjectEntry) -> str:
    """How people tell an import from others."""
    return f"{timezone.localtime(entry.at):%-d %B %Y, %H:%M}"


def _later(entry: ProjectEntry, dataset: Dataset) -> list[ProjectEntry]:
    imports = dataset.log.filter(pk__gt=entry.pk, undone_by=None).exclude(rows={})
    return list(imports.order_by("pk"))


def _reworded(entry: ProjectEntry) -> list[Standing]:
    """Spans that lost their places, and what was rated since, make that no way back."""
    n = entry.rows.get("reworded", 0)
    what = "versions that it made. They stay: give old words again on the pages of the words"
    return [Standing("This import", n, what)] if n else []


def _filled(later: list[ProjectEntry]) -> list[Standing]:
    """What later imports put into rows that were there: which rows is not known, and it would go with them."""
    what = "rows that it filled, perhaps of this one: undo it first"
    return [
        Standing(f"The import of {called(entry)}", n, what)
        for entry in later
        if (n := entry.rows.get("filled", 0))
    ]
