"""Who is not in a project finds nothing of it: at any address, in any list, over the API."""

import re
from dataclasses import dataclass

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver
from rest_framework.test import APIClient

from annotation.models import ApiToken, Campaign, Dataset, Membership, Participant, Project, User
from annotation.models.projects import main_project
from evaluation.models import RetrievalRun
from judging.engine.foreground import fill_lexical
from judging.models import JudgeRun
from tests.conftest import Cast, make_cast
from tests.factories import make_campaign, make_dataset

# Addresses about one dataset, by their first word; of "campaigns" and "projects" those that name one.
OF_A_DATASET = ("datasets", "campaigns", "judge-runs", "replies", "projects")
OURS = "ferry"
ROLES = ("viewer", "researcher", "coordinator", "owner")


@dataclass
class World:
    cast: Cast
    dataset: Dataset
    values: dict[str, dict[str, object]]  # what stands in addresses, by their first word


def make_world() -> World:
    """A study with a campaign, a judge run and a retrieval run, and somebody in each role, and in none."""
    cast, dataset = make_cast(), make_dataset(OURS)
    campaign = make_campaign(dataset, cast.worker)
    run = fill_lexical(dataset)
    RetrievalRun.objects.create(dataset=dataset, name=f"{OURS}-bm25")
    for role in ROLES:
        member = User.objects.create_user(role, role="researcher")
        Membership.objects.create(project_id=main_project(), user=member, role=role)
    other = Project.objects.create(slug="other", title="Another group")
    rex = User.objects.create_user("rex", role="researcher")
    Membership.objects.create(project=other, user=rex, role="owner")
    text, topic = dataset.texts.exclude(body=None).first(), dataset.topics.get()
    item = campaign.items.first()
    of_all = {
        "topic_id": topic.pk,
        "text_id": text.pk,
        "id": text.pk,
        "question_id": topic.questions.first().pk,
        "question_pk": topic.questions.first().pk,
        "rater_id": run.judge.rater_id,
        "rubric": "graded",
        "dataset": OURS,
        "run": f"{OURS}-bm25",
        "fingerprint": run.judge.fingerprint,
        "item_pk": item.pk,
        "item": item.pk,
        "position": 0,
        "number": 1,
        "check_pk": 1,
        "system": text.system or "x",
        "form": "jsonl",
        "kind": "all",
        "name": f"{OURS}-bm25",
        "table": "systems",
        "task": "report",
        "purpose": "training",
        "token": "00000000-0000-4000-8000-000000000000",
    }
    values = {
        "datasets": {"slug": OURS, "pk": text.pk},
        "campaigns": {"slug": campaign.slug, "pk": Participant.objects.get().pk},
        "judge-runs": {"pk": run.pk},
        "judges": {"pk": run.judge_id},
        "projects": {"slug": "main", "pk": Membership.objects.first().pk},
        "work": {"pk": item.assignments.get().pk},
    }
    return World(cast, dataset, {"": of_all} | values)


@pytest.fixture(scope="module", autouse=True)
def _world(kept):
    return kept(make_world)


@pytest.fixture
def world(_world, db) -> World:
    return _world


def routes(resolver, before: str = ""):
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route
        else:
            yield from routes(pattern, route)


def addresses(world: World) -> list[tuple[str, bool]]:
    """Every address of the site for this study, and whether it is about one dataset or project."""
    filled = []
    for route in routes(get_resolver()):
        room = route.split("/")[0]
        values = {"pk": 1, "slug": "graded"} | world.values[""] | world.values.get(room, {})
        address = re.sub(
            r"<(?:\w+:)?(\w+)>", lambda name, at=values: str(at.get(name[1], "x")), route
        )
        filled.append((f"/{address}", room in OF_A_DATASET and "<" in route))
    return filled


def client_of(name: str) -> Client:
    client = Client(raise_request_exception=True)
    client.force_login(User.objects.get(username=name))
    return client


def body(response) -> str:
    return b"".join(
        response.streaming_content if response.streaming else [response.content]
    ).decode(errors="replace")


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
    """Every tenth of them, for an admin: an address with a slip of the pen would be 404 for everybody."""
    ada = client_of("ada")
    about_it = [address for address, is_about_it in addresses(world) if is_about_it][::10]
    assert sum(ada.get(address).status_code == 200 for address in about_it) > len(about_it) / 3


def test_what_is_not_there_is_answered_alike(world):
    rex = client_of("rex")
    for there, not_there in (
        ("/datasets/ferry/", "/datasets/quarry/"),
        ("/projects/main/", "/projects/no/"),
    ):
        assert rex.get(there).content == rex.get(not_there).content.replace(
            b"quarry", b"ferry"
        ).replace(b"/no/", b"/main/")


def test_the_api_knows_nothing_of_it_either(world):
    run = JudgeRun.objects.get()
    key = ApiToken.objects.make(User.objects.get(username="rex"), "notebook")
    api = APIClient(HTTP_AUTHORIZATION=f"Token {key}")
    for path in ("", "topics/", "questions/", "texts/", "raters/", "ratings/", "runs/"):
        assert api.get(f"/api/v1/datasets/ferry/{path}").status_code == 404, path
    assert api.get(f"/api/v1/datasets/ferry/runs/{OURS}-bm25/ranking/").status_code == 404
    assert api.get(f"/api/v1/judge-runs/{run.pk}/").status_code == 404
    for path in ("datasets/", "judge-runs/"):
        assert api.get(f"/api/v1/{path}").json()["count"] == 0
    assert OURS not in api.get("/api/v1/judges/").content.decode()


def test_a_viewer_reads_and_changes_nothing(world):
    viewer = client_of("viewer")
    for address in ("", "agreement/", "pairs/", "filled.csv"):
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
def test_each_role_may_what_those_before_it_may(world, address, least):
    for role in ROLES:
        allowed = ROLES.index(role) >= ROLES.index(least)
        assert client_of(role).get(address).status_code == (200 if allowed else 403), role


def test_a_worker_is_told_what_workers_are_told_everywhere(world):
    wil = client_of("wil")
    for address in ("/datasets/ferry/", "/datasets/quarry/", "/projects/", "/projects/main/"):
        assert wil.get(address).status_code == 403


def test_a_draft_is_nothing_to_another_group_and_a_campaign_of_theirs_lists_none_of_ours(world):
    rex = client_of("rex")
    address = "/start/ferry-answerable/"
    assert rex.get(address).status_code == 200  # as for everybody: it is open
    Campaign.objects.update(state="draft")
    assert (rex.get(address).status_code, client_of("owner").get(address).status_code) == (404, 200)
    make_dataset("quarry")
    Dataset.objects.filter(slug="quarry").update(project=Project.objects.get(slug="other"))
    page = rex.get("/campaigns/new/?dataset=quarry").content.decode()
    assert ("wil" in page, "rosa" in page, "ada" in page) == (True, False, False)
