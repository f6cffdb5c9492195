"""Lines of origins.jsonl that name models: import, errors, and the way there and back."""

import json

import pytest

from annotation.formats.summary import DatasetImportError
from annotation.models import Dataset, SubQuestion, Text
from annotation.origins import origin
from building.run_creation import make_run
from building.steps import RecipeContext
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from evaluation.models import RetrievalRun
from tests.toolbox.import_study import contents, empty_database, fingerprint, study, write

pytestmark = pytest.mark.django_db
LLAMA = {"role": "wrote", "model": "meta-llama/Llama-3.3-70B"}
LINES = [
    {"system": "human_eval.bm25", **LLAMA, "revision": "abc"},
    {"system": "human_eval.bm25", "role": "reranked", "model": "gpt-4o"},
    {"system": "annotated.oracle", **LLAMA},
    {"system": "annotated.oracle", "text": "t-2", "role": "wrote", "model": "gpt-4o"},
    {"text": "t-1:0#1", "role": "wrote", "model": "qwen3-8b", "edited": True},
    {"text_kind": "reference", "text": "t-1:report", "role": "wrote", "model": "claude-opus-4"},
    {"run": "first_stage.lsr", "role": "retrieved", "model": "splade-v3"},
    {"run": "first_stage.lsr", "role": "reranked", "model": "gpt-4o"},
    {"run": "first_stage.lsr", "role": "reranked", "model": "llama-3"},
    {"topic": "t-1", "role": "asked", "model": "gpt-4o"},
    {"topic": "t-2", "question_index": 1, "role": "asked", "model": "gpt-4o"},
    {"topic": "t-2", "question_index": 1, "role": "filtered", "model": "llama33_70b"},
]


@pytest.fixture
def small(tmp_path) -> Dataset:
    import_dataset(write(tmp_path / "study"), "small")
    return Dataset.objects.get(slug="small")


def read(tmp_path, *lines, **options):
    folder = write(tmp_path / "lines", {"origins.jsonl": list(lines)})
    return import_dataset(folder, "small", **options)


def report(system, name) -> Text:
    return Text.objects.get(kind="report", system=system, name=name)


def origins_by_name(model) -> dict[str, list]:
    """Origins by the names of their rows, a report with its system before it."""
    return {
        f"{getattr(row, 'system', '')} {row}".strip(): row.origins
        for row in model.objects.exclude(origins=[]).order_by("pk")
    }


def test_without_lines_no_origin_is_stored(small):
    assert (
        origins_by_name(Text) == origins_by_name(SubQuestion) == origins_by_name(RetrievalRun) == {}
    )


def test_lines_name_models_of_systems_texts_runs_and_topics(tmp_path, small):
    summary = read(tmp_path, *LINES)
    assert summary.created == {
        "models of texts": 6,
        "models of sub-questions": 4,
        "models of runs": 1,
    }
    of_system = [origin(**LLAMA, revision="abc"), origin("reranked", "gpt-4o")]
    for topic in ("t-1", "t-2"):
        assert report("human_eval.bm25", topic).origins == of_system
    assert report("annotated.oracle", "t-1").origins == [origin(**LLAMA)]
    # A line on one text counts before that on its system.
    assert report("annotated.oracle", "t-2").origins == [origin("wrote", "gpt-4o")]
    assert origins_by_name(Text)["t-1:0#1"] == [origin("wrote", "qwen3-8b", is_edited=True)]
    assert origins_by_name(Text)["t-1:report"] == [origin("wrote", "claude-opus-4")]
    assert origins_by_name(RetrievalRun) == {
        "first_stage.lsr": [
            origin("retrieved", "splade-v3"),
            origin("reranked", "gpt-4o"),
            origin("reranked", "llama-3"),
        ]
    }
    positions = SubQuestion.objects.exclude(origins=[]).values_list("topic__name", "position")
    assert list(positions) == [("t-1", 0), ("t-1", 1), ("t-1", 2), ("t-2", 1)]


