"""Import in the browser: upload, preview, then import; also as a replacement."""

from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import connection
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.formats.left_out_rows import as_csv, as_json
from annotation.http import AuthenticatedRequest, PageNotFoundError, owners_only, researchers_only
from annotation.models import Dataset, Project, ProjectEntry, User
from annotation.models.projects import MAIN, ProjectQuerySet, main_project
from annotation.unique import save_unique
from crux_site.history.forms import RemovalConfirmationForm
from crux_site.imports import study_template
from crux_site.imports.forms import FilesForm, NewDatasetForm, TableForm, UploadForm
from crux_site.imports.replacement import replaceable_entity
from crux_site.imports.unpacking import UploadError
from crux_site.imports.uploads import Upload, stage, upload_of

_WRITERS = {
    "csv": (as_csv, "text/csv; charset=utf-8"),
    "json": (as_json, "application/json"),
}
TABLE_IDS = "table_%s"  # both forms of the page have fields of the same names
TEMPLATES = {
    study_template.NAME: "a workbook: topics, sub-questions, texts and grades",
    "long.csv": "a row for each grade",
    "wide-raters.csv": "a column for each rater",
    "reports-by-questions.csv": "a row for each report, a column for each sub-question",
    "rag-log.csv": "questions, answers, contexts and references",
    "tutorial-grades.csv": "example of the tutorial From a spreadsheet to κ",
    "tutorial-ragas.csv": "example of the tutorial From a Ragas export to a judge",
}
PATTERNS = (
    ("topics.jsonl", "topics and their requests"),
    ("subquestions.jsonl", "the sub-questions of each topic"),
    ("passages*.jsonl", "passages"),
    ("reports_annotated.jsonl", "the reports that people annotated, and reference summaries"),
    ("reports_all.SYSTEM.jsonl", "the reports of one system"),
    ("RUN.run", "a TREC run; where scores rise from line to line, see the choice above"),
    ("RATER.qlabels.jsonl", "T1 labels of one rater"),
    ("RATER.qrels.jsonl", "T2 grades of one rater"),
    ("JUDGE.judgements.jsonl", "a model's grades of passages"),
    ("JUDGE.reference.jsonl", "a model's grades of the reference summaries"),
)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def import_page(request: AuthenticatedRequest) -> HttpResponseBase:
    """Upload a study into a project of one's own; the next page is the preview."""
    projects = projects_to_import_into(request.user)
    initial = {
        "project": request.GET.get("project", MAIN),
        "dataset": request.GET.get("dataset", ""),
    }
    form = UploadForm(projects, request.POST or None, request.FILES or None, initial=initial)
    if form.is_valid():
        project = form.cleaned_data["project"].slug
        try:
            upload = stage(form.cleaned_data | {"project": project, "by": request.user.pk})
        except UploadError as refused:
            form.add_error("files", str(refused))
        else:
            upload.start()
            return redirect("import_preview", token=upload.token)
    return render_import_page(
        request, TableForm(projects, initial=initial, auto_id=TABLE_IDS), form
    )


def projects_to_import_into(user: User) -> ProjectQuerySet:
    """Return the projects of an owner or an admin. Raises PermissionDenied if there is none."""
    projects = Project.objects.owned_by(user)
    if user.is_admin:
        main_project()  # so that there is one to choose
    elif not projects:
        raise PermissionDenied("Studies are imported by owners of a project: make one first.")
    return projects


