"""--format alce: results with documents and citations, demonstrations, utility grades."""

import json
import tracemalloc

import pytest

from annotation.formats.foreign.streamed import items as items_of
from annotation.models import Citation, Dataset, NuggetSpan, Rating, SubQuestion, Text, Topic
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from evaluation.models import RankedText
from tests.toolbox.alce_files import ASQA, DOCS, GRADED, ITEM, LISTED, QAMPARI, results
from tests.toolbox.foreign_files import left_out, read, refused, with_line, write

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


def citations():
    rows = Citation.objects.order_by("position").select_related("report", "cited")
    return [
        (row.report.body[row.start : row.end], row.label, row.cited and row.cited.name)
        for row in rows
    ]


def test_results(tmp_path):
    read(write(tmp_path, {ASQA: results(ITEM)}), "alce")
    topic = Topic.objects.get()
    assert (topic.name, topic.request) == ("-7013", "Who built the weir?")
    assert list(SubQuestion.objects.values_list("body", flat=True)) == [
        "Who built the first?",
        "Who built the second?",
    ]
    report = Text.objects.get(kind="report")
    assert report.system == "asqa-gpt-x-shot2-ndoc2-42"
    assert report.body == "Ida Brandt built the first. The second is Lenz’s."
    without_id = Text.objects.get(body="Lock\nNothing is known.")
    assert without_id.name.startswith("-7013:")
    # Counted from 1; what is beyond the documents is kept, of no text.
    assert citations() == [
        ("Ida Brandt built the first.", "1", "77"),
        ("Ida Brandt built the first.", "1", "77"),
        ("The second is Lenz’s.", "2", without_id.name),
        ("The second is Lenz’s.", "3", None),
        ("The second is Lenz’s.", "0", None),
    ]
    ranked = RankedText.objects.order_by("rank").values_list("run__name", "text__name", "rank")
    assert list(ranked) == [(report.system, "77", 1), (report.system, without_id.name, 2)]
    assert Text.objects.get(kind="reference").body == ITEM["answer"]
    gold = NuggetSpan.objects.filter(rating__rater__name="gold", rating__rubric__slug="answered")
    spans = gold.order_by("rating__question__position", "position")
    assert [(span.quote or span.source_quote, span.start) for span in spans] == [
        ("Ida Brandt", 0), ("Brandt", 4), ("I. Brandt", None), ("Lenz", None),
    ]  # fmt: skip


def test_mark_of_more_digits_than_python_reads_is_of_nothing(tmp_path):
    output = f"Ida Brandt [{'9' * 5000}]."
    read(write(tmp_path, {ASQA: results(ITEM | {"output": output})}), "alce")
    assert [(sentence, label[:2], cited) for sentence, label, cited in citations()] == [
        ("Ida Brandt.", "99", None)
    ]


def test_packed_results(tmp_path):
    folder = write(tmp_path, {f"{ASQA}.gz": results(ITEM)})
    read(folder, "alce")
    assert Text.objects.get(kind="report").system == "asqa-gpt-x-shot2-ndoc2-42"
    path = folder / f"{ASQA}.gz"
    path.write_bytes(path.read_bytes()[:-20])
    assert refused(folder, "alce")[0].startswith(
        f"{ASQA}.gz: cannot be read: Compressed file ended"
    )


def test_list_of_answers(tmp_path):
    read(write(tmp_path, {QAMPARI: results(LISTED)}), "alce")
    # Aliases line by line; what is there twice once.
    assert list(SubQuestion.objects.values_list("body", flat=True)) == [
        "Old Lock\nThe Old Lock",
        "New Lock",
    ]
    report = Text.objects.get(kind="report")
    assert report.body == "Old Lock, New Lock,, ."
    # The same words twice are two documents, as the marks tell them apart.
    assert Text.objects.filter(body="Lock\nNothing is known.").count() == 2
    third = RankedText.objects.get(rank=3).text.name
    assert citations() == [("Old Lock", "1", "77"), ("New Lock", "3", third)]
    assert not Text.objects.filter(kind="reference").exists()
    assert not Rating.objects.exists()


