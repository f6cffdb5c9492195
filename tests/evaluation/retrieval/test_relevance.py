"""Runs by relevance grades of whole topics, as qrels have them.

Worked by hand: t1 has the grades a 2, b 1, c 0, d 1; t2 has e 1. From grade 1 on a passage is relevant.

    good   t1: a x b c      t2: y e
    thin   t1: c b
"""

import csv
import json
from io import StringIO
from math import log2

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.models import Dataset, Rating, Rubric, RubricLevel, SubQuestion
from crux_site.imports.importing import import_dataset
from evaluation.data.relevance import relevance_source, relevance_sources
from evaluation.metrics import ranking
from evaluation.models import RankedText
from evaluation.retrieval.relevance import relevance_page, relevance_query
from evaluation.scoring.relevance import RelevanceOptions, relevance_scores, topic_scores
from judging.engine.foreground import fill_lexical
from tests.toolbox.factories import make_dataset
from tests.toolbox.import_study import write
from tests.toolbox.regression_cases import case

QRELS = ["t1 0 a 2", "t1 0 b 1", "t1 0 c 0", "t1 0 d 1", "t2 0 e 1"]
GOOD = [
    "t1 Q0 a 1 9 r",
    "t1 Q0 x 2 8 r",
    "t1 Q0 b 3 7 r",
    "t1 Q0 c 4 6 r",
    "t2 Q0 y 1 2 r",
    "t2 Q0 e 2 1 r",
]
THIN = ["t1 Q0 c 1 2 r", "t1 Q0 b 2 1 r"]
URL = "/datasets/q/systems/relevance/"


@pytest.fixture
def collection(db, tmp_path) -> Dataset:
    files = {
        "queries.tsv": ["t1\tWho mended the wheel?", "t2\tWhen did it grind?"],
        "collection.tsv": [f"{name}\tA text, {name}." for name in "abcdexy"],
        "x.qrels": QRELS,
        "good.run": GOOD,
        "thin.run": THIN,
    }
    import_dataset(write(tmp_path, files), "q", form="msmarco")
    return Dataset.objects.get(slug="q")


def options(dataset: Dataset, **more) -> RelevanceOptions:
    source = relevance_source(dataset)
    return RelevanceOptions(source, **{"eta": source.eta, **more})


def run(dataset: Dataset, name: str, **more):
    return relevance_scores(dataset, options(dataset, **more), [name]).rows[0]


def values(row, *measures: str) -> list[list[float]]:
    return [row.of(measure).tolist() for measure in measures]


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command("score", *arguments, stdout=out)
    return out.getvalue()


def test_five_measures_by_hand(collection):
    row = run(collection, "good")
    # t1: gains 2 0 1 0 against 2 1 1; relevant a and b at ranks 1 and 3, d is not found.
    ideal = 2 + 1 / log2(3) + 1 / 2
    assert row.of("ndcg") == pytest.approx([(2 + 1 / 2) / ideal, 1 / log2(3)])
    assert row.of("average_precision") == pytest.approx([(1 + 2 / 3) / 3, 1 / 2])
    assert row.of("reciprocal_rank") == pytest.approx([1, 1 / 2])
    assert row.of("recall") == pytest.approx([2 / 3, 1])
    assert row.of("precision") == pytest.approx([2 / 10, 1 / 10])
    assert row.n_unjudged.tolist() == [1, 1]
    assert row.means["average_precision"].value == pytest.approx((5 / 9 + 1 / 2) / 2)


def test_depth_and_eta(collection):
    row = run(collection, "good", depth=1)
    assert values(row, "recall", "precision") == [[1 / 3, 0], [1, 0]]
    assert row.of("average_precision") == pytest.approx([5 / 9, 1 / 2])  # of the whole run
    row = run(collection, "good", eta=2)
    # No passage of t2 has a 2: undefined, but for the gains.
    assert row.of("recall") == pytest.approx([1, np.nan], nan_ok=True)
    assert (row.means["recall"].n, row.means["recall"].missing) == (1, 1)
    assert row.of("ndcg")[1] == pytest.approx(1 / log2(3))
    whole = run(collection, "good", depth=None)
    assert whole.of("precision") == pytest.approx([2 / 4, 1 / 2])


def test_topics_without_results_count_as_0_and_runs_on_fewer_topics_are_apart(collection):
    thin = run(collection, "thin")
    assert thin.of("reciprocal_rank").tolist() == [0.5, 0]
    assert thin.means["reciprocal_rank"].value == 0.25
    assert thin.absent_remark == "1 topic without results, counted as 0"
    thin = run(collection, "thin", zeros="none")
    assert (thin.means["reciprocal_rank"].value, thin.means["reciprocal_rank"].missing) == (0.5, 1)
    page = relevance_page(relevance_query(collection, {}))
    assert [[row.name for row in group.rows] for group in page.groups] == [["good"], ["thin"]]
    assert page.tests == ()
    page = relevance_page(relevance_query(collection, {"topics": "any"}))
    assert [(test.first, test.second, test.flip.n) for test in page.tests] == [("good", "thin", 2)]


