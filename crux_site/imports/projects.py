"""Importing a whole project, as crux_site.exports.projects writes it: all of its datasets or nothing."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from django.db import transaction
from pydantic import Field, ValidationError

from annotation.formats.layout import inner
from annotation.formats.records import Row, Something, Words
from annotation.formats.summary import ImportFailed, ImportSummary, Problem
from annotation.formats.target import Progress
from annotation.models import Dataset, Project, User
from annotation.models.rubric import forget_grades
from crux_site.exports.projects import FORMAT, PROJECT_FILE
from crux_site.imports.importing import import_dataset
from crux_site.sqlite.copies import in_a_copy

Slug = Annotated[Words, Field(pattern=r"^[-a-zA-Z0-9_]{1,80}$")]
Title = Annotated[Something, Field(max_length=200)]


class TitledRow(Row):
    slug: Slug
    title: Title


class DatasetRow(TitledRow):
    """A dataset, and how many files its folder has: none for one that is empty."""

    files: Annotated[int, Field(ge=0)]


class ProjectRow(Row):
    """project.json: the project, and its datasets, each in a folder of its slug."""

    format: Annotated[int, Field(ge=1, le=FORMAT)]
    project: TitledRow
    datasets: Annotated[list[DatasetRow], Field(min_length=1)]


def import_project(
    path: Path,
    *,
    slug: str = "",
    by: User | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> dict[str, ImportSummary]:
    """Read an exported project, an archive or its folder; the summaries by dataset.

    The project is created if it is new; `slug` gives it another name here. Datasets keep their names, and
    what is there already stays, as for import_dataset. `by` becomes an owner of a new project.

    Raises ImportFailed, and changes nothing, if anything in it is wrong.
    """
    with _folder(path) as folder, in_a_copy() if dry_run else nullcontext(), transaction.atomic():
        about = _about(folder)
        project = _project(slug or about.project.slug, about.project.title, by)
        summaries = {}
        for dataset in about.datasets:
            if not dataset.files:
                made = {"title": dataset.title, "project": project}
                Dataset.objects.get_or_create(slug=dataset.slug, defaults=made)
                continue
            try:
                summaries[dataset.slug] = import_dataset(
                    folder / dataset.slug,
                    dataset.slug,
                    title=dataset.title,
                    project=project,
                    by=by,
                    progress=progress,
                )
            except ImportFailed as failed:
                raise _within(dataset.slug, failed) from failed
            finally:
                if dry_run:
                    forget_grades()
        if dry_run:
            transaction.set_rollback(True)
    return summaries


def _project(slug: str, title: str, by: User | None) -> Project:
    project, created = Project.objects.get_or_create(slug=slug, defaults={"title": title})
    if created and by is not None:
        project.memberships.create(user=by, role="owner")
    return project


@contextmanager
def _folder(path: Path) -> Iterator[Path]:
    """The folder of project.json, unpacked if it is an archive."""
    if path.is_dir():
        yield inner(path)
        return
    with TemporaryDirectory() as place:
        try:
            with zipfile.ZipFile(path) as archive:
                archive.extractall(place)
        except (zipfile.BadZipFile, OSError, EOFError) as error:
            raise _failed("", f"{path.name} is no archive that can be read: {error}") from error
        yield inner(Path(place))


def _about(folder: Path) -> ProjectRow:
    """project.json. Raises ImportFailed for what is wrong with it, and for missing files."""
    try:
        about = ProjectRow.model_validate_json((folder / PROJECT_FILE).read_bytes())
    except FileNotFoundError as error:
        raise _failed("", "is missing: this is no exported project") from error
    except OSError as error:
        raise _failed("", f"cannot be read: {error.strerror}") from error
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in wrong["loc"])
        raise _failed(field, wrong["msg"]) from error
    for number, dataset in enumerate(about.datasets):
        n = sum(path.is_file() for path in (folder / dataset.slug).rglob("*"))
        if n != dataset.files:
            message = f"{dataset.slug} has {n} files, not {dataset.files}: the export is not whole"
            raise _failed(f"datasets.{number}.files", message)
    return about


def _failed(field: str, message: str) -> ImportFailed:
    return ImportFailed([Problem(PROJECT_FILE, 0, field, message)])


def _within(folder: str, failed: ImportFailed) -> ImportFailed:
    """The problems with the folder in front of their files."""
    return ImportFailed(
        [replace(problem, file=f"{folder}/{problem.file}") for problem in failed.problems]
    )
