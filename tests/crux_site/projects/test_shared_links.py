"""share/ and shared/: create, open, use and revoke a link; its pages state their date."""

from datetime import timedelta
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import (
    Answer,
    Assignment,
    Dataset,
    Decision,
    Membership,
    Project,
    ProjectEntry,
    Rating,
    SharedLink,
    User,
)
from annotation.models.people import digest_of_token
from tests.crux_site.projects.shared import DATASET, assert_private, content_of, share, visitor
from tests.crux_site.projects.site_addresses import OURS, World, body, client_of, make_world
from tests.toolbox.responses import text_of_page


@pytest.fixture(scope="module", autouse=True)
def _world(shared_world):
    return shared_world(make_world)


@pytest.fixture
def world(_world, db) -> World:
    return _world


@pytest.fixture
def owner(world) -> Client:
    return client_of("owner")


def test_page_says_that_it_is_shared_until_when_and_as_of_when(world, owner):
    client = visitor(share(owner))
    newest = timezone.now() + timedelta(days=2)
    Rating.objects.filter(pk=Rating.objects.last().pk).update(created=newest)
    page = client.get(DATASET)
    link = SharedLink.objects.get()
    assert f"Read-only , shared until {link.expires:%-d %B %Y}." in text_of_page(page)
    assert f"As of {newest:%-d %B %Y, %H:%M}" in text_of_page(page)
    text = body(page)
    for of_staff in (
        "/campaigns/",
        "/people/",
        "/judges/",
        "/logout/",
        "Log out",
        "/import/",
        "/share/",
    ):
        assert of_staff not in text, of_staff
    missing = client.get(f"{DATASET}systems/runs/nothing/")  # on the list, and not there
    assert (missing.status_code, f'href="{DATASET}"' in body(missing)) == (404, True)


def test_grade_changed_in_place_is_a_change(world, owner):
    """The rating keeps the time of its first grade."""
    share(owner)
    link = SharedLink.objects.get()
    before, later = link.as_of, timezone.now() + timedelta(days=3)
    assignment = Assignment.objects.first()
    item, campaigns = assignment.item, world.dataset.campaigns
    fields = {"question": item.text.topic.questions.first(), "grade": 1, "spans": []}
    Answer.objects.create(assignment=assignment, key=uuid4(), text_sha256="", **fields)
    Answer.objects.update(created=later)
    assert link.as_of == later
    campaigns.update(is_pilot=True)
    assert link.as_of == before
    campaigns.update(is_pilot=False)
    Answer.objects.update(late=Answer.Late.CLOSED)
    assert link.as_of == before
    Decision.objects.create(item=item, key=uuid4(), **fields)
    Decision.objects.update(at=later)
    assert link.as_of == later


def test_word_is_in_the_link_alone(world, owner):
    link = share(owner)
    token = link.split("/")[2]
    client = Client()
    opened = client.get(link)
    assert opened.url == DATASET
    assert opened["Referrer-Policy"] == "no-referrer"
    assert_private(opened)
    assert token not in content_of(client.get(DATASET))
    cookie = opened.cookies["shared"]
    assert token not in cookie.value
    assert (cookie["httponly"], cookie["samesite"], bool(cookie["max-age"])) == (True, "Lax", True)
    assert SharedLink.objects.get().digest == digest_of_token(token)
    assert token not in " ".join(ProjectEntry.objects.values_list("detail", flat=True))
    assert token not in content_of(owner.get("/projects/main/"))
    assert Client().post(link).status_code == 405


def test_links_that_show_nothing(world, owner):
    client = visitor(share(owner))
    link = SharedLink.objects.get()
    SharedLink.objects.update(expires=timezone.now() - timedelta(seconds=1))
    late = client.get(DATASET)
    assert (late.status_code, "was revoked, has expired" in text_of_page(late)) == (404, True)
    SharedLink.objects.update(expires=timezone.now() + timedelta(days=1))
    assert client.get(DATASET).status_code == 200
    assert owner.post(f"/projects/main/shared/{link.pk}/revoke/").url == "/projects/main/"
    assert client.get(DATASET).status_code == 404
    guessed = Client().get("/shared/guess/")
    assert (guessed.status_code, guessed.cookies) == (404, {})
    forged = Client()
    share(owner)
    forged.cookies["shared"] = SharedLink.objects.get().digest  # known, and not signed
    assert forged.get(DATASET).url.startswith("/login/")


