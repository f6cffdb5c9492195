"""TREC qrels, graded and by subtopic: by hand, reimported, and read by ir_measures."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.formats import trec_qrels
from annotation.formats.writing import ExportError
from annotation.models import Rating, Rubric, SubQuestion, Text
from crux_site.imports.importing import DatasetImportError, import_dataset
from tests.toolbox.scoring_study import make_study

# Of the judge: the highest of each row in tests/toolbox/scoring_study.py; and ferry-2.
GRADED = """ferry-1 0 far-9:0#0 5
ferry-1 0 ferry-1:0#0 5
ferry-1 0 ferry-1:0#1 3
ferry-1 0 ferry-1:10#10 4
ferry-1 0 ferry-1:2#2 4
ferry-2 0 ferry-2:0#0 0
"""
# Of ann: 0#0 on q1 with 4, 2#2 on q0 with 1.
DIVERSITY = "ferry-1 1 ferry-1:2#2 1\nferry-1 2 ferry-1:0#0 4\n"


@pytest.fixture(scope="module")
def study(shared_world):
    return shared_world(make_study)


def diversity(study, rater: str) -> str:
    return "".join(trec_qrels.diversity(study.dataset, study.raters[rater], "graded"))


def graded(study, rater: str, rubric: str = "graded") -> str:
    return "".join(trec_qrels.graded(study.dataset, study.raters[rater], rubric))


def test_by_hand(db, study):
    assert graded(study, "judge") == GRADED
    assert diversity(study, "ann") == DIVERSITY
    # Zeros have their line, and the one cell that the judge left out has none.
    lines = [line.split() for line in diversity(study, "judge").splitlines()]
    assert ["ferry-1", "3", "ferry-1:0#0", "0"] in lines
    assert not [line for line in lines if line[1:3] == ["3", "ferry-1:10#10"]]
    assert len(lines) == 20


def test_grades_of_the_request_as_a_whole_are_no_subtopic(db, study):
    whole = SubQuestion.objects.create(
        topic=study.topic, position=4, body=study.topic.request, filtered_because=SubQuestion.WHOLE
    )
    text = study.passages["ferry-1:0#0"]
    Rating.objects.create(
        rater=study.raters["ben"],
        rubric=Rubric.objects.get(slug="graded"),
        text=text,
        question=whole,
        grade=5,
    )
    assert diversity(study, "ben") == "ferry-1 2 ferry-1:0#0 3\n"
    assert graded(study, "ben") == "ferry-1 0 ferry-1:0#0 5\n"


def test_unwritable_qrels_are_refused(db, study):
    with pytest.raises(ExportError, match="cay has graded no passage under graded"):
        diversity(study, "cay")
    Text.objects.filter(name="ferry-1:2#2").update(name="two words")
    with pytest.raises(ExportError, match="a name holds white space: ferry-1 1 two words 1"):
        diversity(study, "ann")


def test_command_writes_the_same(db, study, tmp_path):
    out = tmp_path / "ann.qrels"
    options = ("ferry", "--out", str(out), "--rater", "ann", "--format")
    call_command("export_dataset", *options, "diversity-qrels", stdout=StringIO())
    assert out.read_text() == DIVERSITY
    call_command("export_dataset", *options, "graded-qrels", stdout=StringIO())
    assert out.read_text() == graded(study, "ann")
    with pytest.raises(CommandError, match="ann has graded no passage under answerable"):
        call_command("export_dataset", *options, "graded-qrels", "--rubric", "answerable")


@pytest.mark.parametrize(("rater", "folder"), [("ann", "."), ("judge", "judgements")])
def test_subtopics_come_back(db, study, tmp_path, rater, folder):
    lines = diversity(study, rater)
    path = tmp_path / folder / f"{rater}.graded.diversity.qrels"
    path.parent.mkdir(exist_ok=True)
    path.write_text(lines)
    assert not import_dataset(tmp_path, "ferry", form="trec-diversity").changed
    Rating.objects.filter(rater=study.raters[rater], rubric__slug="graded").delete()
    import_dataset(tmp_path, "ferry", form="trec-diversity")
    assert diversity(study, rater) == lines


def test_grades_below_0_are_no_ratings(db, study, tmp_path):
    (tmp_path / "ann.qrels").write_text("ferry-1 3 ferry-1:0#0 -1\nferry-1 4 ferry-1:0#0 -2\n")
    summary = import_dataset(tmp_path / "ann.qrels", "ferry", form="trec-diversity")
    assert not summary.changed
    assert sum(summary.mapped.values()) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ferry-1 0 ferry-1:0#0 5", "ann.qrels:1: subtopic: "),
        ("ferry-1 9 ferry-1:0#0 5", "ann.qrels:1: subtopic: ferry-1 has 4 questions"),
        ("ferry-1 1 ferry-1:0#0", "ann.qrels:1: expected 4 columns (topic subtopic text grade)"),
        ("ferry-1 1 ferry-1:0#0 7", "ann.qrels:1: grade: "),
        ("ferry-1 1 ferry-1:0#0 x", "ann.qrels:1: grade: "),
        ("away 1 ferry-1:0#0 5", "ann.qrels:1: topic: topic 'away' is not in the dataset"),
    ],
)
def test_broken_line(db, study, tmp_path, line, message):
    (tmp_path / "ann.qrels").write_text(f"{line}\n")
    n = Rating.objects.count()
    with pytest.raises(DatasetImportError) as raised:
        import_dataset(tmp_path / "ann.qrels", "ferry", form="trec-diversity")
    assert str(raised.value.problems[0]).startswith(message)
    assert Rating.objects.count() == n


def test_graded_qrels_come_back_as_grades_of_the_request(cast, study, tmp_path):
    (tmp_path / "qrels.txt").write_text(GRADED)
    import_dataset(tmp_path / "qrels.txt", "ferry", form="trec-rag")
    study.raters["qrels"] = study.dataset.raters.get(name="qrels")
    assert graded(study, "qrels", "qrels-5") == GRADED
    page = cast.client("researcher").get("/datasets/ferry/exports/").content.decode()
    assert "qrels/qrels.qrels-5.qrels" in page
    assert "qrels/qrels.qrels-5.diversity.qrels" not in page


def test_ir_measures_reads_what_is_written(cast, db, study):
    ir_measures = pytest.importorskip(
        "ir_measures",
        reason="ir_measures is not installed: what TREC tools read is unchecked",
    )
    rosa = cast.client("researcher")

    def read(name: str) -> str:
        response = rosa.get(f"/datasets/ferry/exports/{name}")
        return b"".join(response.streaming_content).decode()

    qrels = list(ir_measures.read_trec_qrels(read("qrels/judge.graded.qrels")))
    run = list(ir_measures.read_trec_run(read("runs/annotated.bm25.run")))
    # Of five relevant from 3 on the run has far-9, 2#2 and 0#1 at ranks 1, 2 and 4.
    relevant = ir_measures.R(rel=3) @ 4
    by_topic = {m.query_id: m.value for m in ir_measures.iter_calc([relevant], qrels, run)}
    assert by_topic["ferry-1"] == 3 / 5
    by_subtopic = list(ir_measures.read_trec_qrels(read("qrels/ann.graded.diversity.qrels")))
    assert [(qrel.iteration, qrel.doc_id) for qrel in by_subtopic] == [
        ("1", "ferry-1:2#2"),
        ("2", "ferry-1:0#0"),
    ]
