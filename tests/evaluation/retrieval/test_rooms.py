"""Retrieval pages beside Table 1: one run, comparisons, other grades, interactive figures.

The numbers are worked out from tests/toolbox/retrieval_study.py.
"""

import pytest

from annotation.models import Dataset, Rating
from evaluation.models import RetrievalRun
from evaluation.retrieval.charts import MAX_POINTS, SCATTERED
from evaluation.retrieval.figures import FIGURES
from tests.toolbox.html_tables import tables
from tests.toolbox.responses import csv_rows, links, text_of_page
from tests.toolbox.retrieval_study import RETRIEVAL_URL, make_retrieval_study


@pytest.fixture
def room(db) -> Dataset:
    return make_retrieval_study()


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def test_run_by_topic(rosa, room):
    response = rosa.get(f"{RETRIEVAL_URL}runs/fair/?source=judge")
    rows = tables(response)["Topics"]
    assert [row[0] for row in rows] == ["t0", "t1", "t2", "t3"]
    assert rows[0][1] == "0.50"
    # Covered of answerable; texts of Z and of Z*; words of both; cells without a grade.
    assert rows[0][-4:] == ["1 of 2", "1 Z* 2", "4 Z* 8", "0 of 2"]
    ordered = tables(rosa.get(f"{RETRIEVAL_URL}runs/fair/?source=judge&sort=-coverage"))["Topics"]
    assert [row[0] for row in ordered] == ["t2", "t0", "t1", "t3"]
    turned = tables(rosa.get(f"{RETRIEVAL_URL}runs/fair/?source=judge&sort=-name"))["Topics"]
    assert [row[0] for row in turned] == ["t3", "t2", "t1", "t0"]
    single = csv_rows(rosa.get(f"{RETRIEVAL_URL}topics.csv?source=judge&row=fair"))
    assert [line["name"] for line in single] == ["fair"] * 4


def test_undefined_value_displays_the_reason(rosa, room):
    Rating.objects.filter(rater__name="judge", text__name="t0:0#0").delete()
    page_text = text_of_page(rosa.get(f"{RETRIEVAL_URL}runs/fair/?source=judge"))
    assert "Undefined, because none of it is rated" in page_text
    assert "n = 3, 1 missing" in page_text
    assert "1 of 9 pairs have no grade and count as not answered" in page_text


def test_run_against_run(rosa, room):
    response = rosa.get(f"{RETRIEVAL_URL}compare/?source=judge&a=good&b=poor")
    page_text = text_of_page(response)
    assert "good: 1.00, poor: 0.25 in Coverage over the 4 topics of both systems" in page_text
    assert "The first is higher on 4, the second on 0." in page_text
    assert "Two-sided; exact, all 16 arrangements" in page_text
    rows = tables(response)["Topics"]
    assert rows == [
        ["t0", "1.00", "0.00", "+1.00"],
        ["t3", "1.00", "0.00", "+1.00"],
        ["t1", "1.00", "0.50", "+0.50"],
        ["t2", "1.00", "0.50", "+0.50"],
    ]
    lines = csv_rows(rosa.get(f"{RETRIEVAL_URL}compare.csv?source=judge&a=good&b=poor"))
    assert [float(line["difference"]) for line in lines] == [1, 1, 0.5, 0.5]
    nothing = rosa.get(f"{RETRIEVAL_URL}compare/?source=judge&a=good&b=reports/good")
    assert "no topic has values of both; 4 have a value of only one" in text_of_page(nothing)


def test_under_other_grades(rosa, room):
    response = rosa.get(f"{RETRIEVAL_URL}judges/?source=judge")
    by_title = tables(response)
    (first, *_) = by_title["Agreement of rankings by two sources of grades"]
    assert first[:3] == ["judge", "other", "−0.82"]
    assert first[-1] == "2 of 3"
    page_text = text_of_page(response)
    assert "judge 1.00, other 0.00, difference +1.00; p = 0.125" in page_text
    assert "n = 8 pairs of a passage and a sub-question in 4 topics" in page_text
    swaps = by_title["judge and other, difference of the judges"]
    assert swaps[0][:3] == ["Coverage", "0.62", "0.17"]
    assert "0.125 exact" in swaps[0]
    swapped = csv_rows(rosa.get(f"{RETRIEVAL_URL}swapped.csv?source=judge"))
    assert [(line["first"], line["second"]) for line in swapped][:2] == [
        ("good", "poor"),
        ("fair", "poor"),
    ]
    judges = csv_rows(rosa.get(f"{RETRIEVAL_URL}judges.csv?source=judge"))
    assert judges[-1]["statistic"] == "kappa_with_people"
    assert float(judges[-1]["p"]) == 0.125


def test_sources_are_ticked_in_the_form_and_stay_in_the_links(rosa, room):
    response = rosa.get(f"{RETRIEVAL_URL}judges/?source=judge&with=judge&with=ann")
    assert [source.name for source in response.context["others"].sources] == ["judge", "ann"]
    assert f"{RETRIEVAL_URL}orders.csv?source=judge&with=judge%2Cann" in links(response)
    single = rosa.get(f"{RETRIEVAL_URL}judges/?with=ann")
    assert "A comparison needs two sources of grades" in text_of_page(single)


def test_interactive_figure_brings_its_numbers_and_its_table(rosa, room):
    for name in FIGURES:
        response = rosa.get(f"{RETRIEVAL_URL}figure/{name}/?source=judge")
        html = response.content.decode()
        assert "plotly/plotly.min.js" in html
        assert '<script id="figure-data" type="application/json">' in html
        assert response.context["explore"].figure["data"]
        assert "<tbody>" in html
    assert "plotly" not in rosa.get(f"{RETRIEVAL_URL}?source=judge").content.decode()


def test_names_are_escaped(rosa, room):
    RetrievalRun.objects.filter(name="good").update(name="<b>&/?x")
    response = rosa.get(f"{RETRIEVAL_URL}?source=judge")
    assert "<b>&/?x" not in response.content.decode()
    (url,) = {url for url in links(response) if "/runs/%3Cb%3E" in url}
    assert "&lt;b&gt;" in rosa.get(url).content.decode()
    figure = rosa.get(f"{RETRIEVAL_URL}figure/topics/?source=judge")
    assert "<b>&/?x" not in figure.content.decode()


def test_many_topics(rosa, db):
    make_retrieval_study(n_topics=MAX_POINTS + 41, people=False)
    response = rosa.get(f"{RETRIEVAL_URL}?source=judge")
    assert "vertical line: median" in text_of_page(response)
    assert not [link for link in links(response) if "/matrix/t" in link or "/matrix/1" in link]
    assert "sampled (10,000 permutations, the observed one included, seed " in text_of_page(
        response
    )
    second = rosa.get(f"{RETRIEVAL_URL}runs/good/?source=judge&page=2")
    assert [row[0] for row in tables(second)["Topics"]] == ["t100"]
    assert "?source=judge&page=1" in links(second)
    compared = rosa.get(f"{RETRIEVAL_URL}compare/?source=judge&a=good&b=poor&page=2")
    assert len(tables(compared)["Topics"]) == 1
    assert MAX_POINTS + 41 < SCATTERED
