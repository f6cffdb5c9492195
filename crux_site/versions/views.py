"""Text history: edit with a preview, restore, and the state of earlier grades."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.http import AuthenticatedRequest, PageNotFoundError, owners_only, researchers_only
from annotation.models import Dataset, NuggetSpan, SubQuestion, Text, digest
from annotation.text.reanchoring import TextOrQuestion
from annotation.text.versions import (
    TextEditConflictError,
    TextEditError,
    anchor_span,
    check_read_version,
    lost_spans,
    preview_edit,
)
from crux_site.versions.forms import GRADE_CHOICES, TextEditForm
from crux_site.versions.restoring import blockers, compare, edits_since
from crux_site.versions.restoring import restore as restore_words
from crux_site.versions.text_edits import edit_text, set_grades_valid

PER_PAGE = 50


@require_safe
@researchers_only
def versions(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """List the earlier wordings of a dataset, latest edit first, with their grades."""
    dataset = get_object_or_404(Dataset, slug=slug)
    listed = dataset.versions.select_related("text", "question__topic", "by")
    page = Paginator(listed.defer("set_aside", "had", "body"), PER_PAGE).get_page(
        request.GET.get("page")
    )
    context = {"dataset": dataset, "page": page, "room": "datasets"}
    return render(request, "crux_site/versions/versions.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def text_history(request: AuthenticatedRequest, slug: str, kind: str, pk: int) -> HttpResponseBase:
    """Show current and earlier wordings. POST by owners: preview an edit, then apply it."""
    entity = _text_or_question(slug, kind, pk)
    if request.method != "POST":
        return _page(request, slug, kind, entity)
    return _edit(request, slug, kind, entity)


@owners_only
def _edit(
    request: AuthenticatedRequest, slug: str, kind: str, entity: TextOrQuestion
) -> HttpResponseBase:
    form = TextEditForm(request.POST, initial={"body": entity.body or ""})
    if not form.is_valid():
        return _page(request, slug, kind, entity, 422, form=form)
    body, digest_read = form.cleaned_data["body"], form.cleaned_data["seen"]
    try:
        if "change" not in request.POST:
            check_read_version(entity, digest_read)
            changes = compare(entity.body or "", body)
            outlook = preview_edit(entity, body)
            return _page(request, slug, kind, entity, form=form, outlook=outlook, changes=changes)
        reason = form.cleaned_data["why"]
        edit_text(
            entity, body, by=request.user, why=reason, counts=form.keeps_grades, seen=digest_read
        )
    except TextEditConflictError:
        return _conflict(request, slug, kind, entity, form)
    except TextEditError as refused:
        form.add_error("body", str(refused))
        return _page(request, slug, kind, entity, 422, form=form)
    except ObjectDoesNotExist as error:
        raise PageNotFoundError("Somebody removed it in the meantime.") from error
    messages.success(request, "The edit is saved. Earlier versions are below.")
    return _to_history(request, slug, kind, entity.pk)


def _to_history(request: AuthenticatedRequest, slug: str, kind: str, pk: int) -> HttpResponse:
    """Redirect to the page of a text, which keeps its link to the page before."""
    previous_url = _previous_url(request)
    url = reverse("text_history", args=[slug, kind, pk])
    return redirect(f"{url}?{urlencode({'back': previous_url})}" if previous_url else url)


def _previous_url(request: AuthenticatedRequest) -> str:
    """Return the URL of this site where the reader followed the link to edit; "" if unknown."""
    url = request.GET.get("back", "")
    is_ours = url.startswith("/") and url_has_allowed_host_and_scheme(url, {request.get_host()})
    return url if is_ours else ""


def _conflict(
    request: AuthenticatedRequest, slug: str, kind: str, entity: TextOrQuestion, form: TextEditForm
) -> HttpResponse:
    """Show both wordings of an edit conflict; the form is rebased on the current one."""
    entity.refresh_from_db()
    body = form.cleaned_data["body"]
    conflict = compare(entity.body or "", body)
    overrides = {"form": form.rebase(entity.body or ""), "conflict": conflict}
    return _page(request, slug, kind, entity, 409, **overrides)


@require_POST
@owners_only
def choose_version(
    request: AuthenticatedRequest, slug: str, kind: str, pk: int
) -> HttpResponseBase:
    """Set whether grades from before the last edit count."""
    entity = _text_or_question(slug, kind, pk)
    version = entity.versions.filter(number=_number(request.POST.get("version", ""))).first()
    counts = request.POST.get("counts") == "yes"
    if version is None or request.POST.get("counts") not in GRADE_CHOICES:
        raise Http404("This choice does not exist.")
    try:
        digest_read = request.POST.get("seen", "")
        set_grades_valid(version, counts=counts, by=request.user, seen=digest_read)
    except TextEditError as refused:
        messages.error(request, str(refused))
    except ObjectDoesNotExist as error:
        raise PageNotFoundError("Somebody removed it in the meantime.") from error
    else:
        messages.success(
            request, f"Grades of the earlier text {GRADE_CHOICES['yes' if counts else 'no']}."
        )
    return redirect("text_history", slug, kind, pk)


@require_POST
@owners_only
def place_span(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Re-anchor a span that lost its place at the words that it marks now."""
    spans = NuggetSpan.objects.select_related("rating__text__dataset__project")
    span = get_object_or_404(spans, pk=pk, rating__text__dataset__slug=slug)
    if span.start is not None and not span.source_quote:
        raise PageNotFoundError("This span has a position again.")
    try:
        anchor_span(span, request.POST.get("words", ""), by=request.user)
    except TextEditError as refused:
        messages.error(request, str(refused))
    except ObjectDoesNotExist as error:
        raise PageNotFoundError("Somebody removed it in the meantime.") from error
    else:
        messages.success(request, "The span is placed.")
    return redirect("text_history", slug, "text", span.rating.text_id)


