"""Runs for TREC tools."""

import pytest

from annotation.formats.writing import ExportError
from annotation.models import Dataset, Text
from crux_site.imports.importing import DatasetImportError, import_dataset
from evaluation.formats import trec_run
from evaluation.formats.trec_run import ForTrecTools
from evaluation.models import RetrievalRun
from tests.toolbox.import_study import BODILESS, study, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def small(tmp_path) -> Dataset:
    import_dataset(write(tmp_path), "small")
    return Dataset.objects.get(slug="small")


def lines(dataset: Dataset, name: str) -> list[str]:
    run = RetrievalRun.objects.get(dataset=dataset, name=name)
    return "".join(trec_run.lines(run)).splitlines()


def for_tools(dataset: Dataset, name: str) -> tuple[list[str], str]:
    run = ForTrecTools(RetrievalRun.objects.get(dataset=dataset, name=name))
    return "".join(run.lines()).splitlines(), run.note


def test_run_is_what_its_file_was(small):
    assert lines(small, "first_stage.lsr") == study()["runs/first_stage.lsr.run"]


def test_tied_ranks_and_scores_stay_in_the_folder_of_the_study(small):
    assert lines(small, "human_eval.bm25") == study()["runs/human_eval.bm25.run"]


def test_for_tools_that_sort_by_score_tied_scores_become_reciprocal_ranks(small):
    run_lines, note = for_tools(small, "human_eval.bm25")
    assert run_lines == [
        "t-1 Q0 t-1:0#0 1 1.0 human_eval_bm25",
        f"t-1 Q0 {BODILESS} 2 0.5 human_eval_bm25",
        "t-2 Q0 t-2:0#0 1 1.0 human_eval_bm25",
        "t-2 Q0 t-1:0#0 2 0.5 human_eval_bm25",
    ]
    assert "2 topics do not fall" in note


def test_scores_that_fall_are_left_as_they_are_for_tools_too(small):
    run = RetrievalRun.objects.get(name="first_stage.lsr")
    assert for_tools(small, run.name) == (lines(small, run.name), "")
    # One of three scores of one topic rises: that topic alone is written otherwise.
    run.ranked.filter(topic__name="t-2", rank=3).update(score=7.5)
    run_lines, note = for_tools(small, run.name)
    assert [line.split()[4] for line in run_lines[3:]] == ["1.0", "0.5", str(1 / 3)]
    assert run_lines[:3] == lines(small, run.name)[:3]
    assert "the topic t-2" in note


def test_scores_that_trec_eval_cannot_tell_apart_are_tied(small):
    # 100000001 and 100000000 are one number in 32 bits.
    run = RetrievalRun.objects.get(name="first_stage.lsr")
    for rank, score in ((1, 100000001.0), (2, 100000000.0), (3, 1.0)):
        run.ranked.filter(topic__name="t-1", rank=rank).update(score=score)
    assert "the topic t-1" in for_tools(small, run.name)[1]


def test_tool_that_sorts_by_score_keeps_the_order_of_the_run(tmp_path, small):
    name = "runs/tied.run"
    order = [BODILESS, "t-1:0#0", "t-2:0#0"]
    tied = [f"t-1 Q0 {text} 3 0.5 tied" for text in order]
    import_dataset(write(tmp_path / "more", {name: tied}) / name, "small")
    assert as_trec_eval_sorts(lines(small, "tied")) == ["t-2:0#0", "t-1:0#0", BODILESS]
    assert as_trec_eval_sorts(for_tools(small, "tied")[0]) == order


def as_trec_eval_sorts(run: list[str]) -> list[str]:
    """Sort the texts of one topic by falling score; ties by name, in descending order."""
    rows = [line.split() for line in run]
    return [row[2] for row in sorted(rows, key=lambda r: (float(r[4]), r[2]), reverse=True)]


def test_context_gets_reciprocal_ranks_and_its_name(small):
    assert lines(small, "annotated.oracle") == [
        "t-1 Q0 t-1:0#1 1 1.0 annotated.oracle",
        "t-1 Q0 t-1:0#0 2 0.5 annotated.oracle",
        "t-2 Q0 t-2:1#1 1 1.0 annotated.oracle",
    ]


def test_context_that_is_read_back_as_a_run_changes_nothing(tmp_path, small):
    name = "runs/annotated.oracle.run"
    run = lines(small, "annotated.oracle")
    summary = import_dataset(write(tmp_path / "out", {name: run}) / name, "small")
    assert not summary.changed
    assert summary.unchanged == 3


