"""Unsound rows of collections are left out and listed, and the others imported."""

import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.formats import target
from annotation.formats.summary import ImportSummary
from annotation.models import Citation, Dataset, Rating, SubQuestion, Text, Topic
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import DatasetImportError, import_dataset
from evaluation.models import RankedText
from tests.crux_site.imports.foreign.collection_files import COLLECTIONS, COST
from tests.crux_site.imports.tables.mutations import mutated
from tests.toolbox.foreign_files import left_out, read, refused, with_line, write
from tests.toolbox.import_study import contents

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

BEIR, NUGGETS, ALCE = COLLECTIONS["beir"], COLLECTIONS["nuggets"], COLLECTIONS["alce"]
N = int(os.environ.get("COLLECTION_MUTATIONS", "5"))  # of each format; more for a long run


def names(model=Topic) -> list[str]:
    return sorted(model.objects.values_list("name", flat=True))


def exported(slug: str, folder: Path) -> dict[str, bytes]:
    """Return the files of a dataset, without times, and without the scale of its qrels."""
    export_folder(Dataset.objects.get(slug=slug), folder)
    return {
        name: re.sub(rb"qrels-\d+", b"qrels", data)
        for name, data in contents(folder).items()
        if name not in ("raters.jsonl", "rubrics.jsonl")
    }


def test_rows_have_kind_place_and_reason(tmp_path):
    files = with_line(BEIR, "corpus.jsonl", 3, {"_id": "d3"})
    files = with_line(files, "queries.jsonl", 3, {"_id": "q 3", "text": COST})
    files = with_line(files, "qrels/test.tsv", 4, "q9\td3\t1")
    summary = read(write(tmp_path, files), "beir")
    rows = {(row.kind, row.file, row.line, row.field) for row in summary.left_out_rows}
    assert rows == {
        ("topic", "queries.jsonl", 3, "_id"),
        ("passage", "corpus.jsonl", 3, "text"),
        ("grade", "qrels/test.tsv", 4, "topic"),
        ("ranking of a topic", "bm25.run", 5, "topic"),
    }
    assert summary.mapped["rows of other tools' files that have an error: left out"] == 4
    assert "Rows left out: 4" in str(summary)
    assert "passage, corpus.jsonl:3: text: is missing" in str(summary)


def test_passage_without_words_is_left_out(tmp_path):
    files = with_line(BEIR, "corpus.jsonl", 3, {"_id": "d3", "title": " ", "text": ""})
    assert left_out(write(tmp_path, files), "beir") == [
        "corpus.jsonl:3: passages without words: no text"
    ]
    assert Text.objects.get(name="d3").body is None  # the qrels name it


def test_left_out_grade_creates_no_text_and_no_question(tmp_path):
    files = {**BEIR, "qrels/test.tsv": [*BEIR["qrels/test.tsv"], "q3\td9\t-7", "q9\td8\t1"]}
    assert len(left_out(write(tmp_path, files), "beir")) == 2
    assert not Text.objects.filter(name__in=["d8", "d9"]).exists()
    assert not SubQuestion.objects.filter(topic__name="q3").exists()


def test_grade_above_all_rubrics_does_not_choose_the_rubric(tmp_path):
    files = with_line(BEIR, "qrels/test.tsv", 2, "q1\td1\t999")
    assert "999 is no grade of the rubric qrels-2" in left_out(write(tmp_path, files), "beir")[0]


def test_duplicate_with_other_words_is_left_out_and_the_first_stays(tmp_path):
    files = with_line(BEIR, "corpus.jsonl", 3, {"_id": "d1", "text": "Other."})
    [message] = left_out(write(tmp_path, files), "beir")
    assert message == "corpus.jsonl:3: text: d1 has other words on line 1"
    assert Text.objects.get(name="d1").body == "The mill\nIt grinds."


def test_text_that_the_dataset_has_with_other_words_refuses_the_import(tmp_path):
    read(write(tmp_path, BEIR), "beir")
    write(tmp_path, with_line(BEIR, "corpus.jsonl", 1, {"_id": "d1", "text": "Other."}))
    [message] = refused(tmp_path, "beir")
    assert message.startswith("corpus.jsonl:1: text: d1 is in the dataset with other words")


def test_topic_that_the_dataset_has_with_another_request_refuses_the_import(tmp_path):
    read(write(tmp_path, BEIR), "beir")
    write(tmp_path, with_line(BEIR, "queries.jsonl", 1, {"_id": "q1", "text": "Other?"}))
    assert refused(tmp_path, "beir")[0].startswith("queries.jsonl:1: text: topic q1 is there")


