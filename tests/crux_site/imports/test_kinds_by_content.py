"""JSON-lines files of ours under any name: the keys of their lines tell the kind."""

import gzip
import json
import random

import pytest

from annotation.formats import records
from annotation.formats.content import keys_of_lines
from annotation.formats.foreign import folder
from annotation.formats.history_rows import VersionRow
from annotation.formats.kinds import KEYS, Kind, kinds_of
from annotation.formats.layout import by_name, recognise
from annotation.models import Dataset, SubQuestion, Topic
from building.formats.origins import ProvenanceRow
from building.formats.writers import WriterRow
from building.formats.written_rows import WrittenRow
from crux_site.imports.importing import DatasetImportError, import_dataset
from tests.crux_site.imports.foreign.collection_files import COLLECTIONS
from tests.crux_site.imports.tables.mutations import mutated
from tests.toolbox.import_study import line, study, write

TOPICS = [{"id": "t-1", "request": "What of the mill?"}, {"id": "t-2", "request": "And the weir?"}]
QUESTIONS = [{"id": "t-1", "subquestions": ["Who?", "When?"]}]
SHAPES = {
    Kind.RUBRICS: records.RubricRow,
    Kind.RATERS: records.RaterRow,
    Kind.TOPICS: records.TopicRow,
    Kind.SUBQUESTIONS: records.SubQuestionsRow,
    Kind.PASSAGES: records.PassageRow,
    Kind.WHOLE_DOCUMENTS: records.DocumentRow,
    Kind.REFERENCES: records.DocumentRow,
    Kind.REPORTS_ANNOTATED: records.ReportRow,
    Kind.REPORTS_ALL: records.ReportRow,
    Kind.CITED: records.CitedRow,
    Kind.QLABELS: records.QlabelsRow,
    Kind.QRELS: records.QrelsRow,
    Kind.JUDGEMENTS: records.JudgementRow,
    Kind.REFERENCE: records.JudgementRow,
    Kind.RATINGS: records.RatingRow,
    Kind.COPIED_GRADES: records.CopiedGradeRow,
    Kind.EXPOSURES: records.ExposureRow,
    Kind.SYSTEMS: records.SystemRow,
    Kind.VALUES: records.ValueRow,
    Kind.ORIGINS: ProvenanceRow,
    Kind.WRITERS: WriterRow,
    Kind.WRITTEN: WrittenRow,
    Kind.TEXT_HISTORY: VersionRow,
    Kind.NOTES: records.NoteRow,
}
STUDY_FILES = {name: rows for name, rows in study().items() if name.endswith(".jsonl")}


@pytest.mark.parametrize("kind", KEYS, ids=lambda kind: kind.name)
def test_keys_are_the_required_fields_of_the_shape(kind):
    fields = SHAPES[kind].model_fields.items()
    required = {
        frozenset(field.validation_alias.choices if field.validation_alias else [name])
        for name, field in fields
        if field.is_required()
    }
    assert required == set(KEYS[kind].required)


def test_each_kind_of_json_lines_has_keys():
    json_lines = {kind for kind in Kind if kind.value.endswith(".jsonl")}
    assert json_lines - {Kind.HISTORY_QLABELS, Kind.HISTORY_QRELS} == set(KEYS)


@pytest.mark.parametrize(
    ("keys", "kinds"),
    [
        ("id request group", [Kind.TOPICS]),
        ("id subquestions filtered", [Kind.SUBQUESTIONS]),
        ("id contents", [Kind.PASSAGES, Kind.WHOLE_DOCUMENTS, Kind.REFERENCES]),
        ("id contents document", [Kind.PASSAGES]),
        ("id contents document start end", [Kind.PASSAGES]),
        ("qid topic questions response k", [Kind.REPORTS_ANNOTATED, Kind.REPORTS_ALL]),
        ("example_id pid rating coverage", [Kind.JUDGEMENTS, Kind.REFERENCE]),
        ("rater kind rubric text grade question", [Kind.RATINGS]),
        ("rater rater_kind rubric topic question_index text grade copied_from", [Kind.RATINGS]),
        ("rater rubric topic question_index text copied_from", [Kind.COPIED_GRADES]),
        ("rater rubric exposure", [Kind.EXPOSURES]),
        ("rater rubric exposure topic question_index text", [Kind.EXPOSURES]),
        ("topic question_index text by at note", [Kind.NOTES]),
        ("name kind", [Kind.RATERS]),
        ("name kind metadata spec", []),
        ("topic position body", []),
        ("", []),
    ],
)
def test_kinds_of_keys(keys, kinds):
    assert kinds_of([frozenset(keys.split())]) == kinds


