"""Topics on which a run has no results, and which systems are compared.

Of tests/toolbox/retrieval_study.py: by the judge good has a coverage of 1 on each of four topics, fair of
.5 .5 1 .5 and poor of 0 .5 .5 0. Here good keeps its first topic alone.
"""

import csv
import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command

from annotation.models import Topic
from evaluation.models import RankedText, RetrievalRun
from evaluation.replications.crux_paper.names import COVERAGE_Z
from evaluation.replications.crux_paper.systems import compared, values
from evaluation.replications.know_your_rag.query import by_type_query
from evaluation.retrieval.discriminative import discriminative_power
from evaluation.retrieval.leaderboard import leaderboard
from evaluation.retrieval.page import table, taus_of
from evaluation.retrieval.page import tests_of as pair_tests_of
from evaluation.retrieval.query import RetrievalQuery
from evaluation.retrieval.rankings import compare_sources
from evaluation.scoring.same_topics import largest_group
from evaluation.scoring.score import score
from tests.evaluation.scoring.choosing import choose
from tests.toolbox.retrieval_study import make_retrieval_study


def rows_of(response) -> list[dict[str, str]]:
    return list(csv.DictReader(response.content.decode("utf-8-sig").splitlines()))


def mask(*topics: int) -> np.ndarray:
    return np.isin(np.arange(5), topics)


@pytest.mark.parametrize(
    ("topics", "largest"),
    [
        ({}, ()),
        ({"a": mask(0)}, ("a",)),
        # Two on the same topics, one on more.
        ({"a": mask(0, 1, 2), "b": mask(0, 1), "c": mask(0, 1)}, ("b", "c")),
        # Groups of one each: that with more topics.
        ({"a": mask(0), "b": mask(1, 2)}, ("b",)),
        # As many topics, too: the first.
        ({"a": mask(0), "b": mask(1)}, ("a",)),
        # Systems without a topic are none, unless all are.
        ({"a": mask(), "b": mask(), "c": mask(3)}, ("c",)),
        ({"a": mask(), "b": mask()}, ("a", "b")),
        # Equally many topics, but not the same ones.
        ({"a": frozenset({1, 2}), "b": frozenset({2, 3}), "c": frozenset({3, 2})}, ("b", "c")),
    ],
)
def test_largest_group_by_hand(topics, largest):
    assert largest_group(topics) == largest


@pytest.fixture
def room(db):
    dataset = make_retrieval_study()
    RankedText.objects.filter(run__name="good").exclude(topic__name="t0").delete()
    return dataset


def opened(dataset, **params):
    choice = RetrievalQuery.of_rated(dataset, {"source": "judge", **params})
    return leaderboard(dataset, choice.options), choice


def mean(dataset, name="good", metric="coverage", **params):
    of_metric = (
        score(dataset, choose(dataset, source="judge", **params)).by_name[name].means[metric]
    )
    return of_metric.value, of_metric.n, of_metric.missing


def test_topic_without_results_counts_as_0_for_runs(room):
    assert mean(room) == (0.25, 4, 0)
    # nDCG on t0: both relevant passages of two first, cut off at |Z*| = 2.
    assert mean(room, metric="ndcg") == (0.25, 4, 0)


def test_topic_without_results_is_missing_where_it_does_not_count(room):
    assert mean(room, zeros="none") == (1, 1, 3)
    assert mean(room, rules="authors") == (1, 1, 3)  # their default
    assert mean(room, rules="authors", zeros="runs") == (0.25, 4, 0)


def test_reports_count_as_0_only_on_demand(room):
    room.texts.filter(kind="report", topic__name="t3").delete()
    for text in room.texts.filter(kind="report"):
        for question in text.topic.questions.all():
            text.ratings.create(
                rater=room.raters.get(name="judge"),
                rubric=room.texts.get(name="t0:0#0").ratings.first().rubric,
                question=question,
                grade=5,
            )
    assert mean(room, "reports/good") == (1, 3, 1)
    assert mean(room, "reports/good", zeros="all") == (0.75, 4, 0)
    assert mean(room, "reports/good", "ndcg", zeros="all") == (None, 0, 4)  # it is no ranking


def test_topic_without_anything_to_find_counts_for_nobody(room):
    Topic.objects.create(dataset=room, name="bare", request="?", position=9)
    assert mean(room) == (0.25, 4, 0)
    assert mean(room, zeros="none") == (1, 1, 3)


