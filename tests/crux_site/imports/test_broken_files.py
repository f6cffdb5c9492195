"""Files broken in the middle: nothing changes, and the error names file and line."""

import json

import pytest
from django.db import IntegrityError

from crux_site.imports.importing import DatasetImportError, import_dataset
from tests.crux_site.imports.broken_lines import ANNOTATED, BROKEN, JUDGED, QLABELS, RUN
from tests.crux_site.imports.import_runs import import_problems
from tests.toolbox.import_study import study, write

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", BROKEN)
def test_broken_line_changes_no_row_and_is_named(tmp_path, name, subtests):
    file, number, broken, field, message = BROKEN[name]
    files = study()
    files[file][number - 1 : number] = [broken]
    folder = write(tmp_path, files)
    for dry_run in (False, True):
        with subtests.test(dry_run=dry_run):
            problem = import_problems(folder, dry_run=dry_run)[0]
            assert (problem.file, problem.line) == (file, number)
            assert problem.field.startswith(field) if field else problem.field == ""
            assert message in problem.message
            assert str(problem).startswith(f"{file}:{number}: ")
            json.dumps(problem.as_dict()).encode()  # can be printed and sent


def test_bytes_that_are_not_utf8(tmp_path):
    write(tmp_path)
    path = tmp_path / "passages.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = b'{"id": "t-1:0#1", "contents": "caf\xe9"}\n'
    path.write_bytes(b"".join(lines))
    problem = import_problems(tmp_path)[0]
    assert (problem.file, problem.line) == ("passages.jsonl", 2)
    assert "not UTF-8: byte 0xe9" in problem.message


def test_file_of_utf16_is_told_and_not_read(tmp_path):
    write(tmp_path)
    path = tmp_path / "topics.jsonl"
    path.write_text(path.read_text(), encoding="utf-16")
    assert {problem.file for problem in import_problems(tmp_path)} == {"topics.jsonl"}


def test_line_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr("annotation.formats.reading.MAX_LINE", 1000)
    files = study()
    files["passages.jsonl"].insert(1, {"id": "t-1:9#9", "contents": "x" * 2000})
    problem = import_problems(write(tmp_path, files))[0]
    assert (problem.file, problem.line) == ("passages.jsonl", 2)


def test_all_broken_lines_of_a_stage_are_told_together(tmp_path):
    files = study()
    files["passages.jsonl"].insert(0, "{")
    files["passages_referenced.jsonl"].append("}")
    # A later stage is not begun: it would complain of what the broken files lack.
    files["runs/first_stage.lsr.run"] = ["broken too"]
    lines = [(problem.file, problem.line) for problem in import_problems(write(tmp_path, files))]
    assert lines == [("passages.jsonl", 1), ("passages_referenced.jsonl", 3)]


def test_errors_stop_at_limit(tmp_path):
    files = study()
    files["passages.jsonl"] = ["{"] * 1000
    assert len(import_problems(write(tmp_path, files))) == 20


def test_text_that_has_changed_is_refused_by_name(tmp_path):
    import_dataset(write(tmp_path), "small")
    files = study()
    files["passages.jsonl"][1]["contents"] = "other words"
    problem = import_problems(write(tmp_path, files))[0]
    assert (problem.file, problem.line, problem.field) == ("passages.jsonl", 2, "contents")
    assert "t-1:0#1 is in the dataset with other words" in problem.message


def test_report_that_has_changed_is_refused_by_name(tmp_path):
    import_dataset(write(tmp_path), "small")
    files = study()
    files[ANNOTATED][0]["response"] += "!"
    problem = import_problems(write(tmp_path, files))[0]
    assert (problem.file, problem.line, problem.field) == (ANNOTATED, 1, "response")


def test_question_that_has_changed_is_refused(tmp_path):
    import_dataset(write(tmp_path), "small")
    files = study()
    files["subquestions.jsonl"][1]["subquestions"][1] = "Another?"
    problem = import_problems(write(tmp_path, files))[0]
    assert (problem.line, problem.field) == (2, "subquestions.1")
    assert "'What does it cost?'" in problem.message


def test_run_with_another_ranking_is_refused(tmp_path):
    import_dataset(write(tmp_path), "small")
    files = study()
    first, second = (line.split() for line in files[RUN][:2])
    first[2], second[2] = second[2], first[2]
    files[RUN][0:2] = [" ".join(first), " ".join(second)]
    assert "another ranking for t-1" in import_problems(write(tmp_path, files))[0].message


def test_run_that_ends_sooner_is_refused(tmp_path):
    import_dataset(write(tmp_path), "small")
    files = study()
    del files[RUN][-1]
    assert "another ranking for t-2" in import_problems(write(tmp_path, files))[0].message


def test_person_and_a_judge_cannot_share_a_name(tmp_path):
    files = study()
    files["judgements/ann.judgements.jsonl"] = files[JUDGED]
    problem = import_problems(write(tmp_path, files))[0]
    assert problem.file == "judgements/ann.judgements.jsonl"
    assert "ann is a person already, not a model" in problem.message


def test_rater_whose_name_no_url_could_hold(tmp_path):
    files = study()
    files["annotations/An Na.qlabels.jsonl"] = files[QLABELS]
    problem = import_problems(write(tmp_path, files))[0]
    assert problem.file == "annotations/An Na.qlabels.jsonl"
    assert problem.field == "rater"


@pytest.mark.parametrize("slug", ["", "two words", "a/b", "x" * 81, "ü"])
def test_dataset_needs_a_proper_slug(tmp_path, slug):
    with pytest.raises(DatasetImportError) as raised:
        import_dataset(write(tmp_path), slug)
    assert raised.value.problems[0].file == "dataset"


def test_run_whose_name_has_a_space(tmp_path):
    files = study()
    files["runs/first stage.run"] = files.pop(RUN)
    problem = import_problems(write(tmp_path, files))[0]
    assert problem.file == "runs/first stage.run"
    assert "no white space" in problem.message


def test_title_that_is_too_long(tmp_path):
    problem = import_problems(write(tmp_path), title="x" * 201)[0]
    assert problem.file == "title"


def test_database_that_refuses_is_no_traceback(tmp_path, monkeypatch):
    def refuse(*args: object) -> None:
        raise IntegrityError("somebody was faster")

    monkeypatch.setattr("crux_site.imports.importing._totals", refuse)
    problem = import_problems(write(tmp_path))[0]
    assert "somebody was faster" in problem.message
