"""Import of tables in the browser: upload, then roles of the columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.formats.summary import DatasetImportError, Problem
from annotation.formats.tables import presets
from annotation.formats.tables.cells import TableError
from annotation.formats.tables.files import TableFile
from annotation.formats.tables.guess import Guess
from annotation.formats.tables.mapping import MappingError, parse_mapping, read_mapping
from annotation.formats.tables.presets.recognition import recognise
from annotation.formats.tables.values import Scale
from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Project, ProjectEntry
from annotation.models.projects import MAIN
from crux_site.imports import study_template
from crux_site.imports.columns_form import ColumnsForm
from crux_site.imports.forms import MappingForm, TableForm, UploadForm
from crux_site.imports.preset_fields import bind_preset, preset_fields
from crux_site.imports.role_choices import ROLES
from crux_site.imports.source_tables import SourceTable, guess_sources, tables_of_mapping
from crux_site.imports.tables import stored_contents
from crux_site.imports.unpacking import UploadError
from crux_site.imports.uploads import TABLE, Upload, stage
from crux_site.imports.views import (
    TABLE_IDS,
    TEMPLATES,
    projects_to_import_into,
    render_import_page,
    upload_or_404,
)

TEMPLATE_FOLDER = Path(__file__).parent / "table_templates"
PRESET_NAMES = {
    "crux-long": "a table of grades of this site",
    "deepeval": "DeepEval",
    "doccano": "doccano",
    "google-forms": "Google Forms",
    "inspect": "Inspect",
    "langfuse": "Langfuse",
    "langsmith": "LangSmith",
    "open-rag-eval": "Open RAG Eval",
    "phoenix": "Phoenix",
    "prodigy": "Prodigy",
    "promptfoo": "promptfoo",
    "ragas": "Ragas",
    "ragchecker": "RAGChecker",
    "trulens": "TruLens",
    "umbrela": "UMBRELA",
}
_EARLIER_IMPORTS = 20  # whose mappings are tried
_MAX_MAPPING_BYTES = 2_000_000
_FORM_QUESTIONS = ("column:", "levels:", "eta:", "rater", "topic.request")
"""Beginnings of the keys of open questions that fields of the page ask."""


@dataclass(frozen=True)
class EarlierMapping:
    """Mapping of an earlier import into the project that fits the files."""

    entry: ProjectEntry
    mapping: dict[str, Any]


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def stage_table(request: AuthenticatedRequest) -> HttpResponseBase:
    """Upload or paste tables into a project of one's own; the next page has their columns."""
    if request.method != "POST":
        return redirect("import")
    projects = projects_to_import_into(request.user)
    form = TableForm(projects, request.POST, request.FILES, auto_id=TABLE_IDS)
    if form.is_valid():
        project = form.cleaned_data["project"].slug
        about = {"project": project, "by": request.user.pk, "kind": TABLE}
        try:
            upload = stage(form.cleaned_data | about)
        except UploadError as refused:
            form.add_error("files", str(refused))
        else:
            try:
                _guess(upload, _stored_rubrics(upload))
            except DatasetImportError as failed:
                if recognise(upload.table_files):
                    return redirect("import_columns", token=upload.token)
                upload.remove()
                form.add_error("files", f"{failed.problems[0]}. Nothing was stored.")
            else:
                return redirect("import_columns", token=upload.token)
    initial = {"project": request.POST.get("project", MAIN)}
    return render_import_page(request, form, UploadForm(projects, initial=initial))


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def columns(request: AuthenticatedRequest, token: UUID) -> HttpResponseBase:
    """GET: show the columns of an upload. POST: start the preview of a mapping or preset."""
    upload = upload_or_404(request.user, token)
    if upload.about.get("replaces"):
        raise Http404("A replacement is no table.")
    if upload.is_at_work or not upload.has_files:
        return redirect("import_preview", token=token)
    page = _ColumnsPage(request, upload)
    if request.method == "POST":
        return page.post()
    try:
        form = page.form()
        form.add_problems(upload.result.get("problems", ()))
        return page.render(form)
    except DatasetImportError as failed:
        return page.refused(failed)


@require_safe
@researchers_only
def mapping(request: AuthenticatedRequest, token: UUID) -> HttpResponseBase:
    """Download the mapping of an upload as mapping.json."""
    upload = upload_or_404(request.user, token)
    value = upload.columns.get("mapping")
    if value is None:
        if not upload.has_files:
            raise Http404("This upload has no mapping.")
        try:
            value = _ColumnsPage(request, upload).form().mapping()
        except DatasetImportError as failed:
            raise Http404(str(failed)) from failed
    response = JsonResponse(value, json_dumps_params={"ensure_ascii": False, "indent": 1})
    response["Content-Disposition"] = 'attachment; filename="mapping.json"'
    return response