@pytest.mark.parametrize("broken", ["q2 Q0 d3 3 high bm25", "q2 Q0 d1 3 1.5 bm25", "q2 Q0 d3 3"])
def test_ranking_with_an_unsound_line_is_left_out_as_a_whole(tmp_path, broken):
    files = {**BEIR, "bm25.run": [*BEIR["bm25.run"], broken]}
    [message] = left_out(write(tmp_path, files), "beir")
    assert message.startswith("bm25.run:7: ")
    ranked = RankedText.objects.order_by("topic__name", "rank")
    assert list(ranked.values_list("topic__name", "text__name")) == [
        ("q1", "d1"),
        ("q1", "d2"),
        ("q3", "d1"),
        ("q3", "d2"),
    ]


def test_topic_is_left_out_with_its_questions_ratings_and_reports(tmp_path):
    unsound = NUGGETS["model-a.jsonl"][2] | {"run_id": "no system"}
    files = with_line(NUGGETS, "model-a.jsonl", 3, unsound)
    [message] = left_out(write(tmp_path, files), "nuggets")
    assert message.startswith("model-a.jsonl:3: run_id: 'no system' is no name of a system")
    assert names() == ["q1", "q2"]
    assert not SubQuestion.objects.filter(topic__name="q3").exists()
    assert Text.objects.filter(name__startswith="q3").count() == 0
    assert Rating.objects.count() == 8


def test_report_whose_passage_is_unsound_is_left_out_with_its_passages(tmp_path):
    ragtime = COLLECTIONS["ragtime"]
    report = ragtime["reports.jsonl"][1] | {
        "documents": {"d8": {"text": "New."}, "d1": {"text": "Other."}}
    }
    [message] = left_out(write(tmp_path, with_line(ragtime, "reports.jsonl", 2, report)), "ragtime")
    assert message == "reports.jsonl:2: documents: d1 has other words on line 1"
    assert not Text.objects.filter(name="d8").exists()
    assert not Citation.objects.filter(report__name="q2").exists()


def test_citation_of_nothing_is_kept_and_malformed_citation_leaves_the_report_out(tmp_path):
    rag = COLLECTIONS["trec-rag"]
    reports = [
        rag["answers.jsonl"][0] | {"answer": [{"text": "So.", "citations": [7]}]},
        rag["answers.jsonl"][1] | {"answer": [{"text": "So.", "citations": [{"to": 1}]}]},
    ]
    summary = read(write(tmp_path, {**rag, "answers.jsonl": reports}), "trec-rag")
    [row] = summary.left_out_rows
    assert row.reason.startswith("must be a list of places")
    assert summary.mapped["citations of places outside the references: kept without a text"] == 1
    assert list(Citation.objects.values_list("label", "cited")) == [("7", None)]


def test_row_that_another_unsound_row_contradicts_is_sound(tmp_path):
    requests = COLLECTIONS["reranker-requests"]
    twice = requests["first.jsonl"][0] | {
        "candidates": [{"docid": "e2", "doc": "x"}, {"docid": "e2", "doc": "y"}]
    }
    folder = write(tmp_path, with_line(requests, "first.jsonl", 1, twice))
    [message] = left_out(folder, "reranker-requests")
    assert message == "first.jsonl:1: candidates: e2 has other words on line 1"
    assert names() == ["q2", "q3"]


def test_item_of_an_array_on_one_line_is_named(tmp_path):
    items = json.loads(json.dumps(ALCE["eli5-x.jsonl"]))
    del items[0]["question"]
    [message] = left_out(write(tmp_path, {"eli5-x.json": [json.dumps(items)]}), "alce")
    assert message == "eli5-x.json:1: item 1: question: is missing"
    assert names() == ["q2", "q3"]


def test_broken_line_is_left_out_but_a_cut_file_is_refused(tmp_path):
    files = with_line(BEIR, "corpus.jsonl", 2, '{"_id": "d2", ')
    [message] = left_out(write(tmp_path, files), "beir")
    assert message.startswith("corpus.jsonl:2: broken JSON")
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(path.read_bytes()[:-4])
    assert "corpus.jsonl:3: broken JSON: Unterminated string" in refused(tmp_path, "beir")[0]


def test_file_of_another_encoding_is_refused(tmp_path):
    write(tmp_path, BEIR)
    with (tmp_path / "corpus.jsonl").open("ab") as file:
        file.write('{"_id": "d4", "text": "Mühle"}\n'.encode("latin-1"))
    assert "corpus.jsonl:4: not UTF-8" in refused(tmp_path, "beir")[0]


