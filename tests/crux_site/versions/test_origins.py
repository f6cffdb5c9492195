"""Origins of texts and questions through edits, restored wordings, and files."""

import pytest

from annotation.models import Dataset, SubQuestion, Text
from annotation.origins import origin
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from crux_site.versions.restoring import restore
from crux_site.versions.text_edits import edit_text
from tests.toolbox.import_study import contents, empty_database, study, write
from tests.toolbox.responses import text_of_page

pytestmark = pytest.mark.django_db
SYSTEM = "human_eval.bm25"
ORIGINS = [origin("wrote", "llama-3"), origin("reranked", "gpt-4o")]
EDITED = [origin("wrote", "llama-3", is_edited=True), origin("reranked", "gpt-4o")]


@pytest.fixture
def report(tmp_path, cast) -> Text:
    import_dataset(write(tmp_path / "study"), "small")
    Text.objects.filter(system=SYSTEM).update(origins=ORIGINS)
    return Text.objects.get(system=SYSTEM, name="t-1")


@pytest.fixture
def admin(cast):
    return cast.admin


def edit(entity, body, admin, **options):
    edit_text(entity, body, by=admin, why="a slip", counts=True, **options)
    entity.refresh_from_db()


def test_edited_text_tells_that_a_person_edited_it(report, admin):
    edit(report, "Steering was lost.", admin)
    assert report.origins == EDITED
    edit(report, "Steering was lost again.", admin)
    assert report.origins == EDITED


def test_restored_wording_has_exactly_its_origins(report, admin):
    first = report.body
    edit(report, "Steering was lost.", admin)
    edit(report, "Steering was lost again.", admin)
    edit(report, first, admin)  # typed again
    assert report.origins == ORIGINS
    version = report.versions.get(number=1)
    assert restore(version, by=admin, seen=report.sha256) == []
    report.refresh_from_db()
    assert (report.body, report.origins) == (first, ORIGINS)
    assert not report.versions.exists()


def test_edit_of_a_text_of_unknown_origin_names_nobody(report, admin):
    Text.objects.update(origins=[])
    report.refresh_from_db()
    edit(report, "Steering was lost.", admin)
    assert report.origins == []
    Text.objects.filter(pk=report.pk).update(origins=ORIGINS)
    edit(report, report.versions.get().body, admin)
    assert report.origins == []  # of that wording nothing was known


def test_edited_question_tells_that_a_person_edited_it(report, admin):
    question = SubQuestion.objects.filter(topic__name="t-1").first()
    SubQuestion.objects.filter(pk=question.pk).update(origins=[origin("asked", "gpt-4o")])
    question.refresh_from_db()
    edit(question, "What broke?", admin)
    assert question.origins == [origin("asked", "gpt-4o", is_edited=True)]
    restore(question.versions.get(), by=admin, seen=None)
    question.refresh_from_db()
    assert question.origins == [origin("asked", "gpt-4o")]


def rerun(tmp_path, *lines):
    files = {name: rows for name, rows in study().items() if name == "reports_all.bm25.jsonl"}
    files["reports_all.bm25.jsonl"][0]["response"] = "Words of another run."
    return write(tmp_path / "rerun", files | ({"origins.jsonl": list(lines)} if lines else {}))


def test_words_of_a_file_have_an_unknown_origin(tmp_path, report):
    import_dataset(rerun(tmp_path), "small", new_words="set-aside")
    report.refresh_from_db()
    assert (report.body, report.origins) == ("Words of another run.", [])
    assert report.versions.get().had["origins"] == ORIGINS


def test_words_of_a_file_have_the_origin_that_the_same_files_name(tmp_path, report):
    gpt_origin = origin("wrote", "gpt-4o")
    line = {"system": SYSTEM, "text": "t-1", **gpt_origin}
    import_dataset(rerun(tmp_path, line), "small", new_words="count")
    report.refresh_from_db()
    assert report.origins == [gpt_origin]


def test_files_from_before_an_edit_change_no_origin(tmp_path, report, admin):
    dataset = Dataset.objects.get(slug="small")
    export_folder(dataset, tmp_path / "before")
    import_dataset(rerun(tmp_path), "small", new_words="count")
    second_report = Text.objects.get(system=SYSTEM, name="t-2")
    edit(second_report, "A crack was found by divers.", admin)
    assert not import_dataset(tmp_path / "before", "small").changed
    report.refresh_from_db()
    second_report.refresh_from_db()
    assert (report.origins, second_report.origins) == ([], EDITED)


def test_origins_of_earlier_wordings_come_back_with_the_dataset(tmp_path, report, admin):
    edit(report, "Steering was lost.", admin)
    question = SubQuestion.objects.filter(topic__name="t-1").first()
    SubQuestion.objects.filter(pk=question.pk).update(origins=[origin("asked", "gpt-4o")])
    question.refresh_from_db()
    edit(question, "What broke?", admin)
    export_folder(Dataset.objects.get(), tmp_path / "first")
    empty_database()
    import_dataset(tmp_path / "first", "small")
    imported = Text.objects.get(system=SYSTEM, name="t-1")
    assert imported.origins == EDITED
    assert imported.versions.get().had["origins"] == ORIGINS
    question = SubQuestion.objects.filter(topic__name="t-1").first()
    assert question.versions.get().had["origins"] == [origin("asked", "gpt-4o")]
    export_folder(Dataset.objects.get(), tmp_path / "second")
    assert contents(tmp_path / "second") == contents(tmp_path / "first")


def test_page_of_a_text_tells_its_origin(report, admin, cast):
    url = f"/datasets/small/text-history/text/{report.pk}/"
    assert (
        "Origin: written by llama-3 (family llama); reranked by gpt-4o (family openai-gpt)"
        in text_of_page(cast.client("admin").get(url))
    )
    edit(report, "Steering was lost.", admin)
    page = text_of_page(cast.client("researcher").get(url))
    assert "written by llama-3 (family llama), edited by a person;" in page
    passage = Text.objects.filter(kind="passage").first()
    url = f"/datasets/small/text-history/text/{passage.pk}/"
    assert "Origin: unknown" in text_of_page(cast.client("researcher").get(url))


def test_page_of_all_texts_tells_the_models_of_systems_and_runs(report, cast):
    page = text_of_page(cast.client("researcher").get("/datasets/small/texts/"))
    assert "human_eval.bm25 written by llama-3 (family llama); reranked by gpt-4o" in page
    assert "annotated.oracle written" not in page
