"""datasets/<slug>/systems/ and the pages of its room.

The numbers are worked out from tests/toolbox/retrieval_study.py and in
tests/evaluation/test_retrieval_*.py.
"""

import json
import re
from copy import deepcopy
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Dataset, Rater, Rating, Text
from evaluation.models import RetrievalRun
from evaluation.retrieval.export import TABLES
from evaluation.retrieval.figures import FIGURES
from evaluation.scoring.row_score import METRICS
from tests.toolbox.caches import clear_caches
from tests.toolbox.html_tables import tables
from tests.toolbox.responses import csv_rows, links, markup, text_of_page
from tests.toolbox.retrieval_study import RETRIEVAL_URL, make_retrieval_study

PAGES = [
    "",
    "runs/good/",
    "runs/bounds/required-subset/",
    "runs/reports/good/",
    "compare/",
    "judges/",
    *(f"figure/{name}/" for name in FIGURES),
    *(f"{name}.csv" for name in TABLES),
]


@pytest.fixture(scope="module")
def _room(shared_world) -> Dataset:
    return shared_world(make_retrieval_study)


@pytest.fixture
def room(db, _room) -> Dataset:
    return deepcopy(_room)


@pytest.fixture
def rosa(cast) -> Client:
    return cast.client("researcher")


def test_researchers_and_admins_see_it(cast, room):
    for account in ("admin", "researcher"):
        client = cast.client(account)
        assert [
            page for page in PAGES if client.get(f"{RETRIEVAL_URL}{page}").status_code != 200
        ] == [], account


def test_worker_is_refused_and_a_stranger_sent_to_the_login(cast, room):
    worker, stranger = cast.client("worker"), cast.client("stranger")
    for page in PAGES:
        assert worker.get(f"{RETRIEVAL_URL}{page}").status_code == 403, page
        response = stranger.get(f"{RETRIEVAL_URL}{page}")
        assert response.status_code == 302, page
        assert response["Location"].startswith(reverse("login"))


def test_page_refuses_post(rosa, room):
    assert {rosa.post(f"{RETRIEVAL_URL}{page}").status_code for page in PAGES} == {405}


@pytest.mark.parametrize("page", ["runs/eve/", "figure/eve/", "eve.csv"])
def test_missing_pages_are_404(rosa, room, page):
    assert rosa.get(f"{RETRIEVAL_URL}{page}").status_code == 404
    assert rosa.get(f"/datasets/nowhere/systems/{page}").status_code == 404


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("?source=eve", "“eve”. There are: judge, other, ann, ben, majority"),
        ("?eta=9", "There are: 1, 2, 3, 4, 5"),
        ("?cutoff=-1", "There are: size, oracle, 10, 20"),
        ("?cutoff=1e3", "There are: size, oracle, 10, 20"),
        ("?metric=kappa", "There are: coverage, alpha_ndcg"),
        ("?among=x", "There are: runs, reports"),
        ("?sort=x", "There are: name, coverage"),
        ("compare/?a=eve", "“eve”. There are: bounds/required-subset, fair, good, poor"),
        ("compare/?a=good&b=good", "“good” cannot be compared with itself"),
        ("compare.csv?b=eve", "“eve”. There are"),
        ("topics.csv?row=eve", "“eve”. There are"),
        ("judges/?with=judge&with=eve", "“eve”. There are"),
        ("judges.csv?with=judge,eve", "“eve”. There are"),
        ("runs/good/?eta=x", "There are: 1, 2, 3, 4, 5"),
        ("figure/compare/?a=eve", "“eve”. There are"),
    ],
)
def test_unknown_choice_is_answered_with_the_list(rosa, room, page, message):
    response = rosa.get(f"{RETRIEVAL_URL}{page}")
    assert response.status_code == 400
    assert message in text_of_page(response)


