"""manage.py export_dataset in formats of TREC tracks: their rules, and a round trip."""

import json
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Citation, Dataset, Rating, SubQuestion, Text, Topic
from crux_site.imports.importing import import_dataset
from tests.crux_site.datasets.track_rules import (
    faults_of_nuggets,
    faults_of_rag,
    faults_of_ragtime,
)
from tests.toolbox.foreign_files import write
from tests.toolbox.related_papers import FOLDER, needs_neighbours

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

REQUEST = "What of the mill? "
BODY = "A mill of 1702\n\nOttilie Marsh  mended it. It cost 40 pounds.\nNobody was hurt. It turned."
WEIGHTS = {"importance": "vital", "assignment": "support"}


def exported(slug: str, form: str, *options: str) -> str:
    with TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        options = ("--format", form, "--out", str(out), *options)
        call_command("export_dataset", slug, *options, stdout=StringIO())
        return out.read_text(encoding="utf-8")


def lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def mill(db) -> Dataset:
    """Two topics, three nuggets, a report: a statement cites two texts, another none."""
    dataset = Dataset.objects.create(slug="mill", title="Mill")
    topics = [
        Topic.objects.create(dataset=dataset, name=name, request=request, position=position)
        for position, (name, request) in enumerate([("58", REQUEST), ("7", "When?")])
    ]
    report = Text.objects.create(
        dataset=dataset, topic=topics[0], kind="report", system="run-a", name="58", body=BODY
    )
    Text.objects.create(
        dataset=dataset, topic=topics[1], kind="report", system="run-a", name="7", body="In May."
    )
    texts = [
        Text.objects.create(dataset=dataset, topic=topics[0], kind="passage", name=name)
        for name in ("d#0", "d#1")
    ]
    mended, cost = "Ottilie Marsh  mended it.", "It cost 40 pounds."
    statements = [(mended, texts[1]), (mended, texts[0]), (cost, texts[1]), (cost, None)]
    for position, (nugget, cited) in enumerate(statements):
        start = BODY.index(nugget)
        Citation.objects.create(
            report=report, position=position, start=start, end=start + len(nugget), label="x",
            cited=cited,
        )  # fmt: skip
    return dataset


def reexport(folder: Path, form: str, files: dict[str, str], export: str, *options: str) -> str:
    """Export a dataset that is created from these files alone."""
    lines_of = {name: text.splitlines() for name, text in files.items()}
    import_dataset(write(folder / "again", lines_of), "again", form=form)
    return exported("again", export, *options)


def test_answers_of_trec_rag(mill, tmp_path):
    text = exported("mill", "trec-rag", "--system", "run-a", "--team", "us")
    first, second = lines(text)
    assert faults_of_rag([first, second], {"58": REQUEST, "7": "When?"}) == []
    assert first["metadata"] == {
        "team_id": "us", "run_id": "run-a", "type": "automatic", "narrative_id": "58",
        "narrative": REQUEST,
    }  # fmt: skip
    assert first["references"] == ["d#1", "d#0"]
    assert first["answer"] == [
        {"text": "A mill of 1702", "citations": []},
        {"text": "Ottilie Marsh  mended it.", "citations": [0, 1]},
        {"text": "It cost 40 pounds.", "citations": [0]},
        {"text": "Nobody was hurt.", "citations": []},
        {"text": "It turned.", "citations": []},
    ]
    assert (second["references"], second["answer"][0]["citations"]) == ([], [])
    topics = exported("mill", "topics")
    assert lines(topics)[0] == {"id": "58", "title": REQUEST}
    files = {"topics.jsonl": topics, "run-a.jsonl": text}
    options = ("--system", "run-a", "--team", "us")
    assert reexport(tmp_path, "trec-rag", files, "trec-rag", *options) == text
    assert exported("again", "topics") == topics


def test_answers_of_ragtime(mill, tmp_path):
    options = ("--system", "run-a", "--team", "us")
    text = exported("mill", "ragtime", *options)
    assert faults_of_ragtime(lines(text)) == []
    assert lines(text)[0]["responses"][1]["citations"] == ["d#1", "d#0"]
    requests = exported("mill", "requests")
    files = {"requests.jsonl": requests, "run-a.jsonl": text}
    assert reexport(tmp_path, "ragtime", files, "ragtime", *options) == text
    assert lines(exported("again", "requests"))[1] == lines(requests)[1]


def test_rule_violations_are_reported(mill, tmp_path):
    Text.objects.filter(name="7").update(body="word " * 401)
    err = StringIO()
    call_command(
        "export_dataset", "mill", "--format", "trec-rag", "--system", "run-a", "--team", "us",
        "--out", str(tmp_path / "out"), stdout=StringIO(), stderr=err,
    )  # fmt: skip
    messages = err.getvalue()
    assert "1  citations of nothing, left out" in messages
    assert "1  answers of more than 400 words" in messages


