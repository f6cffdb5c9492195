"""systems.jsonl, values.jsonl, and the groups of topics: in and out."""

import pytest

from annotation.models import Dataset, Topic
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import DatasetImportError, import_dataset
from evaluation.models import ReportValue, System
from tests.toolbox.import_study import contents, write

pytestmark = pytest.mark.django_db

FILES = {
    "topics.jsonl": [
        {"id": "t-1", "request": "Why?", "group": "read-1"},
        {"id": "t-2", "request": "How?"},
    ],
    "reports_cited.jsonl": [
        {"topic": "t-1", "system": "llama.k8", "name": "t-1", "body": "So.", "statements": []}
    ],
    "systems.jsonl": [
        {"system": "llama.k8", "settings": {"chunk": 128, "dense": True, "k": 8, "llm": "llama"}}
    ],
    "values.jsonl": [
        {"topic": "t-1", "system": "llama.k8", "name": "t-1", "measure": "BERTScore", "value": 0.5}
    ],
}


def test_byte_for_byte(tmp_path):
    folder = write(tmp_path / "in", FILES)
    import_dataset(folder, "one")
    assert list(Topic.objects.values_list("name", "group")) == [("t-1", "read-1"), ("t-2", "")]
    assert not import_dataset(folder, "one").changed
    export_folder(Dataset.objects.get(), tmp_path / "out")
    assert contents(tmp_path / "out") == contents(folder)


def test_group_and_settings_are_added_and_never_changed(tmp_path):
    import_dataset(write(tmp_path / "in", FILES), "one")
    more = {
        "topics.jsonl": [{"id": "t-2", "request": "How?", "group": "read-2"}],
        "systems.jsonl": [{"system": "llama.k8", "settings": {"k": 8, "overlap": 0}}],
    }
    summary = import_dataset(write(tmp_path / "more", more), "one")
    assert [file.filled for file in summary.files] == [1, 1]
    assert Topic.objects.get(name="t-2").group == "read-2"
    assert System.objects.get().settings["overlap"] == 0


VALUE = {"topic": "t-1", "system": "llama.k8", "measure": "BERTScore", "value": 0.5}
WRONG = [
    ("topics", {"id": "t-1", "request": "Why?", "group": "other"}, "group: topic t-1 is there"),
    ("topics", {"id": "t-3", "request": "Why?", "group": "a b"}, "group: must have 80 characters"),
    ("systems", {"system": "llama.k8", "settings": {"k": 9}}, "settings.k: is there already as 8"),
    ("systems", {"system": "llama.k8", "settings": {"dense": 1}}, "is there already as True"),
    ("systems", {"system": "a/b", "settings": {}}, "no name of a system"),
    ("systems", {"system": "x", "settings": {"k": [8]}}, "settings.k"),
    ("systems", '{"system": "x", "settings": {"k": 1e400}}', "settings.k: must be words, true"),
    ("systems", {"system": "x", "settings": {"k": 10**400}}, "settings.k: must be words, true"),
    ("values", VALUE | {"measure": "x", "value": 1e308}, "value: Input should be less than"),
    *(
        ("values", VALUE | {"measure": measure}, "is what the grid computes itself")
        for measure in ("bleu", "length", "qa_recall", "brevity_penalty")
    ),
    ("values", VALUE | {"topic": "t-9"}, "'llama.k8' has no report 't-9'"),
    ("values", VALUE | {"value": 0.6}, "value: is there already as 0.5"),
    ("values", VALUE | {"measure": "x", "value": "1"}, "value: "),
]


@pytest.mark.parametrize(("name", "row", "message"), WRONG)
def test_invalid_row_is_refused(tmp_path, name, row, message):
    import_dataset(write(tmp_path / "in", FILES), "one")
    with pytest.raises(DatasetImportError) as raised:
        import_dataset(write(tmp_path / "more", {f"{name}.jsonl": [row]}), "one")
    assert message in str(raised.value)
    assert ReportValue.objects.get().value == 0.5