@require_safe
@researchers_only
def template(request: AuthenticatedRequest, name: str) -> HttpResponse:
    """Download a small table to fill in."""
    if name not in TEMPLATES:
        raise Http404("There is no such template.")
    if name == study_template.NAME:
        content, content_type = study_template.study_workbook(), study_template.CONTENT_TYPE
    else:
        content, content_type = (TEMPLATE_FOLDER / name).read_bytes(), "text/csv; charset=utf-8"
    response = HttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


class _ColumnsPage:
    """Columns page of one upload."""

    def __init__(self, request: AuthenticatedRequest, upload: Upload) -> None:
        self.request = request
        self.upload = upload
        self.files = upload.table_files
        self.site_rubrics = _stored_rubrics(upload)
        self.questions: list[str] = []
        self.preset_constants: Mapping[str, str] = upload.columns.get("constants", {})
        self.preset_errors: dict[str, str] = {}

    def form(self, data: Mapping[str, Any] | None = None) -> ColumnsForm:
        """Return the form of the chosen mapping, else of the guess. Raises DatasetImportError."""
        columns = self.upload.columns
        chosen = columns.get("draft", {}).get("mapping") or columns.get("mapping")
        if chosen:
            try:
                return self._form_of(chosen, data, columns.get("draft", {}).get("unread", ()))
            except (MappingError, TableError):
                pass  # it was chosen in an earlier version of the program
        guess, sources = _guess(self.upload, self.site_rubrics)
        self.questions = [
            str(question)
            for question in guess.questions
            if not question.key.startswith(_FORM_QUESTIONS)
        ]
        return ColumnsForm(sources, guess.mapping, self.site_rubrics, data)

    def _form_of(
        self,
        chosen: Mapping[str, Any],
        data: Mapping[str, Any] | None = None,
        unread: Sequence[int] = (),
    ) -> ColumnsForm:
        """Return the form of a mapping. Raises MappingError if it does not fit, and TableError."""
        sources = tables_of_mapping(self.files, chosen, unread)
        return ColumnsForm(sources, chosen, self.site_rubrics, data)

    def post(self) -> HttpResponseBase:
        action = self.request.POST.get("action", "")
        try:
            if "preset" in self.request.POST:
                return self._take_preset(self.request.POST["preset"])
            if action == "use":
                return self._take_file()
            if "earlier" in self.request.POST:
                return self._take_earlier(self.request.POST["earlier"])
            return self._take_form(action)
        except DatasetImportError as failed:
            return self.refused(failed)

    def _take_preset(self, name: str) -> HttpResponseBase:
        if name not in presets.PRESETS:
            return self.render(self.form(), error="There is no such preset.")
        constants, self.preset_errors = bind_preset(name, self.request.POST)
        if self.preset_errors:
            self.preset_constants = constants
            try:
                return self.render(self.form(), status=422)
            except DatasetImportError as failed:
                return self.refused(failed, status=422)
        return self._preview({"preset": name, "constants": constants})

    def _take_file(self) -> HttpResponseBase:
        form = MappingForm(self.request.POST, self.request.FILES)
        if form.is_valid():
            file = form.cleaned_data["mapping"]
            try:
                if file.size > _MAX_MAPPING_BYTES:
                    raise MappingError("is too large for a mapping")
                value = read_mapping(file.read().decode("utf-8-sig")).as_json()
                self._form_of(value)
            except UnicodeDecodeError:
                form.add_error("mapping", f"{file.name} is not UTF-8: it is no mapping.")
            except (MappingError, TableError) as error:
                form.add_error("mapping", f"{file.name}: {error}")
            else:
                return self._save({"mapping": value})
        return self.render(self.form(), mapping_form=form)

    def _take_earlier(self, key: str) -> HttpResponseBase:
        form = self.form()
        if key and (earlier := self._earlier_mapping(form, key)):
            return self._save({"mapping": earlier.mapping})
        return self.render(form, error="This mapping does not fit these files.")

    def _take_form(self, action: str) -> HttpResponseBase:
        form = self.form(self.request.POST)
        if form.has_new_columns or (action == "apply" and not form.errors):
            return self._save_draft(form)
        if action == "apply" or form.checked_mapping() is None:
            return self.render(form, status=422)
        columns = {"mapping": form.mapping(), "draft": form.draft()}
        try:
            self._form_of(columns["mapping"])
        except (MappingError, TableError) as error:
            return self.render(form, error=str(error))
        if form.has_new_questions:
            return self._save(columns)
        if action == "download":
            self.upload.choose_columns(columns)
            return redirect("import_mapping", token=self.upload.token)
        return self._preview(columns)

    def _save_draft(self, form: ColumnsForm) -> HttpResponseBase:
        draft = form.draft()
        if form.general_errors:
            return self.render(form, status=422)
        try:
            parse_mapping(draft["mapping"])
        except MappingError as error:
            return self.render(form, error=str(error))
        return self._save({"draft": draft})

    def _save(self, columns: dict[str, Any]) -> HttpResponseBase:
        self.upload.choose_columns(columns)
        return redirect("import_columns", token=self.upload.token)

    def _preview(self, columns: dict[str, Any]) -> HttpResponseBase:
        if self.upload.choose_columns(columns):
            self.upload.start()
        return redirect("import_preview", token=self.upload.token)

    def _earlier_mapping(self, form: ColumnsForm, key: str = "") -> EarlierMapping | None:
        """Return the newest mapping of the project's imports that fits the files.

        With `key`, that of this entry of the log alone.
        """
        project = Project.objects.filter(slug=self.upload.about["project"]).first()
        entries = ProjectEntry.objects.filter(
            project=project, rows__has_key="mapping", undone_by=None
        ).select_related("dataset")
        if key:
            entries = entries.filter(pk=int(key) if key.isdecimal() and len(key) < 19 else -1)
        headers = {header for source in form.sources for header in source.table.headers}
        for entry in entries[:_EARLIER_IMPORTS]:
            value = _for_one_file(entry.rows["mapping"], self.files)
            columns = {name for part in value.get("tables", ()) for name in part["columns"]}
            if columns <= headers:  # reads the files only then
                with suppress(MappingError, TableError, OSError):
                    self._form_of(value)
                    return EarlierMapping(entry, value)
        return None

    def render(
        self,
        form: ColumnsForm,
        *,
        mapping_form: MappingForm | None = None,
        error: str = "",
        status: int = 200,
    ) -> HttpResponse:
        if error:
            form.general_errors.append(error)
        is_post = self.request.method == "POST"
        if is_post and (form.general_errors or (mapping_form and mapping_form.errors)):
            status = 422
        earlier = self._earlier_mapping(form)
        if earlier and earlier.mapping == self.upload.columns.get("mapping"):
            earlier = None
        context = self._preset_context() | {
            "upload": self.upload,
            "about": self.upload.about,
            "form": form,
            "mapping_form": mapping_form or MappingForm(),
            "questions": self.questions,
            "roles": ROLES,
            "is_open": is_post or bool({"mapping", "draft"} & {*self.upload.columns}),
            "earlier": earlier,
            "room": "import",
        }
        return render(self.request, "crux_site/imports/columns.html", context, status=status)

    def _preset_context(self) -> dict[str, Any]:
        preset = recognise(self.files)
        return {
            "preset": preset,
            "preset_name": PRESET_NAMES.get(preset, preset),
            "preset_fields": preset_fields(preset, self.preset_constants, self.preset_errors),
        }

    def refused(self, failed: DatasetImportError, status: int = 200) -> HttpResponse:
        """Return the page of files without a table, which a preset may read all the same."""
        context = self._preset_context() | {
            "upload": self.upload,
            "about": self.upload.about,
            "problems": failed.problems,
            "room": "import",
        }
        status = status if context["preset"] else 422
        return render(self.request, "crux_site/imports/columns.html", context, status=status)


def _stored_rubrics(upload: Upload) -> Mapping[str, Scale]:
    """Return the rubrics that an import into the project of an upload can use."""
    project = Project.objects.get(slug=upload.about["project"])
    return stored_contents(None, project).rubrics


def _guess(upload: Upload, rubrics: Mapping[str, Scale]) -> tuple[Guess, list[SourceTable]]:
    """Return the guessed mapping of an upload, and its tables.

    Raises DatasetImportError, also if it has no table.
    """
    guess, tables = guess_sources(upload.table_files, rubrics)
    if not any(table.n_rows or table.needed for table in tables):
        names = ", ".join(file.name for file in upload.table_files)
        raise DatasetImportError(
            [Problem(names or "the upload", 0, "", "has no row below a header")]
        )
    return guess, tables


def _for_one_file(value: Mapping[str, Any], files: Sequence[TableFile]) -> dict[str, Any]:
    """Return a mapping without its file's name if there is one file and one table."""
    mapping: dict[str, Any] = json.loads(json.dumps(value))
    tables = mapping.get("tables", [])
    if len(files) == 1 and len(tables) == 1:
        tables[0].pop("file", None)
    return mapping