def test_sentences_part_alike_once_the_lines_are_gone(mill, tmp_path):
    """A heading without a stop ends by its line end, which no line of a track keeps."""
    Text.objects.filter(name="7").update(
        body="The Mill\n1. Wheel\n2. Dr. Marsh\n\nit turned.\tIn May"
    )
    options = ("--system", "run-a", "--team", "us")
    text = exported("mill", "ragtime", *options)
    files = {"requests.jsonl": exported("mill", "requests"), "run-a.jsonl": text}
    assert reexport(tmp_path, "ragtime", files, "ragtime", *options) == text


@pytest.fixture
def nuggets(mill, tmp_path) -> Dataset:
    files = {
        "nuggets.jsonl": [
            {"qid": "58", "nuggets": [
                {"text": "Marsh mended it", "importance": "vital", "mapped_sub_narrative": "Who?"},
                {"text": "it turned", "importance": "okay"},
                {"text": "in May", "importance": "failed"},
            ]},
        ],
        "model-a.jsonl": [
            {"query": REQUEST, "qid": "58", "run_id": "run-a", "nuggets": [
                {"text": "Marsh mended it", "mapped_sub_narrative": "Who?", "assignment": "support"},
                {"text": "it turned", "assignment": "partial_support"},
                {"text": "in May"},
            ]},
        ],
        "people.qrels.txt": ["58 0 d#1 2", "58 0 d#0 0"],
    }  # fmt: skip
    import_dataset(write(tmp_path / "in", files), "mill", form="trec-rag")
    return mill


def test_nuggets_as_created(nuggets, tmp_path):
    text = exported("mill", "nuggets")
    (line,) = lines(text)
    assert faults_of_nuggets([line], assigned=False) == []
    assert line == {
        "qid": "58",
        "nuggets": [
            {"text": "Marsh mended it", "mapped_sub_narrative": "Who?", "importance": "vital"},
            {"text": "it turned", "importance": "okay"},
            {"text": "in May", "importance": "failed"},
        ],
    }
    assert reexport(tmp_path, "nuggets", {"nuggets.jsonl": text}, "nuggets") == text


def test_nuggets_as_assigned(nuggets, tmp_path):
    text = exported("mill", "assignments", "--rater", "model-a")
    (line,) = lines(text)
    assert faults_of_nuggets([line], assigned=True) == []
    assert [nugget["assignment"] for nugget in line["nuggets"]] == [
        "support", "partial_support", "failed",
    ]  # fmt: skip
    # Who assigned has weighed nothing: the weights are those of the page of nuggets.
    assert [nugget["importance"] for nugget in line["nuggets"]] == ["vital", "okay", "failed"]
    assert (line["answer_text"], line["run_id"], line["response_length"]) == (BODY, "run-a", 17)
    options = ("--rater", "model-a")
    assert reexport(tmp_path, "nuggets", {"model-a.jsonl": text}, "assignments", *options) == text


def test_grades_of_whole_requests(nuggets, tmp_path):
    options = ("--rater", "qrels", "--rubric", "qrels-2")
    text = exported("mill", "trec-qrels", *options)
    assert text == "58 0 d#0 0\n58 0 d#1 2\n"
    # The whole request is one question more, which is no nugget.
    assert SubQuestion.objects.get(topic__name="58", position=3).is_filtered
    files = {"topics.jsonl": exported("mill", "topics"), "some.qrels": text}
    assert reexport(tmp_path, "trec-rag", files, "trec-qrels", *options) == text


def test_groups_are_in_our_own_folder_too(nuggets, tmp_path):
    folders = [tmp_path / "first", tmp_path / "second"]
    for slug, folder in zip(("mill", "again"), folders, strict=True):
        call_command("export_dataset", slug, "--out", str(folder), stdout=StringIO())
        import_dataset(folder, "again")
    files = [
        {path.name: path.read_bytes() for path in folder.rglob("*.jsonl")} for folder in folders
    ]
    assert files[0] == files[1]
    assert lines(files[0]["subquestions.jsonl"].decode())[0]["groups"] == ["Who?", "", "", ""]
    assert not import_dataset(folders[1], "mill").changed


