"""Pages of rubrics: list, detail, create, copy, edit and retire.

Researchers read the rubrics of the site and of their projects. Owners change those of their projects,
admins all. Raters read the guideline of their campaign on its own pages.
"""

from collections import defaultdict
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.form_versions import for_post, locked_post
from annotation.http import AuthenticatedRequest, admins_only, researchers_only
from annotation.models import ProjectEntry, Rubric, Text, User
from annotation.models.rubric import RubricQuerySet
from annotation.models.rubric_rules import RubricConflictError
from annotation.models.rubric_wording import default_wording
from annotation.models.standard import OPTIONAL_RUBRICS, STANDARD, add_standard
from annotation.rubrics.forms import GuidelineForm, RubricForms


def _rubrics(user: User) -> RubricQuerySet:
    return Rubric.objects.visible_to(user).select_related("project").prefetch_related("levels")


def _check_creator(user: User) -> None:
    """Raise PermissionDenied for a user who owns no project."""
    if not user.owns_any_project:
        raise PermissionDenied(
            "Rubrics are created by owners of a project, and by admins of the site. The page of your "
            "project names its owners."
        )


def _check_editor(user: User, rubric: Rubric) -> None:
    """Raise PermissionDenied where only others can change the rubric."""
    if not rubric.is_editable_by(user):
        editors = "owners of its project and admins" if rubric.project_id else "admins"
        raise PermissionDenied(f"Only {editors} can change the rubric {rubric}. You can copy it.")


def _record(rubric: Rubric, by: User, action: str) -> None:
    """Write a change of a project's rubric to the log of the project."""
    if rubric.project:
        ProjectEntry.record(rubric.project, by, action, rubric.slug)


