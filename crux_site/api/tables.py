"""Import of tables over the API: all of them or nothing, as `manage.py import_table` does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.bodies import StrictBody
from annotation.api.errors import Problem, RequestError, RequestTooLargeError
from annotation.api.views import DatasetEndpoint
from annotation.formats.summary import DatasetImportError
from annotation.formats.summary import Problem as ImportProblem
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.guess import guess_mapping
from annotation.formats.tables.mapping import MappingError, TableImport, read_mapping
from annotation.formats.tables.presets import PRESETS
from annotation.models import Project, Role
from crux_site.imports.tables import import_tables, stored_contents
from crux_site.imports.unpacking import UploadError, unpack
from crux_site.imports.uploads import table_files

MAX_MEGABYTES = 20  # the request waits for the import
MAX_FILES = 200
_NO_FIELD = "There is no field of this name."
_FILE_SENT = "Send it as a field, not as a file: curl -F 'mapping=<mapping.json'."


@extend_schema_field({"type": "string", "format": "binary"})
class TableFileField(serializers.FileField):
    """File of a form; in a schema of responses it would be a URL."""


class TablesBody(StrictBody):
    """Tables, as multipart form data."""

    files = serializers.ListField(
        child=TableFileField(allow_empty_file=True, max_length=250),
        min_length=1,
        max_length=MAX_FILES,
        help_text="CSV, TSV, XLSX, JSON, JSON lines, Parquet, or a .zip of them; "
        f"{MAX_MEGABYTES} MB in all.",
    )
    mapping = serializers.CharField(
        default="",
        allow_blank=True,
        error_messages={"invalid": _FILE_SENT},
        help_text="A mapping.json: the roles of the columns. Without mapping and preset they are "
        "guessed, and an open question refuses the request.",
    )
    preset = serializers.ChoiceField(
        choices=sorted(PRESETS), default="", allow_blank=True, help_text="The tool of the files."
    )
    constants = serializers.CharField(
        default="",
        allow_blank=True,
        error_messages={"invalid": _FILE_SENT.replace("mapping", "constants")},
        help_text='Values for all rows by role, as a JSON object: {"system": "bm25"}.',
    )
    dry_run = serializers.BooleanField(
        default=False, help_text="Whether to report what would change, and store nothing."
    )

    def to_internal_value(self, data: Any) -> Any:
        # Form data: a StrictBody reads one value of each field.
        if unknown := sorted({*data} - {*self.fields}):
            raise serializers.ValidationError({name: [_NO_FIELD] for name in unknown})
        return serializers.Serializer.to_internal_value(self, data)


class FileRow(serializers.Serializer):
    """Rows of a table, by what became of them."""

    name = serializers.CharField()
    read = serializers.IntegerField()
    created = serializers.IntegerField()
    filled = serializers.IntegerField(help_text="Were there without words, and have them now.")
    unchanged = serializers.IntegerField()
    conflicts = serializers.IntegerField()


class ImportRow(serializers.Serializer):
    """Summary of an import or a dry run, as `manage.py import_table --json` prints it."""

    dataset = serializers.CharField()
    dry_run = serializers.BooleanField()
    changed = serializers.BooleanField(help_text="False if everything was stored already.")
    files = FileRow(many=True)
    created = serializers.DictField(
        child=serializers.IntegerField(), help_text="New rows by their label."
    )
    mapped = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Values that were converted or not read, by the reason.",
    )
    totals = serializers.DictField(
        child=serializers.IntegerField(), help_text="Rows of the dataset by label, afterwards."
    )
    seconds = serializers.FloatField()


class Tables(DatasetEndpoint):
    tag = "Datasets"
    parser_classes = [MultiPartParser]

    @extend_schema(
        summary="Import tables",
        description="Owners of the project and admins. All rows or none, and the same rows again "
        "change nothing. The history of the dataset has the import, and can undo it. Each error "
        "names the file, the cell and the role (422).",
        request={"multipart/form-data": TablesBody},
        responses=ImportRow,
    )
    def post(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        if not self.dataset.project.allows(self.user, Role.OWNER):
            raise PermissionDenied("Only owners of the project may import into its datasets.")
        body = TablesBody(data=request.data)
        body.is_valid(raise_exception=True)
        with TemporaryDirectory() as folder:
            return Response(self._import(body.validated_data, Path(folder)))

    def _import(self, body: dict[str, Any], folder: Path) -> dict[str, Any]:
        constants = _constants(body["constants"])
        mapping = _mapping(body["mapping"], body["preset"])
        files = _unpacked(body["files"], folder)
        try:
            if mapping is None and not body["preset"]:
                mapping = _guessed(files, constants, self.dataset.project)
            imported = import_tables(
                files,
                self.dataset.slug,
                mapping=mapping,
                preset=body["preset"],
                constants=constants,
                project=self.dataset.project,
                by=self.user,
                dry_run=body["dry_run"],
            )
        except DatasetImportError as failed:
            raise RequestError(_problems(failed.problems)) from failed
        return imported.as_dict()


def _mapping(text: str, preset: str) -> TableImport | None:
    """Return the mapping of a request; None without one. Raises RequestError."""
    if not text:
        return None
    if preset:
        raise _refused("preset", "comes with a mapping: send one of them")
    try:
        return read_mapping(text)
    except MappingError as error:
        raise _refused("mapping", str(error)) from error


def _constants(text: str) -> dict[str, str]:
    try:
        constants = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise _refused("constants", f"is broken JSON: {error}") from error
    if not isinstance(constants, dict) or not all(
        isinstance(value, str) for value in constants.values()
    ):
        raise _refused("constants", "must be a JSON object with strings as values")
    return constants


def _unpacked(uploads: Sequence[UploadedFile], folder: Path) -> list[TableFile]:
    if sum(upload.size or 0 for upload in uploads) > MAX_MEGABYTES * 1_000_000:
        message = f"The files have more than {MAX_MEGABYTES} MB: import them in the browser."
        raise RequestTooLargeError(message)
    try:
        unpack(uploads, folder, megabytes=MAX_MEGABYTES)
    except UploadError as error:
        raise _refused("files", str(error)) from error
    return table_files(folder)


def _guessed(
    files: Sequence[TableFile], constants: dict[str, str], project: Project
) -> TableImport:
    """Return the guessed mapping. Raises RequestError with the open questions."""
    guess = guess_mapping(files, stored_contents(None, project).rubrics, constants)
    if guess.questions:
        raise RequestError(Problem(None, "mapping", str(question)) for question in guess.questions)
    try:
        return guess.as_import()
    except MappingError as error:
        raise _refused("mapping", str(error)) from error


def _problems(problems: Iterable[ImportProblem]) -> list[Problem]:
    """Return the problems of an import as those of a request: the place is in the message."""
    return [Problem(None, problem.field, str(replace(problem, field=""))) for problem in problems]


def _refused(field: str, message: str) -> RequestError:
    return RequestError([Problem(None, field, message)])
