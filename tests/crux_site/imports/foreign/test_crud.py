"""--format crud: dataset, questions, and system output, all of it invented."""

import json
from pathlib import Path

import pytest

from annotation.models import Dataset, NuggetSpan, Rating, SubQuestion, Text, Topic
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from evaluation.models import ReportValue, System
from tests.toolbox.foreign_files import left_out, refused
from tests.toolbox.import_study import contents, fingerprint

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

CANNOT_TELL = "无法推断"
MERGED = "split_merged.json"
QUESTIONS = "quest_eval/QuestAnswer1Doc_quest_gt_save.json"
OUTPUT = "output/docs_chunk_128_0_top8_GPT/QuestAnswer1Doc_gpt-3.5.json"
DATA = {
    "event_summary": [{"ID": "a1", "event": "磨坊", "summary": "磨坊五月重开。", "text": "新闻。"}],
    "questanswer_1doc": [
        {
            "ID": "a1",
            "event": "裂缝",
            "questions": "谁？",
            "answers": "潜水员。",
            "news1": "潜水员来了。",
        }
    ],
    "hallu_modified": [
        {
            "ID": "d-2",
            "newsBeginning": "桥关了，",
            "hallucinatedContinuation": "着火。",
            "hallucinatedMod": "桥墩坏了。",
            "keywords": ["not read"],
        }
    ],
}
QUESTION_ROWS = {
    "a1": {"key_info": ["x"], "question": ["谁？", "多久？"], "answers": ["潜水员", CANNOT_TELL]}
}


def result(text="潜水员来了。", **changes):
    saved = {
        "questions_gt": ["谁？", "多久？"],
        "answers_gt4gt": ["潜水员", CANNOT_TELL],
        "answers_gm4gt": ["一个潜水员", CANNOT_TELL],
    }
    return {
        "id": "a1",
        "metrics": {"bertScore": 0.75, "bleu-avg": 0.5, "bleu-1": 0.9, "length": 6},
        "log": {
            "generated_text": text,
            "ground_truth_text": "潜水员。",
            "quest_eval_save": saved | changes,
            "evaluateDatetime": "now",
        },
        "valid": True,
        "original_data": {"questions": "谁？"},
    }


def outputs(*results):
    return {"info": {"task": "x", "llm": "y"}, "overall": {"avg": 1}, "results": list(results)}


def write(folder: Path, **files) -> Path:
    for name, content in ({MERGED: DATA, QUESTIONS: QUESTION_ROWS} | files).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (
            content
            if isinstance(content, str)
            else json.dumps(content, ensure_ascii=False, indent=2)
        )
        path.write_text(text)
    return folder


def read(path: Path, **options):
    """The import, which changes nothing when it is done again."""
    summary = import_dataset(path, "crud", form="crud", **options)
    before = fingerprint()
    assert not import_dataset(path, "crud", form="crud", **options).changed
    assert fingerprint() == before
    return summary


def test_items_are_topics_of_their_task(tmp_path):
    read(write(tmp_path))
    assert list(Topic.objects.order_by("name").values_list("name", "group", "request")) == [
        ("delete.a1", "delete", "磨坊"),
        ("read-1.a1", "read-1", "谁？"),
        ("update.d-2", "update", "桥关了，着火。"),
    ]
    references = Text.objects.filter(kind="reference").order_by("name")
    assert [text.body for text in references] == ["磨坊五月重开。", "潜水员。", "桥墩坏了。"]
    passages = Text.objects.filter(kind="passage").order_by("name")
    assert [(text.name, text.topic.name) for text in passages] == [
        ("delete.a1:text", "delete.a1"),
        ("read-1.a1:news1", "read-1.a1"),
    ]


def test_answers_are_ratings_of_the_reference(tmp_path):
    read(write(tmp_path))
    ratings = Rating.objects.order_by("question__position")
    assert [(str(rating.rater), rating.text.name, rating.grade) for rating in ratings] == [
        ("questeval", "read-1.a1:report", 1),
        ("questeval", "read-1.a1:report", 0),
    ]
    span = NuggetSpan.objects.get()
    assert (span.quote, span.located) == ("潜水员", "exact")


def test_questions_may_come_before_the_data_set(tmp_path):
    first = tmp_path / "first"
    summary = read(write(first, **{MERGED: "{}"}) / "quest_eval")
    assert summary.created["reference summaries, without their words"] == 1
    assert Text.objects.get().body is None
    assert Topic.objects.get().request == ""
    summary = read(write(tmp_path / "then") / MERGED)
    assert summary.mapped["highlights found once their text had come"] == 1
    assert NuggetSpan.objects.get().quote == "潜水员"
    assert Topic.objects.get(name="read-1.a1").request == "谁？"


def test_system_output_is_read(tmp_path):
    read(
        write(tmp_path, **{OUTPUT: outputs(result(), result(text=" ") | {"id": "a2"})}),
        lenient=True,
    )
    system = System.objects.get()
    assert system.name == "docs_chunk_128_0_top8_GPT.gpt-3.5"
    assert system.settings == {
        "llm": "gpt-3.5",
        "collection": "docs_chunk",
        "chunk": 128,
        "overlap": 0,
        "k": 8,
    }
    report = Text.objects.get(kind="report")
    assert (report.system, report.name, report.body) == (system.name, "read-1.a1", "潜水员来了。")
    answer = Rating.objects.get(text=report, grade=1).spans.get()
    assert (answer.source_quote, answer.located) == ("一个潜水员", "unlocated")
    assert dict(ReportValue.objects.values_list("measure", "value")) == {
        "similarity (text2vec-base-chinese)": 0.75,
        "crud:bleu-avg": 0.5,
        "crud:length": 6,
    }