def test_runs_on_fewer_topics_are_listed_apart_and_not_compared(room):
    scores, choice = opened(room)
    groups = {group.title: [row.name for row in group.rows] for group in table(scores, choice)}
    assert groups["Retrieval runs: Z is the retrieved passages"] == ["fair", "poor"]
    assert groups["Retrieval runs on fewer topics: not compared with those above"] == ["good"]
    assert [(test.first, test.second) for test in pair_tests_of(scores, choice)] == [
        ("fair", "poor")
    ]
    assert taus_of(scores, choice).n_systems == 2
    assert {
        power.alone.n + power.alone.missing for power in discriminative_power(scores, choice).powers
    } == {1}
    assert {order.tau.n for order in compare_sources(choice).orders} == {2}


def test_all_runs_are_compared_on_demand_with_the_same_zeros(room):
    scores, choice = opened(room, topics="any")
    assert [group.is_on_other_topics for group in table(scores, choice)] == [False] * 3
    pairs = {(test.first, test.second): test for test in pair_tests_of(scores, choice)}
    # good 1 0 0 0, poor 0 .5 .5 0: both have a mean of 0.25.
    assert pairs["good", "poor"].difference.value == 0
    assert pairs["good", "poor"].flip.n == 4
    scores, choice = opened(room, topics="any", zeros="none")
    pairs = {(test.first, test.second): test for test in pair_tests_of(scores, choice)}
    assert (pairs["good", "poor"].difference.value, pairs["good", "poor"].flip.n) == (1, 1)


def test_paper_compares_the_same_systems(room):
    scores = score(room, choose(room, source="judge"))
    columns = dict(
        zip((s.name for s in compared(scores)), values(scores, COVERAGE_Z).T, strict=True)
    )
    assert np.isnan(columns["good"]).all()
    assert columns["poor"].tolist() == [0, 0.5, 0.5, 0]


def test_identical_rankings_are_named(room):
    twin = RetrievalRun.objects.create(dataset=room, name="twin")
    for ranked in RankedText.objects.filter(run__name="fair"):
        RankedText.objects.create(run=twin, topic=ranked.topic, text=ranked.text, rank=ranked.rank)
    note = "These runs have identical rankings: fair, twin."
    assert note in score(room, choose(room, source="judge")).notes
    RankedText.objects.filter(run=twin, topic__name="t2", rank=2).delete()
    assert note not in score(room, choose(room, source="judge")).notes


def test_page_files_and_command_count_alike(room, cast):
    client, url = cast.client("researcher"), "/datasets/room/systems/"
    page = client.get(f"{url}?source=judge").content.decode()
    assert "3 topics without results, counted as 0" in " ".join(page.split())
    page = client.get(f"{url}?source=judge&zeros=none").content.decode()
    assert "3 topics without results, left out" in " ".join(page.split())
    lines = {line["name"]: line for line in rows_of(client.get(f"{url}systems.csv?source=judge"))}
    good = lines["good"]
    assert (good["topics"], good["topics_without_results"], good["is_compared"]) == (
        "1",
        "3",
        "False",
    )
    assert lines["fair"]["is_compared"] == "True"
    topics = rows_of(client.get(f"{url}topics.csv?source=judge&row=good"))
    assert [float(line["coverage"]) for line in topics] == [1, 0, 0, 0]
    topics = rows_of(client.get(f"{url}topics.csv?source=judge&row=good&zeros=none"))
    assert [line["coverage"] for line in topics] == ["1.0", "", "", ""]
    assert topics[1]["coverage_reason"] == "undefined, because there are no results for the topic"
    run = client.get(f"{url}runs/good/?source=judge").content.decode()
    assert run.count("no results</small>") == 3
    out = StringIO()
    call_command("score", "room", run="good", source="judge", json=True, stdout=out)
    printed = json.loads(out.getvalue())
    assert printed["zeros"] == "runs"
    assert printed["topics_without_results"] == ["t1", "t2", "t3"]
    assert [topic["coverage"] for topic in printed["topics"].values()] == [1, 0, 0, 0]
    out = StringIO()
    call_command("score", "room", all=True, source="judge", stdout=out)
    compared_rows, other_rows = out.getvalue().split("On other topics than most runs")
    assert "poor " in compared_rows
    assert "good " in other_rows
    assert "3 topics without results, counted as 0" in other_rows


@pytest.mark.parametrize("query", ["zeros=x", "topics=x"])
def test_choice_that_is_not_there_is_refused(room, cast, query):
    response = cast.client("researcher").get(f"/datasets/room/systems/?source=judge&{query}")
    assert response.status_code == 400
    assert "There are: " in response.content.decode()


def test_recall_by_type_joins_two_runs_on_the_same_topics_by_default(room):
    choice = by_type_query(room, {})
    assert (choice.lexical, choice.dense) == ("fair", "poor")
    assert by_type_query(room, {"dense": "good"}).dense == "good"
