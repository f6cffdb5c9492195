"""Import in the browser: upload, look at what would change, then do it."""

from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.db import connection
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.formats.new_words import Choice
from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset, Project, User
from annotation.models.projects import MAIN, ProjectQuerySet, main_project
from crux_site.imports.importing import FORMATS
from crux_site.imports.unpacking import UploadRefused
from crux_site.imports.uploads import Upload, stage, upload_of

PATTERNS = (
    ("topics.jsonl", "topics and their requests"),
    ("subquestions.jsonl", "the sub-questions of each topic"),
    ("passages*.jsonl", "passages"),
    ("reports_annotated.jsonl", "the reports that people annotated, and reference summaries"),
    ("reports_all.SYSTEM.jsonl", "the reports of one system"),
    ("RUN.run", "a TREC run; the order in the file is the ranking"),
    ("RATER.qlabels.jsonl", "T1 labels of one rater"),
    ("RATER.qrels.jsonl", "T2 grades of one rater"),
    ("JUDGE.judgements.jsonl", "a model's grades of passages"),
    ("JUDGE.reference.jsonl", "a model's grades of the reference summaries"),
)
FORMAT_NAMES = {
    "crux": "CRUX",
    "beir": "BEIR",
    "msmarco": "MS MARCO",
    "miracl": "MIRACL",
    "trec-rag": "TREC RAG",
    "ragtime": "RAGTIME and NeuCLIR",
    "nuggets": "nuggets (of TREC RAG, NeuCLIR, auto-judge and others)",
    "hf": "Parquet or JSON lines with AutoRAG's columns",
    "alce": "ALCE: results, demonstrations, utility",
    "reranker-requests": "requests to rerankers (Anserini, RankLLM)",
    "qac": "questions with answers and contexts (docling-sdg)",
    "crud": "CRUD-RAG",
    "trec-diversity": "TREC diversity qrels (topic, subtopic, text, grade)",
    "label-studio": "Label Studio",
    "potato": "Potato",
    "argilla": "Argilla",
    "web-annotation": "Web Annotations (W3C)",
}
CHOICES = {
    Choice.REFUSE: "are refused",
    Choice.COUNT: "make a version, and grades count for the new words",
    Choice.SET_ASIDE: "make a version, and grades are set aside",
}


class ManyFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    widget = ManyFilesInput

    def clean(self, data: object, initial: object = None) -> list[UploadedFile]:
        files = data if isinstance(data, list | tuple) and data else [None]
        return [super(ManyFilesField, self).clean(file, initial) for file in files]


class UploadForm(forms.Form):
    project = forms.ModelChoiceField(
        Project.objects.none(), to_field_name="slug", empty_label=None, help_text="who will see it"
    )
    dataset = forms.SlugField(max_length=80, help_text="a new one, or one to add to")
    title = forms.CharField(max_length=200, required=False, help_text="of a new dataset")
    format = forms.ChoiceField(
        choices=[(name, FORMAT_NAMES.get(name, name)) for name in FORMATS],
        required=False,
        help_text="whose files they are; the names below are those of CRUX",
    )
    with_history = forms.BooleanField(
        required=False, label="Read earlier exports too (annotations/history)"
    )
    new_words = forms.ChoiceField(
        choices=list(CHOICES.items()),
        required=False,
        label="Other words for a text or a sub-question that is there",
        help_text="what a campaign has shown stays refused",
    )
    lenient = forms.BooleanField(
        required=False, label="Of CRUD-RAG: keep items whose answers do not match their questions"
    )
    files = ManyFilesField(  # type: ignore[assignment]  # a form's field of this name, as in Django's guide
        help_text="one archive (.zip) of a study's folder, or single files under their own names"
    )

    def __init__(self, projects: ProjectQuerySet, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        project, slug = self.cleaned_data.get("project"), self.cleaned_data.get("dataset")
        there = Dataset.objects.filter(slug=slug).select_related("project").first()
        if project and there and there.project != project:
            is_theirs = there.project in self.fields["project"].queryset  # type: ignore[attr-defined]
            where = f"It is in the project {there.project}." if is_theirs else "It is taken."
            self.add_error("dataset", f"{where} Choose another name.")
        return self.cleaned_data


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
@researchers_only
def import_preview(request: AuthenticatedRequest, token: UUID) -> HttpResponseBase:
    """GET: what an import of the upload would change, or has changed. POST: the import, all or nothing, or
    another look where the first found something wrong or did not come to its end."""
    upload = upload_of(token)
    if not upload or not _is_theirs(request.user, upload):
        raise Http404("This upload is no longer here.")
    if request.method == "POST":
        _go_on(upload)
        return redirect("import_preview", token=token)
    context = {"upload": upload, "about": upload.about, "room": "import"}
    if upload.is_at_work:
        part = "_import_work" if request.htmx else "import_work"
        return render(request, f"crux_site/imports/{part}.html", context)
    if request.htmx:
        return HttpResponse(headers={"HX-Refresh": "true"})
    context |= upload.result | {"waits": connection.vendor == "sqlite"}
    status = 422 if "problems" in context else 200
    return render(request, "crux_site/imports/import_preview.html", context, status=status)


def _is_theirs(user: User, upload: Upload) -> bool:
    """Whether somebody brought it, and still owns the project that it is for."""
    if user.is_admin:
        return True
    owned = Project.objects.owned_by(user).filter(slug=upload.about["project"])
    return upload.about["by"] == user.pk and owned.exists()


def _go_on(upload: Upload) -> None:
    """The import after a look that found nothing wrong, and another look after anything else but an import."""
    result = upload.result
    if "summary" not in result:
        upload.start()
    elif not result["stores"]:
        upload.start(stores=True)
