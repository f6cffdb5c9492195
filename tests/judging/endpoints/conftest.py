"""A project with an owner, a real model server on loopback, and an admin's permission to call it."""

import pytest
from django.test import Client

from annotation.models import Membership, Project, User
from annotation.models.projects import main_project
from judging.models import AllowedHost, Endpoint, ProjectBudget
from tests.judging.graders.scripted_server import ScriptedServer

KEY = "sk-test-0123456789"


def client_of(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


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
    other = Project.objects.create(slug="other", title="Another group")
    Membership.objects.create(project=other, user=user, role="owner")
    return client_of("otto")


@pytest.fixture
def allowed(db, server):
    """The host of the server, allowed by an admin."""
    return AllowedHost.objects.create(host="127.0.0.1", allows_http=True, allows_private=True)


def fields(**change):
    return {
        "name": "gpu",
        "preset": "vllm",
        "url": "https://api.example.org/v1",
        "key": KEY,
        "key_header": "bearer",
        "headers": "",
        "params": "",
        "price_in": "1",
        "price_out": "2",
        "currency": "EUR",
    } | change


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
