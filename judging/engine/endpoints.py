"""Model servers by name: those of the environment, and those of projects.

A project's server is named project:SLUG/NAME. Rows are read at each use, so that workers, which are other
processes, know a new server, a new key and a new policy without a restart.
"""

from __future__ import annotations

from django.conf import settings

from annotation.models import Project, User
from judging.engine.outbound import reach_of
from judging.engine.secrets import decrypt
from judging.llm.errors import BackendError
from judging.llm.route import KEY_HEADERS, Route
from judging.llm.server import Address
from judging.llm.server_presets import SERVER_PRESETS
from judging.models.endpoint import PROJECT_PREFIX, Endpoint

Choices = list[tuple[str, str]]


def choices_for(user: User, *projects: Project) -> Choices:
    """Return the servers on which a user may start runs: (reference, label).

    Those of the projects come first. Servers of the environment are for admins alone: their keys are
    the site's.
    """
    rows = Endpoint.objects.filter(project__in=projects).select_related("project")
    choices = [(row.reference, f"{row.name} ({row.project})") for row in rows]
    if user.is_admin:
        choices += [(name, f"{name} (from the environment)") for name in settings.JUDGE_ENDPOINTS]
    return choices


def is_of_project(reference: str) -> bool:
    return reference.startswith(PROJECT_PREFIX)


def endpoint_named(reference: str) -> Endpoint | None:
    """Return the row of a project's server; None where it is gone."""
    slug, _, name = reference.removeprefix(PROJECT_PREFIX).partition("/")
    rows = Endpoint.objects.filter(project__slug=slug, name=name).select_related("project")
    return rows.first() if is_of_project(reference) else None


def address_named(reference: str, project: Project) -> Address:
    """Return the address of a project's server.

    Raises BackendError if it is gone, another project's, or not allowed.
    """
    row = endpoint_named(reference)
    if row is None:
        raise BackendError(
            f"The server {reference.removeprefix(PROJECT_PREFIX)} does not exist any more: an "
            "owner of its project deleted or renamed it."
        )
    if row.project_id != project.pk:
        raise BackendError(f"The server {row.name} belongs to {row.project}, not to {project}.")
    return address_of(row)


def address_of(row: Endpoint) -> Address:
    """Return the address of a server with its decrypted key.

    Raises BackendError if its host is not allowed.
    """
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
