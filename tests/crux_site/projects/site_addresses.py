"""All addresses of the site, filled in for a study with users in each role."""

import re
from dataclasses import dataclass

from django.test import Client
from django.urls import URLPattern, get_resolver

from annotation.models import Dataset, Membership, Participant, Project, User
from annotation.models.projects import main_project
from evaluation.models import RetrievalRun
from judging.engine.foreground import fill_lexical
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.users import Cast, make_cast

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
    """A study with a campaign, a judging run and a run, and people in each role and in none."""
    cast, dataset = make_cast(), make_dataset(OURS)
    campaign = make_campaign(dataset, cast.worker)
    run = fill_lexical(dataset)
    RetrievalRun.objects.create(dataset=dataset, name=f"{OURS}-bm25")
    for role in ROLES:
        member = User.objects.create_user(role, role="researcher")
        Membership.objects.create(project_id=main_project(), user=member, role=role)
    other_project = Project.objects.create(slug="other", title="Another group")
    rex = User.objects.create_user("rex", role="researcher")
    Membership.objects.create(project=other_project, user=rex, role="owner")
    text, topic = dataset.texts.exclude(body=None).first(), dataset.topics.get()
    item = campaign.items.first()
    common_values = {
        "topic_id": topic.pk,
        "text_id": text.pk,
        "id": text.pk,
        "question_id": topic.questions.first().pk,
        "question_pk": topic.questions.first().pk,
        "rater_id": run.judge.rater_id,
        "judge": run.judge.rater_id,
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
    return World(cast, dataset, {"": common_values} | values)


def routes(resolver, before: str = ""):
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            if not (pattern.name or "").startswith("renamed_page"):  # redirects to other pages
                yield route
        else:
            yield from routes(pattern, route)


def addresses(world: World) -> list[tuple[str, bool]]:
    """Return all URLs of the site for this study, and whether each is about its project."""
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
