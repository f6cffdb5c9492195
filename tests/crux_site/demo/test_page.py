"""demo/: the page that loads the demo into an empty site."""

import pytest
from django.core.management import call_command

from annotation.models import Campaign, User
from crux_site.background_command import try_lock
from crux_site.demo import loading
from tests.toolbox.users import make_cast


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "FOLDER", tmp_path / "demo")
    return tmp_path / "demo"


@pytest.fixture
def started(monkeypatch):
    """Return the commands that the page starts; none is run."""
    commands = []
    monkeypatch.setattr(
        loading, "start_command", lambda _lock, *arguments, **_: commands.append(arguments)
    )
    return commands


def test_page_is_for_admins(cast, started):
    for account, status in (("researcher", 403), ("worker", 403), ("stranger", 302)):
        assert cast.client(account).get("/demo/").status_code == status
        assert cast.client(account).post("/demo/").status_code == status
    assert cast.client("admin").put("/demo/").status_code == 405
    assert started == []


def test_get_starts_nothing(cast, started):
    page = cast.client("admin").get("/demo/").content.decode()
    assert "Load the demo" in page
    assert started == []


def test_post_starts_the_command_once(cast, started, folder):
    client = cast.client("admin")
    assert client.post("/demo/").url == "/demo/"
    assert started == [("demo", "--no-log-ins")]
    with try_lock(folder / "lock") as lock:
        assert lock is not None
        (folder / "output.txt").write_text("  accounts\n    4 topics\n  campaigns\n")
        assert client.post("/demo/").url == "/demo/"
        page = client.get("/demo/").content.decode()
        part = client.get("/demo/", HTTP_HX_REQUEST="true").content.decode()
    assert len(started) == 1
    assert "is being loaded" in page
    assert part.startswith("<section")
    assert "<li>campaigns</li>" in part
    assert "4 topics" not in part
    assert client.get("/demo/", HTTP_HX_REQUEST="true")["HX-Refresh"] == "true"


def test_interrupted_loading_can_be_started_again(cast, started, folder):
    folder.mkdir()
    (folder / "output.txt").write_text("  accounts\n")
    client = cast.client("admin")
    assert "Loading stopped before its end." in client.get("/demo/").content.decode()
    client.post("/demo/")
    assert len(started) == 1
    (folder / "output.txt").write_text(f"  accounts\n  {loading.DONE}\n")
    assert "stopped" not in client.get("/demo/").content.decode()


def test_demo_without_log_ins_creates_no_account_with_a_password(db, started, capsys):
    cast = make_cast()
    before = set(User.objects.values_list("pk", flat=True))
    call_command("demo", "--no-log-ins")
    new = User.objects.exclude(pk__in=before)
    assert {user.username for user in new if not user.is_guest} == {"worker1", "worker2"}
    assert not any(user.has_usable_password() or user.is_researcher for user in new)
    participants = Campaign.objects.get(slug="demo-answerable").participants
    assert set(participants.values_list("rater__name", flat=True)) == {"worker1", "worker2"}
    assert capsys.readouterr().out.endswith(f"  {loading.DONE}\n")
    client = cast.client("admin")
    assert client.get("/demo/").url == "/"
    assert client.post("/demo/").url == "/"
    assert started == []
