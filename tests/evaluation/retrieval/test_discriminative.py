"""What the metrics tell apart. The numbers are worked out from tests/evaluation/retrieval/material.py."""

import pytest

from tests.evaluation.agreement.test_page import words
from tests.evaluation.html_tables import tables
from tests.evaluation.retrieval.material import make_room
from tests.evaluation.retrieval.test_page import ROOM, links, rows_of

PAGE = f"{ROOM}discriminative/?source=judge"
POWER = "Table 1. Discriminative power"


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def test_eight_topics_tell_apart(rosa, db):
    make_room(n_topics=8)
    rows = tables(rosa.get(PAGE))[POWER]
    # Coverage, each pattern of four topics twice. good less fair: .5 .5 0 .5 twice: six that differ, p =
    # 2 / 64. good less poor: 1 .5 .5 1: eight, p = 2 / 256. fair less poor: .5 0 .5 .5: six, 2 / 64. All three
    # are under 0.05; Holm: 3 x 2 / 256 = 0.023, then 2 x 2 / 64 = 0.0625: one is.
    assert rows[0] == ["Coverage", "1.00", "0.33", "3", "0"]
    lines = rows_of(rosa.get(f"{ROOM}discriminative.csv?source=judge"))
    assert (lines[0]["share_alone"], float(lines[0]["share_holm"])) == ("1.0", pytest.approx(1 / 3))


def test_four_topics_cannot_say(rosa, db):
    make_room()
    response = rosa.get(PAGE)
    assert tables(response)[POWER][0][1].startswith("undefined because no two systems share the 6")
    (first, *_) = rows_of(rosa.get(f"{ROOM}discriminative.csv?source=judge"))
    assert (first["share_alone"], first["pairs"], first["missing"]) == ("", "0", "3")


def test_orders_at_the_top(rosa, db):
    make_room()
    # Coverage has good, fair, poor; so has itself. Every line of the file is a pair of metrics.
    lines = rows_of(rosa.get(f"{ROOM}tops.csv?source=judge"))
    assert len(lines) == 36
    assert (lines[0]["truth"], lines[0]["metric"], lines[0]["tau_ap"]) == (
        "coverage",
        "coverage",
        "1.0",
    )
    # By the judge 1, 0.625, 0.25; by the other 0, 0, 0.5: a tie, and so no AP correlation.
    (order, *_) = rows_of(rosa.get(f"{ROOM}orders.csv?source=judge"))
    assert (order["tau_ap"], "no ties" in order["tau_ap_reason"]) == ("", True)


def test_it_is_a_room_like_the_others(cast, rosa, db):
    make_room()
    assert PAGE in links(rosa.get(f"{ROOM}?source=judge"))
    assert "What the metrics tell apart" in words(rosa.get(PAGE))
    assert cast.client("worker").get(PAGE).status_code == 403
    assert rosa.post(PAGE).status_code == 405
    assert rosa.get(f"{ROOM}discriminative/?source=eve").status_code == 400
    assert rosa.get("/datasets/nowhere/retrieval/discriminative/").status_code == 404
