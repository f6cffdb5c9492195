"""Import of an exported project (crux_site.exports.projects): all datasets or nothing."""

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
from annotation.formats.records import NonEmptyText, Row, StoredText
from annotation.formats.summary import DatasetImportError, ImportSummary, Problem
from annotation.formats.target import Progress
from annotation.models import Dataset, Project, User
from annotation.models.rubric import forget_grades
from annotation.plurals import n_of
from crux_site.exports.projects import FORMAT, PROJECT_FILE
from crux_site.imports.importing import import_dataset
from crux_site.sqlite.copies import on_database_copy

Slug = Annotated[StoredText, Field(pattern=r"^[-a-zA-Z0-9_]{1,80}$")]
Title = Annotated[NonEmptyText, Field(max_length=200)]


class TitledRow(Row):
    slug: Slug
    title: Title


class DatasetRow(TitledRow):
    """Dataset with the number of files in its folder: none for an empty dataset."""

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
    """Read an exported project, an archive or its folder; return the summaries by dataset.

    The project is created if it is new; `slug` gives it another name here. Datasets keep their names, and
    what is there already stays, as for import_dataset. `by` becomes an owner of a new project.

    Raises DatasetImportError, and changes nothing, if anything in it is wrong.
    """
    with (
        _folder(path) as folder,
        on_database_copy() if dry_run else nullcontext(),
        transaction.atomic(),
    ):
        about = _about(folder)
        project = _project(slug or about.project.slug, about.project.title, by)
        summaries = {}
        for dataset in about.datasets:
            if not dataset.files:
                defaults = {"title": dataset.title, "project": project}
                Dataset.objects.get_or_create(slug=dataset.slug, defaults=defaults)
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
            except DatasetImportError as failed:
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
    """Yield the folder of project.json, unpacked if it is an archive."""
    if path.is_dir():
        yield inner(path)
        return
    with TemporaryDirectory() as folder:
        try:
            with zipfile.ZipFile(path) as archive:
                archive.extractall(folder)
        except FileNotFoundError as error:
            raise DatasetImportError(
                [Problem(str(path), 0, "", "there is no such file")]
            ) from error
        except (zipfile.BadZipFile, OSError, EOFError) as error:
            raise _failed("", f"{path.name} is no archive that can be read: {error}") from error
        yield inner(Path(folder))


def _about(folder: Path) -> ProjectRow:
    """Read project.json. Raises DatasetImportError for errors in it, and for missing files."""
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
            message = f"{dataset.slug} has {n_of(n, 'file')}, not {dataset.files}: the export is not whole"
            raise _failed(f"datasets.{number}.files", message)
    return about


def _failed(field: str, message: str) -> DatasetImportError:
    return DatasetImportError([Problem(PROJECT_FILE, 0, field, message)])


def _within(folder: str, failed: DatasetImportError) -> DatasetImportError:
    """Prefix the files of the problems with the folder."""
    return DatasetImportError(
        [replace(problem, file=f"{folder}/{problem.file}") for problem in failed.problems]
    )