def test_file_without_a_sound_row_is_refused_with_its_errors(tmp_path):
    files = {**BEIR, "corpus.jsonl": [{"id": "d1", "contents": "x"}] * 3}
    messages = refused(write(tmp_path, files), "beir")
    assert messages == [f"corpus.jsonl:{n}: _id: is missing" for n in (1, 2, 3)]


def test_own_file_that_needs_a_row_that_is_left_out_refuses_the_import(tmp_path):
    files = with_line(BEIR, "queries.jsonl", 3, {"_id": "q3"})
    files["subquestions.jsonl"] = [{"id": "q3", "subquestions": ["Who?"]}]
    assert refused(write(tmp_path, files), "beir") == [
        "subquestions.jsonl:1: id: topic 'q3' is not in the dataset",
        "queries.jsonl:3: text: is missing",
    ]


def test_too_many_unsound_rows_refuse_the_import(tmp_path, monkeypatch):
    monkeypatch.setattr(target, "MAX_UNSOUND", 2)
    corpus = [*BEIR["corpus.jsonl"], *[{"_id": f"x{n}"} for n in range(3)]]
    messages = refused(write(tmp_path, {**BEIR, "corpus.jsonl": corpus}), "beir")
    assert messages[0] == "corpus.jsonl: more than 2 rows of these files are unsound"


def test_command_writes_the_rows(tmp_path):
    write(tmp_path / "in", with_line(BEIR, "corpus.jsonl", 2, {"_id": "d2"}))
    file = tmp_path / "left.csv"
    call_command("import_dataset", tmp_path / "in", dataset="x", format="beir", left_out=file)
    assert file.read_text().splitlines() == [
        "file,line,item,kind,task,annotation,person,field,reason",
        "corpus.jsonl,2,,passage,,,,text,is missing",
    ]


# -- properties


def _lines(files: dict[str, list[Any]]) -> dict[str, list[str]]:
    return {
        name: [line if isinstance(line, str) else json.dumps(line) for line in lines]
        for name, lines in files.items()
    }


def _changed(files: dict[str, list[str]], draw: random.Random) -> dict[str, list[str]]:
    """Return the files after one to three changes: bytes of a line, a value, or a copied line."""
    original = {line for lines in files.values() for line in lines}
    files = {name: list(lines) for name, lines in files.items()}
    for _ in range(draw.randint(1, 3)):
        lines = files[draw.choice(sorted(files))]
        at = draw.randrange(len(lines))
        match draw.randrange(3):
            case 0:
                data = mutated(lines[at].encode(), draw).decode(errors="replace")
                lines[at] = " ".join(data.splitlines())
            case 1 if lines[at].startswith("{") and lines[at] in original:
                row = json.loads(lines[at])
                row[draw.choice(sorted(row))] = draw.choice([None, 7, "", "q1", [], {}, 1.5])
                lines[at] = json.dumps(row)
            case _:
                lines.insert(draw.randrange(len(lines) + 1), lines[at])
    return files


def _sound(files: dict[str, list[str]], summary: ImportSummary) -> dict[str, list[str]]:
    """Return the files without the lines that were left out, and their rankings."""
    sound = {name: list(lines) for name, lines in files.items()}
    for row in summary.left_out_rows:
        if row.kind == "ranking of a topic":
            topic = files[row.file][row.line - 1].split()[0]
            sound[row.file] = [line for line in sound[row.file] if line.split()[:1] != [topic]]
        else:
            sound[row.file][row.line - 1] = ""
    return sound


@pytest.mark.parametrize("form", COLLECTIONS)
def test_import_of_mutated_files_is_that_of_their_sound_rows(form, tmp_path):
    draw = random.Random(form)
    n_left_out = 0
    for number in range(N):
        files = _changed(_lines(COLLECTIONS[form]), draw)
        slug = f"{form}-{number}"
        folder = write(tmp_path / slug, files)
        try:
            summary = import_dataset(folder, slug, form=form)
        except DatasetImportError:
            assert not Dataset.objects.filter(slug=slug).exists()
            continue
        n_left_out += len(summary.left_out_rows)
        assert not import_dataset(folder, slug, form=form).changed
        sound = write(tmp_path / f"{slug}-sound", _sound(files, summary))
        second = import_dataset(sound, f"{slug}-sound", form=form)
        assert not second.left_out_rows
        first = exported(slug, tmp_path / f"{slug}-out")
        assert exported(f"{slug}-sound", tmp_path / f"{slug}-sound-out") == first
    assert n_left_out
