"""Forms that add a topic, a sub-question or a text to a dataset, one at a time."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from annotation.formats.layout import RecognisedFiles
from annotation.formats.summary import DatasetImportError, ImportSummary
from annotation.http import AuthenticatedRequest, PageNotFoundError, owners_only
from annotation.models import Dataset, SubQuestion, User
from crux_site.additions.forms import FORMS, Addition, AdditionForm
from crux_site.imports.importing import import_dataset


@require_http_methods(["GET", "HEAD", "POST"])
@owners_only
def add(request: AuthenticatedRequest, slug: str, kind: str) -> HttpResponseBase:
    """GET: show the form of a kind. POST: import its row, and begin the next one."""
    dataset = get_object_or_404(Dataset.objects.select_related("project"), slug=slug)
    form_class = FORMS.get(kind)
    if form_class is None:
        raise Http404("Topics, sub-questions and texts can be added.")
    initial = {name: request.GET[name] for name in form_class.repeated if name in request.GET}
    form = form_class(dataset, request.POST if request.method == "POST" else None, initial=initial)
    if form.is_valid() and _is_added(form, dataset, request.user):
        messages.success(request, f"Added: {form.addition().label}.")
        return redirect(f"{reverse('add', args=[slug, _next_kind(kind)])}?{_repeated_query(form)}")
    topic = str(form["topic"].value() or "").replace("\x00", "")  # PostgreSQL looks up none
    context = {
        "dataset": dataset,
        "form": form,
        "kind": kind,
        "titles": {name: of_kind.title for name, of_kind in FORMS.items()},
        "topic": topic,
        "query": "" if kind == "topic" else urlencode({"topic": topic}),
        "questions": SubQuestion.objects.filter(topic__dataset=dataset, topic__name=topic),
        "room": "datasets",
    }
    status = 422 if form.is_bound else 200
    return render(request, "crux_site/additions/add.html", context, status=status)


def _is_added(form: AdditionForm, dataset: Dataset, by: User) -> bool:
    """Import the row of a valid form; False, with errors on the form, if that is refused."""
    addition = form.addition()
    try:
        summary = _import(addition, dataset, by)
    except DatasetImportError as failed:
        for problem in failed.problems:
            field = problem.field if problem.field in form.fields else None
            form.add_error(field, f"{problem.message.rstrip('.')}.")
        return False
    if not summary.changed:
        form.add_error(None, f"The {addition.label} is there already.")
    return summary.changed


def _import(addition: Addition, dataset: Dataset, by: User) -> ImportSummary:
    def convert(locked: Dataset, summary: ImportSummary) -> RecognisedFiles:
        if summary.created["datasets"]:
            raise PageNotFoundError("The dataset was deleted.")
        return RecognisedFiles([addition.source])

    return import_dataset(
        "",
        dataset.slug,
        project=dataset.project,
        by=by,
        convert=convert,
        added=addition.label,
    )


def _next_kind(kind: str) -> str:
    """Return the kind to offer after an addition: a new topic needs sub-questions."""
    return "question" if kind == "topic" else kind


def _repeated_query(form: AdditionForm) -> str:
    return urlencode({name: str(form.cleaned_data.get(name) or "") for name in form.repeated})
