"""projects/: create, members, invitations, moves and log, with permissions."""

import csv
import io
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.models import Dataset, Invitation, Membership, Project, ProjectEntry, User
from annotation.models.people import digest_of_token
from annotation.models.projects import main_project
from crux_site.imports import uploads
from tests.toolbox.factories import make_dataset
from tests.toolbox.responses import text_of_page
from tests.toolbox.users import Cast, make_cast

PAGE = "/projects/coast/"
DEMO = settings.BASE_DIR / "fixtures" / "demo"


def make_world() -> Cast:
    """rosa owns a project with a dataset; rex is a researcher of no project."""
    cast = make_cast()
    project = Project.objects.create(slug="coast", title="Coastal studies")
    Membership.objects.create(project=project, user=cast.researcher, role="owner")
    User.objects.create_user("rex", role="researcher", password="pass-word-1")
    Dataset.objects.filter(pk=make_dataset().pk).update(project=project)
    return cast


@pytest.fixture(scope="module", autouse=True)
def _world(shared_world):
    return shared_world(make_world)


@pytest.fixture
def cast(_world, db):
    return _world


@pytest.fixture
def rex(client):
    client.force_login(User.objects.get(username="rex"))
    return client


def invite(client, role="researcher", for_whom="Co-author"):
    answer = client.post(f"{PAGE}invitations/", {"role": role, "for_whom": for_whom})
    return answer.context["link"].removeprefix("http://testserver")


def test_creator_owns_project(cast, rex):
    response = rex.post("/projects/", {"title": "Quarry", "slug": "quarry"})
    assert response.url == "/projects/quarry/"
    page = rex.get(response.url)
    assert "Quarry" in text_of_page(page)
    assert "rex" in text_of_page(page)
    assert Project.objects.get(slug="quarry").role_of(User.objects.get(username="rex")) == "owner"
    for title, slug, message in (
        ("Again", "coast", "taken"),
        ("", "new", "required"),
        ("A", "a b", "valid"),
    ):
        refused = rex.post("/projects/", {"title": title, "slug": slug})
        assert (refused.status_code, message in refused.content.decode()) == (422, True)
    assert cast.client("worker").post("/projects/", {}).status_code == 403


def test_link_lets_one_newcomer_in_with_an_account_that_sees_this_project_alone(cast, client):
    make_dataset("harbour")  # of another project
    link = invite(cast.client("researcher"), "viewer")
    page = client.get(link)
    assert "rosa invites you to this project, as viewer" in text_of_page(page)
    assert "no-store" in page["Cache-Control"]
    refused = client.post(link, {"username": "cora", "password1": "short", "password2": "short"})
    assert (refused.status_code, User.objects.filter(username="cora").exists()) == (422, False)
    account = {"username": "cora", "password1": "grey-heron-8", "password2": "grey-heron-8"}
    assert client.post(link, account).url == PAGE
    listed = text_of_page(client.get("/"))
    assert ("The ferry study" in listed, "The harbour study" in listed) == (True, False)
    assert client.get("/datasets/harbour/").status_code == 404
    assert client.get(link).status_code == 404  # taken


def test_existing_account_joins_and_keeps_higher_role(cast, rex):
    owner = cast.client("researcher")
    assert "Join as rex" in text_of_page(rex.get(invite(owner)))
    for role, expected in (
        ("coordinator", "coordinator"),
        ("viewer", "coordinator"),
        ("owner", "owner"),
    ):
        assert rex.post(invite(owner, role)).url == PAGE
        assert Membership.objects.get(user__username="rex").role == expected


def test_links_that_let_nobody_in(cast, rex):
    owner = cast.client("researcher")
    revoked, late = invite(owner), invite(owner)
    first, second = Invitation.objects.all()
    assert first.digest == digest_of_token(revoked.split("/")[2])  # the word itself is nowhere
    assert owner.post(f"{PAGE}invitations/{first.pk}/revoke/").url == PAGE
    Invitation.objects.filter(pk=second.pk).update(expires=timezone.now() - timedelta(seconds=1))
    for link in (revoked, late, "/join/guess/"):
        assert (rex.get(link).status_code, rex.post(link).status_code) == (404, 404)
        assert "was used, was revoked, or has expired" in text_of_page(rex.get(link))
    assert owner.post(f"{PAGE}invitations/{second.pk}/revoke/").status_code == 404
    worker = cast.client("worker")
    link = invite(owner)
    assert "an account for grading alone" in text_of_page(worker.get(link))
    assert worker.post(link).status_code == 422
    assert not Membership.objects.filter(user__username__in=("rex", "wil")).exists()


def test_role_is_changed_and_a_project_keeps_an_owner(cast, rex):
    owner = cast.client("researcher")
    rex.post(invite(owner))
    rosa, of_rex = Membership.objects.filter(project__slug="coast").order_by("pk")
    for refused in ("viewer", ""):
        answer = owner.post(f"{PAGE}members/{rosa.pk}/", {"role": refused})
        assert (answer.status_code, "needs an owner" in text_of_page(answer)) == (422, True)
    assert owner.post(f"{PAGE}leave/").status_code == 422
    assert owner.post(f"{PAGE}members/{of_rex.pk}/", {"role": "king"}).status_code == 422
    assert rex.post(f"{PAGE}members/{of_rex.pk}/", {"role": "owner"}).status_code == 403
    owner.post(f"{PAGE}members/{of_rex.pk}/", {"role": "owner"})
    assert owner.post(f"{PAGE}leave/").url == "/projects/"
    assert owner.get(PAGE).status_code == 404
    rex.post(f"{PAGE}members/{of_rex.pk}/", {"role": "viewer"})
    assert Membership.objects.get(pk=of_rex.pk).role == "owner"  # the last one
    assert rex.post("/projects/coast/members/0/", {"role": ""}).status_code == 404