@require_http_methods(["GET", "HEAD", "POST"])
@owners_only
def restore(
    request: AuthenticatedRequest, slug: str, kind: str, pk: int, number: int
) -> HttpResponseBase:
    """GET: compare an earlier wording with the current one. POST: restore it."""
    entity = _text_or_question(slug, kind, pk)
    version = get_object_or_404(entity.versions.select_related("by"), number=number)
    refused, reasons, status = "", blockers(version), 200
    if request.method == "POST":
        status = 422
        try:
            reasons = restore_words(version, by=request.user, seen=request.POST.get("seen", ""))
        except TextEditConflictError as conflict:
            entity, refused, status = (
                _text_or_question(slug, kind, pk),
                f"{conflict} Nothing was restored.",
                409,
            )
        except TextEditError as error:
            refused = str(error)
        except ObjectDoesNotExist as error:
            raise PageNotFoundError("Somebody removed it in the meantime.") from error
        else:
            if not reasons:
                messages.success(request, "The earlier version is restored.")
                return redirect("text_history", slug, kind, pk)
    context = {
        "dataset": version.dataset,
        "kind": kind,
        "entity": entity,
        "version": version,
        "n_edits": edits_since(version).count(),
        "compared": compare(entity.body or "", version.body),
        "seen": digest(entity.body or ""),
        "reasons": reasons,
        "refused": refused,
        "room": "datasets",
    }
    return render(request, "crux_site/versions/restore.html", context, status=status)


def _number(digits: str) -> int:
    """Parse the number of a version as a form sends it; 0 for anything else."""
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 5 else 0


def _text_or_question(slug: str, kind: str, pk: int) -> TextOrQuestion:
    if kind == "text":
        texts = Text.objects.select_related("dataset__project", "topic")
        return get_object_or_404(texts, dataset__slug=slug, pk=pk)
    if kind == "question":
        questions = SubQuestion.objects.select_related("topic__dataset__project")
        return get_object_or_404(questions, topic__dataset__slug=slug, pk=pk)
    raise Http404("Only texts and questions have a text history.")


def _page(
    request: AuthenticatedRequest,
    slug: str,
    kind: str,
    entity: TextOrQuestion,
    status: int = 200,
    **overrides: Any,
) -> HttpResponse:
    """Render the history of a text; `overrides` has a form that was sent, and its preview."""
    dataset = entity.dataset if isinstance(entity, Text) else entity.topic.dataset
    earlier = list(entity.versions.select_related("by").defer("had"))
    number = _number(request.GET.get("version", ""))
    body = next(
        (version.body for version in earlier if version.number == number), entity.body or ""
    )
    context: dict[str, Any] = {
        "dataset": dataset,
        "kind": kind,
        "entity": entity,
        "earlier": earlier,
        "last": next(iter(earlier), None),
        "lost": lost_spans(entity) if isinstance(entity, Text) else [],
        "form": TextEditForm(initial={"body": body, "seen": digest(entity.body or "")}),
        "kept": GRADE_CHOICES,
        "seen": digest(entity.body or ""),
        "previous_url": _previous_url(request),
        "room": "datasets",
    }
    return render(
        request, "crux_site/versions/text_history.html", context | overrides, status=status
    )
