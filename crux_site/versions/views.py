"""The words of a text or a question: a look at what new ones would do, the change, and earlier words."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.http import AuthenticatedRequest, owners_only, researchers_only
from annotation.models import Dataset, NuggetSpan, SubQuestion, Text, digest
from annotation.text.carrying import Worded
from annotation.text.versions import (
    EditConflict,
    RewordingRefused,
    check_seen,
    lost_spans,
    outlook,
    place_by_words,
)
from crux_site.versions.changing import change, choose_again
from crux_site.versions.forms import KEPT, WordsForm
from crux_site.versions.restoring import blockers, compare, edits_since
from crux_site.versions.restoring import restore as restore_words

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
    body, seen = form.cleaned_data["body"], form.cleaned_data["seen"]
    try:
        if "change" not in request.POST:
            check_seen(thing, seen)
            return _page(request, slug, kind, thing, form=form, outlook=outlook(thing, body))
        why = form.cleaned_data["why"]
        change(thing, body, by=request.user, why=why, counts=form.keeps_grades, seen=seen)
    except EditConflict:
        return _conflict(request, slug, kind, thing, form)
    except RewordingRefused as refused:
        form.add_error("body", str(refused))
        return _page(request, slug, kind, thing, 422, form=form)
    except ObjectDoesNotExist as error:
        raise Http404("Somebody has removed it.") from error
    messages.success(request, "The words are changed. The old ones are below.")
    return redirect("words", slug, kind, thing.pk)


def _conflict(
    request: AuthenticatedRequest, slug: str, kind: str, thing: Worded, form: WordsForm
) -> HttpResponse:
    """Both wordings, to decide between: what the person wrote is in the form, which now knows the other one."""
    thing.refresh_from_db()
    body = form.cleaned_data["body"]
    conflict = compare(thing.body or "", body)
    told = {"form": form.again(thing.body or ""), "conflict": conflict}
    return _page(request, slug, kind, thing, 409, **told)


@require_POST
@owners_only
def choose_version(
    request: AuthenticatedRequest, slug: str, kind: str, pk: int
) -> HttpResponseBase:
    """Whether grades that were given before the last change count."""
    thing = _thing(slug, kind, pk)
    version = thing.versions.filter(number=_number(request.POST.get("version", ""))).first()
    counts = request.POST.get("counts") == "yes"
    if version is None or request.POST.get("counts") not in KEPT:
        raise Http404("There is no such choice.")
    try:
        seen = request.POST.get("seen", "")
        choose_again(version, counts=counts, by=request.user, seen=seen)
    except RewordingRefused as refused:
        messages.error(request, str(refused))
    except ObjectDoesNotExist as error:
        raise Http404("Somebody has removed it.") from error
    else:
        messages.success(request, f"Grades of earlier words {KEPT['yes' if counts else 'no']}.")
    return redirect("words", slug, kind, pk)


@require_POST
@owners_only
def place(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Give a span that lost its place the words that it marks now."""
    spans = NuggetSpan.objects.select_related("rating__text__dataset__project")
    span = get_object_or_404(spans, pk=pk, rating__text__dataset__slug=slug)
    if span.start is not None and not span.source_quote:
        raise Http404("The span has never lost its place.")
    try:
        words = request.POST.get("words", "").replace("\r\n", "\n")
        place_by_words(span, words, by=request.user)
    except RewordingRefused as refused:
        messages.error(request, str(refused))
    except ObjectDoesNotExist as error:
        raise Http404("Somebody has removed it.") from error
    else:
        messages.success(request, "The span has its place.")
    return redirect("words", slug, "text", span.rating.text_id)


@require_http_methods(["GET", "HEAD", "POST"])
@owners_only
def restore(
    request: AuthenticatedRequest, slug: str, kind: str, pk: int, number: int
) -> HttpResponseBase:
    """GET: a comparison of earlier words with the current ones. POST: restore them."""
    thing = _thing(slug, kind, pk)
    version = get_object_or_404(thing.versions.select_related("by"), number=number)
    refused, reasons, status = "", blockers(version), 200
    if request.method == "POST":
        status = 422
        try:
            reasons = restore_words(version, by=request.user, seen=request.POST.get("seen", ""))
        except EditConflict as conflict:
            thing, refused, status = (
                _thing(slug, kind, pk),
                f"{conflict} Nothing was restored.",
                409,
            )
        except RewordingRefused as error:
            refused = str(error)
        except ObjectDoesNotExist as error:
            raise Http404("Somebody has removed it.") from error
        else:
            if not reasons:
                messages.success(request, "The earlier words are restored.")
                return redirect("words", slug, kind, pk)
    context = {
        "dataset": version.dataset,
        "kind": kind,
        "thing": thing,
        "version": version,
        "n_edits": edits_since(version).count(),
        "compared": compare(thing.body or "", version.body),
        "seen": digest(thing.body or ""),
        "reasons": reasons,
        "refused": refused,
        "room": "datasets",
    }
    return render(request, "crux_site/versions/restore.html", context, status=status)


def _number(words: str) -> int:
    """A version's number as a form sends it; 0 for anything else."""
    return int(words) if words.isascii() and words.isdecimal() and len(words) < 5 else 0


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
    wanted = _number(request.GET.get("version", ""))
    body = next((one.body for one in earlier if one.number == wanted), thing.body or "")
    context: dict[str, Any] = {
        "dataset": dataset,
        "kind": kind,
        "thing": thing,
        "earlier": earlier,
        "last": next(iter(earlier), None),
        "lost": lost_spans(thing) if isinstance(thing, Text) else [],
        "form": WordsForm(initial={"body": body, "seen": digest(thing.body or "")}),
        "kept": KEPT,
        "seen": digest(thing.body or ""),
        "room": "datasets",
    }
    return render(request, "crux_site/versions/words.html", context | told, status=status)
