"""Runs whose lines are not in the order of their scores."""

import json
import shutil
from io import StringIO

import pytest
from django.core.management import call_command

from annotation.formats.run_order import RunOrder, ranking_order
from annotation.formats.summary import Conversion
from crux_site.imports.importing import DatasetImportError, import_dataset
from evaluation.models import RankedText
from tests.toolbox.import_study import write
from tests.toolbox.regression_cases import case

REVERSED = [  # rank and score agree, the lines do not
    "t1 Q0 c 3 1.5 r",
    "t1 Q0 b 2 2.5 r",
    "t1 Q0 a 1 9.0 r",
]


def read(folder, *lines: str, dataset: str = "small", order: str = RunOrder.AUTO):
    files = {"topics.jsonl": [{"id": "t1", "request": "Why?"}, {"id": "t2", "request": "How?"}]}
    return import_dataset(
        write(folder, files | {"runs/r.run": list(lines)}), dataset, run_order=order
    )


def ranking(
    topic: str = "t1", dataset: str = "small"
) -> list[tuple[str, float | None, int | None]]:
    ranked = RankedText.objects.filter(topic__name=topic, run__dataset__slug=dataset)
    return list(ranked.order_by("rank").values_list("text__name", "score", "file_rank"))


@pytest.mark.parametrize(
    ("scores", "ranks", "order", "expected", "reported"),
    [
        # Lines in the order of the scores: nothing to decide, whatever the ranks say.
        ([3, 2, 2, 1], [4, 3, 2, 1], "score", None, None),
        ([], [], "auto", None, None),
        # The ranks confirm the scores, or say nothing.
        ([1, 3, 2], [3, 1, 2], "auto", [1, 2, 0], Conversion.RUN_BY_SCORE),
        ([1, 3, 2], [0, 0, 0], "auto", [1, 2, 0], Conversion.RUN_BY_SCORE),
        # Equal scores stay in the order of the lines, and have any ranks.
        ([1, 2, 2, 1], [4, 2, 1, 3], "auto", [1, 2, 0, 3], Conversion.RUN_BY_SCORE),
        # The ranks contradict the scores.
        ([1, 3, 2], [1, 2, 3], "auto", None, Conversion.RUN_BY_LINE),
        ([1, 3, 2], [1, 2, 3], "score", [1, 2, 0], Conversion.RUN_BY_SCORE),
        ([1, 3, 2], [3, 1, 2], "lines", None, Conversion.RUN_BY_LINE),
    ],
)
def test_ranking_order_by_hand(scores, ranks, order, expected, reported):
    assert ranking_order(scores, ranks, RunOrder(order)) == (expected, reported)


@pytest.mark.django_db
def test_lines_against_ranks_and_scores_are_read_by_score_and_counted(tmp_path):
    summary = read(tmp_path, *REVERSED, "t2 Q0 a 1 2.0 r", "t2 Q0 b 2 1.0 r")
    assert ranking() == [("a", 9.0, None), ("b", 2.5, None), ("c", 1.5, None)]
    assert ranking("t2") == [("a", 2.0, None), ("b", 1.0, None)]
    assert summary.mapped == {Conversion.RUN_BY_SCORE: 1}


@pytest.mark.django_db
def test_lines_of_several_topics_in_turn_are_read_by_score(tmp_path):
    mixed = ["t1 Q0 b 2 1 r", "t2 Q0 b 2 1 r", "t1 Q0 a 1 2 r", "t2 Q0 a 1 2 r"]
    assert read(tmp_path, *mixed).mapped == {Conversion.RUN_BY_SCORE: 2}
    assert ranking() == ranking("t2") == [("a", 2.0, None), ("b", 1.0, None)]


@pytest.mark.django_db
def test_ranks_against_scores_are_read_by_line_and_counted(tmp_path):
    summary = read(tmp_path, "t1 Q0 a 1 1 r", "t1 Q0 b 2 5 r")
    assert [name for name, *_ in ranking()] == ["a", "b"]
    assert summary.mapped == {Conversion.RUN_BY_LINE: 1}


@pytest.mark.django_db
def test_run_read_by_line_comes_back_from_its_export(tmp_path):
    read(tmp_path / "in", *REVERSED, order="lines")
    assert ranking() == [("c", 1.5, 3), ("b", 2.5, None), ("a", 9.0, 1)]
    call_command("export_dataset", "small", out=str(tmp_path / "out"))
    summary = import_dataset(tmp_path / "out", "again")
    assert summary.mapped == {Conversion.RUN_BY_LINE: 1}
    assert [row[:2] for row in ranking(dataset="again")] == [row[:2] for row in ranking()]
    assert not import_dataset(tmp_path / "out", "small").changed


@pytest.mark.django_db
def test_run_read_by_score_comes_back_from_its_export_with_its_scores(tmp_path):
    read(tmp_path / "in", *REVERSED)
    call_command("export_dataset", "small", out=str(tmp_path / "out"))
    summary = import_dataset(tmp_path / "out", "again")
    assert ranking(dataset="again") == ranking()
    assert not summary.mapped
    # The file that it came from changes nothing, either.
    assert not read(tmp_path / "in", *REVERSED).changed


@pytest.mark.django_db
def test_run_read_in_another_order_than_before_is_refused_with_the_option(tmp_path):
    read(tmp_path, *REVERSED, order="lines")
    with pytest.raises(DatasetImportError, match="choose an order"):
        read(tmp_path, *REVERSED)
    assert [name for name, *_ in ranking()] == ["c", "b", "a"]


@pytest.mark.django_db
def test_broken_line_of_an_unsorted_run_is_named_once(tmp_path):
    with pytest.raises(DatasetImportError) as failed:
        read(tmp_path, *REVERSED, "t1 Q0 d x 3 r")
    assert [(problem.line, problem.field) for problem in failed.value.problems] == [(4, "rank")]
    assert not RankedText.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(("order", "first"), [("auto", "d2"), ("score", "d2"), ("lines", "d1")])
def test_candidates_of_a_reranker_are_read_by_score_unless_told_otherwise(tmp_path, order, first):
    candidates = [
        {"docid": "d1", "score": 1.0, "doc": "one"},
        {"docid": "d2", "score": 4.0, "doc": "two"},
    ]
    rows = [{"query": {"qid": "q", "text": "Why?"}, "candidates": candidates}]
    folder = write(tmp_path, {"asked.jsonl": rows})
    summary = import_dataset(folder, "small", form="reranker-requests", run_order=order)
    assert ranking("q")[0][0] == first
    assert sum(summary.mapped.values()) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("form", ["crux", "msmarco", "trec-rag"])
def test_unsorted_case_is_read_by_its_scores(tmp_path, form):
    folder = case("run-unsorted")
    import_dataset(folder, "c1")
    if form != "crux":
        shutil.copy(folder / "runs" / "r1.run", tmp_path / "r1.run")
        RankedText.objects.all().delete()
        summary = import_dataset(tmp_path, "c1", form=form)
        assert summary.mapped[Conversion.RUN_BY_SCORE] == 2
    out = StringIO()
    call_command("score", "c1", run="r1", source="j", cutoff="2", json=True, stdout=out)
    means = json.loads(out.getvalue())["mean"]
    assert means["coverage"]["value"] == means["alpha_ndcg"]["value"] == 1.0
    run = tmp_path / "out.run"
    call_command("export_dataset", "c1", format="run", run="r1", out=str(run), stderr=StringIO())
    assert [line.split()[2:5] for line in run.read_text().splitlines()[:2]] == [
        ["t1:0", "1", "9.0"],
        ["t1:1", "2", "8.0"],
    ]
