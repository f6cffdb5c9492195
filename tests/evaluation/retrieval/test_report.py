"""Parts of the retrieval pages: boards, tests, rankings, judges, and positions of points.

The numbers are worked out from tests/toolbox/retrieval_study.py.
"""

import pytest

from annotation.models import Rating, Text
from evaluation.data.selection import SelectionError
from evaluation.models import RankedText, RetrievalRun
from evaluation.retrieval.compare import comparison
from evaluation.retrieval.leaderboard import leaderboard
from evaluation.retrieval.page import summary, table
from evaluation.retrieval.query import RetrievalQuery
from evaluation.scoring.row_score import METRICS, REPORTS
from evaluation.scoring.score import score
from tests.evaluation.scoring.choosing import choose
from tests.toolbox.retrieval_study import make_retrieval_study


@pytest.fixture
def room(db):
    return make_retrieval_study()


def opened(dataset, **params):
    choice = RetrievalQuery.of_rated(dataset, params)
    return leaderboard(dataset, choice.options), choice


def test_board_holds_what_is_scored(room):
    options = choose(room, source="judge")
    room_board, scores = leaderboard(room, options), score(room, options)
    assert [row.name for row in room_board.rows] == [row.row.name for row in scores.rows]
    assert room_board.topics == scores.topic_names
    for ours, theirs in zip(room_board.rows, scores.rows, strict=True):
        assert ours.means == theirs.means
        assert not ours.row.contexts
        for index, name in enumerate(room_board.topics):
            topic_score = theirs.topics[name]
            assert ours.has[index]
            assert ours.counts["n_covered"][index] == topic_score.n_covered
            assert ours.tokens[index] == topic_score.tokens
            for metric in METRICS:
                assert ours.on(metric, index) == topic_score.metric(metric)


def test_board_is_kept_until_a_grade_changes(room, django_assert_max_num_queries):
    options = choose(room, source="judge")
    leaderboard(room, options)
    with django_assert_max_num_queries(6):  # the version of the data
        assert leaderboard(room, options).by_name["fair"].means["coverage"].value == 0.625
    Rating.objects.filter(rater__name="judge", text__name="t0:0#0", grade=5).update(grade=0)
    # Only q1 is answerable then, and fair ranks #0: 0 instead of 0.5.
    assert leaderboard(room, options).by_name["fair"].means["coverage"].value == 0.5


def test_unrated_cells_are_counted(room):
    Rating.objects.filter(rater__name="judge", text__name="t0:0#2").delete()
    poor = leaderboard(room, choose(room, source="judge")).by_name["poor"]
    # It ranks #2 on t0: two questions of one text, and nothing else.
    assert (poor.n_unrated, poor.n_cells) == (2, 8)
    assert (poor.means["coverage"].n, poor.means["coverage"].missing) == (3, 1)
    assert poor.reason("coverage", 0)
    report = leaderboard(room, choose(room, source="judge")).systems(REPORTS)[0]
    assert (report.n_unrated, report.n_cells) == (8, 8)
    assert report.undefined == "none of it is rated"


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        ("", ["good", "fair", "poor"]),
        ("coverage", ["poor", "fair", "good"]),
        ("name", ["fair", "good", "poor"]),
        ("-name", ["poor", "good", "fair"]),
    ],
)
def test_table_is_ordered_by_group(room, sort, names):
    room_board, choice = opened(room, source="judge", sort=sort)
    bounds, runs, reports = table(room_board, choice)
    assert [row.name for row in bounds.rows] == ["bounds/required-subset"]
    assert [row.name for row in runs.rows] == names
    assert [row.name for row in reports.rows] == ["reports/good"]
    assert summary(room_board, choice) == (
        "3 retrieval runs and 1 system with reports, 4 topics, by the grades of judge from η = 3."
    )


@pytest.mark.parametrize("sort", ["coverage", "-coverage"])
def test_undefined_rows_come_last_in_either_direction(room, sort):
    topic = room.topics.first()
    blank = RetrievalRun.objects.create(dataset=room, name="blank")
    text = Text.objects.create(dataset=room, topic=topic, kind="passage", name="t0:0#9", body="a")
    RankedText.objects.create(run=blank, topic=topic, text=text, rank=1)
    room_board, choice = opened(room, source="judge", sort=sort, topics="any", zeros="none")
    last = table(room_board, choice)[1].rows[-1]
    assert (last.name, last.undefined) == ("blank", "")
    assert last.means["coverage"].reason.startswith("undefined, because")
    # Recall counts what is relevant, rated or not.
    assert last.means["recall"].value == 0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"source": "eve"}, "“eve”. There are: judge, other, ann, ben, majority"),
        ({"eta": "9"}, "There are: 1, 2, 3, 4, 5"),
        ({"cutoff": "0"}, "There are: size, oracle, 10, 20"),
        ({"ideal": "x"}, "There are: standard, paper_eq4"),
        ({"rules": "x"}, "There are: paper, authors"),
        ({"metric": "x"}, "no metric “x”. There are: coverage, alpha_ndcg"),
        ({"among": "bounds"}, "no kind of system “bounds”. There are: runs, reports"),
        ({"sort": "-x"}, "no order “x”. There are: name, coverage"),
    ],
)
def test_unknown_choice_is_answered_with_the_list(room, params, message):
    with pytest.raises(SelectionError) as caught:
        RetrievalQuery.of_rated(room, params)
    assert message in str(caught.value)


def test_state_is_in_the_query(room):
    params = {"source": "other", "eta": "4", "cutoff": "7", "page": "3", "row": "x", "rules": ""}
    choice = RetrievalQuery.of_rated(room, params)
    assert choice.query() == "source=other&eta=4&cutoff=7"
    assert choice.query(eta=None, metric="density") == "source=other&cutoff=7&metric=density"
    assert ("7", "7") in choice.cutoffs
    assert choice.titles["recall"] == "Recall@7"
    assert RetrievalQuery.of_rated(room, {}).titles["recall"] == "Recall@|Z*|"
    assert RetrievalQuery.of_rated(room, {"cutoff": "size"}).titles["recall"] == "Recall@|Z|"


def test_run_against_run(room):
    room_board, choice = opened(room, source="judge")
    compared = comparison(room_board, choice, {"a": "good", "b": "poor"})
    assert [(topic.name, topic.difference) for topic in compared.topics] == [
        ("t0", 1),
        ("t3", 1),
        ("t1", 0.5),
        ("t2", 0.5),
    ]
    assert compared.test.flip.p == 0.125
    assert compared.n_alone == 0
    run_and_report = comparison(room_board, choice, {"a": "good", "b": "reports/good"})
    assert (run_and_report.topics, run_and_report.n_alone) == ((), 4)
    default = comparison(room_board, choice, {})
    assert (default.first.name, default.second.name) == ("fair", "good")
    assert comparison(room_board, choice, {"a": "good"}).second.name == "fair"
    for params in ({"a": "eve"}, {"a": "good", "b": "good"}):
        with pytest.raises(SelectionError):
            comparison(room_board, choice, params)