def test_table_1(rosa, room):
    response = rosa.get(f"{RETRIEVAL_URL}?source=judge")
    assert "no coverage is above 1" in text_of_page(response)
    rows = tables(response)["Systems and reference bounds"]
    assert [row[0] for row in rows] == [
        "Reference bounds: limits of what systems can reach",
        "#3 oracle retrieval: the required subset Z* 4 topics",
        "Retrieval runs: Z is the retrieved passages",
        "good 4 topics",
        "fair 4 topics",
        "poor 4 topics",
        "Reports: Z is the report of a system",
        "good, reports 4 topics",
    ]
    # fair: .5 .5 1 .5, sd 0.25, t(3) = 3.18: 0.625 +- 0.398, and no coverage is above 1.
    assert [row[1] for row in rows[3:6]] == [
        "2",
        "1.2 1 to 2",
        "1",
    ]  # 1.25: a tie goes to the even digit
    assert rows[4][2] == "0.62 [0.23, 1.00] n = 4"
    assert rows[4][-1] == "0 of 10"
    assert (rows[7][1], rows[7][2], rows[7][-1]) == ("1", "– a n = 0, 4 missing", "8 of 8")
    assert "a Undefined, because none of it is rated." in text_of_page(response)
    assert "Reference bound #2, oracle result, is left out" in text_of_page(response)


def test_numbers_are_those_of_the_command(rosa, room):
    assert_equal_to_command(rosa, "room", "judge", eta="3")
    assert_equal_to_command(rosa, "room", "other", eta="5", cutoff="1", ideal="paper_eq4")
    assert_equal_to_command(rosa, "room", "majority", rules="authors", cutoff="10")


def assert_equal_to_command(rosa, slug, source, **options):
    """Compare all means and values by topic of page, file and command."""
    out = StringIO()
    arguments = [f"--{name}={value}" for name, value in options.items()]
    call_command("score", slug, "--all", f"--judge={source}", "--json", *arguments, stdout=out)
    printed = {run["run"]: run for run in json.loads(out.getvalue())}
    query = "&".join(["", *(f"{name}={value}" for name, value in options.items())])
    room = f"/datasets/{slug}/systems/"
    page = rosa.get(f"{room}?source={source}{query}")
    rows = {row.name: row for group in page.context["groups"] for row in group.rows}
    assert rows
    assert set(rows) == set(printed)
    for name, row in rows.items():
        for metric in METRICS:
            mean, theirs = row.means[metric], printed[name]["mean"][metric]
            assert (mean.value, mean.n) == (theirs["value"], theirs["n"])
            if mean.low is not None:
                assert [mean.low, mean.high] == theirs["ci95"]
    n = 0
    for line in csv_rows(rosa.get(f"{room}topics.csv?source={source}{query}")):
        theirs = printed[line["name"]]["topics"][line["topic"]]
        for metric in METRICS:
            value = None if line[metric] == "" else float(line[metric])
            assert value == theirs[metric], (line["name"], line["topic"], metric)
            assert bool(line[f"{metric}_reason"]) == (value is None)
        n += 1
    assert n == sum(len(run["topics"]) for run in printed.values())


def test_table_is_ordered_through_the_url(rosa, room):
    def order(query):
        by_title = tables(rosa.get(f"{RETRIEVAL_URL}?source=judge&{query}"))
        return [row[0].split()[0] for row in by_title["Systems and reference bounds"][3:6]]

    assert order("sort=-coverage") == ["good", "fair", "poor"]
    assert order("sort=coverage") == ["poor", "fair", "good"]
    assert order("sort=name") == ["fair", "good", "poor"]
    page = rosa.get(f"{RETRIEVAL_URL}?source=judge&sort=-coverage&eta=4")
    assert 'aria-sort="descending"' in page.content.decode()
    # The same head turns the order round, another begins with the greatest; the rest is kept.
    assert "?source=judge&sort=systems:coverage&eta=4#systems" in links(page)
    assert "?source=judge&sort=systems:-density&eta=4#systems" in links(page)
    assert order("sort=systems:coverage") == ["poor", "fair", "good"]
    assert order("sort=systems:size") == ["poor", "fair", "good"]
    assert order("sort=tests:-p") == ["good", "fair", "poor"]
    file = csv_rows(rosa.get(f"{RETRIEVAL_URL}systems.csv?source=judge&sort=systems:coverage"))
    assert [row["name"] for row in file if row["group"] == "runs"] == ["poor", "fair", "good"]


