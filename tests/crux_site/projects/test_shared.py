"""What a shared link shows: who has one and no account reads that, and nothing else of the site."""

import pytest
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.test import Client
from django.urls import get_resolver, resolve

from annotation.models import (
    NuggetSpan,
    Rater,
    Rating,
    Rubric,
    SubQuestion,
    Text,
    Topic,
)
from annotation.models.standard import UMBRELA, add_standard
from annotation.text.versions import reword
from crux_site.calibration import views as calibration
from crux_site.projects.shown import WITH_WORDS, WITHOUT_WORDS
from evaluation.agreement import tables as agreement
from evaluation.grid import export as grid
from evaluation.mixed_model import export as mixed_model
from evaluation.models import RankedText, RetrievalRun
from evaluation.nuggets import export as nuggets
from evaluation.retrieval import export as retrieval
from evaluation.retrieval import relevance
from evaluation.seen import export as seen
from tests.crux_site.projects.shared import DATASET, assert_private, share, told_by, visitor
from tests.crux_site.projects.test_strangers import (
    World,
    addresses,
    body,
    client_of,
    make_world,
)
from tests.evaluation.agreement.test_page import words
from tests.factories import make_dataset

# Each stands in words of one kind: of a text, a question, a request, a span of a rater.
MARKERS = {"zqtext": Text, "zqquestion": SubQuestion, "zqrequest": Topic, "zqspan": NuggetSpan}
BESIDE = "harbour"
# What the walk of all addresses does not name: every table, and choices of pages.
TABLES = {
    "agreement": agreement.TABLES,
    "calibration": calibration.TABLES,
    "grid": grid.TABLES,
    "mixed-model": mixed_model.TABLES,
    "nuggets": nuggets.TABLES,
    "retrieval": retrieval.TABLES,
    "seen": seen.TABLES,
}
MORE = (
    *(f"{page}/{table}.csv" for page, tables in TABLES.items() for table in tables),
    "agreement/?rubric=graded",
    "agreement/?rows=all",
    "calibration/?rubric=graded&judge=lexical",
    "retrieval/?among=reports",
    "retrieval/runs/ferry-bm25/",
    *(f"retrieval/relevance/{name}.csv" for name in relevance.TABLES),
    "retrieval/compare/?a=ferry-bm25&b=dense",
    *(f"retrieval/figure/{name}/" for name in ("metrics", "topics", "compare")),
    "grid/items.json?system=annotated.bm25",
    "seen/systems/annotated.bm25/",
    "paper/table1.csv",
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
    add_standard(UMBRELA)
    for name in ("ann", "ben"):
        rater = Rater.objects.create(dataset=dataset, name=name, kind="human")
        for kind, rubrics in (
            ("report", ("answerable", "graded", "importance", "nugget-support")),
            ("passage", ("graded", "umbrela")),
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
    question = Concat(F("body"), Value(" zqquestion"))
    topic.questions.update(body=question, source_body=question)
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


def every_address(world: World) -> list[str]:
    matrix = f"matrix/{world.dataset.topics.get().pk}/pairs.csv"
    more = [DATASET + below for below in (*MORE, matrix)]
    return [address for address, _ in addresses(world)] + more


def name_of(address: str) -> str:
    return resolve(address.partition("?")[0]).url_name


def is_for_members(address: str) -> bool:
    """Whether one has to log in for it; but for those of people, who do so or come to their work."""
    match = resolve(address.partition("?")[0])
    return (
        getattr(match.func, "login_required", True)
        and not address.startswith("/work/")
        and address != "/"
    )


def test_without_words_no_address_of_the_dataset_has_any(world, owner):
    client = visitor(share(owner))
    answered = set()
    for address in every_address(world):
        if not address.startswith(DATASET):
            continue
        answer = client.get(address)
        if (name := name_of(address)) not in WITHOUT_WORDS:
            assert (answer.status_code, "Not shared" in body(answer)) == (404, True), address
        elif answer.status_code in (200, 302):
            answered.add(name)
        told = told_by(answer)
        assert [marker for marker in MARKERS if marker in told] == [], address
        assert BESIDE not in told, address
        assert_private(answer)
    assert WITHOUT_WORDS - answered == set()


def test_which_pairs_have_notes_is_for_the_team(world, owner):
    client = visitor(share(owner, with_words="on"))
    for asked in ("kind=noted", "show=noted"):
        assert client.get(f"{DATASET}pairs/?rubric=answerable&{asked}").status_code == 404
    page = client.get(f"{DATASET}pairs/?rubric=answerable").content.decode()
    assert "notes.csv" not in page
    assert client.get(f"{DATASET}pairs.csv?rubric=answerable").status_code == 404


def test_earlier_words_are_counted_for_a_visitor_and_led_to_for_the_team_alone(world, owner):
    summary = world.dataset.texts.filter(kind="reference", ratings__isnull=False).first()
    reword(summary, f"New. {summary.body}", by=None, why="", counts=True)
    address = f"{DATASET}agreement/"
    for client, leads in ((visitor(share(owner)), False), (owner, True)):
        page = client.get(address)
        assert "were given to earlier words of 1 text." in words(page)
        assert (f"{DATASET}versions/" in page.content.decode()) is leads


def test_with_words_there_is_more_and_nothing_of_the_site_but_the_listed(world, owner):
    """The words are found there, so that looking for them finds them."""
    client = visitor(share(owner, with_words="on"))
    answered, found = set(), set()
    for address in filter(is_for_members, every_address(world)):
        name = name_of(address)
        if name in WITHOUT_WORDS and address.startswith(DATASET):
            continue  # as above
        answer = client.get(address)
        if name not in WITH_WORDS or not address.startswith(DATASET):
            assert (answer.status_code, "Not shared" in body(answer)) == (404, True), address
        elif answer.status_code == 200:
            answered.add(name)
            told = told_by(answer)
            found |= {marker for marker in MARKERS if marker in told}
            assert BESIDE not in told, address
        assert_private(answer)
    assert WITH_WORDS - WITHOUT_WORDS - answered == set()
    assert found == set(MARKERS)


def test_a_visitor_reads_and_does_nothing_else(world, owner):
    client = visitor(share(owner, with_words="on"))
    for address in (*every_address(world)[::5], DATASET):
        if is_for_members(address):
            assert client.post(address).status_code == 404, address
    for method in ("put", "patch", "delete", "options"):
        assert getattr(client, method)(DATASET).status_code == 404, method
    assert client.head(DATASET).status_code == 200
    checks = Client(enforce_csrf_checks=True)
    checks.cookies = client.cookies
    assert checks.post(f"{DATASET}share/").status_code == 403
    assert client.get("/api/v1/datasets/").status_code == 401


def test_names_of_the_list_are_of_one_address_each_below_a_dataset():
    """A name that another address has, too, would be shown with it."""
    routes = [pattern for pattern in _patterns(get_resolver()) if pattern[1] in WITH_WORDS]
    assert all(route.startswith("datasets/<slug:slug>/") for route, _ in routes)
    assert sorted(name for _, name in routes) == sorted(WITH_WORDS)


def _patterns(resolver, before=""):
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from _patterns(pattern, route)
        else:
            yield route, pattern.name


def test_another_dataset_is_not_there_by_any_choice_of_a_page(world, owner):
    """Nuggets can be compared with another dataset of the project: members do, visitors cannot."""
    client = visitor(share(owner, with_words="on"))
    for address in ("", "agreement/", "exports/", "pairs/"):
        assert client.get(f"/datasets/{BESIDE}/{address}").status_code == 404, address
    beside = f"{DATASET}nuggets/?beside={BESIDE}"
    assert (owner.get(beside).status_code, client.get(beside).status_code) == (200, 400)


def test_one_page_is_that_address_alone(world, owner):
    page = f"{DATASET}agreement/"
    link = share(owner, f"{page}?rubric=answerable&raters=ann&raters=ben")
    client = visitor(link)
    assert client.get(link).url == f"{page}?rubric=answerable&raters=ann&raters=ben"
    for query in (
        "rubric=answerable&raters=ann&raters=ben",
        "raters=ann&raters=ben&rubric=answerabl%65",
    ):
        shown = client.get(f"{page}?{query}")
        assert shown.status_code == 200, query
        assert_private(shown)
    for other in (
        page,
        f"{page}?rubric=answerable",
        f"{page}?rubric=graded&raters=ann&raters=ben",
        f"{page}?rubric=answerable&raters=ann&raters=ben&rows=all",
        f"{DATASET}agreement/numbers.csv?rubric=answerable&raters=ann&raters=ben",
        DATASET,
    ):
        assert client.get(other).status_code == 404, other
    second = share(owner, f"{DATASET}matrix/")  # of two links, the first still shows its page
    assert client.get(second).status_code == 302
    assert client.get(f"{page}?rubric=answerable&raters=ann&raters=ben").status_code == 200
    assert client.get(f"{DATASET}matrix/").status_code == 200
