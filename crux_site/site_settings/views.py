"""Page Site settings: accounts, budgets, allowed hosts, and what all researchers share."""

from django.conf import settings
from django.db import connection
from django.db.models import Count, Q
from django.http import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, admins_only
from annotation.models import Project, Role, Rubric, User
from judging.models import AllowedHost, Judge, OutboundPolicy


@require_safe
@admins_only
def site_settings(request: AuthenticatedRequest) -> HttpResponseBase:
    """Show each setting of the site with its state and a link to change it."""
    people = User.objects.filter(is_active=True, is_guest=False)
    owners = Count("memberships", filter=Q(memberships__role=Role.OWNER), distinct=True)
    projects = Project.objects.annotate(n_owners=owners).select_related("judge_budget")
    context = {
        "n_people": people.count(),
        "n_admins": people.filter(Q(role=User.Role.ADMIN) | Q(is_superuser=True)).count(),
        "projects": [(project, getattr(project, "judge_budget", None)) for project in projects],
        "policy": OutboundPolicy.current(),
        "n_hosts": AllowedHost.objects.count(),
        "n_rubrics": Rubric.objects.offered().filter(project=None).count(),
        "n_judges": Judge.objects.filter(is_site_wide=True, archived=None).count(),
        "servers": sorted(settings.JUDGE_ENDPOINTS),
        "database": connection.display_name,
        "room": "site_settings",
    }
    return render(request, "crux_site/site_settings/site_settings.html", context)