def test_claims_are_asked(tmp_path):
    item = {
        "id": "e1",
        "question": "Why?",
        "claims": ["It leaked.", "It broke."],
        "docs": [],
        "output": "",
    }
    read(write(tmp_path, {"eli5-x.json": results(item)}), "alce")
    assert list(SubQuestion.objects.values_list("body", flat=True)) == ["It leaked.", "It broke."]
    assert Text.objects.get(kind="report").body == ""


DEMO = {
    "question": "Which locks?",
    "answer": "Old Lock [1], new lock [2], Old lock [2].",
    "docs": DOCS,
}


@pytest.mark.parametrize(
    "file",
    [
        {"qampari_demos.jsonl": [DEMO]},
        {"qampari_demos.json": ['{"instruction": "List.", "demos": [', json.dumps(DEMO), "]}"]},
    ],
)
def test_demonstrations_have_no_ids(tmp_path, file):
    read(write(tmp_path, file), "alce")
    assert Topic.objects.get().name.startswith("q-")
    assert list(SubQuestion.objects.values_list("body", flat=True)) == ["Old Lock", "new lock"]
    assert Text.objects.get(kind="report").system == "qampari_demos"
    assert [label for _, label, _ in citations()] == ["1", "2", "2"]


def test_inputs_have_no_reports(tmp_path):
    """An array with other ids in ASQA; a question without an id is the same in all files."""
    asqa = {name: value for name, value in ITEM.items() if name not in ("id", "output")}
    eli5 = {"question": "Why?", "claims": ["It leaked."], "answer": "It leaked [1].", "docs": []}
    inputs = json.dumps([asqa | {"sample_id": "-7013"}, eli5])
    files = {"asqa_eval_gtr_top100.json": [inputs], "x.json": results(eli5 | {"output": "Oh."})}
    summary = read(write(tmp_path, files | {"settings.json": ["{}"]}), "alce")
    assert [(file.name, file.why) for file in summary.left_out] == [
        ("settings.json", "not of this format")
    ]
    assert Topic.objects.count() == 2
    assert Topic.objects.filter(name="-7013").exists()
    assert list(Text.objects.filter(kind="report").values_list("system", "body")) == [("x", "Oh.")]
    assert Text.objects.filter(kind="reference").count() == 2
    runs = RankedText.objects.values_list("run__name", flat=True)
    assert set(runs) == {"asqa_eval_gtr_top100"}


UTILITY = {
    "human.jsonl": [
        GRADED,
        GRADED | {"system": "asqa-y.json", "output": "Brandt.", "utility_score": None},
        {"dataset": "asqa", "system": "asqa-y.json", "key": "overall", "overall": {"length": 3.5}},
    ]
}


def test_utility(tmp_path):
    read(write(tmp_path, UTILITY), "alce")
    reports = Text.objects.filter(kind="report").order_by("system")
    assert list(reports.values_list("system", "name", "body")) == [
        ("asqa-x.json.rerank", "-7013", ""),
        ("asqa-y.json", "-7013", "Brandt."),
    ]
    # The question itself, and a place for each answer that was looked for: which is not told.
    assert list(SubQuestion.objects.values_list("body", flat=True)) == [
        "Who built the weir?",
        "",
        "",
    ]
    rows = Rating.objects.order_by("text__system", "question__position")
    columns = ("rater__name", "rater__kind", "rubric__slug", "question__position", "grade")
    graded = list(rows.values_list(*columns))
    assert graded[:3] == [
        ("utility-annotator", "human", "utility", 0, 2),
        ("automatic-correctness", "model", "answerable", 1, 1),
        ("automatic-correctness", "model", "answerable", 2, 0),
    ]
    # What is null is missing.
    assert [row[3] for row in graded[3:]] == [1, 2]


