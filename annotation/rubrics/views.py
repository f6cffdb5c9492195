"""Pages of rubrics: read by researchers; created, copied, edited and retired by admins.

Raters read the guideline of their campaign on its own pages.
"""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.form_versions import for_post, locked_post
from annotation.http import AuthenticatedRequest, admins_only, researchers_only
from annotation.models import Rubric
from annotation.models.rubric import RubricQuerySet
from annotation.models.rubric_rules import RubricConflictError
from annotation.models.standard import OPTIONAL_RUBRICS, STANDARD, add_standard
from annotation.rubrics.forms import GuidelineForm, RubricForms


def _rubrics() -> RubricQuerySet:
    return Rubric.objects.prefetch_related("levels")


@require_safe
@researchers_only
def rubrics(request: AuthenticatedRequest) -> HttpResponseBase:
    """List all rubrics with their levels, retired ones last, then built-in ones to add."""
    stored = list(_rubrics().order_by("is_retired", "slug"))
    slugs = {rubric.slug for rubric in stored}
    context = {
        "rubrics": stored,
        "ready_made": [standard for standard in OPTIONAL_RUBRICS if standard.slug not in slugs],
        "room": "rubrics",
    }
    return render(request, "annotation/rubrics/rubrics.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
@locked_post
def rubric(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show a rubric with its levels and guideline; admins can edit its Markdown."""
    rubric = _of_slug(for_post(request, _rubrics()), slug)
    form, status = None, 200
    if request.user.is_admin:
        form = GuidelineForm(request.POST or None, instance=rubric)
        if form.is_valid():
            rubric.save(update_fields=["guideline"])
            messages.success(request, "The guideline is saved. New campaigns start with it.")
            return redirect("rubric", slug=slug)
    elif request.method == "POST":
        raise PermissionDenied("Only admins can edit guidelines.")
    if form and form.conflicts:
        # The page shows the stored guideline above the form.
        rubric, status = _of_slug(_rubrics(), slug), 409
    context = {"rubric": rubric, "form": form, "is_used": rubric.is_used(), "room": "rubrics"}
    return render(request, "annotation/rubrics/rubric.html", context, status=status)


def _of_slug(rubrics: RubricQuerySet, slug: str) -> Rubric:
    """Return the rubric of a slug, locked if `rubrics` locks. Raises Http404."""
    rubric = rubrics.of_slug(slug)
    if rubric is None:
        raise Http404(f"There is no rubric {slug}.")
    return rubric


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def rubric_new(request: AuthenticatedRequest) -> HttpResponseBase:
    """Create a rubric, empty or as a copy of another."""
    if request.method == "POST":
        return _edit(request, None)
    copied = request.GET.get("from")
    if copied is None:
        return _page(request, RubricForms.empty(), None)
    origin = get_object_or_404(_rubrics(), slug=copied)
    forms = RubricForms.of(
        origin, slug=f"{origin.slug[:75]}-copy", title=f"{origin.title[:190]}, a copy"
    )
    return _page(request, forms, None)


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def rubric_edit(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Edit an unused rubric; of a used one only the guideline can be edited."""
    rubric = get_object_or_404(_rubrics(), slug=slug)
    if rubric.is_used():
        messages.error(request, "This rubric is in use and cannot be edited: copy it.")
        return redirect(rubric)
    if request.method == "POST":
        return _edit(request, rubric)
    return _page(request, RubricForms.of(rubric), rubric)


def _edit(request: AuthenticatedRequest, edited: Rubric | None) -> HttpResponseBase:
    if "more" in request.POST:
        return _page(request, RubricForms.with_more_rows(request.POST), edited)
    forms = RubricForms.sent(request.POST)
    try:
        saved = forms.store(edited)
    except RubricConflictError:
        return _changed(request, forms, edited)
    if saved is None:
        return _page(request, forms, edited, 422)
    messages.success(request, f"The rubric {saved} is {'saved' if edited else 'made'}.")
    return redirect(saved)


def _changed(
    request: AuthenticatedRequest, forms: RubricForms, edited: Rubric | None
) -> HttpResponseBase:
    """Show the form after an edit conflict, with both values of each field."""
    slug = edited.slug if edited else ""
    stored = _rubrics().filter(slug=slug).first()
    if stored is None:
        forms.form.add_error(None, f"Somebody else renamed the rubric {slug} in the meantime.")
        return _page(request, forms, edited, 409)
    forms.compare(stored)
    if forms.form.conflicts:
        return _page(request, forms, stored, 409)
    messages.success(request, f"The rubric {stored} is saved.")  # the same was sent twice
    return redirect(stored)


def _page(
    request: AuthenticatedRequest, forms: RubricForms, rubric: Rubric | None, status: int = 200
) -> HttpResponseBase:
    context = {"forms": forms, "rubric": rubric, "room": "rubrics"}
    return render(request, "annotation/rubrics/rubric_edit.html", context, status=status)


@require_POST
@admins_only
def rubric_add(request: AuthenticatedRequest) -> HttpResponseBase:
    """Create a built-in rubric."""
    slug = request.POST.get("slug", "")
    if slug not in STANDARD:
        raise Http404(f"There is no standard rubric {slug}.")
    added = add_standard(STANDARD[slug])
    messages.success(request, f"The rubric {added} is added.")
    return redirect(added)


@require_POST
@admins_only
@locked_post
def rubric_retire(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Retire or restore a rubric; its ratings stay."""
    rubric = _of_slug(Rubric.objects.select_for_update(), slug)
    rubric.is_retired = "restore" not in request.POST
    rubric.save(update_fields=["is_retired"])
    outcome = (
        "retired: new campaigns and judges cannot use it" if rubric.is_retired else "offered again"
    )
    messages.success(request, f"The rubric {rubric} is {outcome}.")
    return redirect(rubric)
