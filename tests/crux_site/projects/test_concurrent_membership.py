"""Concurrent changes of members: a project keeps an owner, an invitation is used once."""

from threading import Barrier

import pytest
from django.test import Client

from annotation.models import Invitation, Membership, Project, User
from crux_site.projects import guard
from tests.toolbox.concurrent_clients import LONGEST
from tests.toolbox.threads import in_threads

ROUNDS = 6
PAGE = "/projects/coast/"
ACCOUNT = {"username": "cora", "password1": "grey-heron-8", "password2": "grey-heron-8"}


def make_project(*owners: str) -> dict[str, Membership]:
    project = Project.objects.create(slug="coast", title="Coastal studies")
    people = [User.objects.create_user(name, role="researcher") for name in owners]
    return {
        person.username: Membership.objects.create(project=project, user=person, role="owner")
        for person in people
    }


def client_of(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


@pytest.fixture
def past_the_guard_together(monkeypatch):
    """Let no request go on before both have passed the guard, which saw two owners."""
    both = Barrier(2, timeout=LONGEST)
    role_of = guard._role

    def wait(*args, **kwargs):
        role = role_of(*args, **kwargs)
        both.wait()
        return role

    monkeypatch.setattr(guard, "_role", wait)


def post_together(posts):
    """Post as two people at the same moment; return the status codes."""
    clients = {name: client_of(name) for name, _, _ in posts}
    return in_threads(
        lambda post: clients[post[0]].post(PAGE + post[1], post[2]).status_code, posts, threads=2
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("past_the_guard_together")
@pytest.mark.parametrize("act", ["leave", "demote each other", "remove each other"])
def test_concurrent_departures_leave_an_owner(act):
    for _ in range(ROUNDS):
        members = make_project("rosa", "rex")
        posts = [
            (name, "leave/", {})
            if act == "leave"
            else (
                name,
                f"members/{members[co_owner].pk}/",
                {"role": "viewer" * act.startswith("d")},
            )
            for name, co_owner in (("rosa", "rex"), ("rex", "rosa"))
        ]
        codes = post_together(posts)
        assert sorted(codes) == [302, 422]
        assert Project.objects.get(slug="coast").owners().count() == 1
        Project.objects.all().delete()
        User.objects.all().delete()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("past_the_guard_together")
def test_owner_demoted_at_the_same_moment_changes_nobody():
    for _ in range(ROUNDS):
        members = make_project("rosa", "rex", "cleo")
        codes = post_together(
            [
                ("rosa", f"members/{members['rex'].pk}/", {"role": "viewer"}),
                ("rex", f"members/{members['rosa'].pk}/", {"role": "viewer"}),
            ]
        )
        assert sorted(codes) == [302, 422]
        assert Membership.objects.filter(role="owner").count() == 2
        Project.objects.all().delete()
        User.objects.all().delete()


@pytest.mark.django_db(transaction=True)
def test_invitation_is_accepted_once():
    rosa = make_project("rosa")["rosa"]
    for number in range(ROUNDS):
        token = Invitation.objects.make(rosa.project, "viewer", "Reviewer", rosa.user)
        barrier = Barrier(2, timeout=LONGEST)

        def join(name, token=token, barrier=barrier):
            client = Client()
            client.get(f"/join/{token}/")
            barrier.wait()
            return client.post(f"/join/{token}/", ACCOUNT | {"username": name}).status_code

        names = [f"cora{number}", f"nils{number}"]
        assert sorted(in_threads(join, names, threads=2)) == [302, 404]
        assert User.objects.filter(username__in=names).count() == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_user_name_is_taken_for_second():
    rosa = make_project("rosa")["rosa"]
    second_project = Project.objects.create(slug="other", title="Other")
    Membership.objects.create(project=second_project, user=rosa.user, role="owner")
    for number in range(ROUNDS):
        tokens = [
            Invitation.objects.make(project, "viewer", "Reviewer", rosa.user)
            for project in (rosa.project, second_project)
        ]
        barrier = Barrier(2, timeout=LONGEST)

        def join(token, number=number, barrier=barrier):
            barrier.wait()
            sent = ACCOUNT | {"username": f"cora{number}"}
            return Client().post(f"/join/{token}/", sent)

        first, second = sorted(in_threads(join, tokens, threads=2), key=lambda it: it.status_code)
        assert (first.status_code, second.status_code) == (302, 422)
        assert "A user with that username already exists." in second.content.decode()
        assert Membership.objects.filter(user__username=f"cora{number}").count() == 1
