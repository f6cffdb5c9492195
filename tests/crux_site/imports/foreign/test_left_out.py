"""Answers of annotation tools that are left out and listed, while the others are imported."""

import csv
import json

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Rating, Text
from crux_site.imports.importing import DatasetImportError, import_dataset
from tests.crux_site.imports.foreign.tool_files import (
    PAIR,
    STUDY,
    annotation,
    array,
    choice,
    record,
    task,
)
from tests.toolbox.foreign_files import read, refused, write
from tests.toolbox.regression_cases import case

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
TWICE = "label-studio-one-person-twice"


@pytest.fixture
def mill(tmp_path_factory):
    import_dataset(write(tmp_path_factory.mktemp("mill"), STUDY), "other")


def graded() -> list[tuple]:
    fields = ("rater__name", "text__name", "question__position", "grade")
    return sorted(Rating.objects.values_list(*fields))


def of_case(name: str, file: str, form: str, **options):
    folder = case(name)
    import_dataset(folder / "study", "other")
    return read(folder / file, form, **options)


def reasons(summary) -> list[tuple]:
    return [(a.task, a.annotation, a.person, a.reason) for a in summary.left_out_rows]


def test_suggestion_without_an_agent_is_left_out():
    summary = of_case("argilla-suggestion-without-agent", "records.json", "argilla")
    assert graded() == [("u1", "m1:0", 0, 5)]
    assert summary.mapped == {"suggestions without an agent: no row": 1}
    assert reasons(summary) == [
        ("m1/0/passage//m1:0", "", "", "suggestions without an agent: no row")
    ]


def test_annotation_of_no_account_is_left_out():
    summary = of_case("label-studio-annotation-of-nobody", "export.json", "label-studio")
    assert graded() == [("4", "m1:1", 0, 4)]
    assert reasons(summary) == [("7", "70", "", "annotations of no account: no row")]
    assert "item 1, task 7, annotation 70: annotations of no account" in str(summary)
    fields = summary.as_dict()
    [left_out] = fields["left_out_rows"]
    assert fields["left_out_answers"] == [left_out]  # the name in 0.2.0
    assert left_out["reason"] == "annotations of no account: no row"


def test_attention_check_of_potato_is_left_out():
    summary = of_case("potato-state-with-checks", "annotation_output", "potato")
    assert graded() == [("p1", "m1:0", 0, 4)]
    assert summary.mapped == {"instances in a tool that are no pair: no row": 1}
    assert "task chk1, person p1" in str(summary)


def test_answer_of_an_unknown_topic_makes_no_text(tmp_path, mill):
    labels = {"graded": {"4": "4"}}
    names = (PAIR, "no/0/passage//no:1")
    lines = [{"instance_id": name, "user_id": "p1", "labels": labels} for name in names]
    summary = read(write(tmp_path, {"lines.jsonl": lines}), "potato")
    assert graded() == [("p1", "mill-1:0#0", 1, 4)]
    assert "topic 'no' is not in the dataset" in reasons(summary)[0][3]
    assert not Text.objects.filter(name="no:1").exists()


def test_state_of_checks_alone_is_refused(tmp_path, mill):
    state = {"user_id": "p1", "instance_id_to_label_to_value": {"chk1": {"graded": {"4": "true"}}}}
    (problem,) = refused(write(tmp_path, {"user_state.json": [json.dumps(state)]}), "potato")
    assert "user_state.json:1: item 1, task chk1, person p1: instance_id: must be TOPIC" in problem


def test_states_of_participants_without_answers_are_left_out(tmp_path, mill):
    def state(person, **answers):
        value = {"user_id": person, "instance_id_to_label_to_value": answers}
        return write(tmp_path / person, {"user_state.json": [json.dumps(value)]})

    state("p1", **{PAIR: {"graded": {"4": "true"}}})
    state("p2")
    state("p3", chk1={"graded": {"4": "true"}})
    summary = read(tmp_path, "potato")
    assert graded() == [("p1", "mill-1:0#0", 1, 4)]
    assert [row.person for row in summary.left_out_rows] == ["p3"]


def test_prediction_without_a_model_is_left_out(tmp_path, mill):
    predictions = [{"model_version": model, "result": [choice("2")]} for model in (None, "", "m")]
    tasks = array(task(choice("4"), predictions=predictions))
    summary = read(write(tmp_path, {"export.json": tasks}), "label-studio")
    assert [(row[0], row[3]) for row in graded()] == [("7", 4), ("m", 2)]
    assert summary.mapped == {"predictions without a model: no row": 2}


def test_completions_of_label_studio_before_1_0_are_annotations(tmp_path, mill):
    old = task(choice("4"))
    old["completions"] = old.pop("annotations")
    read(write(tmp_path, {"export.json": array(old)}), "label-studio")
    assert [(row[0], row[3]) for row in graded()] == [("7", 4)]


@pytest.mark.parametrize(
    ("form", "item", "message"),
    [
        ("label-studio", {"id": 1, "pair": PAIR, "graded": "5", "annotation_id": 3}, "JSON_MIN"),
        ("argilla", record(responses=[{"values": {}}]), "responses: must be an object by question"),
    ],
)
def test_other_exports_of_a_tool_are_refused_by_name(tmp_path, mill, form, item, message):
    (problem,) = refused(write(tmp_path, {"export.json": array(item)}), form)
    assert message in problem