def test_mapped_items_are_counted(tmp_path):
    changed = {"a2": {}, "a3": {"question": ["谁？", "谁？", "哪里？"], "answers": ["甲", "乙"]}}
    files = {
        QUESTIONS: QUESTION_ROWS | changed,
        OUTPUT: outputs(result(answers_gm4gt=["一个潜水员"]), result(text="")),
    }
    summary = read(write(tmp_path, **files), lenient=True)
    counts = {str(name): n for name, n in summary.mapped.items() if "CRUD-RAG" in name}
    assert counts == {
        "items of CRUD-RAG without questions": 1,
        "items of CRUD-RAG whose answers are more or fewer than their questions, kept": 2,
        "items of CRUD-RAG that ask the same twice: the second time kept without words": 1,
        "results of CRUD-RAG without a text: no report": 1,
    }
    questions = SubQuestion.objects.filter(topic__name="read-1.a3").order_by("position")
    assert [(question.body, question.filtered_because) for question in questions] == [
        ("谁？", ""),
        ("", "the words of question 1"),
        ("哪里？", "its file has no answer of the reference"),
    ]
    assert Rating.objects.filter(question__in=questions).count() == 2


def test_answer_without_a_question_is_kept_in_its_place(tmp_path):
    questions = {"a3": {"question": ["谁？"], "answers": ["甲", "乙"]}}
    read(write(tmp_path, **{QUESTIONS: questions}), lenient=True)
    assert list(SubQuestion.objects.values_list("body", flat=True)) == ["谁？", ""]
    assert Rating.objects.count() == 2


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            MERGED,
            {"event_summary": [{"ID": "a1", "event": "x"}]},
            "split_merged.json:3: summary is missing from a1",
        ),
        (
            MERGED,
            {"event_summary": [{"ID": "a1", "event": 7, "summary": "x"}]},
            ":3: event: Input should be a valid string",
        ),
        (MERGED, {"event_summary": ["a1"]}, ":3: expected a JSON object, not 'a1'"),
        (MERGED, '{"event_summary": []} more', "something after its end: 'm'"),
        (
            QUESTIONS,
            {"a1": {"question": ["x"], "answers": []}},
            "json:2: 0 answers to 1 question in a1",
        ),
        (QUESTIONS, '{"a1": {}, "a1": {}}', "key 'a1' stands twice"),
        (QUESTIONS, '{"a1": {"question": [NaN]}}', "NaN is not JSON"),
        (
            OUTPUT,
            outputs(result(answers_gm4gt=["x"])),
            "2 answers of the reference and 1 of the text",
        ),
        *(
            (
                OUTPUT,
                json.dumps(outputs(result())).replace("0.75", huge),
                "json:1: metrics: bertScore is no number up to 1e+100",
            )
            for huge in ("1e400", "1" + "0" * 400)
        ),
    ],
)
def test_errors_name_their_location(tmp_path, name, content, message):
    problems = refused(write(tmp_path, **{name: content}), "crud")
    assert message in problems[0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (MERGED, DATA | {"news": [{"ID": "x"}]}, "task: is none of the tasks"),
        (MERGED, {**DATA, "event_summary": ["a1"]}, ":3: expected a JSON object, not 'a1'"),
        (
            QUESTIONS,
            QUESTION_ROWS | {"a2": {"question": ["x"], "answers": []}},
            "1 question in a2",
        ),
        (OUTPUT, outputs(result(), 7), "expected a JSON object, not 7"),
    ],
)
def test_unsound_item_is_left_out_and_named(tmp_path, name, content, message):
    [row] = left_out(write(tmp_path, **{name: content}), "crud")
    assert message in row
    assert set(Topic.objects.values_list("name", flat=True)) <= {
        "delete.a1",
        "read-1.a1",
        "update.d-2",
    }


@pytest.mark.parametrize("line", [4, 6])
def test_file_that_is_cut_says_where(tmp_path, line):
    whole = json.dumps(DATA, ensure_ascii=False, indent=2).splitlines(keepends=True)
    cut = "".join(whole[:line])[:-3]
    [problem] = refused(write(tmp_path, **{MERGED: cut}), "crud")
    assert problem.startswith(f"{MERGED}:{line}: the file ends")


def test_list_of_one_task(tmp_path):
    (tmp_path / "event_summary.json").write_text(json.dumps(DATA["event_summary"]))
    read(tmp_path)
    assert Topic.objects.get().group == "delete"


def test_crud_round_trip(tmp_path):
    files = {QUESTIONS: QUESTION_ROWS | {"a3": {"question": ["谁？", "谁？"], "answers": ["甲"]}}}
    read(write(tmp_path / "in", **files, **{OUTPUT: outputs(result())}), lenient=True)
    export_folder(Dataset.objects.get(), tmp_path / "out")
    import_dataset(tmp_path / "out", "again")
    export_folder(Dataset.objects.get(slug="again"), tmp_path / "more")
    assert contents(tmp_path / "more") == contents(tmp_path / "out")