@require_safe
@researchers_only
def rubrics(request: AuthenticatedRequest) -> HttpResponseBase:
    """List visible rubrics with their levels, retired ones last, then built-in ones to add."""
    user = request.user
    visible = list(_rubrics(user).order_by("is_retired", "slug"))
    slugs = {rubric.slug for rubric in visible}
    context = {
        "rubrics": visible,
        "ready_made": [standard for standard in OPTIONAL_RUBRICS if standard.slug not in slugs],
        "room": "rubrics",
    }
    return render(request, "annotation/rubrics/rubrics.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
@locked_post
def rubric(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Show a rubric with its levels and guideline; POST saves the Markdown of the guideline."""
    user = request.user
    rubric = _of_slug(for_post(request, Rubric.objects.visible_to(user)), slug)
    form, status = None, 200
    if request.method == "POST":
        _check_editor(user, rubric)
    if rubric.is_editable_by(user):
        form = GuidelineForm(request.POST or None, instance=rubric)
        if form.is_valid():
            rubric.save(update_fields=["guideline"])
            _record(rubric, user, "edited a guideline")
            messages.success(request, "The guideline is saved. New campaigns start with it.")
            return redirect("rubric", slug=slug)
    if form and form.conflicts:
        # The page shows the stored guideline above the form.
        rubric, status = _of_slug(_rubrics(user), slug), 409
    context = {
        "rubric": rubric,
        "words": default_wording(rubric, settings.LANGUAGE_CODE, Text.Kind.PASSAGE),
        "form": form,
        "impossible": _impossible_combinations(rubric, user),
        "is_used": rubric.is_used(),
        "room": "rubrics",
    }
    return render(request, "annotation/rubrics/rubric.html", context, status=status)


def _impossible_combinations(
    rubric: Rubric, user: User
) -> list[tuple[int, str, Rubric | None, list[int]]]:
    """Return the combinations that this rubric or another one declares impossible.

    Each has a grade of this rubric, the other rubric's name and, where the site has it, the rubric,
    and grades of that.
    """
    visible = Rubric.objects.visible_to(user).exclude(pk=rubric.pk)
    rubrics_by_slug = {other_rubric.slug: other_rubric for other_rubric in visible}
    grades: dict[tuple[int, str], set[int]] = defaultdict(set)
    for declared in rubric.impossible:
        grades[declared["grade"], declared["rubric"]].update(declared["grades"])
    for other_rubric in rubrics_by_slug.values():
        for declared in other_rubric.impossible:
            for grade in declared["grades"] if declared["rubric"] == rubric.slug else ():
                grades[grade, other_rubric.slug].add(declared["grade"])
    return [
        (grade, slug, rubrics_by_slug.get(slug), sorted(other_grades))
        for (grade, slug), other_grades in sorted(grades.items(), key=lambda row: row[0])
    ]


def _of_slug(rubrics: RubricQuerySet, slug: str) -> Rubric:
    """Return the rubric of a slug, locked if `rubrics` locks. Raises Http404."""
    rubric = rubrics.of_slug(slug)
    if rubric is None:
        raise Http404(f"There is no rubric {slug}.")
    return rubric


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def rubric_new(request: AuthenticatedRequest) -> HttpResponseBase:
    """Create a rubric, empty or as a copy of another."""
    user = request.user
    _check_creator(user)
    if request.method == "POST":
        return _edit(request, None)
    project = request.GET.get("project", "")
    copied = request.GET.get("from")
    if copied is None:
        return _page(request, RubricForms.empty(user, project), None)
    origin = get_object_or_404(_rubrics(user), slug=copied)
    forms = RubricForms.of(
        origin,
        user,
        slug=f"{origin.slug[:75]}-copy",
        title=f"{origin.title[:190]}, a copy",
        project=project,
    )
    return _page(request, forms, None)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def rubric_edit(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Edit an unused rubric; of a used one only the guideline can be edited."""
    rubric = get_object_or_404(_rubrics(request.user), slug=slug)
    _check_editor(request.user, rubric)
    if rubric.is_used():
        messages.error(request, "This rubric is in use and cannot be edited: copy it.")
        return redirect(rubric)
    if request.method == "POST":
        return _edit(request, rubric)
    return _page(request, RubricForms.of(rubric), rubric)


def _edit(request: AuthenticatedRequest, edited: Rubric | None) -> HttpResponseBase:
    creator = None if edited else request.user
    if "more" in request.POST:
        return _page(request, RubricForms.with_more_rows(request.POST, creator), edited)
    forms = RubricForms.sent(request.POST, creator)
    try:
        saved = forms.store(edited)
    except RubricConflictError:
        return _changed(request, forms, edited)
    if saved is None:
        return _page(request, forms, edited, 422)
    _record(saved, request.user, "edited a rubric" if edited else "created a rubric")
    messages.success(request, f"The rubric {saved} is {'saved' if edited else 'made'}.")
    return redirect(saved)


def _changed(
    request: AuthenticatedRequest, forms: RubricForms, edited: Rubric | None
) -> HttpResponseBase:
    """Show the form after an edit conflict, with both values of each field."""
    slug = edited.slug if edited else ""
    stored = _rubrics(request.user).filter(slug=slug).first()
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
    context: dict[str, Any] = {"forms": forms, "rubric": rubric, "room": "rubrics"}
    return render(request, "annotation/rubrics/rubric_edit.html", context, status=status)


@require_POST
@researchers_only
def rubric_add(request: AuthenticatedRequest) -> HttpResponseBase:
    """Create a built-in rubric, for the whole site."""
    _check_creator(request.user)
    slug = request.POST.get("slug", "")
    if slug not in STANDARD:
        raise Http404(f"There is no standard rubric {slug}.")
    added = add_standard(STANDARD[slug])
    messages.success(request, f"The rubric {added} is added.")
    return redirect(added)


@require_POST
@researchers_only
@locked_post
def rubric_retire(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Retire or restore a rubric; its ratings stay."""
    rubric = _of_slug(for_post(request, Rubric.objects.visible_to(request.user)), slug)
    _check_editor(request.user, rubric)
    rubric.is_retired = "restore" not in request.POST
    rubric.save(update_fields=["is_retired"])
    _record(rubric, request.user, "retired a rubric" if rubric.is_retired else "restored a rubric")
    outcome = (
        "retired: new campaigns and judges cannot use it" if rubric.is_retired else "offered again"
    )
    messages.success(request, f"The rubric {rubric} is {outcome}.")
    return redirect(rubric)


@require_POST
@admins_only
@locked_post
def rubric_publish(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """Make a project's rubric one of the site, which all researchers see and admins edit."""
    rubric = _of_slug(for_post(request, Rubric.objects.all()), slug)
    _record(rubric, request.user, "gave a rubric to the site")
    rubric.project = None
    rubric.save(update_fields=["project"])
    messages.success(request, f"The rubric {rubric} belongs to the site: all researchers see it.")
    return redirect(rubric)