def test_person_who_annotated_a_task_twice_is_left_out_and_named():
    summary = of_case(TWICE, "export.json", "label-studio")
    assert graded() == [("4", "m1:1", 1, 4)]
    reason = "3 graded m1:0 under graded as 5, 2 in annotations 70 and 71"
    assert reasons(summary) == [("7", "70", "3", reason), ("7", "71", "3", reason)]


def test_newest_of_two_annotations_may_be_taken():
    folder = case(TWICE)
    import_dataset(folder / "study", "other")
    summary = import_dataset(
        folder / "export.json", "other", form="label-studio", repeated="newest"
    )
    assert graded() == [("3", "m1:0", 0, 2), ("4", "m1:1", 1, 4)]
    assert [answer.annotation for answer in summary.left_out_rows] == ["70"]


def test_repeated_annotation_may_be_refused():
    folder = case(TWICE)
    import_dataset(folder / "study", "other")
    with pytest.raises(DatasetImportError) as failed:
        import_dataset(folder / "export.json", "other", form="label-studio", repeated="refuse")
    assert str(failed.value) == (
        "export.json:1: item 1, task 7, annotation 70, person 3: "
        "3 graded m1:0 under graded as 5, 2 in annotations 70 and 71"
    )
    assert not Rating.objects.exists()


def test_newest_is_not_guessed_where_a_time_is_missing(tmp_path, mill):
    twice = task(choice("4"))
    twice["annotations"].append({"id": 5, "completed_by": 7, "result": [choice("2")]})
    files = {"export.json": array(twice, task(choice("1"), by=8))}
    path = write(tmp_path, files)
    summary = import_dataset(path, "other", form="label-studio", repeated="newest")
    assert [row[0] for row in graded()] == ["8"]
    assert summary.left_out_rows[0].reason.endswith("does not tell which is the newest")


def test_equal_answers_of_one_person_are_one(tmp_path, mill):
    twice = task(choice("4"))
    twice["annotations"].append({"id": 5, "completed_by": 7, "result": [choice("4")]})
    summary = read(write(tmp_path, {"export.json": array(twice)}), "label-studio")
    assert len(graded()) == 1
    assert not summary.left_out_rows


def test_repeated_argilla_answers_are_left_out(tmp_path, mill):
    answers = [{"value": grade, "user_id": "u1"} for grade in (5, 2)]
    answers.append({"value": 3.0, "user_id": "u2"})
    argilla_record = record(responses={"graded": answers}, suggestions=None, metadata=None)
    summary = read(write(tmp_path, {"records.json": array(argilla_record)}), "argilla")
    assert [(row[0], row[3]) for row in graded()] == [("u2", 3)]
    assert [answer.person for answer in summary.left_out_rows] == ["u1", "u1"]


def test_response_whose_value_is_null_is_no_grade(tmp_path, mill):
    answers = {
        "graded": [{"value": None, "user_id": "u1"}, {"value": 4, "user_id": "u2"}],
        "nugget-spans": [{"value": None, "user_id": "u2"}],
        "comment": None,
    }
    summary = read(write(tmp_path, {"records.json": array(record(responses=answers))}), "argilla")
    assert [(row[0], row[3]) for row in graded()] == [("u2", 4)]
    assert summary.mapped == {"answers in a tool that are no grades: no row": 1}


def test_web_annotations_without_a_creator_are_left_out(tmp_path, mill):
    nobody = [annotation(creator=None, id="a1"), annotation(creator="", id="a2")]
    summary = read(write(tmp_path, {"page.json": array(annotation(), *nobody)}), "web-annotation")
    assert [row[0] for row in graded()] == ["eve"]
    assert [answer.annotation for answer in summary.left_out_rows] == ["a1", "a2"]


@pytest.mark.parametrize("ending", [".csv", ".json"])
def test_command_writes_what_was_left_out(tmp_path, mill, ending):
    bad = task(choice("9"), by="=cmd")
    write(tmp_path, {"export.json": [json.dumps([task(choice("4")), bad])]})
    file = tmp_path / f"left{ending}"
    options = {"dataset": "other", "format": "label-studio", "left_out": file}
    call_command("import_dataset", tmp_path / "export.json", **options)
    text = file.read_text()
    (row,) = csv.DictReader(text.splitlines()) if ending == ".csv" else json.loads(text)
    assert (str(row["line"]), str(row["item"]), row["task"], row["annotation"]) == (
        "1",
        "2",
        "1",
        "3",
    )
    assert row["person"] == ("'=cmd" if ending == ".csv" else "=cmd")
    assert row["reason"].startswith("9 is no grade of the rubric graded")


def test_command_wants_a_name_of_a_table(tmp_path):
    with pytest.raises(CommandError, match=r"must end in \.csv or \.json"):
        call_command("import_dataset", tmp_path, dataset="x", left_out=tmp_path / "left.txt")


def test_error_in_an_array_on_one_line_names_its_item(tmp_path, mill):
    items = [{"id": "q1", "question": 4}, {"id": "q2", "question": 3}]
    problems = refused(write(tmp_path, {"asqa.json": [json.dumps(items)]}), "alce")
    assert problems == [
        f"asqa.json:1: item {n}: question: Input should be a valid string, not {5 - n}"
        for n in (1, 2)
    ]