def test_name_with_white_space_cannot_be_written(small):
    Text.objects.filter(name="t-2:1#1").update(name="two words")
    with pytest.raises(ExportError, match="white space"):
        lines(small, "first_stage.lsr")


@pytest.mark.parametrize(
    ("columns", "scores"),
    [
        ("t-1\t{text}\t{rank}", [1.0, 0.5]),
        ("t-1\t{text}\t{rank}\t{score}", [9.5, 9.0]),
        ("t-1 Q0 {text} {rank} {score}", [9.5, 9.0]),
    ],
    ids=["MS MARCO", "ColBERT", "without a tag"],
)
@pytest.mark.parametrize("is_sorted", [True, False])
def test_runs_of_fewer_columns_are_read_by_rank(small, tmp_path, columns, scores, is_sorted):
    rows = [("t-2:0#0", 1, 9.5), ("t-1:0#0", 2, 9)]
    rows = rows if is_sorted or "score" not in columns else rows[::-1]
    text = [columns.format(text=text, rank=rank, score=score) for text, rank, score in rows]
    path = tmp_path / "new" / "bm25.run"
    path.parent.mkdir()
    path.write_text("\n".join(text) + "\n")
    for _ in range(2):
        import_dataset(path, "small")
    run = RetrievalRun.objects.get(name="bm25")
    ranked = run.ranked.order_by("rank").values_list("text__name", "score")
    assert list(ranked) == list(zip(["t-2:0#0", "t-1:0#0"], scores, strict=True))
    assert lines(small, "bm25")[0] == f"t-1 Q0 t-2:0#0 1 {scores[0]} bm25"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("t-1 t-1:0#0 9.5\n", 1, "the third of 3 columns is the rank, which counts the lines"),
        (
            "t-1 t-1:0#0 0\nt-1 t-2:0#0 1\nt-1 t-2:1#1 2\n",
            1,
            "from 1, unlike 't-1 t-1:0#0 0'; topic, ",
        ),
        ("t-1 t-1:0#0 1\nt-1 t-2:0#0 3\n", 2, "topic, text and grade are qrels, not a run"),
        ("t-1 t-1:0#0 1\nt-1 t-2:0#0 3\nt-1 t-2:1#1 4\n", 2, "unlike 't-1 t-2:0#0 3'"),
        ("t-1 t-1:0#0 1\nt-2 t-2:0#0 1\n", 0, "has no rank but 1; topic, text and grade"),
        (f"t-1 t-1:0#0 {'1' * 5000}\n", 1, "the third of 3 columns is the rank"),
        (f"t-1 t-1:0#0 {'1' * 400}\n", 1, "the third of 3 columns is the rank"),
        ("t-1 t-1:0#0 9.5 1\n", 1, "in 4 columns (topic text rank score), not '9.5'"),
        ("t-1 0 t-1:0#0 1\n", 1, "not 4: 't-1 0 t-1:0#0 1'"),
        ("t-1 0 t-1:0#0 1\n", 1, "expected 6 columns (topic Q0 text rank score tag), or 3 "),
        ("t-1 t-1:0#0\n", 1, "not 2: 't-1 t-1:0#0'"),
        ("t-1 Q0 t-1:0#0 1 9.5 x\nt-1\tt-2:0#0\t2\n", 2, "expected 6 columns as in most lines, "),
        ("t-1\tt-1:0#0\t1\nt-1 Q0 t-2:0#0 2 9 x\n", 1, "as in most lines, not 3: 't-1 t-1"),
    ],
)
def test_line_of_a_run_with_other_columns_is_refused(small, tmp_path, text, line, message):
    path = tmp_path / "new.run"
    path.write_text(text)
    with pytest.raises(DatasetImportError) as refused:
        import_dataset(path, "small")
    (problem,) = refused.value.problems
    assert (problem.file, problem.line) == ("new.run", line)
    assert message in problem.message
    assert not RetrievalRun.objects.filter(name="new").exists()


@pytest.mark.parametrize("head", ["# Q0 d1 1 9.5 tag\n", "// made by hand\n\n#\n"])
def test_comment_above_a_run_is_counted_and_a_row_is_none(small, tmp_path, head):
    path = tmp_path / "new.run"
    path.write_text(f"{head}t-1 Q0 t-1:0#0 1 9.5 tag\n")
    if head.startswith("#"):
        with pytest.raises(DatasetImportError, match="topic '#' is not in the dataset"):
            import_dataset(path, "small")
    else:
        summary = import_dataset(path, "small")
        assert summary.mapped == {"comments above the first line of a file: not read": 2}