def test_answers_of_nuggets_are_in_our_own_folder(tmp_path):
    pairs = [["Who?", ["Marsh", "Ottilie [...] Marsh"]], ["When?", "May"], ["Who?", ["Marsh"]]]
    files = {
        "requests.jsonl": [{"request_id": "300", "problem_statement": "What of the mill?"}],
        "nuggets.jsonl": [{"id": "300", "nuggets": pairs}],
    }
    import_dataset(write(tmp_path / "in", files), "mill", form="ragtime")
    written = []
    for slug in ("mill", "again"):
        folder = tmp_path / slug
        call_command("export_dataset", slug, "--out", str(folder), stdout=StringIO())
        written.append({path.name: path.read_bytes() for path in folder.rglob("*.jsonl")})
        import_dataset(folder, "again")
    assert written[0] == written[1]
    assert [line["spans"][0]["source_quote"] for line in lines(written[0]["ratings.jsonl"].decode())] == [
        "Marsh", "May",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("trec-rag", "--system", "run-a"), "--team is missing"),
        (("trec-rag", "--team", "us"), "--system must be one of: run-a"),
        (("nuggets", "--rater", "nobody"), "--rater must be one of: assessor"),
        (("assignments",), "--rater must be one of: assessor, model-a, qrels"),
        (("trec-qrels", "--rater", "qrels"), "qrels has graded nothing for a request as a whole"),
    ],
)
def test_wrong_choice_is_answered_with_those_that_there_are(nuggets, options, message):
    with pytest.raises(CommandError, match=message):
        exported("mill", *options)


def test_several_reports_of_a_topic_are_refused(mill):
    topic = Topic.objects.get(name="7")
    Text.objects.create(
        dataset=mill, topic=topic, kind="report", system="run-a", name="7-again", body="In June."
    )
    with pytest.raises(CommandError, match="run-a has 2 reports of 7; a run has one"):
        exported("mill", "ragtime", "--system", "run-a", "--team", "us")


def test_unweighed_nuggets_have_no_importance(mill):
    SubQuestion.objects.create(topic=Topic.objects.get(name="7"), position=0, body="Who?")
    assert lines(exported("mill", "nuggets")) == [{"qid": "7", "nuggets": [{"text": "Who?"}]}]
    assert not Rating.objects.exists()


@needs_neighbours
def test_real_reports_of_neuclir_return(tmp_path):
    """Thirty reports of three systems: text, citations of each statement, and a round trip."""
    folder = FOLDER / "neuclir24"
    systems = {path.stem: path for path in sorted((folder / "generations").glob("*.jsonl"))}
    requests = folder / "requests.jsonl"
    for path in (requests, *systems.values()):
        import_dataset(path, "neuclir", form="ragtime")
    options = {name: ("--system", name, "--team", "neuclir24") for name in systems}
    files = {f"{name}.jsonl": exported("neuclir", "ragtime", *options[name]) for name in systems}
    for name, path in systems.items():
        theirs, ours = lines(path.read_text()), lines(files[f"{name}.jsonl"])
        assert faults_of_ragtime(ours) == []
        by_topic = {line["metadata"]["topic_id"]: line for line in ours}
        assert len(by_topic) == len(theirs) == 10
        for line in theirs:
            mine = by_topic[line["metadata"]["topic_id"]]
            assert mine["metadata"] == line["metadata"]
            assert body(mine) == body(line)
            assert citing(mine) == citing(line)
            assert set(mine["references"]) <= set(line["references"])
    files["requests.jsonl"] = requests.read_text()
    write(tmp_path, {name: text.splitlines() for name, text in files.items()})
    import_dataset(tmp_path, "again", form="ragtime")
    for name in systems:
        assert exported("again", "ragtime", *options[name]) == files[f"{name}.jsonl"]


def body(line: dict) -> str:
    return " ".join(sentence["text"].strip() for sentence in line["responses"])


def citing(line: dict) -> list[tuple]:
    sentences = [sentence for sentence in line["responses"] if sentence["citations"]]
    return [(sentence["text"], sentence["citations"]) for sentence in sentences]


@needs_neighbours
def test_real_nuggets_and_grades_return(tmp_path):
    """Their words, weights and sub-narratives; of the source of each there is no column."""
    import_dataset(FOLDER / "trec_rag25", "rag25", form="trec-rag")
    theirs = lines((FOLDER / "trec_rag25/nuggets.jsonl").read_text())
    for line in theirs:
        for nugget in line["nuggets"]:
            del nugget["source"]
    text = exported("rag25", "nuggets")
    ours = {line["qid"]: line for line in lines(text)}
    assert ours == {line["qid"]: line for line in theirs}
    assert reexport(tmp_path, "nuggets", {"nuggets.jsonl": text}, "nuggets") == text
    for path in sorted((FOLDER / "trec_rag25/umbrela").glob("*.qrels")):
        rater = path.stem.replace(".", "-")
        out = exported("rag25", "trec-qrels", "--rater", rater).splitlines()
        assert sorted(out) == sorted(path.read_text().splitlines())