def test_same_lines_change_nothing(tmp_path, small):
    read(tmp_path, *LINES)
    before = fingerprint()
    summary = read(tmp_path, *LINES)
    assert not summary.changed
    assert fingerprint() == before
    assert [(file.created, file.unchanged) for file in summary.files] == [(0, 11)]


def test_lines_of_one_import_stand_beside_the_texts_that_it_brings(tmp_path):
    import_dataset(write(tmp_path, {**study(), "origins.jsonl": LINES}), "small")
    assert len(origins_by_name(Text)) == 6


def test_later_file_adds_a_role(tmp_path, small):
    read(tmp_path, LINES[0])
    read(tmp_path, LINES[1])
    assert [entry["role"] for entry in report("human_eval.bm25", "t-1").origins] == [
        "wrote",
        "reranked",
    ]


def test_dry_run_stores_nothing(tmp_path, small):
    assert read(tmp_path, *LINES, dry_run=True).changed
    assert origins_by_name(Text) == {}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            {"system": "nobody", **LLAMA},
            "2: system: there is no report of the system 'nobody'",
        ),
        ({"system": "", **LLAMA}, "2: system: there is no report of the system ''"),
        ({"run": "no.run", **LLAMA}, "2: run: there is no run 'no.run'"),
        ({"text": "t-9:0#0", **LLAMA}, "2: text: the passage 't-9:0#0' is not in the dataset"),
        (
            {"system": "human_eval.bm25", "text": "t-9", **LLAMA},
            "2: text: the report 't-9' of 'human_eval.bm25' is not in the dataset",
        ),
        ({"topic": "t-9", **LLAMA}, "2: topic: topic 't-9' is not in the dataset"),
        (
            {"topic": "t-1", "question_index": 3, **LLAMA},
            "2: question_index: t-1 has 3 questions, counted from 0",
        ),
        ({"topic": "t-1", "question_index": -1, **LLAMA}, "2: question_index: "),
        ({**LLAMA}, "2: system: a line is about one: a system, a run, a text or a topic"),
        (
            {"system": "human_eval.bm25", "run": "first_stage.lsr", **LLAMA},
            "2: system: a line is about one",
        ),
        (
            {"run": "first_stage.lsr", "question_index": 0, **LLAMA},
            "2: question_index: is of a topic, and this line has none",
        ),
        ({"run": "first_stage.lsr", "text_kind": "report", **LLAMA}, "2: text_kind: is of a text"),
        ({"text": "t-1:0#1", "text_kind": "poem", **LLAMA}, "2: text_kind: is of a text, and one"),
        ({"run": "first_stage.lsr", "role": "wrote"}, "2: model: is missing"),
        ({"run": "first_stage.lsr", "role": "wrote", "model": ""}, "2: model: is empty, not ''"),
        ({"run": "first_stage.lsr", "role": "wrote", "model": 4}, "2: model: "),
        ({"run": "first_stage.lsr", "role": "wrote", "model": "a" * 251}, "2: model: "),
        ({"run": "first_stage.lsr", "role": "wrote", "model": "a\x00"}, "2: model: holds a NUL"),
        ({"run": "first_stage.lsr", "role": "read", "model": "x"}, "2: role: "),
        ({"run": "first_stage.lsr", "role": None, "model": "x"}, "2: role: "),
        ({"run": "first_stage.lsr", **LLAMA, "edited": "yes"}, "2: edited: "),
        ({"run": "first_stage.lsr", **LLAMA, "revision": 3}, "2: revision: "),
        ({"run": "first_stage.lsr", "model": "x"}, "2: recipe: is missing"),
        ("[]", "2: expected a JSON object, not []"),
    ],
)
def test_unsound_line_is_refused_with_its_place(tmp_path, small, line, message):
    before = fingerprint()
    with pytest.raises(DatasetImportError) as refused:
        read(tmp_path, LINES[0], line)
    assert f"origins.jsonl:{message}" in str(refused.value)
    assert fingerprint() == before


