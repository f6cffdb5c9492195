"""Accounts: created and changed by admins only."""

import re

import pytest

from annotation.models import ApiToken, User
from annotation.participation.assigning import rater_of

NEW = {
    "username": "nell",
    "role": "worker",
    "password1": "grey-heron-7",
    "password2": "grey-heron-7",
}


def test_admin_makes_an_account_that_can_log_in(cast):
    assert cast.client("admin").post("/people/", NEW).status_code == 302
    client = cast.client("stranger")
    assert client.login(username="nell", password="grey-heron-7")
    assert client.get("/").url == "/work/"
    assert "nell" in cast.client("admin").get("/people/").content.decode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"username": ""}, "required"),
        ({"username": "wil"}, "already exists"),
        ({"role": "king"}, "valid choice"),
        ({"password2": "other"}, "match"),
        ({"password1": "abc", "password2": "abc"}, "too short"),
    ],
)
def test_bad_account_is_refused(cast, change, message):
    response = cast.client("admin").post("/people/", NEW | change)
    assert response.status_code == 422
    assert message in response.content.decode()
    assert not User.objects.filter(username="nell").exists()


def test_role_access_and_password_can_be_changed(cast):
    url = f"/people/{cast.worker.pk}/"
    client = cast.client("admin")
    changed = {"role": "researcher", "is_active": "on", "new_password": "grey-heron-8"}
    client.post(url, changed)
    assert cast.client("stranger").login(username="wil", password="grey-heron-8")
    cast.worker.refresh_from_db()
    assert cast.worker.role == "researcher"
    assert client.post(url, changed | {"new_password": "x"}).status_code == 422
    client.post(url, {"role": "researcher"})  # not ticked: may not log in
    assert not cast.client("stranger").login(username="wil", password="grey-heron-8")


def test_only_admins_see_people(cast):
    for role, status in (("researcher", 403), ("worker", 403), ("stranger", 302)):
        client = cast.client(role)
        assert client.get("/people/").status_code == status
        assert client.post("/people/", NEW).status_code == status
        assert client.post(f"/people/{cast.admin.pk}/", {"role": "worker"}).status_code == status
    assert not User.objects.filter(username="nell").exists()
    assert cast.client("admin").get("/people/999999/").status_code == 404
    assert cast.client("admin").delete("/people/").status_code == 405


def test_raters_names_fit_into_file_names_and_stay_apart(db):
    people = [
        User.objects.create_user(name) for name in ("wil@example.org", "wil.example.org", "…")
    ]
    assert [rater_of(user).name for user in people] == ["wilexampleorg", "wilexampleorg-2", "rater"]
    assert rater_of(people[0]).name == "wilexampleorg"


def test_guests_of_campaigns_are_no_accounts(cast):
    guest = User.objects.create_user("w-1a2b3c", role="worker", is_guest=True)
    client = cast.client("admin")
    assert "w-1a2b3c" not in client.get("/people/").content.decode()
    assert client.get(f"/people/{guest.pk}/").status_code == 404


def test_change_of_an_account_that_somebody_else_changed_is_shown_first(cast):
    url, client = f"/people/{cast.worker.pk}/", cast.client("admin")
    opened = _version(client.get(url))
    User.objects.filter(pk=cast.worker.pk).update(is_active=False)
    sent = {"role": "researcher", "is_active": "on", "version": opened}
    refused = client.post(url, sent)
    assert refused.status_code == 409
    assert "since you opened it" in refused.content.decode()
    assert User.objects.get(pk=cast.worker.pk).role == "worker"
    assert client.post(url, sent | {"version": _version(refused)}).status_code == 302


def _version(page) -> str:
    return re.search(r'name="version" value="(\w+)"', page.content.decode())[1]


def test_new_password_by_an_admin_revokes_tokens_if_asked(cast):
    url, client = f"/people/{cast.researcher.pk}/", cast.client("admin")
    assert "Revoke the API tokens" not in client.get(url).content.decode()
    ApiToken.objects.make(cast.researcher, "notebook")
    assert "Revoke the API tokens" in client.get(url).content.decode()
    sent = {"role": "researcher", "is_active": "on", "new_password": "grey-heron-8"}
    client.post(url, sent)
    assert cast.researcher.api_tokens.count() == 1
    client.post(url, sent | {"revoke_tokens": "on"})
    assert cast.researcher.api_tokens.count() == 0