def test_measures_without_results_are_undefined(collection):
    RankedText.objects.filter(run__name="thin").delete()
    mean = run(collection, "thin").means["ndcg"]
    assert (mean.value, mean.n, mean.missing) == (None, 0, 2)
    assert mean.reason == "undefined, because there are no results for the topic"


def test_rubric_of_ones_own_with_an_eta_is_a_source(collection):
    rubric = Rubric.objects.create(slug="useful", title="Useful", scale="ordinal", eta=3)
    RubricLevel.objects.bulk_create(
        RubricLevel(rubric=rubric, grade=grade, label=str(grade)) for grade in range(1, 5)
    )
    topic = collection.topics.get(name="t1")
    second_question = SubQuestion.objects.create(topic=topic, position=1, body="And then?")
    text = collection.texts.get(name="b")
    rater = collection.raters.get(name="qrels")
    for question, grade in ((topic.questions.get(position=0), 1), (second_question, 4)):
        Rating.objects.create(rater=rater, rubric=rubric, text=text, question=question, grade=grade)
    assert [source.name for source in relevance_sources(collection)] == [
        "qrels-2:qrels",
        "useful:qrels",
    ]
    source = relevance_source(collection, "useful:qrels")
    row = relevance_scores(collection, RelevanceOptions(source, source.eta), ["good"]).rows[0]
    # The highest grade on any question of the topic: b is relevant, at rank 3.
    assert row.of("reciprocal_rank").tolist() == pytest.approx([1 / 3])
    with pytest.raises(CommandError, match=r"“qrels”.* There are: qrels-2:qrels, useful:qrels"):
        printed("q", "--all", "--source", "qrels")


def test_rubric_without_an_order_is_no_source(collection):
    Rubric.objects.filter(slug="qrels-2").update(eta=None)
    assert relevance_sources(collection) == ()
    with pytest.raises(CommandError, match="under a rubric from which scores can be computed"):
        printed("q", "--all")


def test_command_and_the_page_have_the_same_numbers(collection, cast):
    client = cast.client("researcher")
    by_run = {row["run"]: row for row in json.loads(printed("q", "--all", "--json"))}
    assert by_run["thin"]["topics_without_results"] == ["t2"]
    assert by_run["thin"]["topics"]["t2"]["ndcg"] == 0
    assert by_run["good"]["cutoff"] == 10
    lines = {line["name"]: line for line in rows_of(client.get(f"{URL}runs.csv"))}
    for name, row in by_run.items():
        for measure, mean in row["mean"].items():
            assert float(lines[name][measure]) == mean["value"]
    assert lines["thin"]["is_compared"] == "False"
    topics = rows_of(client.get(f"{URL}topics.csv?cutoff=1"))
    assert [(line["name"], line["topic"], line["has_results"]) for line in topics] == [
        ("good", "t1", "True"),
        ("good", "t2", "True"),
        ("thin", "t1", "True"),
        ("thin", "t2", "False"),
    ]
    # With all runs compared, a pair of runs has a test.
    [pair] = rows_of(client.get(f"{URL}tests.csv?topics=any&zeros=all"))
    assert (pair["first"], pair["second"], pair["metric"]) == ("good", "thin", "ndcg")
    difference = by_run["good"]["mean"]["ndcg"]["value"] - by_run["thin"]["mean"]["ndcg"]["value"]
    assert float(pair["difference"]) == pytest.approx(difference)
    page = client.get(f"{URL}?topics=any&zeros=all").content.decode()
    assert f"{URL}tests.csv?" in page
    # Nobody graded sub-questions: Retrieval itself is this page.
    for path in ("/datasets/q/systems/", f"{URL}?source=qrels&cutoff=5&zeros=none"):
        page = client.get(path)
        assert page.status_code == 200
        assert "2 retrieval runs, 2 topics with a relevant passage" in " ".join(
            page.content.decode().split()
        )
    text = printed("q", "--all")
    assert "nDCG@10" in text
    assert (
        "1 topic without results, counted as 0" in text.split("On other topics than most runs")[1]
    )


def test_page_without_grades_of_topics(cast, db):
    """The dataset has grades of sub-questions, which another page scores."""
    fill_lexical(make_dataset())
    page = cast.client("researcher").get("/datasets/ferry/systems/relevance/").content.decode()
    assert "No passage has a grade for a whole topic" in page
    assert 'href="/datasets/ferry/systems/"' in page


def rows_of(response) -> list[dict[str, str]]:
    return list(csv.DictReader(response.content.decode("utf-8-sig").splitlines()))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("source=eve", "There are: qrels-2:qrels"),
        ("eta=9", "There are: 0, 1, 2"),
        ("cutoff=0", "There is no cut-off “0”"),
        ("cutoff=oracle", "There is no cut-off “oracle”"),
        ("zeros=x", "There are: runs"),
        ("metric=kappa", "There are: ndcg"),
        ("topics=x", "There are: same, any"),
    ],
)
def test_unknown_choice_is_refused(collection, cast, query, message):
    response = cast.client("researcher").get(f"{URL}?{query}")
    assert response.status_code == 400
    assert message in response.content.decode()