def test_tests_of_all_pairs_of_systems(rosa, room):
    rows = tables(rosa.get(f"{RETRIEVAL_URL}?source=judge"))["All pairs of systems, by Coverage"]
    assert rows[0] == [
        "good against poor",
        "poor",
        "1.00 and 0.25",
        "",
        "+0.75 [0.29, 1.00]",
        "0.125 exact",
        "0.375",
        "4 4 higher, 0 lower; |Z| differs on 4",
    ]
    assert [row[0] for row in rows] == [
        "good against poor",
        "fair against poor",
        "good against fair",
    ]
    # Bounds are not compared.
    assert "oracle" not in str(rows)


def test_depth_is_displayed_and_linked(rosa, room):
    # Z* is #0 and #1: two passages. good ranks two, fair one but on t2, poor one.
    response = rosa.get(f"{RETRIEVAL_URL}?source=judge&metric=density")
    page_text = text_of_page(response)
    assert "As many passages of a run count as the topic’s required subset Z* has." in page_text
    unlike = "|Z| differs on 4 of 4 topics. On these topics its mean is 1 for poor and 2 for good"
    assert unlike in page_text
    assert "runs read to |Z*|" in page_text
    (choices,) = re.findall(r'<select name="cutoff">.*?</select>', markup(response), re.DOTALL)
    assert re.findall(r'value="(\w+)"', choices) == ["size", "oracle", "10", "20"]
    # At the first passage all are alike, and nothing is warned of.
    page = rosa.get(f"{RETRIEVAL_URL}?source=judge&cutoff=1")
    assert "The first passage of a run counts." in text_of_page(page)
    assert "have different depths" not in text_of_page(page)
    assert "|Z| differs" not in text_of_page(page)
    for path in ("compare/?a=good&b=fair", "judges/?", "runs/good/?"):
        assert "On these topics its mean is 1" in text_of_page(
            rosa.get(f"{RETRIEVAL_URL}{path}&source=judge")
        )
    assert "|Z| differs on 3 of them" in text_of_page(
        rosa.get(f"{RETRIEVAL_URL}compare/?a=good&b=fair&source=judge")
    )
    lines = csv_rows(rosa.get(f"{RETRIEVAL_URL}systems.csv?source=judge"))
    assert [line["mean_passages"] for line in lines if line["group"] == "runs"] == [
        *("2.0", "1.25", "1.0"),
    ]
    tests = csv_rows(rosa.get(f"{RETRIEVAL_URL}tests.csv?source=judge"))
    assert {(line["first"], line["second"]): line["unlike_depth"] for line in tests} == {
        ("good", "poor"): "4",
        ("fair", "poor"): "1",
        ("good", "fair"): "3",
    }


def test_without_a_required_subset_runs_are_read_to_their_ends(rosa, room):
    Rating.objects.filter(rater__name="judge").update(grade=0)
    response = rosa.get(f"{RETRIEVAL_URL}?source=judge")
    assert "as no topic has a required subset Z* by these grades" in text_of_page(response)
    sizes = {row.name: row.size for row in response.context["systems"]}
    assert sizes["good"] == (2, 2, 2)


def test_pairs_that_share_no_topic_are_counted(rosa, room):
    page_text = text_of_page(rosa.get(f"{RETRIEVAL_URL}?source=judge&among=reports"))
    assert "A test needs two systems; there is only one." in page_text
    Text.objects.create(
        dataset=room, topic=room.topics.first(), kind="report", system="poor", name="t0", body="a"
    )
    page_text = text_of_page(rosa.get(f"{RETRIEVAL_URL}?source=judge&among=reports"))
    assert "A test needs two systems; there is only one." in page_text  # poor has one of the topics
    page_text = text_of_page(rosa.get(f"{RETRIEVAL_URL}?source=judge&among=reports&topics=any"))
    assert "No pair of systems can be compared: no topic has values of both systems." in page_text


def test_strips_and_their_table(rosa, room):
    response = rosa.get(f"{RETRIEVAL_URL}?source=judge&metric=density")
    html = response.content.decode()
    first = room.topics.get(name="t0")
    assert 'aria-label="t0: 1.00"' in html
    assert f"/datasets/room/matrix/{first.pk}/?source=judge&run=good" in links(response)
    assert "Density of each topic" in text_of_page(response)
    for url in {url for url in links(response) if "/matrix/" in url}:
        assert rosa.get(url).status_code == 200


