"""Shared links: create, revoke, and open without an account."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.http import AuthenticatedRequest, owners_only
from annotation.models import Dataset, Project, ProjectEntry, SharedLink, User
from annotation.models.people import digest_of_token
from crux_site.projects.forms import ShareForm
from crux_site.projects.visitors import keep_private, not_shared, remember


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@owners_only
def share(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Create a shared link to the page at `address`, or to the dataset; it is displayed once."""
    dataset = get_object_or_404(Dataset.objects.select_related("project"), slug=slug)
    form = ShareForm(dataset, request.POST or None, initial={"address": request.GET.get("address")})
    context = {"room": "projects", "dataset": dataset, "form": form}
    if form.is_valid():
        with transaction.atomic():
            token = form.make(request.user)
            ProjectEntry.record(
                dataset.project, request.user, SharedLink.SHARED, form.log_detail(), dataset
            )
        context["link"] = request.build_absolute_uri(reverse("shared", args=[token]))
    status = 422 if form.errors else 200
    return render(request, "crux_site/projects/share.html", context, status=status)


@require_POST
@owners_only
def revoke_shared(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Revoke a link: it shows nothing from the next request on."""
    project = get_object_or_404(Project, slug=slug)
    link = get_object_or_404(project.shared_links.select_related("dataset"), pk=pk)
    with transaction.atomic():
        link.revoke(request.user)
    messages.success(request, f"The link for {link.for_whom} is revoked.")
    return redirect(project)


@login_not_required
@require_safe
def shared(request: HttpRequest, word: str) -> HttpResponse:
    """Open a shared link: store it in the browser's cookie, and redirect to its page.

    A user who is logged in reads by membership, or is told why the link shows them nothing.
    """
    link = SharedLink.objects.of_digests([digest_of_token(word)]).first()
    if link is None:
        return not_shared(request, [])
    response: HttpResponse = redirect(link.leads_to)
    if not isinstance(request.user, User):
        remember(request, response, link)
    elif not link.project.role_of(request.user):
        context = {"link": link}
        # Not an error by its status: those are logged with their address, which has the word.
        response = render(request, "crux_site/projects/shared_logged_in.html", context)
    keep_private(response)
    response.headers["Referrer-Policy"] = "no-referrer"  # the address has the word
    return response