def test_files_that_are_not_there_and_strangers(collection, cast):
    assert cast.client("researcher").get(f"{URL}odd.csv").status_code == 404
    assert cast.client("researcher").get("/datasets/none/systems/relevance/").status_code == 404
    assert cast.client("worker").get(URL).status_code == 403


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--run", "none"], "There are: good, thin"),
        (["--all", "--rules", "paper"], "no --rules"),
        (["--all", "--cutoff", "oracle"], "There is no cut-off “oracle”"),
        (["--all", "--source", "eve"], "There are: qrels-2:qrels"),
    ],
)
def test_command_refuses(collection, arguments, message):
    with pytest.raises(CommandError, match=message):
        printed("q", *arguments)


def test_other_measures_are_those_of_ir_measures(collection):
    pytest.importorskip(
        "ir_measures", reason="OTHER MEASURES ARE NOT CHECKED: make env EXTRAS=measures"
    )
    row = json.loads(
        printed("q", "--run", "thin", "--json", "--measure", "Success@1", "--measure", "P(rel=2)@5")
    )
    assert row["topics"]["t1"]["Success@1"] == 0  # c has grade 0
    assert row["topics"]["t2"]["Success@1"] == 0  # no results
    assert row["mean"]["P(rel=2)@5"]["value"] == 0
    with pytest.raises(CommandError, match="knows no measure “Foo”"):
        printed("q", "--all", "--measure", "Foo")


def test_without_ir_measures_the_extra_is_named(collection, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ir_measures", None)
    with pytest.raises(CommandError, match="make env EXTRAS=measures"):
        printed("q", "--all", "--measure", "ERR@10")
    assert "nDCG@10" in printed("q", "--all")


def test_ir_measures_has_the_same_values_on_random_rankings():
    library = pytest.importorskip(
        "ir_measures", reason="TREC_EVAL IS NOT COMPARED: there is no ir_measures here"
    )

    generator = np.random.default_rng(7)
    qrels, ranked, ours = [], [], {}
    for topic in range(40):
        grades = {f"d{n}": int(generator.integers(0, 4)) for n in range(12)}
        order = generator.permutation([f"d{n}" for n in range(20)])[: generator.integers(1, 20)]
        qrels += [library.Qrel(str(topic), name, grade) for name, grade in grades.items()]
        ranked += [library.ScoredDoc(str(topic), name, -float(n)) for n, name in enumerate(order)]
        values = np.array([grades.get(name, np.nan) for name in order])
        options = RelevanceOptions(None, eta=2, depth=5)
        ours[str(topic)] = topic_scores(values, np.array(list(grades.values()), float), options)
    names = {
        "nDCG@5": "ndcg",
        "AP(rel=2)": "average_precision",
        "RR(rel=2)": "reciprocal_rank",
        "R(rel=2)@5": "recall",
        "P(rel=2)@5": "precision",
    }
    theirs = list(library.iter_calc([library.parse_measure(name) for name in names], qrels, ranked))
    assert len(theirs) == 5 * 40
    for metric in theirs:
        estimate = ours[metric.query_id][names[str(metric.measure)]]
        expected = (
            0 if estimate.value is None else estimate.value
        )  # trec_eval prints 0 without a relevant one
        assert metric.value == pytest.approx(expected), (metric.measure, metric.query_id)


def test_precision_and_reciprocal_rank_by_hand():
    assert ranking.precision([1, 0, 1], 3, 2).value == 0.5
    assert ranking.precision([1], 3, 4).value == 0.25
    assert ranking.precision([np.nan, 1], 1, 2).missing == 1
    assert ranking.precision([0], 0, 1).value is None
    assert ranking.reciprocal_rank([0, np.nan, 1], 1).value == pytest.approx(1 / 3)
    assert ranking.reciprocal_rank([], 2).value == 0
    assert ranking.reciprocal_rank([0], 0).value is None
    with pytest.raises(ValueError, match="one passage or more"):
        ranking.precision([1], 1, 0)


@pytest.mark.django_db
def test_case_of_qrels_and_a_run_has_the_values_of_trec_eval(cast):
    import_dataset(case("qrels-and-run-no-score"), "c2", form="msmarco")
    printed_values = json.loads(printed("c2", "--run", "r1", "--source", "qrels", "--json"))
    assert [printed_values["topics"][q]["ndcg"] for q in ("q1", "q2")] == pytest.approx(
        [0.950, 0.631], abs=5e-4
    )
    assert [printed_values["topics"][q]["recall"] for q in ("q1", "q2")] == [1, 1]
    precisions = [printed_values["topics"][q]["average_precision"] for q in ("q1", "q2")]
    assert precisions == pytest.approx([0.8333, 0.5], abs=5e-5)
    assert printed_values["mean"]["average_precision"]["value"] == pytest.approx(0.6667, abs=5e-5)
    assert printed_values["mean"]["reciprocal_rank"]["value"] == 0.75
    page = cast.client("researcher").get("/datasets/c2/systems/")
    assert "0.79" in page.content.decode()
