"""Undo of an import that named the models of rows that existed before it."""

import pytest

from annotation.models import Dataset, ProjectEntry, SubQuestion, Text
from annotation.origins import origin
from crux_site.history.import_undo import undo, undo_preview
from crux_site.imports.importing import import_dataset
from crux_site.versions.text_edits import edit_text
from evaluation.models import RetrievalRun
from tests.toolbox.import_study import study, write
from tests.toolbox.responses import text_of_page

pytestmark = pytest.mark.django_db
SYSTEM = "human_eval.bm25"
WROTE = origin("wrote", "llama-3")
LINES = [
    {"system": SYSTEM, **WROTE},
    {"run": "first_stage.lsr", "role": "retrieved", "model": "splade-v3"},
    {"topic": "t-1", "role": "asked", "model": "gpt-4o"},
]
LABEL = "models of texts, sub-questions and runs that remain"


@pytest.fixture
def small(tmp_path, cast) -> Dataset:
    import_dataset(write(tmp_path / "study"), "small")
    return Dataset.objects.get(slug="small")


def read(tmp_path, *lines) -> ProjectEntry:
    import_dataset(write(tmp_path / "lines", {"origins.jsonl": list(lines)}), "small")
    return ProjectEntry.objects.filter(action="imported").first()


def origins() -> dict[str, list]:
    models = (Text, SubQuestion, RetrievalRun)
    return {
        model.__name__: list(model.objects.order_by("pk").values_list("origins", flat=True))
        for model in models
    }


def report() -> Text:
    return Text.objects.get(system=SYSTEM, name="t-1")


def test_undo_restores_what_was_known_before(tmp_path, small, cast):
    read(tmp_path, LINES[0])
    before = origins()
    entry = read(tmp_path, {"system": SYSTEM, "role": "reranked", "model": "x"}, *LINES[1:])
    assert origins() != before
    assert undo_preview(entry, small).counts == {LABEL: 2 + 1 + 3}
    assert undo(entry, small, cast.admin).reasons == []
    assert origins() == before


def test_undo_also_forgets_the_models_of_wordings_edited_since(tmp_path, small, cast):
    entry = read(tmp_path, LINES[0])
    edit_text(report(), "Other words.", by=cast.admin, why="", counts=True)
    assert report().origins == [WROTE | {"edited": True}]
    assert undo(entry, small, cast.admin).reasons == []
    assert report().origins == []
    assert report().versions.get().had["origins"] == []


def test_undo_keeps_what_an_earlier_wording_had_before_the_import(tmp_path, small, cast):
    """The words of a file replace those of a model, and the file names the model again."""
    read(tmp_path, LINES[0])
    before = origins()
    files = {"reports_all.bm25.jsonl": _reworded(), "origins.jsonl": [LINES[0]]}
    folder = write(tmp_path / "rerun", files)
    import_dataset(folder, "small", new_words="count")
    assert report().origins == [WROTE]  # the line is of the words that came with it
    rerun = ProjectEntry.objects.filter(action="imported", undone_by=None)[0]
    assert undo(rerun, small, cast.admin).reasons == []
    assert origins() == before


def test_line_about_words_from_before_an_edit_is_not_of_the_new_ones(tmp_path, small, cast):
    read(tmp_path, LINES[0])
    folder = write(tmp_path / "rerun", {"reports_all.bm25.jsonl": _reworded()})
    import_dataset(folder, "small", new_words="count")
    read(tmp_path, LINES[0])
    assert report().origins == []
    gpt_origin = origin("wrote", "gpt-4o")
    entry = read(tmp_path, {"system": SYSTEM, "text": "t-1", **gpt_origin})
    assert report().origins == [gpt_origin]
    assert undo(entry, small, cast.admin).reasons == []
    assert report().origins == []


def test_undo_leaves_rows_that_lack_some_of_the_added_models(tmp_path, small, cast):
    entry = read(tmp_path, LINES[0], {"system": SYSTEM, "role": "reranked", "model": "x"})
    Text.objects.filter(pk=report().pk).update(origins=[WROTE])  # written again by that model
    assert undo_preview(entry, small).counts == {LABEL: 1}
    assert undo(entry, small, cast.admin).reasons == []
    assert report().origins == [WROTE]


def _reworded() -> list[dict]:
    lines = study()["reports_all.bm25.jsonl"]
    lines[0]["response"] = "Words of a later run."
    return lines


def test_import_of_the_texts_waits_for_the_undo_of_their_models(tmp_path, small, cast):
    first = ProjectEntry.objects.get(action="imported")
    entry = read(tmp_path, *LINES)
    [reason] = undo_preview(first, small).reasons
    assert "undo that import first" in str(reason)
    assert reason.n == 6
    undo(entry, small, cast.admin)
    assert undo(first, small, cast.admin).reasons == []
    assert not Text.objects.exists()


def test_models_of_rows_that_the_import_brings_go_with_them(tmp_path, cast):
    import_dataset(write(tmp_path, {**study(), "origins.jsonl": LINES}), "small")
    entry = ProjectEntry.objects.get(action="imported")
    assert "origins" not in entry.rows
    assert LABEL not in undo_preview(entry, Dataset.objects.get()).counts
    assert undo(entry, Dataset.objects.get(), cast.admin).reasons == []


def test_page_tells_what_the_undo_forgets(tmp_path, small, cast):
    entry = read(tmp_path, *LINES)
    admin = cast.client("admin")
    page = admin.get(f"/datasets/small/history/{entry.pk}/undo/")
    assert f"{LABEL} 6" in text_of_page(page)
    assert admin.post(f"/datasets/small/history/{entry.pk}/undo/").status_code == 302
    assert report().origins == []


def test_removed_and_replaced_system_has_no_models_of_before(tmp_path, small, cast):
    read(tmp_path, LINES[0])
    files = {name: lines for name, lines in study().items() if name == "reports_all.bm25.jsonl"}
    folder = write(tmp_path / "rerun", files)
    # Grades of files go with the reports: this system has none but the judge's of passages.
    import_dataset(folder, "small", replaces=f"system:{SYSTEM}")
    assert report().origins == []