def test_logged_in_user_is_not_a_visitor(world, owner):
    link = share(owner, with_words="on")
    for name, status in (("rex", 200), ("wil", 200), ("viewer", 302), ("ada", 302)):
        client = client_of(name)
        answer = client.get(link)
        assert (answer.status_code, "shared" in answer.cookies) == (status, False), name
        assert client.session["_auth_user_id"] == str(User.objects.get(username=name).pk)
    assert "You are logged in as rex" in text_of_page(client_of("rex").get(link))
    later = visitor(link)
    later.force_login(User.objects.get(username="rex"))  # who has opened it before
    assert later.get(DATASET).status_code == 404
    assert "Where do you want to start?" in text_of_page(later.get("/"))
    later.logout()
    assert later.get("/").url.startswith("/login/")
    assert later.get("/login/").status_code == 200


def test_owner_shares_what_a_link_can_show(world, owner):
    page = f"{DATASET}agreement/?rubric=graded"
    assert f"{DATASET}share/?{urlencode({'address': page})}" in body(owner.get(page))
    form = owner.get(f"{DATASET}share/", {"address": page})
    assert page in text_of_page(form)
    assert "only this page" in text_of_page(form)
    assert "only this page" not in text_of_page(owner.get(f"{DATASET}share/"))
    data = {"what": "page", "for_whom": "Reviewer 2", "days": 30}
    for address, with_words in (
        (f"{DATASET}matrix/under/answerable/", ""),  # it has words
        ("/datasets/harbour/agreement/", "on"),
        ("/campaigns/ferry-answerable/", "on"),
        ("https://example.org/", "on"),
        ("//example.org/datasets/ferry/search/", "on"),
        (f"{DATASET}agreement.json", "on"),
        ("http://[", "on"),
        ("", "on"),
    ):
        refused = owner.post(
            f"{DATASET}share/", data | {"address": address, "with_words": with_words}
        )
        assert refused.status_code == 422, address
    refused = owner.post(f"{DATASET}share/", {"what": "dataset", "for_whom": "", "days": 9999})
    assert refused.status_code == 422
    assert not SharedLink.objects.exists()
    assert share(owner, f"//example.org{page}")  # nothing of the other host is kept
    assert SharedLink.objects.get().address == page


def test_acts_are_in_the_log_and_are_owners(world, owner):
    share(owner, with_words="on")
    link = SharedLink.objects.get()
    assert (link.made_by.username, link.last_used) == ("owner", None)
    listed = text_of_page(owner.get("/projects/main/"))
    assert "Reviewer 2: all of The ferry study , with texts; by owner" in listed
    revoke = f"/projects/main/shared/{link.pk}/revoke/"
    for name in ("viewer", "coordinator"):
        client = client_of(name)
        assert client.post(revoke).status_code == 403, name
        assert client.get(f"{DATASET}share/").status_code == 403, name
        assert "Shared links" not in text_of_page(client.get("/projects/main/"))
        assert f"{DATASET}share/" not in body(client.get(DATASET))
    assert owner.get(revoke).status_code == 405
    assert owner.post("/projects/main/shared/0/revoke/").status_code == 404
    target = Project.objects.create(slug="coast", title="Coast")
    Membership.objects.create(project=target, user=link.made_by, role="owner")
    data = {"dataset": OURS, "to": "coast"}
    assert client_of("ada").post("/projects/main/move/", data).status_code == 302
    link.refresh_from_db()
    assert link.project == target  # whose owners revoke it from now on
    assert owner.post(revoke).status_code == 404
    assert client_of("ada").post(f"/projects/coast/shared/{link.pk}/revoke/").status_code == 302
    log = list(Dataset.objects.get(slug=OURS).log.values_list("action", "detail").order_by("id"))
    assert log[0] == ("shared", "all of it, with words, for Reviewer 2, 30 days")
    assert log[-1] == ("revoked a shared link", "for Reviewer 2")


def test_use_is_noted_to_the_hour(world, owner):
    client = visitor(share(owner))
    client.get(DATASET)
    first = SharedLink.objects.get().last_used
    client.get(DATASET)
    assert SharedLink.objects.get().last_used == first
    SharedLink.objects.update(last_used=first - timedelta(hours=2))
    client.get(DATASET)
    assert SharedLink.objects.get().last_used >= first
