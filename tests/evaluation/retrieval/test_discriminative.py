"""Discriminative power of metrics, worked out from tests/toolbox/retrieval_study.py."""

import pytest

from tests.toolbox.html_tables import tables
from tests.toolbox.responses import csv_rows, links, text_of_page
from tests.toolbox.retrieval_study import RETRIEVAL_URL, make_retrieval_study

PAGE = f"{RETRIEVAL_URL}discriminative/?source=judge"
POWER = "Power of each metric"


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def test_power_of_eight_topics(rosa, db):
    make_retrieval_study(n_topics=8)
    rows = tables(rosa.get(PAGE))[POWER]
    # Coverage, each pattern of four topics twice. good less fair: .5 .5 0 .5 twice: six that differ, p =
    # 2 / 64. good less poor: 1 .5 .5 1: eight, p = 2 / 256. fair less poor: .5 0 .5 .5: six, 2 / 64. All three
    # are under 0.05; Holm: 3 x 2 / 256 = 0.023, then 2 x 2 / 64 = 0.0625: one is.
    assert rows[0] == ["Coverage", "1.00", "0.33", "3", "0"]
    lines = csv_rows(rosa.get(f"{RETRIEVAL_URL}discriminative.csv?source=judge"))
    assert (lines[0]["share_alone"], float(lines[0]["share_holm"])) == ("1.0", pytest.approx(1 / 3))


def test_power_of_four_topics_is_undefined(rosa, db):
    make_retrieval_study()
    response = rosa.get(PAGE)
    assert "Undefined, because no two systems share the 6" in text_of_page(response)
    (first, *_) = csv_rows(rosa.get(f"{RETRIEVAL_URL}discriminative.csv?source=judge"))
    assert (first["share_alone"], first["pairs"], first["missing"]) == ("", "0", "3")


def test_orders_at_the_top(rosa, db):
    make_retrieval_study()
    # Coverage has good, fair, poor; so has itself. Every line of the file is a pair of metrics.
    lines = csv_rows(rosa.get(f"{RETRIEVAL_URL}tops.csv?source=judge"))
    assert len(lines) == 36
    assert (lines[0]["truth"], lines[0]["metric"], lines[0]["tau_ap"]) == (
        "coverage",
        "coverage",
        "1.0",
    )
    # By the judge 1, 0.625, 0.25; by the other 0, 0, 0.5: a tie, and so no AP correlation.
    (order, *_) = csv_rows(rosa.get(f"{RETRIEVAL_URL}orders.csv?source=judge"))
    assert (order["tau_ap"], "no ties" in order["tau_ap_reason"]) == ("", True)


def test_page_is_for_researchers(cast, rosa, db):
    make_retrieval_study()
    path = PAGE.partition("?")[0]
    assert any(link.startswith(path) for link in links(rosa.get(f"{RETRIEVAL_URL}?source=judge")))
    assert "Discriminative power" in text_of_page(rosa.get(PAGE))
    assert cast.client("worker").get(PAGE).status_code == 403
    assert rosa.post(PAGE).status_code == 405
    assert rosa.get(f"{RETRIEVAL_URL}discriminative/?source=eve").status_code == 400
    assert rosa.get("/datasets/nowhere/systems/discriminative/").status_code == 404
