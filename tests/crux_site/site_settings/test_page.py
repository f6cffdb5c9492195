"""Page /site-settings/: the settings that only admins can change."""

import pytest

from annotation.models import Project, User
from annotation.models.projects import main_project
from judging.models import AllowedHost, OutboundPolicy, ProjectBudget
from tests.toolbox.responses import markup

URL = "/site-settings/"


def test_settings_are_shown_with_their_state(cast, db, settings):
    settings.JUDGE_ENDPOINTS = {}
    main_project()
    client = cast.client("admin")
    page = markup(client.get(URL))
    assert "4 active accounts, 1 of admins." in page
    assert (
        "Servers of projects can be at public hosts and listed ones. The list has 0 hosts." in page
    )
    assert "The environment has no server." in page
    assert page.count(">none<") + page.count("none\n") == 2
    User.objects.filter(username="uma").update(is_active=False)
    User.objects.create_user("guest", role="worker", is_guest=True)
    OutboundPolicy.objects.create(pk=1, allows_public_hosts=False)
    AllowedHost.objects.create(host="models.example.org", port=443)
    project = Project.objects.get()
    ProjectBudget.objects.create(
        project=project, max_tokens=2_000_000, spent_tokens=5_000, max_money=7, currency="EUR"
    )
    page = markup(client.get(URL))
    assert "3 active accounts, 1 of admins." in page
    assert "listed hosts alone. The list has 1 host." in page
    for value in ("2,000,000", "5,000", "7.00 EUR"):
        assert value in page, value


def test_links_lead_to_the_settings(cast, db):
    project = Project.objects.get(pk=main_project())
    client = cast.client("admin")
    page = markup(client.get(URL))
    for address in ("/people/", f"/projects/{project.slug}/servers/", "/allowed-hosts/"):
        assert f'href="{address}' in page
        assert client.get(address).status_code == 200, address
    assert "Site settings" in markup(client.get("/"))


@pytest.mark.parametrize("name", ["researcher", "worker"])
def test_only_admins_see_the_settings(cast, db, name):
    client = cast.client(name)
    assert client.get(URL).status_code == 403
    assert "/site-settings/" not in markup(client.get("/", follow=True))


def test_wrong_method_and_stranger_are_refused(cast, db):
    assert cast.client("admin").post(URL).status_code == 405
    assert "/login/" in cast.client("stranger").get(URL).url
