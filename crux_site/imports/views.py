"""Import in the browser: upload, look at what would change, then do it; also in the place of what is there."""

from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db import connection
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.formats.left_out import as_csv, as_json
from annotation.http import AuthenticatedRequest, owners_only, researchers_only
from annotation.models import Dataset, Project, User
from annotation.models.projects import MAIN, main_project
from crux_site.history.forms import SureForm
from crux_site.imports.forms import FilesForm, UploadForm
from crux_site.imports.replacing import thing_called
from crux_site.imports.unpacking import UploadRefused
from crux_site.imports.uploads import Upload, stage, upload_of

_WRITERS = {
    "csv": (as_csv, "text/csv; charset=utf-8"),
    "json": (as_json, "application/json"),
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
    """Upload a study into a project of one's own; the next page shows what it would change."""
    projects = Project.objects.owned_by(request.user)
    if request.user.is_admin:
        main_project()  # so that there is one to choose
    elif not projects:
        raise PermissionDenied("Studies are imported by owners of a project: make one first.")
    initial = {"project": request.GET.get("project", MAIN)}
    form = UploadForm(projects, request.POST or None, request.FILES or None, initial=initial)
    if form.is_valid():
        project = form.cleaned_data["project"].slug
        try:
            upload = stage(form.cleaned_data | {"project": project, "by": request.user.pk})
        except UploadRefused as refused:
            form.add_error("files", str(refused))
        else:
            upload.start()
            return redirect("import_preview", token=upload.token)
    context = {"form": form, "patterns": PATTERNS, "room": "import"}
    status = 422 if form.is_bound else 200
    return render(request, "crux_site/imports/import.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@owners_only
def replace(request: AuthenticatedRequest, slug: str, kind: str) -> HttpResponseBase:
    """Upload what takes the place of a run, a rater of files or the reports of a system."""
    dataset = get_object_or_404(Dataset.objects.select_related("project"), slug=slug)
    thing = thing_called(dataset, kind, request.GET.get("name", ""))
    if thing is None:
        raise Http404("Nothing that can be replaced is called so.")
    form = FilesForm(request.POST, request.FILES) if request.method == "POST" else FilesForm()
    if form.is_valid():
        about = {"dataset": slug, "project": dataset.project.slug, "by": request.user.pk}
        try:
            upload = stage(form.cleaned_data | about | {"replaces": f"{kind}:{thing.name}"})
        except UploadRefused as refused:
            form.add_error("files", str(refused))
        else:
            upload.start()
            return redirect("import_preview", token=upload.token)
    context = {
        "form": form,
        "patterns": PATTERNS,
        "room": "datasets",
        "dataset": dataset,
        "thing": thing,
    }
    status = 422 if form.is_bound else 200
    return render(request, "crux_site/imports/replace.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def import_preview(request: AuthenticatedRequest, token: UUID) -> HttpResponseBase:
    """GET: what an import of the upload would change, or has changed. POST: the import, all or nothing, or
    another look where the first found something wrong or did not come to its end. Where much would go, the
    import asks for the name of the dataset."""
    upload = upload_of(token)
    if not upload or not _is_theirs(request.user, upload):
        raise Http404("This upload is no longer here.")
    result = upload.result
    sure = _sure(upload, result, request.POST if request.method == "POST" else None)
    if sure.is_valid():
        _go_on(upload, result)
        return redirect("import_preview", token=token)
    context = {"upload": upload, "about": upload.about, "room": "import", "form": sure}
    if upload.is_at_work:
        part = "_import_work" if request.htmx else "import_work"
        return render(request, f"crux_site/imports/{part}.html", context)
    if request.htmx:
        return HttpResponse(headers={"HX-Refresh": "true"})
    context |= upload.result | {"waits": connection.vendor == "sqlite"}
    status = 422 if "problems" in context or sure.is_bound else 200
    return render(request, "crux_site/imports/import_preview.html", context, status=status)


@require_safe
@researchers_only
def left_out(request: AuthenticatedRequest, token: UUID, ending: str) -> HttpResponse:
    """Download the answers that an import of an annotation tool's files leaves out, as CSV or JSON."""
    upload = upload_of(token)
    if not upload or not _is_theirs(request.user, upload):
        raise Http404("This upload is no longer here.")
    answers = upload.result.get("summary", {}).get("left_out_answers")
    if not answers or ending not in _WRITERS:
        raise Http404("No answer was left out, or the file is neither CSV nor JSON.")
    write, content_type = _WRITERS[ending]
    name = f"{upload.about['dataset']}-left-out.{ending}"
    response = HttpResponse(write(answers), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _is_theirs(user: User, upload: Upload) -> bool:
    """Whether somebody brought it, and still owns the project that it is for."""
    if user.is_admin:
        return True
    owned = Project.objects.owned_by(user).filter(slug=upload.about["project"])
    return upload.about["by"] == user.pk and owned.exists()


def _sure(upload: Upload, result: dict[str, Any], data: Any) -> SureForm:
    """What is asked before an import: something only where it replaces what many rows are."""
    replaced = result.get("summary", {}).get("replaced") if not result.get("stores") else None
    gone = sum(n for _, n, _ in replaced["counts"]) if replaced else 0
    return SureForm(upload.about["dataset"], gone, data)


def _go_on(upload: Upload, result: dict[str, Any]) -> None:
    """The import after a look that found nothing wrong, and another look after anything else but an import."""
    if "summary" not in result:
        upload.start()
    elif not result["stores"]:
        upload.start(stores=True)