def test_dataset_moves_with_its_history_between_projects_of_one_owner(cast):
    owner = cast.client("researcher")
    target = Project.objects.create(slug="north", title="North")
    move = {"dataset": "ferry", "to": "north"}
    assert owner.post(f"{PAGE}move/", move).status_code == 422  # not theirs
    assert Dataset.objects.get(slug="ferry").project.slug == "coast"
    Membership.objects.create(project=target, user=cast.researcher, role="owner")
    ProjectEntry.record(
        Project.objects.get(slug="coast"), None, "imported", "4 topics", Dataset.objects.get()
    )
    assert owner.post(f"{PAGE}move/", move).url == PAGE
    assert Dataset.objects.get(slug="ferry").project == target
    assert "imported: 4 topics" in text_of_page(owner.get("/projects/north/"))
    assert "moved away: ferry, to north" in text_of_page(owner.get(PAGE))


def test_log_is_exported_by_owners(cast, rex):
    owner = cast.client("researcher")
    rex.post(invite(owner))
    rows = list(
        csv.DictReader(io.StringIO(owner.get(f"{PAGE}log.csv").content.decode("utf-8-sig")))
    )
    assert [(row["by"], row["action"], row["detail"]) for row in rows] == [
        ("rex", "joined", "as researcher, invited as Co-author"),
        ("rosa", "invited", "Co-author, as researcher"),
    ]
    assert rex.get(f"{PAGE}log.csv").status_code == 403


def test_acts_are_posts_and_an_admin_may_do_them_all(cast):
    admin = cast.client("admin")
    for act in ("members/1/", "leave/", "invitations/", "invitations/1/revoke/", "move/"):
        assert admin.get(PAGE + act).status_code == 405, act
    assert admin.get(PAGE).status_code == 200
    assert admin.get(f"{PAGE}log.csv").status_code == 200
    assert invite(admin)
    assert admin.post("/projects/nowhere/invitations/").status_code == 404
    rosa = Membership.objects.get(project__slug="coast")
    admin.post(f"{PAGE}members/{rosa.pk}/", {"role": ""})
    assert not Membership.objects.filter(project__slug="coast").exists()


def test_new_account_of_a_researcher_is_in_the_project_that_the_form_names(cast):
    sent = {"username": "nils", "password1": "grey-heron-8", "password2": "grey-heron-8"}
    cast.client("admin").post("/people/", {**sent, "role": "researcher", "project": "main"})
    assert Membership.objects.get(user__username="nils").project_id == main_project()


def test_owners_take_away_what_people_said_in_datasets_that_are_deleted(cast, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    owner, address = cast.client("researcher"), f"{PAGE}archive/ferry.t1.zip"
    assert "datasets that are deleted" not in text_of_page(owner.get(PAGE))
    folder = tmp_path / "archive" / "coast"
    folder.mkdir(parents=True)
    (folder / "ferry.t1.zip").write_bytes(b"answers")
    (folder / "ferry.t1.zip.part").write_bytes(b"ans")
    assert address in owner.get(PAGE).content.decode()
    assert b"".join(owner.get(address).streaming_content) == b"answers"
    for name in ("other.zip", "ferry.t1.zip.part", ".."):
        assert owner.get(f"{PAGE}archive/{name}").status_code == 404, name
    assert owner.post(address).status_code == 405
    Membership.objects.filter(user=cast.researcher).update(role="coordinator")
    rosa = cast.client("researcher")
    assert (rosa.get(address).status_code, address in rosa.get(PAGE).content.decode()) == (
        403,
        False,
    )
    assert cast.client("worker").get(address).status_code == 403


def test_former_owner_cannot_import_or_rejoin(cast, rex, tmp_path, monkeypatch):
    monkeypatch.setattr(uploads, "STAGING", tmp_path)
    monkeypatch.setattr(uploads.Upload, "start", uploads.Upload.read)
    owner = cast.client("researcher")
    rex.post(invite(owner, "owner"))
    file = SimpleUploadedFile("topics.jsonl", (DEMO / "topics.jsonl").read_bytes())
    form = {"project": "coast", "dataset": "bay", "title": "", "files": file}
    staged = rex.post("/import/", form).url
    assert rex.get(staged).status_code == 200
    own_invitation = invite(rex, "owner")
    of_rex = Membership.objects.get(user__username="rex")
    owner.post(f"{PAGE}members/{of_rex.pk}/", {"role": "viewer"})
    assert (rex.get(staged).status_code, rex.post(staged).status_code) == (404, 404)
    assert rex.post(own_invitation).status_code == 404
    assert not Dataset.objects.filter(slug="bay").exists()
