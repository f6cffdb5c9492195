"""Taking an import back: the rows that it alone made, and the entry of the log that says so."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from annotation.models import Dataset, Project, ProjectEntry, User
from building.models import Writing
from crux_site.removal import BROUGHT, Going, Removal, Rows, Standing, made_within
from judging.engine.background import GOING
from judging.models import JudgeRun


def undoing(entry: ProjectEntry, dataset: Dataset) -> Going:
    """How it stands now. Nothing is changed."""
    keys = entry.rows
    before = {model: keys.get(model._meta.label_lower, [1])[0] - 1 for model in BROUGHT}
    removal = Removal(made_within(dataset, keys), before)
    reasons = at_work(dataset) + removal.standing(_later(entry, dataset))
    return Going(removal, removal.counts(), reasons)


def at_work(dataset: Dataset) -> list[Standing]:
    """Models that are at work for a dataset: they have its rows in hand."""
    kinds = ((JudgeRun, "Judge run"), (Writing, "Writing"))
    return [
        Standing(f"{called} {pk}", n, "parts at work: end it first")
        for kind, called in kinds
        for pk, n in kind._default_manager.filter(dataset=dataset, state__in=GOING).values_list(
            "pk", "workers"
        )
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


def _later(entry: ProjectEntry, dataset: Dataset) -> list[tuple[str, Rows]]:
    imports = dataset.log.filter(pk__gt=entry.pk, undone_by=None).exclude(rows={})
    return [(called(later), made_within(dataset, later.rows)) for later in imports.order_by("pk")]
