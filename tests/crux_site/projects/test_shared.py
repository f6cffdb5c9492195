"""Pages of a shared link: a visitor reads these, and nothing else of the site."""

import pytest
from django.test import Client
from django.urls import get_resolver, resolve

from annotation.models import (
    NuggetSpan,
    SubQuestion,
    Text,
    Topic,
)
from annotation.pages import declared_pages, page_of
from annotation.text.versions import edit_wording
from crux_site.calibration import views as calibration
from evaluation.agreement import tables as agreement
from evaluation.certificates import tables as certificate_tables
from evaluation.mixed_model import export as mixed_model
from evaluation.replications.crud_rag import export as grid
from evaluation.replications.nuggets import export as nuggets
from evaluation.replications.rel_recall import export as seen
from evaluation.retrieval import export as retrieval
from evaluation.retrieval import relevance
from tests.crux_site.projects.shared import (
    DATASET,
    SECOND_DATASET,
    assert_private,
    content_of,
    make_shared_world,
    share,
    visitor,
)
from tests.crux_site.projects.site_addresses import World, addresses, body, client_of
from tests.toolbox.responses import text_of_page

# What a shared link shows is a security boundary: it is listed here, beside the declarations of pages.
# Numbers and names alone: no words of a text, a question, a request or a span.
PAGES_WITHOUT_TEXT = {
    *("dataset", "filled_csv", "texts"),
    *("agreement", "agreement_with", "agreement_figure", "agreement_table", "agreement_json"),
    *("by_type", "by_type_figure", "by_type_table", "by_type_json"),
    *("matrices", "matrices_table", "matrix"),
    *("grid", "grid_table", "grid_json", "grid_items_json"),
    *("mixed_model", "mixed_model_table", "mixed_model_json"),
    *("certificates", "certificate", "certificate_table", "certificate_json"),
    *("nuggets", "nuggets_table", "nuggets_json"),
    *("retrieval", "retrieval_run", "retrieval_compare", "retrieval_judges"),
    *(
        "retrieval_discriminative",
        "retrieval_figure",
        "retrieval_table",
        "retrieval_relevance",
        "retrieval_relevance_table",
    ),
    *("paper", "paper_file", "paper_zip"),
    *("rel_recall", "rel_recall_system", "rel_recall_table", "rel_recall_json"),
    *("calibration", "calibration_figure", "calibration_table", "calibration_json"),
}
PAGES_WITH_TEXT = PAGES_WITHOUT_TEXT | {
    *("pairs", "pair"),
    *("matrix_table", "rubric_matrix"),
    *("nuggets_report", "rel_recall_items", "rel_recall_items_json"),
    *("exports", "export_file"),
}
# Each stands in words of one kind: of a text, a question, a request, a span of a rater.
MARKERS = {"zqtext": Text, "zqquestion": SubQuestion, "zqrequest": Topic, "zqspan": NuggetSpan}
# What the walk of all addresses does not name: every table, and choices of pages.
TABLES = {
    "agreement": agreement.TABLES,
    "calibration": calibration.TABLES,
    "reports-against-references": grid.TABLES,
    "mixed-model": mixed_model.TABLES,
    "nuggets": nuggets.TABLES,
    "systems": retrieval.TABLES,
    "evidence-recall": seen.TABLES,
}
MORE = (
    *(f"{page}/{table}.csv" for page, tables in TABLES.items() for table in tables),
    "agreement/?rubric=graded",
    "agreement/?rows=all",
    "calibration/?rubric=graded&judge=lexical",
    "systems/?among=reports",
    "systems/runs/ferry-bm25/",
    *(f"systems/relevance/{name}.csv" for name in relevance.TABLES),
    "systems/compare/?a=ferry-bm25&b=dense",
    *(f"agreement/figure/{name}/" for name in ("coverage", "sweep")),
    "calibration/figure/?rubric=graded&judge=lexical",
    *(f"systems/figure/{name}/" for name in ("metrics", "topics", "compare")),
    "reports-against-references/items.json?system=annotated.bm25",
    "evidence-recall/systems/annotated.bm25/",
    "paper/table1.csv",
    "exports/ratings.csv",
    "matrix/under/answerable/",
    "disagreements/?words=zqquestion",
)


@pytest.fixture(scope="module", autouse=True)
def _world(shared_world):
    return shared_world(make_shared_world)


@pytest.fixture
def world(_world, db) -> World:
    return _world


@pytest.fixture
def owner(world) -> Client:
    return client_of("owner")


def every_address(world: World) -> list[str]:
    matrix = f"matrix/{world.dataset.topics.get().pk}/pairs.csv"
    certificate = f"certificates/graded/{world.values['']['judge']}"
    certificates = [f"{certificate}/{table}.csv" for table in certificate_tables.TABLES]
    more = [DATASET + below for below in (*MORE, matrix, *certificates)]
    return [address for address, _ in addresses(world)] + more


def name_of(address: str) -> str:
    return resolve(address.partition("?")[0]).url_name


def is_for_members(address: str) -> bool:
    """Return True if the page needs a log-in; not for pages of log-in and work."""
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
        if (name := name_of(address)) not in PAGES_WITHOUT_TEXT:
            assert (answer.status_code, "Not shared" in body(answer)) == (404, True), address
        elif answer.status_code in (200, 302):
            answered.add(name)
        content = content_of(answer)
        assert [marker for marker in MARKERS if marker in content] == [], address
        assert SECOND_DATASET not in content, address
        assert_private(answer)
    assert PAGES_WITHOUT_TEXT - answered == set()


