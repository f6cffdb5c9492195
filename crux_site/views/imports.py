"""Import in the browser: upload, look at what would change, then do it."""

import json
import shutil
import time
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.http import AuthenticatedRequest, admins_only
from crux_site.importing import ImportFailed, import_dataset
from crux_site.unpacking import UploadRefused, unpack

STAGING = Path(settings.MEDIA_ROOT) / "imports"
KEPT_SECONDS = 24 * 60 * 60
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


class ManyFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    widget = ManyFilesInput

    def clean(self, data: object, initial: object = None) -> list[UploadedFile]:
        files = data if isinstance(data, list | tuple) and data else [None]
        return [super(ManyFilesField, self).clean(one, initial) for one in files]


class UploadForm(forms.Form):
    dataset = forms.SlugField(max_length=80, help_text="a new one, or one to add to")
    title = forms.CharField(max_length=200, required=False, help_text="of a new dataset")
    with_history = forms.BooleanField(
        required=False, label="Read earlier exports too (annotations/history)"
    )
    files = ManyFilesField(  # type: ignore[assignment]  # a form's field of this name, as in Django's guide
        help_text="one archive (.zip) of a study's folder, or single files under their own names"
    )


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def import_page(request: AuthenticatedRequest) -> HttpResponseBase:
    """Upload a study; the next page shows what it would change."""
    form = UploadForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        token = uuid4()
        try:
            _stage(token, form.cleaned_data)
        except UploadRefused as refused:
            shutil.rmtree(STAGING / str(token), ignore_errors=True)
            form.add_error("files", str(refused))
        else:
            return redirect("import_preview", token=token)
    context = {"form": form, "patterns": PATTERNS, "room": "import"}
    status = 422 if form.is_bound else 200
    return render(request, "crux_site/import.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def import_preview(request: AuthenticatedRequest, token: UUID) -> HttpResponseBase:
    """GET: what an import of the upload would change. POST: the import, all or nothing."""
    folder = STAGING / str(token)
    if not (folder / "about.json").is_file():
        raise Http404("This upload is no longer here.")
    about = json.loads((folder / "about.json").read_text())
    context = {"about": about, "room": "import", "token": token}
    is_dry = request.method != "POST"
    try:
        summary = import_dataset(
            folder / "files",
            about["dataset"],
            title=about["title"],
            dry_run=is_dry,
            with_history=about["with_history"],
        )
    except ImportFailed as failed:
        context["problems"] = failed.problems
        return render(request, "crux_site/import_preview.html", context, status=422)
    if is_dry:
        # Counters answer every key with a number, so a template would never reach their methods.
        context |= {"summary": summary, "created": [*summary.created.items()]}
        context["mapped"] = [*summary.mapped.items()]
        return render(request, "crux_site/import_preview.html", context)
    shutil.rmtree(folder)
    messages.success(request, "The import is done.")
    return redirect("dataset", slug=about["dataset"])


def _stage(token: UUID, data: dict[str, Any]) -> None:
    """Put the uploaded files into a folder of their own, archives unpacked."""
    _forget_old_uploads()
    files = STAGING / str(token) / "files"
    files.mkdir(parents=True)
    unpack(data["files"], files)
    about = {name: data[name] for name in ("dataset", "title", "with_history")}
    (files.parent / "about.json").write_text(json.dumps(about))


def _forget_old_uploads() -> None:
    """Remove what was uploaded more than a day ago and never imported."""
    for folder in STAGING.glob("*"):
        if time.time() - folder.stat().st_mtime > KEPT_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)
