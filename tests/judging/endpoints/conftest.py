"""Fixtures: a project with an owner, and a model server on loopback that an admin allowed."""

import pytest
from django.test import Client

from annotation.models import Membership, Project, User
from annotation.models.projects import main_project
from judging.models import AllowedHost, Endpoint, ProjectBudget
from tests.toolbox.model_servers import client_of, fields
from tests.toolbox.scripted_server import ScriptedServer


@pytest.fixture
def server():
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def owner(cast) -> Client:
    """An owner of the project of the dataset."""
    user = User.objects.create_user("olga", role="researcher")
    Membership.objects.create(project_id=main_project(), user=user, role="owner")
    return client_of("olga")


@pytest.fixture
def other_owner(cast) -> Client:
    """An owner of another project alone."""
    user = User.objects.create_user("otto", role="researcher")
    second_project = Project.objects.create(slug="other", title="Another group")
    Membership.objects.create(project=second_project, user=user, role="owner")
    return client_of("otto")


@pytest.fixture
def allowed(db, server):
    """The host of the server, allowed by an admin."""
    return AllowedHost.objects.create(host="127.0.0.1", allows_http=True, allows_private=True)


@pytest.fixture
def endpoint(owner, allowed, server) -> Endpoint:
    """The server, as an owner has added it in the browser."""
    added = owner.post("/projects/main/servers/new/", fields(url=server.url))
    assert added.status_code == 302, added.context["form"].errors
    return Endpoint.objects.get()


@pytest.fixture
def budget(endpoint) -> ProjectBudget:
    return ProjectBudget.objects.create(
        project=endpoint.project, max_tokens=1_000_000, max_money=10, currency="EUR"
    )
