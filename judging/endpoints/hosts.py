"""Admin pages of the allowed hosts of project servers."""

from __future__ import annotations

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotation.http import AuthenticatedRequest, admins_only
from annotation.unique import save_unique
from judging.endpoints.forms import AllowedHostForm
from judging.engine.outbound import environment_hosts
from judging.forms import focus
from judging.models import AllowedHost, OutboundPolicy


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def allowed_hosts(request: AuthenticatedRequest) -> HttpResponseBase:
    """List the hosts that may be called, with a form to add one."""
    form = AllowedHostForm(request.POST or None)
    form.instance.created_by = request.user
    if form.is_valid() and (created := save_unique(form, form.save)):
        messages.success(request, f"Projects can now use servers at {created}.")
        return redirect("allowed_hosts")
    if form.is_bound:
        focus(form)
    context = {
        "hosts": AllowedHost.objects.select_related("created_by"),
        "environment": environment_hosts(),
        "policy": OutboundPolicy.current(),
        "form": form,
        "room": "projects",
    }
    status = 422 if form.is_bound else 200
    return render(request, "judging/endpoints/allowed_hosts.html", context, status=status)


@require_POST
@admins_only
def outbound_policy(request: AuthenticatedRequest) -> HttpResponseBase:
    """Allow servers at any public host, or at listed hosts alone."""
    allows = "allows_public_hosts" in request.POST
    OutboundPolicy.objects.update_or_create(pk=1, defaults={"allows_public_hosts": allows})
    scope = "any public host, by https" if allows else "only the listed hosts"
    messages.success(request, f"Allowed hosts for servers of projects: {scope}.")
    return redirect("allowed_hosts")


@require_POST
@admins_only
@transaction.atomic
def allowed_host_delete(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Take a host off the list. Runs on servers there pause at their next batch and say why."""
    host = get_object_or_404(AllowedHost.objects.select_for_update(), pk=pk)
    host.delete()
    messages.success(request, f"{host} is no longer allowed.")
    return redirect("allowed_hosts")