def test_most_lines_tell_the_kind_and_a_tie_does_not():
    topic, unsound = frozenset({"id", "request"}), frozenset({"id"})
    assert kinds_of([unsound, topic, topic]) == [Kind.TOPICS]
    assert kinds_of([unsound, topic]) == []
    assert kinds_of([]) == []


@pytest.mark.parametrize("name", STUDY_FILES)
@pytest.mark.parametrize("new_name", ["my-study.jsonl", "export (3).json", "data.txt", "data"])
def test_kind_is_told_by_the_lines_or_asked(tmp_path, name, new_name):
    """A file whose name must say more is refused, with the names that it may have."""
    kind = by_name(tmp_path, name).kind
    path = tmp_path / new_name
    path.write_text("".join(map(line, STUDY_FILES[name])))
    (tmp_path / f"{new_name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    for file in (path, tmp_path / f"{new_name}.gz"):
        try:
            (source,) = recognise(file).sources
        except DatasetImportError as refused:
            (problem,) = refused.problems
            assert problem.file == file.name
            assert f"{kind.value}" in problem.message
            assert "rename it" in problem.message
            assert kind not in (Kind.TOPICS, Kind.SUBQUESTIONS)
        else:
            assert source.kind is kind


@pytest.mark.parametrize("name", STUDY_FILES)
def test_mutated_file_is_never_of_another_kind(tmp_path, name):
    draw = random.Random(name)
    expected = kinds_of(keys_of_lines(write(tmp_path, {"a": STUDY_FILES[name]}) / "a"))
    data = "".join(map(line, STUDY_FILES[name])).encode()
    for number in range(100):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(mutated(data, draw))
        assert kinds_of(keys_of_lines(path)) in (expected, [])


@pytest.mark.django_db
def test_files_of_any_name_are_imported_in_their_order(tmp_path):
    write(tmp_path, {"a-questions.jsonl": QUESTIONS, "my-study.ndjson": TOPICS})
    import_dataset(tmp_path, "small")
    assert Topic.objects.count() == 2
    assert SubQuestion.objects.count() == 2
    assert not import_dataset(tmp_path / "my-study.ndjson", "small").changed


@pytest.mark.django_db
def test_own_formats_stay_all_or_nothing(tmp_path):
    write(tmp_path, {"my-study.jsonl": [*TOPICS, {"id": "t-3"}]})
    with pytest.raises(DatasetImportError, match=r"my-study\.jsonl:3: request: is missing"):
        import_dataset(tmp_path, "small")
    assert not Dataset.objects.exists()


def test_name_that_tells_the_kind_wins_over_the_lines(tmp_path):
    """Such a file is read as what it is called, and its errors say what it lacks."""
    write(tmp_path, {"topics.jsonl": QUESTIONS})
    (source,) = recognise(tmp_path).sources
    assert source.kind is Kind.TOPICS


def test_known_name_at_an_unknown_place_is_left_out_and_files_of_raw_are_not_asked_about(tmp_path):
    passages = [{"id": "d1", "contents": "It grinds."}]
    write(tmp_path, {"topics.jsonl": TOPICS, "old/topics.jsonl": TOPICS, "raw/x.jsonl": passages})
    recognised = recognise(tmp_path)
    assert [source.name for source in recognised.sources] == ["topics.jsonl"]
    assert {skipped.name for skipped in recognised.left_out} == {"old/", "raw/"}


def test_ambiguous_file_of_a_folder_is_asked_about(tmp_path):
    write(tmp_path, {"topics.jsonl": TOPICS, "x.jsonl": [{"id": "d1", "contents": "It grinds."}]})
    with pytest.raises(DatasetImportError) as refused:
        recognise(tmp_path)
    assert str(refused.value) == (
        "x.jsonl: its lines are those of passages*.jsonl, documents*.jsonl or references.jsonl, "
        "which its name must tell: rename it; in a folder raw/ it is not read"
    )


def test_rater_is_asked_for(tmp_path):
    name = "annotations/ann.qlabels.jsonl"
    write(tmp_path, {"labels.jsonl": STUDY_FILES[name]})
    with pytest.raises(DatasetImportError, match=r"those of annotations/<rater>\.qlabels\.jsonl"):
        recognise(tmp_path)


def test_own_file_beside_a_collection_is_known_by_its_lines(tmp_path):
    for name, lines in COLLECTIONS["beir"].items():
        write(tmp_path, {name: [row if isinstance(row, str) else json.dumps(row) for row in lines]})
    write(tmp_path, {"more.jsonl": [{"id": "q1", "subquestions": ["Who?"]}]})
    (source,) = folder.recognise(tmp_path, "beir").of(Kind.SUBQUESTIONS)
    assert (source.name, source.leaves_out) == ("more.jsonl", False)
