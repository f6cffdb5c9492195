"""Undo of an import: delete the rows that it alone created, and log the undo."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.errors import UserError
from annotation.models import (
    Dataset,
    Project,
    ProjectEntry,
    Rating,
    SubQuestion,
    Topic,
    User,
    Version,
)
from building.models import Writing
from crux_site.history.origins import LABEL, count_added, remove_added
from crux_site.removal import (
    IMPORTED_TABLES,
    Blocker,
    Removal,
    RemovalPreview,
    had_citations_within,
    rows_of_import,
    set_aside_within,
)
from crux_site.versions.restore_blockers import dependent_rows, duplicate_wordings
from crux_site.versions.text_edits import undo_text_edit
from judging.execution.background import ACTIVE_STATES
from judging.models import JudgeRun


class ImportUndoneError(UserError):
    """Somebody else has undone the import."""


ADDED = "added"  # action of an import that a form made
SET_ASIDE = "superseded grades of earlier versions"


def undo_preview(entry: ProjectEntry, dataset: Dataset) -> RemovalPreview:
    """Return the rows that undoing would delete, or the reasons that block it.

    Nothing is changed.
    """
    keys = entry.rows
    before = {model: keys.get(model._meta.label_lower, [1])[0] - 1 for model in IMPORTED_TABLES}
    rows = rows_of_import(dataset, keys)
    removal = Removal(rows, before)
    later = _later_imports(entry, dataset)
    makers = [
        (import_label(later_import), rows_of_import(dataset, later_import.rows))
        for later_import in later
    ]
    reasons = running_work(dataset) + removal.blockers(makers) + _filling_imports(later)
    edits = rows[Version].filter(author=None)  # others came in the files, and only go
    reasons += _later_questions(rows[SubQuestion], rows[Topic])
    reasons += dependent_rows(edits, rows[Rating]) + duplicate_wordings(edits, rows[SubQuestion])
    n_set_aside = sum(n for _version, n in set_aside_within(dataset, keys))
    extra_counts = {SET_ASIDE: n_set_aside, LABEL: count_added(keys, dataset)}
    extra_counts = {label: n for label, n in extra_counts.items() if n}
    return RemovalPreview(removal, removal.counts() | extra_counts, reasons)


def running_work(dataset: Dataset) -> list[Blocker]:
    """Return the judging and generation runs at work on a dataset, which block a removal."""
    runs: list[JudgeRun | Writing] = [
        *JudgeRun.objects.filter(dataset=dataset, state__in=ACTIVE_STATES),
        *Writing.objects.filter(dataset=dataset, state__in=ACTIVE_STATES),
    ]
    return [
        Blocker(
            run.display_name,
            run.parts.exclude(state="done").count(),
            "open parts: end the run first",
        )
        for run in runs
    ]


def undo(
    entry: ProjectEntry, dataset: Dataset, by: User, known_version: str = ""
) -> RemovalPreview:
    """Undo the import unless a reason blocks it. Imports wait for it, as for each other.

    `known_version` is of the preview that the person confirmed. Raises IntegrityError where somebody
    has just built on what it made, ImportUndoneError, and RemovalChangedError.
    """
    with transaction.atomic():
        Dataset.objects.lock(dataset.pk)
        if ProjectEntry.objects.filter(undoes=entry).exists():
            raise ImportUndoneError("This import is already undone.")
        list(dataset.campaigns.select_for_update())  # or one could open with words that go
        pending = undo_preview(entry, dataset)
        if not pending.reasons:
            pending.check_version(known_version)
            _drop_from_history(entry, dataset)
            remove_added(entry.rows, dataset)
            versions = list(pending.removal.rows[Version].filter(author=None).order_by("-pk"))
            pending.removal.delete()
            for version in versions:
                undo_text_edit(version)
            detail = f"of {import_label(entry)}: {pending}"
            project = Project.objects.get(datasets=dataset)
            ProjectEntry.record(
                project, by, f"undid the {import_noun(entry)}", detail, dataset, undoes=entry
            )
    return pending


def _drop_from_history(entry: ProjectEntry, dataset: Dataset) -> None:
    """Drop the import's grades and citations from the text history: none is restored later."""
    for version, _n in set_aside_within(dataset, entry.rows):
        version.save(update_fields=["set_aside"])
    for version in had_citations_within(dataset, entry.rows):
        version.save(update_fields=["had"])


def import_label(entry: ProjectEntry) -> str:
    """Return the label of an import, its date and time."""
    return f"{timezone.localtime(entry.at):%-d %B %Y, %H:%M}"


def import_noun(entry: ProjectEntry) -> str:
    """Return the noun for an import on pages: one by a form is an addition."""
    return "addition" if entry.action == ADDED else "import"


def _later_questions(questions: QuerySet[SubQuestion], topics: QuerySet[Topic]) -> list[Blocker]:
    """Return blockers for questions that come after removed ones of a topic that remains.

    The place of a question is an index into the grades of files: it has no gap.
    """
    before = questions.filter(topic=OuterRef("topic"), position__lt=OuterRef("position"))
    later = SubQuestion.objects.filter(Exists(before)).exclude(pk__in=questions.values("pk"))
    later = later.exclude(topic__in=topics.values("pk"))
    counts = later.order_by().values_list("topic__name").annotate(n=Count("pk"))
    return [
        Blocker(f"Topic {name}", n, "later sub-questions: undo what added them first")
        for name, n in sorted(counts)
    ]


def _later_imports(entry: ProjectEntry, dataset: Dataset) -> list[ProjectEntry]:
    imports = dataset.log.filter(pk__gt=entry.pk, undone_by=None).exclude(rows={})
    return list(imports.order_by("pk"))


def _filling_imports(later: list[ProjectEntry]) -> list[Blocker]:
    """Return later imports that filled rows that existed, which block an undo.

    The rows are not recorded: some may be of this import, and their content would be lost.
    """
    blocker = "rows that it filled, perhaps of this import: undo that import first"
    return [
        Blocker(f"The import of {import_label(entry)}", n, blocker)
        for entry in later
        if (n := entry.rows.get("filled", 0))
    ]
