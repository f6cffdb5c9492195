"""shared/: who has a link and no account reads what it shows, and nothing else of the site."""

import re
from datetime import timedelta

import pytest
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.test import Client
from django.urls import get_resolver, resolve
from django.utils import timezone

from annotation.models import (
    Dataset,
    NuggetSpan,
    Project,
    ProjectEntry,
    Rater,
    Rating,
    Rubric,
    SharedLink,
    SubQuestion,
    Text,
    Topic,
    User,
)
from annotation.models.people import digest_of_token
from crux_site.calibration.views import TABLES as calibration_tables
from crux_site.projects.shown import WITH_WORDS, WITHOUT_WORDS
from evaluation.agreement.tables import TABLES as agreement_tables
from evaluation.grid.export import TABLES as grid_tables
from evaluation.mixed_model.export import TABLES as mixed_model_tables
from evaluation.models import RankedText, RetrievalRun
from evaluation.nuggets.export import TABLES as nuggets_tables
from evaluation.retrieval.export import TABLES as retrieval_tables
from evaluation.seen.export import TABLES as seen_tables
from tests.crux_site.projects.test_strangers import (
    OURS,
    World,
    addresses,
    body,
    client_of,
    make_world,
)
from tests.evaluation.agreement.test_page import words
from tests.factories import make_dataset

DATASET = f"/datasets/{OURS}/"
# Each stands in words of one kind: of a text, a question, a request, a span of a rater.
MARKERS = {"zqtext": Text, "zqquestion": SubQuestion, "zqrequest": Topic, "zqspan": NuggetSpan}
BESIDE = "harbour"
# What the walk of all addresses does not name: every table, and choices of pages.
TABLES = {
    "agreement": agreement_tables,
    "calibration": calibration_tables,
    "grid": grid_tables,
    "mixed-model": mixed_model_tables,
    "nuggets": nuggets_tables,
    "retrieval": retrieval_tables,
    "seen": seen_tables,
}
MORE = (
    *(f"{page}/{table}.csv" for page, tables in TABLES.items() for table in tables),
    "agreement/?rubric=graded",
    "agreement/?rows=all",
    "agreement/classes.csv?rubric=nugget-support",
    "calibration/?rubric=graded&judge=lexical",
    "retrieval/?among=reports",
    "retrieval/runs/ferry-bm25/",
    "retrieval/compare/?a=ferry-bm25&b=dense",
    *(f"retrieval/figure/{name}/" for name in ("metrics", "topics", "compare")),
    "seen/systems/annotated.bm25/",
    "paper/provenance.json",
    "exports/ratings.csv",
    "matrix/under/answerable/",
    "pairs/?words=zqquestion",
)


def make_shared_world() -> World:
    """The study with grades of each kind, whose words all have a marker, and another of the same project."""
    world = make_world()
    dataset, topic = world.dataset, world.dataset.topics.get()
    make_dataset(BESIDE)
    Topic.objects.filter(dataset__slug=BESIDE).update(name=topic.name)
    Text.objects.create(
        dataset=dataset, topic=topic, kind="reference", name=topic.name, body="None was hurt."
    )
    questions = list(topic.questions.all())
    for name in ("ann", "ben"):
        rater = Rater.objects.create(dataset=dataset, name=name, kind="human")
        for kind, rubrics in (
            ("report", ("answerable", "graded", "importance", "nugget-support")),
            ("passage", ("graded",)),
            ("reference", ("graded",)),
        ):
            for rubric in Rubric.objects.filter(slug__in=rubrics):
                top = rubric.levels.order_by("-grade").first().grade
                for text in dataset.texts.filter(kind=kind):
                    for at, question in enumerate(questions):
                        rating = Rating.objects.create(
                            rater=rater,
                            rubric=rubric,
                            text=text,
                            question=question,
                            grade=top if at < 2 else 0,
                        )
                        NuggetSpan.objects.create(
                            rating=rating, position=0, start=0, end=4, quote="zqspan"
                        )
    passages = list(dataset.texts.filter(kind="passage"))
    RetrievalRun.objects.create(dataset=dataset, name="dense")
    for run in dataset.runs.all():
        for rank, text in enumerate(passages, 1):
            RankedText.objects.create(run=run, topic=topic, text=text, rank=rank, score=9 - rank)
    NuggetSpan.objects.update(quote="zqspan", source_quote="zqspan")
    dataset.texts.exclude(body=None).update(body=Concat(F("body"), Value(" zqtext")))
    topic.questions.update(body=Concat(F("body"), Value(" zqquestion")))
    dataset.topics.update(request=Concat(F("request"), Value(" zqrequest")))
    return world


@pytest.fixture(scope="module", autouse=True)
def _world(kept):
    return kept(make_shared_world)


@pytest.fixture
def world(_world, db) -> World:
    return _world


@pytest.fixture
def owner(world) -> Client:
    return client_of("owner")


def share(owner: Client, address: str = "", **more: object) -> str:
    """The link that the form makes for one page, or for all of the dataset; its word is the end."""
    asked = {"address": address, "what": "page" if address else "dataset", "for_whom": "Reviewer 2"}
    answer = owner.post(f"{DATASET}share/", asked | {"days": 30} | more)
    assert answer.status_code == 200, answer.context["form"].errors
    return answer.context["link"].removeprefix("http://testserver")


def visitor(link: str) -> Client:
    client = Client()
    assert client.get(link).status_code == 302
    return client


def every_address(world: World) -> list[str]:
    return [address for address, _ in addresses(world)] + [DATASET + more for more in MORE]


def name_of(address: str) -> str:
    return resolve(address.partition("?")[0]).url_name


def is_open_to_all(address: str) -> bool:
    match = resolve(address.partition("?")[0])
    return not getattr(match.func, "login_required", True)


def test_all_of_a_dataset_with_words_is_what_is_on_the_list_and_nothing_else(world, owner):
    client = visitor(share(owner, with_words="on"))
    answered = set()
    for address in every_address(world):
        if is_open_to_all(address) or address in ("/", "/work/") or "/work/" in address:
            continue
        name, answer = name_of(address), client.get(address)
        if name in WITH_WORDS and address.startswith(DATASET):
            if answer.status_code == 200:
                answered.add(name)
        else:
            assert answer.status_code == 404, address
            assert "Not shared" in body(answer), address
        assert client.post(address).status_code == 404, address
        assert "no-store" in answer["Cache-Control"]
        assert "private" in answer["Cache-Control"]
        assert answer["X-Robots-Tag"] == "noindex, nofollow"
        assert "Cookie" in answer["Vary"]
    assert WITH_WORDS - answered == set()


def test_without_words_no_body_has_any(world, owner):
    """In any file, page or header of the list; and with words they are found, so that looking finds them."""
    without, with_words = visitor(share(owner)), visitor(share(owner, with_words="on"))
    found = set()
    for address in every_address(world):
        if not address.startswith(DATASET):
            continue
        answer = without.get(address)
        if name_of(address) not in WITHOUT_WORDS:
            assert answer.status_code == 404, address
        told = body(answer) + str(answer.headers)
        for marker in MARKERS:
            assert marker not in told, (address, marker)
        found |= {marker for marker in MARKERS if marker in body(with_words.get(address))}
    assert found == set(MARKERS)
