"""admin/: read-only tables for admins, behind the site's log-in and policy."""

import re

import pytest

from annotation.models import ApiToken, Rater, User
from crux_site.admin import tables
from judging.engine.foreground import fill_lexical
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.users import Cast, make_cast

# What the policy forbids: a script or a style within the page.
INLINE = re.compile(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=\"")


def make_world() -> Cast:
    cast, dataset = make_cast(), make_dataset()
    make_campaign(dataset, cast.worker)
    fill_lexical(dataset)
    ApiToken.objects.make(cast.admin, "notebook")
    return cast


@pytest.fixture(scope="module", autouse=True)
def _world(shared_world):
    return shared_world(make_world)


@pytest.fixture
def cast(_world, db):
    return _world


def address(model) -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/"


def test_tables_are_read_only(cast):
    ada = cast.client("admin")
    index = ada.get("/admin/").content.decode()
    for model in tables._registry:
        url = address(model)
        assert url in index
        pages = [ada.get(url), ada.get(f"{url}?q=ferry")]
        if row := model._base_manager.first():
            pages.append(ada.get(f"{url}{row.pk}/change/"))
            for change in (f"{url}{row.pk}/change/", f"{url}{row.pk}/delete/"):
                assert ada.post(change, {"post": "yes"}).status_code == 403, change
        assert ada.post(f"{url}add/").status_code == 403
        for page in pages:
            assert (page.status_code, INLINE.findall(page.content.decode())) == (200, []), url
            assert "script-src" not in page["Content-Security-Policy"]  # so that the default holds
            assert "default-src 'self'" in page["Content-Security-Policy"]
    assert {"annotation.Rating", "judging.Attempt", "building.Draft", "evaluation.System"} <= {
        model._meta.label for model in tables._registry
    }


def test_list_is_filtered_and_nothing_secret_is_shown(cast):
    ada = cast.client("admin")
    people = ada.get("/admin/annotation/rater/?kind__exact=human").content.decode()
    assert "wil" in people
    assert Rater.objects.get(kind="baseline").name not in people
    token = ApiToken.objects.get()
    page = ada.get(f"/admin/annotation/apitoken/{token.pk}/change/").content.decode()
    assert ("notebook" in page, token.digest in page) == (True, False)
    person = User.objects.get(username="ada")
    page = ada.get(f"/admin/annotation/user/{person.pk}/change/").content.decode()
    assert person.password not in page


def test_admin_requires_admin_log_in(cast):
    for account in ("worker", "researcher"):
        assert cast.client(account).get("/admin/", follow=True).status_code == 403
    stranger = cast.client("stranger")
    assert stranger.get("/admin/").url == "/admin/login/?next=/admin/"
    for login in ("/admin/login/?next=/admin/", "/admin/login/"):
        assert stranger.get(login).url == "/login/?next=/admin/"
    ada = cast.client("admin")
    assert ada.get("/admin/login/?next=/admin/").url == "/admin/"
    assert ada.get("/admin/password_change/").url == "/account/"
    assert (
        ada.get("/admin/annotation/rater/0/change/").status_code == 302
    )  # it says so on its index
    assert ada.get("/admin/nothing/").status_code == 404