def render_import_page(
    request: AuthenticatedRequest, table_form: TableForm, form: UploadForm
) -> HttpResponse:
    context = {
        "table_form": table_form,
        "form": form,
        "templates": TEMPLATES,
        "patterns": PATTERNS,
        "room": "import",
    }
    status = 422 if form.is_bound or table_form.is_bound else 200
    return render(request, "crux_site/imports/import.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def new_dataset(request: AuthenticatedRequest) -> HttpResponseBase:
    """Create an empty dataset in a project of one's own; the next page adds a topic."""
    projects = projects_to_import_into(request.user)
    initial = {"project": request.GET.get("project", MAIN)}
    form = NewDatasetForm(projects, request.POST or None, initial=initial)
    if form.is_valid() and (
        created := save_unique(form, lambda: _create_dataset(form, request.user))
    ):
        return redirect("add", created.slug, "topic")
    status = 422 if form.is_bound else 200
    context = {"form": form, "room": "import"}
    return render(request, "crux_site/imports/new_dataset.html", context, status=status)


def _create_dataset(form: NewDatasetForm, by: User) -> Dataset:
    project = form.cleaned_data["project"]
    dataset = Dataset.objects.create(
        project=project, slug=form.cleaned_data["dataset"], title=form.cleaned_data["title"]
    )
    ProjectEntry.record(project, by, "created the dataset", dataset.title, dataset)
    return dataset


@require_http_methods(["GET", "HEAD", "POST"])
@owners_only
def replace(request: AuthenticatedRequest, slug: str, kind: str) -> HttpResponseBase:
    """Upload the replacement of a run, a file rater or the reports of a system."""
    dataset = get_object_or_404(Dataset.objects.select_related("project"), slug=slug)
    entity = replaceable_entity(dataset, kind, request.GET.get("name", ""))
    if entity is None:
        raise Http404("Nothing that can be replaced is called so.")
    form = FilesForm(request.POST, request.FILES) if request.method == "POST" else FilesForm()
    if form.is_valid():
        about = {"dataset": slug, "project": dataset.project.slug, "by": request.user.pk}
        try:
            upload = stage(form.cleaned_data | about | {"replaces": f"{kind}:{entity.name}"})
        except UploadError as refused:
            form.add_error("files", str(refused))
        else:
            upload.start()
            return redirect("import_preview", token=upload.token)
    context = {
        "form": form,
        "patterns": PATTERNS,
        "room": "datasets",
        "dataset": dataset,
        "thing": entity,
    }
    status = 422 if form.is_bound else 200
    return render(request, "crux_site/imports/replace.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def import_preview(request: AuthenticatedRequest, token: UUID) -> HttpResponseBase:
    """GET: show the preview or the result. POST: run the import, all or nothing.

    A POST runs the preview again if it found errors or did not end, or if the page showed another preview
    than the one that is stored now. If a replacement removes many rows, the name of the dataset is asked for.
    """
    upload = upload_or_404(request.user, token)
    if upload.is_table and not (upload.has_preview or upload.is_at_work):
        return redirect("import_columns", token=token)
    result = upload.result
    sure = _confirmation_form(upload, result, request.POST if request.method == "POST" else None)
    if sure.is_valid():
        _start_next_step(upload, result, request.POST.get("digest", ""))
        return redirect("import_preview", token=token)
    context = {"upload": upload, "about": upload.about, "room": "import", "form": sure}
    if upload.is_at_work:
        part = "_import_work" if request.htmx else "import_work"
        return render(request, f"crux_site/imports/{part}.html", context)
    if request.htmx:
        return HttpResponse(headers={"HX-Refresh": "true"})
    context |= upload.result | {"waits": connection.vendor == "sqlite"}
    context["may_be_table"] = _may_be_table(upload, result.get("problems", []))
    status = 422 if "problems" in context or sure.is_bound else 200
    return render(request, "crux_site/imports/import_preview.html", context, status=status)


@require_safe
@researchers_only
def left_out(request: AuthenticatedRequest, token: UUID, ending: str) -> HttpResponse:
    """Download the rows that an import of another tool's files leaves out, as CSV or JSON."""
    upload = upload_or_404(request.user, token)
    rows = upload.result.get("summary", {}).get("left_out_rows")
    if not rows or ending not in _WRITERS:
        raise Http404("No row was left out, or the file is neither CSV nor JSON.")
    write, content_type = _WRITERS[ending]
    name = f"{upload.about['dataset']}-left-out.{ending}"
    response = HttpResponse(write(rows), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def upload_or_404(user: User, token: UUID) -> Upload:
    """Return an upload that the user may see. Raises Http404."""
    upload = upload_of(token)
    if not upload or not _may_access(user, upload):
        raise PageNotFoundError("This upload is no longer here. Upload the file again.")
    return upload


def _may_be_table(upload: Upload, problems: list[dict[str, Any]]) -> bool:
    """True if no format knows the files by name, and some look like tables."""
    if upload.is_table or upload.about.get("replaces") or not upload.table_files:
        return False
    return any(problem["message"].startswith("no file ") for problem in problems)


def _may_access(user: User, upload: Upload) -> bool:
    """True if the user uploaded it and still owns its project, and for admins."""
    if user.is_admin:
        return True
    owned = Project.objects.owned_by(user).filter(slug=upload.about["project"])
    return upload.about["by"] == user.pk and owned.exists()


def _confirmation_form(
    upload: Upload, result: dict[str, Any], data: Any
) -> RemovalConfirmationForm:
    """Return the confirmation form: it has a field only if a replacement removes many rows."""
    replaced = result.get("summary", {}).get("replaced") if not result.get("stores") else None
    n_removed = sum(n for _, n, _ in replaced["counts"]) if replaced else 0
    return RemovalConfirmationForm(upload.about["dataset"], n_removed, data)


def _start_next_step(upload: Upload, result: dict[str, Any], previewed: str) -> None:
    """Start the import of what the page showed, else the preview again.

    Nothing is started after an import.
    """
    if not result.get("stores") or "summary" not in result:
        upload.start(previewed=previewed)
