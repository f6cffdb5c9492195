"""The rubrics and their guidelines: read by everybody who works, edited by admins."""

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.http import AuthenticatedRequest
from annotation.models import Rubric


@require_safe
def rubrics(request: AuthenticatedRequest) -> HttpResponseBase:
    """All rubrics with their levels."""
    context = {"rubrics": Rubric.objects.prefetch_related("levels"), "room": "rubrics"}
    return render(request, "annotation/rubrics/rubrics.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def rubric(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """One rubric: its levels, its guideline as annotators see it and, for admins, its Markdown."""
    rubric = get_object_or_404(Rubric.objects.prefetch_related("levels"), slug=slug)
    form = None
    if request.user.is_admin:
        form = GuidelineForm(request.POST or None, instance=rubric)
        if form.is_valid():
            form.save()
            messages.success(request, "The guideline is saved; new campaigns begin with it.")
            return redirect("rubric", slug=slug)
    elif request.method == "POST":
        raise PermissionDenied("Guidelines are edited by admins.")
    context = {"rubric": rubric, "form": form, "room": "rubrics"}
    return render(request, "annotation/rubrics/rubric.html", context)


class GuidelineForm(forms.ModelForm):
    class Meta:
        model = Rubric
        fields = ("guideline",)
        widgets = {"guideline": forms.Textarea(attrs={"rows": 24})}
