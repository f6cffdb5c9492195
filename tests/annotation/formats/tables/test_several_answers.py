"""Several answers to one question: sets under a multi-label rubric, else refused."""

import re

import pytest

from annotation.formats.summary import DatasetImportError
from annotation.formats.tables.presets import PresetError
from annotation.formats.tables.stored_contents import StoredContents
from annotation.formats.tables.values import Scale
from tests.annotation.formats.tables.preset_files import read_preset, write_file

TOPIC = {"topic.id": "bridge", "topic.request": "Is it good?"}
FAULTS = Scale(
    "faults",
    tuple(range(8)),
    {str(grade): grade for grade in range(8)},
    {"incomplete": 1, "false, or made up": 2, "unclear": 4},
)
OPTIONS = [{"id": label, "text": label} for label in FAULTS.labels]
CHOICES = [["incomplete"], ["incomplete", "unclear"], ["false, or made up"], []]
TASKS = [
    {"text": f"Text {n}.", "options": OPTIONS, "accept": accepted, "answer": "accept"}
    | {"_session_id": "kim", "_task_hash": n, "config": {"choice_style": "multiple"}}
    for n, accepted in enumerate(CHOICES)
]
DOCCANO = [{"id": n, "text": f"Text {n}.", "label": CHOICES[n]} for n in range(3)]
CHECKBOXES = (
    "Timestamp,Faults [One.],Faults [Two.]\n"
    '1,incomplete;unclear,"false, or made up"\n'
    '2,"incomplete, false, or made up",unclear\n'
)
NUMBERED = [
    task
    | {
        "options": [{"id": n, "text": label} for n, label in enumerate(FAULTS.labels, 1)],
        "accept": [[*FAULTS.labels].index(label) + 1 for label in task["accept"]],
    }
    for task in TASKS
]
SETS = [
    ("prodigy", "db.jsonl", TASKS, [1, 5, 2, 0]),
    ("doccano", "kim.jsonl", DOCCANO, [1, 5, 2]),
    ("google-forms", "f.csv", CHECKBOXES, [5, 2, 3, 4]),
]


@pytest.mark.parametrize(("preset", "name", "value", "grades"), SETS)
def test_several_answers_are_sets_of_a_multi_label_rubric(tmp_path, preset, name, value, grades):
    stored = StoredContents(rubrics={"faults": FAULTS})
    file = write_file(tmp_path, name, value)
    rows, _ = read_preset(preset, [file], stored=stored, rubric="faults", **TOPIC)
    assert [row["grade"] for row in rows["ratings"]] == grades


@pytest.mark.parametrize(("preset", "name", "value", "grades"), SETS)
def test_several_answers_under_a_rubric_of_one_are_refused(tmp_path, preset, name, value, grades):
    file = write_file(tmp_path, name, value)
    two = re.escape("holds several answers (incomplete, unclear), and ")
    with pytest.raises(PresetError, match=f"{two}a new rubric takes one: create a multi-label"):
        read_preset(preset, [file], **TOPIC)
    grades_by_label = {label: n for n, label in enumerate(FAULTS.labels)}
    stored = StoredContents(rubrics={"five": Scale("five", (0, 1, 2), grades_by_label)})
    with pytest.raises(DatasetImportError) as caught:
        read_preset(preset, [file], stored=stored, rubric="five", **TOPIC)
    assert re.search(f":2: .*{two}five takes one", str(caught.value))


def test_numbers_of_options_are_no_sets(tmp_path):
    """The grade 3 is the set of the labels 1 and 2, and the option 3 is the label 3."""
    stored = StoredContents(rubrics={"faults": FAULTS})
    tasks = [*NUMBERED, NUMBERED[0] | {"text": "Text 9.", "accept": [3]}]
    file = write_file(tmp_path, "db.jsonl", tasks)
    rows, _ = read_preset("prodigy", [file], stored=stored, rubric="faults", **TOPIC)
    assert [row["grade"] for row in rows["ratings"]] == [1, 5, 2, 0, 4]


def test_commas_within_answers_of_a_form_separate_no_boxes(tmp_path):
    text = 'Timestamp,Fit [One.],Fit [Two.]\n1,"Yes, fully","No"\n2,"Yes, in parts",No\n'
    rows, _ = read_preset("google-forms", [write_file(tmp_path, "f.csv", text)], **TOPIC)
    assert [row["grade"] for row in rows["ratings"]] == [1, 0, 2, 0]