def test_notes_filter_is_hidden_from_visitors(world, owner):
    client = visitor(share(owner, with_words="on"))
    for query in ("kind=noted", "show=noted"):
        assert client.get(f"{DATASET}disagreements/?rubric=answerable&{query}").status_code == 404
    page = client.get(f"{DATASET}disagreements/?rubric=answerable").content.decode()
    assert "notes.csv" not in page
    assert client.get(f"{DATASET}pairs.csv?rubric=answerable").status_code == 404


def test_earlier_words_are_counted_for_a_visitor_and_led_to_for_the_team_alone(world, owner):
    summary = world.dataset.texts.filter(kind="reference", ratings__isnull=False).first()
    edit_wording(summary, f"New. {summary.body}", by=None, reason="", counts=True)
    address = f"{DATASET}agreement/"
    for client, leads in ((visitor(share(owner)), False), (owner, True)):
        page = client.get(address)
        assert "were given to an earlier version of 1 text." in text_of_page(page)
        assert (f"{DATASET}text-history/" in page.content.decode()) is leads


def test_with_words_there_is_more_and_nothing_of_the_site_but_the_listed(world, owner):
    """The words are found there, so that looking for them finds them."""
    client = visitor(share(owner, with_words="on"))
    answered, markers = set(), set()
    for address in filter(is_for_members, every_address(world)):
        name = name_of(address)
        if name in PAGES_WITHOUT_TEXT and address.startswith(DATASET):
            continue  # as above
        answer = client.get(address)
        if name not in PAGES_WITH_TEXT or not address.startswith(DATASET):
            assert (answer.status_code, "Not shared" in body(answer)) == (404, True), address
        elif answer.status_code == 200:
            answered.add(name)
            content = content_of(answer)
            markers |= {marker for marker in MARKERS if marker in content}
            assert SECOND_DATASET not in content, address
        assert_private(answer)
    assert PAGES_WITH_TEXT - PAGES_WITHOUT_TEXT - answered == set()
    assert markers == set(MARKERS)


def test_visitor_reads_and_does_nothing_else(world, owner):
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


def test_pages_declare_the_listed_names_as_shared():
    pages = declared_pages().values()
    without_text = [name for page in pages for name in page.shared]
    with_text = [name for page in pages for name in page.shared_with_text]
    assert sorted(without_text) == sorted(PAGES_WITHOUT_TEXT)
    assert sorted(with_text) == sorted(PAGES_WITH_TEXT - PAGES_WITHOUT_TEXT)


def test_shared_names_belong_to_views_of_the_page_that_declares_them():
    callbacks = {name: callback for _, name, callback in _patterns(get_resolver())}
    for name in PAGES_WITH_TEXT:
        assert page_of(callbacks[name]).is_shared(name, with_text=True)


def test_names_of_the_list_are_of_one_address_each_below_a_dataset():
    """A name of another page would be shown with it; the files of a table share one."""
    routes = [pattern for pattern in _patterns(get_resolver()) if pattern[1] in PAGES_WITH_TEXT]
    assert all(route.startswith("datasets/<slug:slug>/") for route, *_ in routes)
    pages = {(name, callback) for _, name, callback in routes}
    assert sorted(name for name, _ in pages) == sorted(PAGES_WITH_TEXT)


def _patterns(resolver, before=""):
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from _patterns(pattern, route)
        else:
            yield route, pattern.name, pattern.callback


def test_other_dataset_is_hidden_from_visitors(world, owner):
    """Members compare nuggets with another dataset of the project; visitors cannot."""
    client = visitor(share(owner, with_words="on"))
    for address in ("", "agreement/", "exports/", "disagreements/"):
        assert client.get(f"/datasets/{SECOND_DATASET}/{address}").status_code == 404, address
    comparison_url = f"{DATASET}nuggets/?beside={SECOND_DATASET}"
    assert (owner.get(comparison_url).status_code, client.get(comparison_url).status_code) == (
        200,
        400,
    )


def test_single_page_link_shows_that_page_alone(world, owner):
    page = f"{DATASET}agreement/"
    link = share(owner, f"{page}?rubric=answerable&raters=ann&raters=ben")
    client = visitor(link)
    assert client.get(link).url == f"{page}?rubric=answerable&raters=ann&raters=ben"
    for query in (
        "rubric=answerable&raters=ann&raters=ben",
        "raters=ann&raters=ben&rubric=answerabl%65",
    ):
        response = client.get(f"{page}?{query}")
        assert response.status_code == 200, query
        assert_private(response)
    for other_address in (
        page,
        f"{page}?rubric=answerable",
        f"{page}?rubric=graded&raters=ann&raters=ben",
        f"{page}?rubric=answerable&raters=ann&raters=ben&rows=all",
        f"{DATASET}agreement/numbers.csv?rubric=answerable&raters=ann&raters=ben",
        DATASET,
    ):
        assert client.get(other_address).status_code == 404, other_address
    second = share(owner, f"{DATASET}matrix/")  # of two links, the first still shows its page
    assert client.get(second).status_code == 302
    assert client.get(f"{page}?rubric=answerable&raters=ann&raters=ben").status_code == 200
    assert client.get(f"{DATASET}matrix/").status_code == 200