def test_other_model_in_a_role_is_refused(tmp_path, small):
    read(tmp_path, *LINES)
    before = fingerprint()
    with pytest.raises(DatasetImportError) as refused:
        read(tmp_path, LINES[0], {"system": "annotated.oracle", "role": "wrote", "model": "x"})
    assert str(refused.value).splitlines() == [
        "origins.jsonl:2: model: another model is stored as wrote already: 'meta-llama/Llama-3.3-70B'",
        "origins.jsonl:2: model: another model is stored as wrote already: 'gpt-4o'",
    ]
    assert fingerprint() == before


@pytest.mark.parametrize("revision", [{}, {"revision": "other"}])
def test_other_revision_is_another_model(tmp_path, small, revision):
    read(tmp_path, LINES[0])
    with pytest.raises(DatasetImportError, match="another model is stored as wrote"):
        read(tmp_path, {"system": "human_eval.bm25", **LLAMA, **revision})


def test_origins_come_back_with_the_dataset(tmp_path, small):
    read(tmp_path, *LINES)
    export_folder(small, tmp_path / "first")
    lines = [
        json.loads(line) for line in (tmp_path / "first/origins.jsonl").read_text().split("\n")[:-1]
    ]
    assert lines == [
        *LINES[:2],
        {"text_kind": "passage", "system": "", **LINES[4]},
        {"text_kind": "reference", "system": "", **LINES[5]},
        {"text_kind": "report", "system": "annotated.oracle", "text": "t-1", **LLAMA},
        {"text_kind": "report", **LINES[3]},
        *LINES[9:],
        *LINES[6:9],
    ]
    expected = origins_by_name(Text), origins_by_name(SubQuestion), origins_by_name(RetrievalRun)

    empty_database()
    import_dataset(tmp_path / "first", "small")
    assert (
        origins_by_name(Text),
        origins_by_name(SubQuestion),
        origins_by_name(RetrievalRun),
    ) == expected
    export_folder(Dataset.objects.get(), tmp_path / "second")
    assert contents(tmp_path / "second") == contents(tmp_path / "first")
    assert not import_dataset(tmp_path / "first", "small").changed


def test_models_of_texts_without_words_are_left_out_of_an_export(tmp_path, small):
    read(tmp_path, {"text": "other-7:0#3", **LLAMA})
    summary = export_folder(small, tmp_path / "out")
    assert summary.left_out["models of texts without words, or of reports of no topic"] == 1
    assert not (tmp_path / "out/origins.jsonl").exists()


def test_run_of_an_older_export_has_the_models_of_its_recipe(tmp_path, small):
    make_run(small, "mine", "bm25 % 3", RecipeContext(small))
    export_folder(small, tmp_path / "out")
    path = tmp_path / "out/origins.jsonl"
    provenance, model = path.read_text().splitlines()
    assert json.loads(model) == {"run": "mine", "role": "retrieved", "model": "bm25"}
    path.write_text(f"{provenance}\n")
    empty_database()
    import_dataset(tmp_path / "out", "small")
    assert RetrievalRun.objects.get(name="mine").origins == [origin("retrieved", "bm25")]
    assert not import_dataset(tmp_path / "out", "small").changed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": "run"}, "name of the step run must have 1 to 250 characters"),
        ({"step": "run", "name": ""}, "name of the step run"),
        ({"step": "monot5", "model": None}, "model of the step monot5"),
        ({"step": "monot5", "model": "x" * 251}, "model of the step monot5"),
        ({"step": "relevance", "judge": ["j"]}, "judge of the step relevance"),
    ],
)
def test_step_without_the_names_of_its_models_is_refused(tmp_path, small, change, message):
    make_run(small, "mine", "bm25 % 3", RecipeContext(small))
    export_folder(small, tmp_path / "out")
    path = tmp_path / "out/origins.jsonl"
    provenance = json.loads(path.read_text().splitlines()[0])
    provenance["origin"]["steps"][0] |= change
    path.write_text(json.dumps(provenance) + "\n")
    empty_database()
    with pytest.raises(DatasetImportError) as refused:
        import_dataset(tmp_path / "out", "small")
    assert message in str(refused.value)
    assert "origins.jsonl:1: " in str(refused.value)
