"""shared/: who has a link and no account reads what it shows, and nothing else of the site."""

import io
from datetime import timedelta
from urllib.parse import urlencode
from zipfile import ZipFile

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
from annotation.text.versions import reword
from crux_site.calibration import views as calibration
from crux_site.projects.shown import WITH_WORDS, WITHOUT_WORDS
from evaluation.agreement import tables as agreement
from evaluation.grid import export as grid
from evaluation.mixed_model import export as mixed_model
from evaluation.models import RankedText, RetrievalRun
from evaluation.nuggets import export as nuggets
from evaluation.retrieval import export as retrieval
from evaluation.seen import export as seen
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


def told_by(answer) -> str:
    """All that an answer holds, an archive unpacked."""
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    if answer.get("Content-Type") == "application/zip":
        with ZipFile(io.BytesIO(content)) as archive:
            content = b"".join(archive.read(name) for name in archive.namelist())
    return content.decode(errors="replace") + str(answer.headers)


def assert_private(answer) -> None:
    for header, says in (
        ("Cache-Control", "no-store"),
        ("Cache-Control", "private"),
        ("X-Robots-Tag", "noindex"),
        ("Vary", "Cookie"),
    ):
        assert says in answer[header]


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


def test_a_page_says_who_shared_it_until_when_and_as_of_when(world, owner):
    client = visitor(share(owner))
    newest = timezone.now() + timedelta(days=2)
    Rating.objects.filter(pk=Rating.objects.last().pk).update(created=newest)
    page = client.get(DATASET)
    link = SharedLink.objects.get()
    assert f"Read-only , shared by owner until {link.expires:%-d %B %Y}." in words(page)
    assert f"As of {newest:%-d %B %Y, %H:%M}" in words(page)
    told = body(page)
    for of_staff in (
        "/campaigns/",
        "/people/",
        "/judges/",
        "/logout/",
        "Log out",
        "/import/",
        "/share/",
    ):
        assert of_staff not in told, of_staff
    User.objects.get(username="owner").delete()
    assert "shared by the owners until" in words(client.get(DATASET))
    missing = client.get(f"{DATASET}retrieval/runs/nothing/")  # on the list, and not there
    assert (missing.status_code, f'href="{DATASET}"' in body(missing)) == (404, True)


def test_the_word_is_in_the_link_alone(world, owner):
    link = share(owner)
    word = link.split("/")[2]
    client = Client()
    opened = client.get(link)
    assert opened.url == DATASET
    assert opened["Referrer-Policy"] == "no-referrer"
    assert_private(opened)
    assert word not in told_by(client.get(DATASET))
    cookie = opened.cookies["shared"]
    assert word not in cookie.value
    assert (cookie["httponly"], cookie["samesite"], bool(cookie["max-age"])) == (True, "Lax", True)
    assert SharedLink.objects.get().digest == digest_of_token(word)
    assert word not in " ".join(ProjectEntry.objects.values_list("detail", flat=True))
    assert word not in told_by(owner.get("/projects/main/"))
    assert Client().post(link).status_code == 405


def test_links_that_show_nothing(world, owner):
    client = visitor(share(owner))
    link = SharedLink.objects.get()
    SharedLink.objects.update(expires=timezone.now() - timedelta(seconds=1))
    late = client.get(DATASET)
    assert (late.status_code, "was revoked, has ended" in words(late)) == (404, True)
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


def test_who_is_logged_in_is_no_visitor_and_stays_who_they_are(world, owner):
    link = share(owner, with_words="on")
    for name, status in (("rex", 200), ("wil", 200), ("viewer", 302), ("ada", 302)):
        client = client_of(name)
        answer = client.get(link)
        assert (answer.status_code, "shared" in answer.cookies) == (status, False), name
        assert client.session["_auth_user_id"] == str(User.objects.get(username=name).pk)
    assert "You are logged in as rex" in words(client_of("rex").get(link))
    later = visitor(link)
    later.force_login(User.objects.get(username="rex"))  # who has opened it before
    assert later.get(DATASET).status_code == 404
    assert "Datasets" in words(later.get("/datasets/"))
    later.logout()
    assert later.get("/").url.startswith("/login/")
    assert later.get("/login/").status_code == 200


def test_an_owner_shares_what_a_link_can_show(world, owner):
    page = f"{DATASET}agreement/?rubric=graded"
    assert f"{DATASET}share/?{urlencode({'address': page})}" in body(owner.get(page))
    form = owner.get(f"{DATASET}share/", {"address": page})
    assert page in words(form)
    assert "this page alone" in words(form)
    assert "this page alone" not in words(owner.get(f"{DATASET}share/"))
    asked = {"what": "page", "for_whom": "Reviewer 2", "days": 30}
    for address, with_words in (
        (f"{DATASET}matrix/{world.dataset.topics.get().pk}/", ""),  # it has words
        ("/datasets/harbour/agreement/", "on"),
        ("/campaigns/ferry-answerable/", "on"),
        ("https://example.org/", "on"),
        ("//example.org/datasets/ferry/search/", "on"),
        (f"{DATASET}agreement.json", "on"),
        ("http://[", "on"),
        ("", "on"),
    ):
        refused = owner.post(
            f"{DATASET}share/", asked | {"address": address, "with_words": with_words}
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
    listed = words(owner.get("/projects/main/"))
    assert "Reviewer 2: all of The ferry study , with words; by owner" in listed
    revoke = f"/projects/main/shared/{link.pk}/revoke/"
    for name in ("viewer", "coordinator"):
        client = client_of(name)
        assert client.post(revoke).status_code == 403, name
        assert client.get(f"{DATASET}share/").status_code == 403, name
        assert "Shared links" not in words(client.get("/projects/main/"))
        assert f"{DATASET}share/" not in body(client.get(DATASET))
    assert owner.get(revoke).status_code == 405
    assert owner.post("/projects/main/shared/0/revoke/").status_code == 404
    other = Project.objects.create(slug="coast", title="Coast")
    asked = {"dataset": OURS, "to": "coast"}
    assert client_of("ada").post("/projects/main/move/", asked).status_code == 302
    link.refresh_from_db()
    assert link.project == other  # whose owners revoke it from now on
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