def test_links_of_the_pages_open(rosa, room):
    opened_links: set[str] = set()
    for page in ("", "compare/", "judges/", "runs/good/", "figure/compare/"):
        opened_links |= set(links(rosa.get(f"{RETRIEVAL_URL}{page}?source=judge&rules=authors")))
    for url in opened_links:
        if "/systems/" in url:
            assert rosa.get(url).status_code == 200, url


def test_metrics_against_metrics(rosa, room):
    page_text = text_of_page(rosa.get(f"{RETRIEVAL_URL}?source=judge"))
    assert "Empirical systems only, as in the paper’s Figure 5" in page_text
    lines = csv_rows(rosa.get(f"{RETRIEVAL_URL}metrics.csv?source=judge&cutoff=size"))
    assert len(lines) == 25
    assert float(lines[1]["tau_b"]) == pytest.approx(2 / 6**0.5)


def test_fewer_than_three_systems(rosa, room):
    RetrievalRun.objects.get(name="poor").delete()
    page_text = text_of_page(rosa.get(f"{RETRIEVAL_URL}?source=judge"))
    assert "because 2 systems have both on all topics, and three are needed" in page_text


def test_page_with_a_single_system(rosa, room):
    RetrievalRun.objects.exclude(name="good").delete()
    page_text = text_of_page(rosa.get(f"{RETRIEVAL_URL}?source=judge"))
    assert "A test needs two systems; there is only one." in page_text
    assert rosa.get(f"{RETRIEVAL_URL}tests.csv?source=judge").status_code == 200
    assert "The figure is empty" in text_of_page(
        rosa.get(f"{RETRIEVAL_URL}figure/metrics/?source=judge")
    )


def test_reports_are_compared_without_runs(rosa, room):
    RetrievalRun.objects.all().delete()
    response = rosa.get(f"{RETRIEVAL_URL}?source=judge")
    assert response.context["choice"].among == "reports"
    assert "There are no retrieval runs to compare" in text_of_page(
        rosa.get(f"{RETRIEVAL_URL}?among=runs")
    )


def test_baseline_is_called_one(rosa, room):
    Rater.objects.filter(name="other").update(kind="baseline")
    for page in ("", "judges/"):
        assert "other (baseline)" in text_of_page(rosa.get(f"{RETRIEVAL_URL}{page}?source=other"))


def test_page_without_ratings(rosa, dataset):
    response = rosa.get(f"/datasets/{dataset.slug}/systems/")
    assert response.status_code == 200
    assert "This dataset has no ratings" in text_of_page(response)
    assert rosa.get(f"/datasets/{dataset.slug}/systems/systems.csv").status_code == 404


def test_real_study(real_study, rosa, django_assert_max_num_queries):
    for source in ("llama33_70b", "crux_prejudge", "majority"):
        assert_equal_to_command(rosa, "crux-duc04", source)
    assert_equal_to_command(rosa, "crux-duc04", "llama33_70b", rules="authors", cutoff="10")
    room = "/datasets/crux-duc04/systems/"
    clear_caches()
    with django_assert_max_num_queries(54) as first:
        response = rosa.get(f"{room}?source=llama33_70b")
    with CaptureQueriesContext(connection) as repeated:  # its scores are kept
        assert rosa.get(f"{room}?source=llama33_70b").status_code == 200

    def reads_grades(query):
        return 'AS "grade_list"' in query["sql"]

    assert any(map(reads_grades, first))
    assert not any(map(reads_grades, repeated))
    runs = [row.name for row in response.context["systems"]]
    assert len(runs) == 6  # four others rank 6 of the 30 topics
    assert len(tables(response)["All pairs of systems, by Coverage"]) == 15
    for topics, n in (("same", 6), ("any", 10)):
        judges = rosa.get(f"{room}judges/?source=llama33_70b&topics={topics}")
        (first, *_) = judges.context["others"].orders
        assert (first.a.name, first.b.name, first.tau.n) == ("crux_prejudge", "llama33_70b", n)
