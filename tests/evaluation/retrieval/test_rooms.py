"""The rooms beside Table 1: one run, run against run, under other grades, interactive figures.

The numbers are worked out from tests/evaluation/retrieval/material.py.
"""

import pytest

from annotation.models import Dataset, Rating
from evaluation.models import RetrievalRun
from evaluation.retrieval.charts import DRAWN, SCATTERED
from evaluation.retrieval.figures import FIGURES
from tests.evaluation.agreement.test_page import words
from tests.evaluation.html_tables import tables
from tests.evaluation.retrieval.material import make_room
from tests.evaluation.retrieval.test_page import ROOM, links, rows_of


@pytest.fixture
def room(db) -> Dataset:
    return make_room()


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def test_one_run_by_topic(rosa, room):
    response = rosa.get(f"{ROOM}runs/fair/?source=judge")
    rows = tables(response)["Topics"]
    assert [row[0] for row in rows] == ["t0", "t1", "t2", "t3"]
    assert rows[0][1] == "0.50"
    # Covered of answerable; texts of Z and of Z*; words of both; cells without a grade.
    assert rows[0][-4:] == ["1 of 2", "1 Z* 2", "4 Z* 8", "0 of 2"]
    ordered = tables(rosa.get(f"{ROOM}runs/fair/?source=judge&sort=-coverage"))["Topics"]
    assert [row[0] for row in ordered] == ["t2", "t0", "t1", "t3"]
    turned = tables(rosa.get(f"{ROOM}runs/fair/?source=judge&sort=-name"))["Topics"]
    assert [row[0] for row in turned] == ["t3", "t2", "t1", "t0"]
    alone = rows_of(rosa.get(f"{ROOM}topics.csv?source=judge&row=fair"))
    assert [line["name"] for line in alone] == ["fair"] * 4


def test_undefined_says_why(rosa, room):
    Rating.objects.filter(rater__name="judge", text__name="t0:0#0").delete()
    seen = words(rosa.get(f"{ROOM}runs/fair/?source=judge"))
    assert "undefined none of it is rated" in seen
    assert "n = 3, 1 missing" in seen
    assert "1 of 9 pairs are not rated and answer nothing" in seen


def test_run_against_run(rosa, room):
    response = rosa.get(f"{ROOM}compare/?source=judge&a=good&b=poor")
    seen = words(response)
    assert "good: 1.00, poor: 0.25 in Coverage over the 4 topics that both have" in seen
    assert "The first is higher on 4, the second on 0." in seen
    assert "Two-sided; exact, all 16 arrangements" in seen
    rows = tables(response)["Topics, the largest difference first"]
    assert rows == [
        ["t0", "1.00", "0.00", "+1.00"],
        ["t3", "1.00", "0.00", "+1.00"],
        ["t1", "1.00", "0.50", "+0.50"],
        ["t2", "1.00", "0.50", "+0.50"],
    ]
    lines = rows_of(rosa.get(f"{ROOM}compare.csv?source=judge&a=good&b=poor"))
    assert [float(line["difference"]) for line in lines] == [1, 1, 0.5, 0.5]
    nothing = rosa.get(f"{ROOM}compare/?source=judge&a=good&b=reports/good")
    assert "no topic has a value of both; 4 have one of the two" in words(nothing)


def test_under_other_grades(rosa, room):
    response = rosa.get(f"{ROOM}judges/?source=judge")
    by_title = tables(response)
    (first, *_) = by_title["Table 1. The order of the systems under every two sources"]
    assert first[:3] == ["judge", "other", "−0.82"]
    assert first[-1] == "2 of 3"
    seen = words(response)
    assert "judge 1.00, other 0.00, difference +1.00; p = 0.125" in seen
    assert "n = 8 pairs of a passage and a sub-question in 4 topics" in seen
    swaps = by_title["judge and other, swapped within topics"]
    assert swaps[0][:3] == ["Coverage", "0.62", "0.17"]
    assert "0.125 exact" in swaps[0]
    swapped = rows_of(rosa.get(f"{ROOM}swapped.csv?source=judge"))
    assert [(line["first"], line["second"]) for line in swapped][:2] == [
        ("good", "poor"),
        ("fair", "poor"),
    ]
    judges = rows_of(rosa.get(f"{ROOM}judges.csv?source=judge"))
    assert judges[-1]["statistic"] == "kappa_with_people"
    assert float(judges[-1]["p"]) == 0.125


def test_sources_are_ticked_in_the_form_and_stay_in_the_links(rosa, room):
    response = rosa.get(f"{ROOM}judges/?source=judge&with=judge&with=ann")
    assert [source.name for source in response.context["others"].sources] == ["judge", "ann"]
    assert f"{ROOM}orders.csv?source=judge&with=judge%2Cann" in links(response)
    alone = rosa.get(f"{ROOM}judges/?with=ann")
    assert "One source of grades alone" in words(alone)


def test_an_interactive_figure_brings_its_numbers_and_its_table(rosa, room):
    for name in FIGURES:
        response = rosa.get(f"{ROOM}figure/{name}/?source=judge")
        seen = response.content.decode()
        assert "plotly/plotly.min.js" in seen
        assert '<script id="figure-data" type="application/json">' in seen
        assert response.context["figure"]["data"]
        assert "<tbody>" in seen
    assert "plotly" not in rosa.get(f"{ROOM}?source=judge").content.decode()


def test_names_are_escaped(rosa, room):
    RetrievalRun.objects.filter(name="good").update(name="<b>&/?x")
    response = rosa.get(f"{ROOM}?source=judge")
    assert "<b>&/?x" not in response.content.decode()
    (url,) = {url for url in links(response) if "/runs/%3Cb%3E" in url}
    assert "&lt;b&gt;" in rosa.get(url).content.decode()
    figure = rosa.get(f"{ROOM}figure/topics/?source=judge")
    assert "<b>&/?x" not in figure.content.decode()


def test_many_topics(rosa, db):
    make_room(n_topics=DRAWN + 41, people=False)
    response = rosa.get(f"{ROOM}?source=judge")
    assert "the strong line is the median" in words(response)
    assert not [link for link in links(response) if "/matrix/t" in link or "/matrix/1" in link]
    assert "sampled where it is a share of 10,000" in words(response)
    second = rosa.get(f"{ROOM}runs/good/?source=judge&page=2")
    assert [row[0] for row in tables(second)["Topics"]] == ["t100"]
    assert "?source=judge&page=1" in links(second)
    compared = rosa.get(f"{ROOM}compare/?source=judge&a=good&b=poor&page=2")
    assert len(tables(compared)["Topics, the largest difference first"]) == 1
    assert DRAWN + 41 < SCATTERED
