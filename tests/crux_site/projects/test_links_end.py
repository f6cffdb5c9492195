"""Invitations, shared links and tokens end with the right of whoever made them."""

import pytest
from django.contrib.auth.models import update_last_login
from django.test import Client
from rest_framework.test import APIClient

from annotation.models import (
    ApiToken,
    Dataset,
    Invitation,
    Membership,
    Project,
    ProjectEntry,
    SharedLink,
    User,
)
from tests.toolbox.factories import make_dataset
from tests.toolbox.responses import text_of_page
from tests.toolbox.users import make_cast

PAGE = "/projects/coast/"
ACCOUNT = {"username": "cora", "password1": "grey-heron-8", "password2": "grey-heron-8"}


def make_world():
    """rosa and rex own a project with a dataset."""
    cast = make_cast()
    project = Project.objects.create(slug="coast", title="Coastal studies")
    User.objects.create_user("rex", role="researcher", password="pass-word-1")
    for name in ("rosa", "rex"):
        member = User.objects.get(username=name)
        Membership.objects.create(project=project, user=member, role="owner")
    Dataset.objects.filter(pk=make_dataset().pk).update(project=project)
    return cast


@pytest.fixture(scope="module", autouse=True)
def _world(shared_world):
    return shared_world(make_world)


@pytest.fixture
def cast(_world, db):
    return _world


@pytest.fixture
def project(cast) -> Project:
    return Project.objects.get(slug="coast")


@pytest.fixture
def rosa(cast) -> User:
    return User.objects.get(username="rosa")


@pytest.fixture
def rex(cast) -> User:
    return User.objects.get(username="rex")


class GrantedAccess:
    """Access that rosa gave: an invitation as owner, a shared link in use, and an API token."""

    def __init__(self, project: Project, maker: User) -> None:
        dataset = project.datasets.get()
        self.invitation = Invitation.objects.make(project, "owner", "Friend", maker)
        self.shared = SharedLink.objects.make(maker, dataset, 30, for_whom="Reviewer 2")
        self.key = ApiToken.objects.make(maker, "notebook")
        self.reader = Client()
        self.reader.get(f"/shared/{self.shared}/")

    @property
    def lets_in(self) -> bool:
        opened = Client().get(f"/join/{self.invitation}/").status_code
        joined = Client().post(f"/join/{self.invitation}/", ACCOUNT).status_code
        assert (opened, joined) in ((200, 302), (404, 404))
        User.objects.filter(username="cora").delete()
        return joined == 302

    @property
    def is_readable(self) -> bool:
        read = self.reader.get("/datasets/ferry/").status_code
        assert read in (200, 404)
        return read == 200

    @property
    def answers(self) -> bool:
        return APIClient(HTTP_AUTHORIZATION=f"Token {self.key}").get("/api/v1/").status_code == 200


@pytest.fixture
def access(project, rosa) -> GrantedAccess:
    return GrantedAccess(project, rosa)


def rows() -> tuple[int, int, int]:
    open_invitations = Invitation.objects.filter(taken_by=None)
    return open_invitations.count(), SharedLink.objects.count(), ApiToken.objects.count()


def test_links_of_an_active_owner_work(access):
    assert (access.is_readable, access.lets_in) == (True, True)


@pytest.mark.parametrize(
    "end",
    [
        {"is_active": False},
        {"role": "worker"},
    ],
)
def test_change_that_no_code_of_ours_saw_ends_links_at_use(access, rosa, end):
    """As in a script that updates the table: nothing is revoked, and nothing works."""
    User.objects.filter(pk=rosa.pk).update(**end)
    assert rows() == (1, 1, 1)
    assert (access.is_readable, access.lets_in) == (False, False)
    page = text_of_page(Client().get(f"/shared/{access.shared}/"))
    assert "This link shows nothing" in page


@pytest.mark.parametrize("role", ["coordinator", ""])
def test_membership_changed_in_the_table_ends_links_at_use(access, rosa, role):
    membership = Membership.objects.filter(user=rosa)
    membership.update(role=role) if role else membership.delete()
    assert (access.is_readable, access.lets_in) == (False, False)


def test_links_of_a_deleted_account_end(access, rosa, project):
    rosa.delete()
    assert (access.is_readable, access.lets_in) == (False, False)
    assert not project.invitations.open().exists()


