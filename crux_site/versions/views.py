"""The words of a text or a question: a look at what new ones would do, the change, and earlier words."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.http import AuthenticatedRequest, owners_only, researchers_only
from annotation.models import Dataset, NuggetSpan, SubQuestion, Text
from annotation.text.carrying import Worded
from annotation.text.versions import (
    RewordingRefused,
    lost_spans,
    outlook,
    place_by_words,
)
from crux_site.versions.changing import change, choose_again
from crux_site.versions.forms import KEPT, WordsForm

PER_PAGE = 50


@require_safe
@researchers_only
def versions(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """All earlier words of a dataset, the last replaced first, and what became of their grades."""
    dataset = get_object_or_404(Dataset, slug=slug)
    listed = dataset.versions.select_related("text", "question__topic", "by")
    page = Paginator(listed.defer("set_aside", "had", "body"), PER_PAGE).get_page(
        request.GET.get("page")
    )
    context = {"dataset": dataset, "page": page, "room": "datasets"}
    return render(request, "crux_site/versions/versions.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def words(request: AuthenticatedRequest, slug: str, kind: str, pk: int) -> HttpResponseBase:
    """The words of now and of before. Owners send new ones: first for a look, then to change them."""
    thing = _thing(slug, kind, pk)
    if request.method != "POST":
        return _page(request, slug, kind, thing)
    return _sent(request, slug, kind, thing)


@owners_only
def _sent(request: AuthenticatedRequest, slug: str, kind: str, thing: Worded) -> HttpResponseBase:
    form = WordsForm(request.POST, initial={"body": thing.body or ""})
    if not form.is_valid():
        return _page(request, slug, kind, thing, 422, form=form)
    body = form.cleaned_data["body"]
    try:
        if "change" not in request.POST:
            return _page(request, slug, kind, thing, form=form, outlook=outlook(thing, body))
        why = form.cleaned_data["why"]
        change(thing, body, by=request.user, why=why, counts=form.keeps_grades)
    except RewordingRefused as refused:
        form.add_error("body", str(refused))
        return _page(request, slug, kind, thing, 422, form=form)
    messages.success(request, "The words are changed. The old ones are below.")
    return redirect("words", slug, kind, thing.pk)


@require_POST
@owners_only
def choose_version(
    request: AuthenticatedRequest, slug: str, kind: str, pk: int
) -> HttpResponseBase:
    """Whether grades that were given before the last change count."""
    thing = _thing(slug, kind, pk)
    version = thing.versions.first()
    counts = request.POST.get("counts") == "yes"
    if version is None or request.POST.get("counts") not in KEPT:
        raise Http404("There is no such choice.")
    if version.counts != counts:
        try:
            choose_again(version, counts=counts, by=request.user)
        except RewordingRefused as refused:
            messages.error(request, str(refused))
            return redirect("words", slug, kind, pk)
    messages.success(request, f"Grades of earlier words {KEPT['yes' if counts else 'no']}.")
    return redirect("words", slug, kind, pk)


@require_POST
@owners_only
def place(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Give a span that lost its place the words that it marks now."""
    spans = NuggetSpan.objects.select_related("rating__text")
    span = get_object_or_404(spans, pk=pk, start=None, rating__text__dataset__slug=slug)
    try:
        place_by_words(span, request.POST.get("words", "").replace("\r\n", "\n"))
    except RewordingRefused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, "The span has its place.")
    return redirect("words", slug, "text", span.rating.text_id)


def _thing(slug: str, kind: str, pk: int) -> Worded:
    if kind == "text":
        texts = Text.objects.select_related("dataset__project", "topic")
        return get_object_or_404(texts, dataset__slug=slug, pk=pk)
    if kind == "question":
        questions = SubQuestion.objects.select_related("topic__dataset__project")
        return get_object_or_404(questions, topic__dataset__slug=slug, pk=pk)
    raise Http404("Texts and questions have words.")


def _page(
    request: AuthenticatedRequest,
    slug: str,
    kind: str,
    thing: Worded,
    status: int = 200,
    **told: Any,
) -> HttpResponse:
    """The page of the words; `told` has a form that was sent, and what it would do."""
    dataset = thing.dataset if isinstance(thing, Text) else thing.topic.dataset
    earlier = list(thing.versions.select_related("by").defer("had"))
    context: dict[str, Any] = {
        "dataset": dataset,
        "kind": kind,
        "thing": thing,
        "earlier": earlier,
        "last": next(iter(earlier), None),
        "lost": lost_spans(thing) if isinstance(thing, Text) else [],
        "form": WordsForm(initial={"body": thing.body or ""}),
        "kept": KEPT,
        "room": "datasets",
    }
    return render(request, "crux_site/versions/words.html", context | told, status=status)
