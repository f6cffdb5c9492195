"""Servers by name: those of the environment, and those that the owners of a project have added.

A project's server is named project:SLUG/NAME. Rows are read at each use, so that workers, which are other
processes, know a new server, a new key and a new policy without a restart.
"""

from __future__ import annotations

from django.conf import settings

from annotation.models import Project, User
from judging.engine.outbound import reach_of
from judging.engine.secrets import decrypt
from judging.graders.base import GraderError
from judging.graders.openai_server import Address
from judging.graders.route import KEY_HEADERS, Route
from judging.grading.server_presets import SERVER_PRESETS
from judging.models.endpoint import PROJECT_PREFIX, Endpoint

Choices = list[tuple[str, str]]


def choices_for(user: User, *projects: Project) -> Choices:
    """The servers that somebody may start judging on: (reference, label), those of the projects first.

    Servers of the environment are for admins alone: their keys are the site's.
    """
    rows = Endpoint.objects.filter(project__in=projects).select_related("project")
    own = [(row.reference, f"{row.name} ({row.project})") for row in rows]
    if user.is_admin:
        own += [(name, f"{name} (from the environment)") for name in settings.JUDGE_ENDPOINTS]
    return own


def is_of_project(reference: str) -> bool:
    return reference.startswith(PROJECT_PREFIX)


def endpoint_named(reference: str) -> Endpoint | None:
    """The row of a project's server; None where it is gone."""
    slug, _, name = reference.removeprefix(PROJECT_PREFIX).partition("/")
    rows = Endpoint.objects.filter(project__slug=slug, name=name).select_related("project")
    return rows.first() if is_of_project(reference) else None


def address_named(reference: str, project: Project) -> Address:
    """Address of a project's server. Raises GraderError if it is gone, another project's, or not allowed."""
    row = endpoint_named(reference)
    if row is None:
        raise GraderError(
            f"The server {reference.removeprefix(PROJECT_PREFIX)} is not there any more: its project's owner "
            "has deleted or renamed it."
        )
    if row.project_id != project.pk:
        raise GraderError(f"The server {row.name} belongs to {row.project}, not to {project}.")
    return address_of(row)


def address_of(row: Endpoint) -> Address:
    """Address of a server with its decrypted key. Raises GraderError if its host is not allowed."""
    preset = SERVER_PRESETS.get(row.preset)
    listed_by = (preset.list_key_header if preset else "") or row.key_header
    route = Route(
        key_header=KEY_HEADERS[row.key_header],
        list_key_header=KEY_HEADERS[listed_by],
        headers=row.headers,
        params=row.params,
        reach=reach_of(row.url),
        ca_file=settings.JUDGE_CA_BUNDLE,
    )
    return Address(row.url, decrypt(row.encrypted_key) or None, route)