@pytest.mark.parametrize(
    ("line", "broken", "message"),
    [
        (1, GRADED | {"utility_score": 6}, "human.jsonl:1: utility_score: 6 is no grade of"),
        (1, GRADED | {"system": None}, "human.jsonl:1: system: Input should be a valid string"),
        (1, {"system": "x", "utility_score": 1}, "human.jsonl:1: id is missing"),
        (2, GRADED | {"automatic_correctness_scores": [2]},
         "human.jsonl:2: automatic_correctness_scores.0: Input should be less than or equal to 1"),
        (2, GRADED | {"system": "asqa-y.json", "question": "Who?"},
         "human.jsonl:2: question: topic -7013 is there already with the request"),
        (2, GRADED | {"automatic_correctness_scores": [1]},
         "human.jsonl:2: automatic_correctness_scores: topic -7013 has 3 questions already, not 2"),
    ],
)  # fmt: skip
def test_unsound_line_is_left_out_and_named(tmp_path, line, broken, message):
    folder = write(tmp_path, with_line(UTILITY, "human.jsonl", line, broken))
    assert left_out(folder, "alce")[0].startswith(message)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (results(ITEM | {"output": ["one", "two"]}), f"{ASQA}:7: output: Input should be a valid s"),
        (results(ITEM | {"docs": [{"id": "77"}]}), f"{ASQA}:7: docs.0.text: is missing"),
        (results("words"), f"{ASQA}:7: expected a JSON object, not 'words'"),
        (results(ITEM)[:20], f"{ASQA}:20: the file ends in the middle of what begins on line 7"),
        (['{"args": {}}'], f"{ASQA}: is empty"),
        (['{"data": 3}'], f"{ASQA}:1: expected a JSON object, not 3"),
        (["[1]"], f"{ASQA}:1: expected a JSON object, not 1"),
        (['{"data": []} 2'], f"{ASQA}:1: something after its end: '2'"),
        (
            ['{"data": []}\n{"data": []}'],
            f"{ASQA}:2: something after its end: '{{'; name a file .jsonl",
        ),
        (['{"data": [{"id": "1", "id": "2"}]}'], f"{ASQA}:1: broken JSON: key 'id' stands twice"),
    ],
)  # fmt: skip
def test_broken_file_is_named(tmp_path, lines, message):
    assert message in refused(write(tmp_path, {ASQA: lines}), "alce")[0]


def test_unsound_item_is_left_out_with_all_its_parts(tmp_path):
    unsound = ITEM | {"id": "x1", "docs": [{"id": "d 1", "text": "Lenz."}]}
    [row] = left_out(write(tmp_path, {ASQA: results(ITEM, unsound)}), "alce")
    assert row.startswith(f"{ASQA}:47: docs.0.id: must have 1 to 250 characters")
    assert not Topic.objects.filter(name="x1").exists()


def test_passage_with_other_words(tmp_path):
    changed_item = ITEM | {"docs": [DOCS[0] | {"text": "Otto Lenz built it."}]}
    messages = refused(
        write(tmp_path, {ASQA: results(ITEM), "asqa-y.json": results(changed_item)}), "alce"
    )
    assert messages[0].startswith("asqa-y.json:7: docs: 77 is in the dataset with other words")


def test_array_is_read_piece_by_piece(tmp_path):
    """Objects that are longer than what is read at a time, and a number at the end of it."""
    items = [{"n": n, "words": "é\n" * (9_000 * n)} for n in range(12)]
    path = tmp_path / "large.json"
    for indent in (None, 1):
        path.write_text(json.dumps({"args": 2.5, "data": items, "more": [1]}, indent=indent))
        assert [item for _, item in items_of(path, ["data"])] == items
    path.write_text('{"data": []}')
    assert list(items_of(path, ["data"])) == []


@pytest.mark.parametrize(
    "files",
    [{ASQA: results(ITEM)}, {QAMPARI: results(LISTED)}, {"qampari_demos.jsonl": [DEMO]}, UTILITY],
)
def test_export_brings_all_of_it_back(tmp_path, files):
    read(write(tmp_path / "in", files), "alce")
    first = exported(tmp_path / "first", "other")
    import_dataset(tmp_path / "first", "again")
    assert exported(tmp_path / "second", "again") == first


def exported(folder, slug):
    export_folder(Dataset.objects.get(slug=slug), folder)
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_large_file_is_not_held(tmp_path):
    path = tmp_path / "large.json"
    path.write_text(json.dumps({"data": [{"words": "x" * 20_000}] * 400}))
    tracemalloc.start()
    assert sum(1 for _ in items_of(path, ["data"])) == 400
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size > 8_000_000
    assert peak < 1_500_000