@pytest.mark.parametrize("way", ["page", "command", "role"])
def test_disabling_revokes_and_enabling_brings_nothing_back(cast, access, rosa, way):
    of_rosa = f"/people/{rosa.pk}/"
    admin = cast.client("admin")
    if way == "page":
        admin.post(of_rosa, {"role": "researcher"})
    elif way == "role":
        admin.post(of_rosa, {"role": "worker", "is_active": "on"})
    else:
        rosa.is_active = False
        rosa.save()
    assert rows() == (0, 0, 0)
    assert (access.is_readable, access.lets_in) == (False, False)
    admin.post(of_rosa, {"role": "researcher", "is_active": "on"})
    assert (access.is_readable, access.lets_in, access.answers) == (False, False, False)
    log = ProjectEntry.objects.filter(action__startswith="revoked").order_by("action")
    by = None if way == "command" else cast.admin
    assert [(entry.by, entry.action, entry.detail) for entry in log] == [
        (by, "revoked a shared link", "for Reviewer 2: rosa does not own the project any more"),
        (by, "revoked an invitation", "Friend: rosa does not own the project any more"),
    ]


@pytest.mark.parametrize("way", ["leaves", "is removed", "is demoted"])
def test_leaving_and_demotion_revoke_links_and_keep_tokens(cast, access, rosa, rex, way):
    membership = Membership.objects.get(user=rosa, project__slug="coast")
    if way == "leaves":
        cast.client("researcher").post(f"{PAGE}leave/")
    else:
        client = Client()
        client.force_login(rex)
        client.post(
            f"{PAGE}members/{membership.pk}/", {"role": "viewer" if way == "is demoted" else ""}
        )
    assert rows() == (0, 0, 1)  # a token is of the account, and reads what that may read
    Membership.objects.filter(user=rosa, project=membership.project).delete()
    Membership.objects.create(project=membership.project, user=rosa, role="owner")
    assert (access.is_readable, access.lets_in) == (False, False)


def test_links_of_other_projects_and_other_makers_stay(cast, access, rosa, rex, project):
    rex_access = GrantedAccess(project, rex)
    north = Project.objects.create(slug="north", title="North")
    Membership.objects.create(project=north, user=rosa, role="owner")
    elsewhere = Invitation.objects.make(north, "viewer", "Friend", rosa)
    cast.client("researcher").post(f"{PAGE}leave/")
    assert (rex_access.is_readable, rex_access.lets_in) == (True, True)
    assert Client().get(f"/join/{elsewhere}/").status_code == 200


def test_links_of_admins_need_no_membership(cast, project):
    access = GrantedAccess(project, cast.admin)
    assert (access.is_readable, access.lets_in) == (True, True)
    cast.admin.role = "researcher"
    cast.admin.save(update_fields=["role"])
    assert (access.is_readable, access.lets_in) == (False, False)
    assert rows() == (0, 0, 1)  # still a researcher, with the programs of one


def test_saves_that_change_no_right_revoke_nothing(access, rosa):
    rosa.set_password("another-word-3")
    rosa.save()
    update_last_login(None, rosa)
    assert rows() == (1, 1, 1)
    assert access.is_readable


def test_link_of_a_dataset_that_moves_ends_where_its_maker_owns_nothing(cast, access, rosa):
    admin_link = SharedLink.objects.make(
        cast.admin, Dataset.objects.get(), 30, for_whom="Reviewer 3"
    )
    reader = Client()
    reader.get(f"/shared/{admin_link}/")
    Project.objects.create(slug="north", title="North")
    admin = cast.client("admin")
    moved = admin.post(f"{PAGE}move/", {"dataset": "ferry", "to": "north"}, follow=True)
    assert "1 shared link ended: the makers do not own North." in text_of_page(moved)
    assert (access.is_readable, reader.get("/datasets/ferry/").status_code) == (False, 200)


def test_project_lists_working_links_alone(cast, access, rosa, rex):
    client = Client()
    client.force_login(rex)
    assert "Friend, as owner" in text_of_page(client.get(PAGE))
    User.objects.filter(pk=rosa.pk).update(is_active=False)
    page = text_of_page(client.get(PAGE))
    assert ("Friend" in page, "Reviewer 2" in page) == (False, False)


def test_disabling_the_last_owner_is_possible_and_said(cast, rosa, rex):
    admin = cast.client("admin")
    done = admin.post(f"/people/{rex.pk}/", {"role": "researcher"}, follow=True)
    assert "no active owner" not in text_of_page(done)
    rosa_page = cast.client("researcher").post(f"{PAGE}leave/")
    assert (rosa_page.status_code, "needs an owner" in text_of_page(rosa_page)) == (422, True)
    done = admin.post(f"/people/{rosa.pk}/", {"role": "researcher"}, follow=True)
    assert "Coastal studies has no active owner now: appoint one." in text_of_page(done)


def test_viewer_leaves_a_project_whose_owners_are_disabled(cast, project, rex):
    viewer = User.objects.create_user("vera", role="researcher")
    Membership.objects.create(project=project, user=viewer, role="viewer")
    User.objects.filter(username__in=("rosa", "rex")).update(is_active=False)
    client = Client()
    client.force_login(viewer)
    assert client.post(f"{PAGE}leave/").url == "/projects/"
