"""Access by non-members of a project: 404 at all URLs, absent from lists and the API."""

import pytest
from rest_framework.test import APIClient

from annotation.models import ApiToken, Campaign, Dataset, Project, User
from judging.models import JudgeRun
from tests.crux_site.projects.site_addresses import (
    OURS,
    ROLES,
    World,
    addresses,
    body,
    client_of,
    make_world,
)
from tests.toolbox.factories import make_dataset


@pytest.fixture(scope="module", autouse=True)
def _world(shared_world):
    return shared_world(make_world)


@pytest.fixture
def world(_world, db) -> World:
    return _world


def test_at_no_address_does_another_group_learn_that_the_study_exists(world):
    rex = client_of("rex")
    for address, is_about_it in addresses(world):
        if "logout" in address:
            continue
        for answer in (rex.get(address), rex.post(address)):
            if is_about_it:
                assert answer.status_code == 404, address
            if answer.status_code != 404:  # which repeats what it was asked for
                assert OURS not in body(answer), address


def test_those_addresses_are_there(world):
    """A tenth of the URLs for an admin: a misspelled URL would be 404 for everybody."""
    ada = client_of("ada")
    about_it = [address for address, is_about_it in addresses(world) if is_about_it][::10]
    assert sum(ada.get(address).status_code == 200 for address in about_it) > len(about_it) / 4


def test_forbidden_and_missing_pages_are_identical(world):
    rex = client_of("rex")
    for forbidden, missing in (
        ("/datasets/ferry/", "/datasets/quarry/"),
        ("/projects/main/", "/projects/no/"),
    ):
        assert rex.get(forbidden).content == rex.get(missing).content.replace(
            b"quarry", b"ferry"
        ).replace(b"/no/", b"/main/")


def test_api_knows_nothing_of_it_either(world):
    run = JudgeRun.objects.get()
    key = ApiToken.objects.make(User.objects.get(username="rex"), "notebook")
    api = APIClient(HTTP_AUTHORIZATION=f"Token {key}")
    lists = ("topics/", "questions/", "texts/", "raters/", "ratings/", "ratings/parquet/", "runs/")
    for path in ("", *lists):
        assert api.get(f"/api/v1/datasets/ferry/{path}").status_code == 404, path
    assert api.get(f"/api/v1/datasets/ferry/runs/{OURS}-bm25/ranking/").status_code == 404
    assert api.get(f"/api/v1/judge-runs/{run.pk}/").status_code == 404
    for path in ("datasets/", "judge-runs/"):
        assert api.get(f"/api/v1/{path}").json()["count"] == 0
    assert OURS not in api.get("/api/v1/judges/").content.decode()


def test_viewer_reads_and_changes_nothing(world):
    viewer = client_of("viewer")
    for address in ("", "agreement/", "disagreements/", "filled.csv"):
        assert viewer.get(f"/datasets/ferry/{address}").status_code == 200, address
    for address, is_about_it in addresses(world):
        if is_about_it and "/leave/" not in address:
            assert viewer.post(address).status_code == 403, address


@pytest.mark.parametrize(
    ("address", "least"),
    [
        ("/campaigns/ferry-answerable/invitations/", "coordinator"),
        ("/campaigns/ferry-answerable/reconcile/", "coordinator"),
        ("/campaigns/new/?dataset=ferry", "coordinator"),
        ("/projects/main/log.csv", "owner"),
        ("/import/", "owner"),
    ],
)
def test_roles_include_lower_permissions(world, address, least):
    for role in ROLES:
        allowed = ROLES.index(role) >= ROLES.index(least)
        assert client_of(role).get(address).status_code == (200 if allowed else 403), role


def test_worker_is_told_what_workers_are_told_everywhere(world):
    wil = client_of("wil")
    for address in ("/datasets/ferry/", "/datasets/quarry/", "/projects/", "/projects/main/"):
        assert wil.get(address).status_code == 403


def test_draft_is_nothing_to_another_group_and_a_campaign_of_theirs_lists_none_of_ours(world):
    rex = client_of("rex")
    address = "/start/ferry-answerable/"
    assert rex.get(address).status_code == 200  # as for everybody: it is open
    Campaign.objects.update(state="draft")
    assert (rex.get(address).status_code, client_of("owner").get(address).status_code) == (404, 200)
    make_dataset("quarry")
    Dataset.objects.filter(slug="quarry").update(project=Project.objects.get(slug="other"))
    page = rex.get("/campaigns/new/?dataset=quarry").content.decode()
    assert ("wil" in page, "rosa" in page, "ada" in page) == (True, False, False)
