"""The family `crud` of the expected values, from CRUD-RAG's files to the JSON of the page."""

import json
from pathlib import Path
from typing import Any

import pytest

from crux_site.imports.importing import import_dataset
from evaluation.metrics.tokenizers import tokens_by_name
from tests.toolbox.related_papers import FOLDER, expected, needs_neighbours

pytestmark = [pytest.mark.django_db, pytest.mark.soak, needs_neighbours]

CRUD = FOLDER / "crud_rag"
CANNOT_TELL = "无法推断"
CLASSES = {
    "QuestAnswer1Doc": "read-1",
    "QuestAnswer2Docs": "read-2",
    "QuestAnswer3Docs": "read-3",
    "HalluModified": "update",
}
SAME, EVERY_SECOND = "generation_is_reference", "every_second_answer_cannot"
KEY_INFO = "generation_is_key_info"
GENERATIONS = (SAME, EVERY_SECOND, KEY_INFO)
# Systems of the expected values, by the name of the kind of task there.
KINDS = {"delete": ("Summary", "delete"), "update": ("HalluModified", "update")}
KINDS["read1"] = ("QuestAnswer1Doc", "read-1")
MEASURES = {"bleu_avg": "bleu", "bleu_with_penalty": "bleu_with_penalty", "rouge_l": "rouge_l"}
MEASURES |= {
    name: name for name in ("brevity_penalty", "length", *(f"bleu_{n}" for n in range(1, 5)))
}


def near(value: float | None) -> Any:
    return value if value is None else pytest.approx(value, abs=1e-9)


def read(path: str) -> Any:
    return json.loads((CRUD / path).read_text())


def result(item: str, text: str, reference: str = "", **answers: list[str]) -> dict[str, Any]:
    log = {"generated_text": text, "ground_truth_text": reference, "quest_eval_save": answers}
    return {"id": item, "metrics": {}, "log": log, "valid": bool(text)}


def body(event: dict[str, str]) -> str:
    """The news without the line of its source."""
    return event["text"].split("正文：", 1)[-1].strip()


def texts() -> dict[str, list[dict[str, Any]]]:
    """Return the texts of the systems of `overlap`, by the names there."""
    events = read("event_summary.json")
    merged = read("split_merged.sample.json")
    update, read1 = merged["hallu_modified"], merged["questanswer_1doc"]

    def summaries(*bodies: str) -> list[dict[str, Any]]:
        pairs = zip(events, bodies, strict=False)
        return [result(event["ID"], body, event["summary"]) for event, body in pairs]

    return {
        "delete.event": summaries(*(event["event"] for event in events)),
        "delete.opening120": summaries(*(body(event)[:120] for event in events)),
        "delete.summary_itself": summaries(*(event["summary"] for event in events[:10])),
        "delete.empty": summaries("", "", ""),
        "update.unchanged": [result(e["ID"], e["hallucinatedContinuation"]) for e in update],
        "update.real": [result(e["ID"], e["realContinuation"]) for e in update],
        "read1.event": [result(e["ID"], e["event"]) for e in read1],
    }


def answered(name: str) -> dict[str, list[dict[str, Any]]]:
    """Three generations: the reference's answers, those without every second, and keywords."""
    questions = read(f"quest_eval/{name}_quest_gt_save.json")
    of: dict[str, list[dict[str, Any]]] = {name: [] for name in GENERATIONS}
    for item, item_questions in questions.items():
        if not item_questions:
            of[SAME].append(result(item, "x"))
            of[EVERY_SECOND].append(result(item, "x"))
            continue
        answers = item_questions["answers"]
        second = [CANNOT_TELL if i % 2 else answer for i, answer in enumerate(answers)]
        keys = item_questions["key_info"]
        answers_by_system = {SAME: answers, EVERY_SECOND: second}
        if len(keys) == len(answers) == len(item_questions["question"]):
            answers_by_system[KEY_INFO] = keys
        for system, keyword_answers in answers_by_system.items():
            saved = {"questions_gt": item_questions["question"], "answers_gt4gt": answers}
            of[system].append(result(item, "x", **saved, answers_gm4gt=keyword_answers))
    return of


def write(folder: Path, name: str, model: str, results: list[dict[str, Any]]) -> None:
    path = folder / "output" / "docs_128_0_top8_GPT" / f"{name}_{model}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"info": {"task": name}, "overall": {}, "results": results}
    path.write_text(json.dumps(content, ensure_ascii=False))


@pytest.fixture
def grid(tmp_path, cast):
    """Return a function that loads the page's JSON, from CRUD-RAG's files and mock outputs."""
    for path in CRUD.rglob("*.json"):
        target = tmp_path / path.relative_to(CRUD)
        target.parent.mkdir(exist_ok=True)
        target.symlink_to(path)
    for name, results in texts().items():
        kind, system = name.split(".")
        write(tmp_path, KINDS[kind][0], system, results)
    for name in CLASSES:
        for system, results in answered(name).items():
            write(tmp_path, name, system, results)
    import_dataset(tmp_path, "crud", form="crud", lenient=True)
    client = cast.client("researcher")
    return lambda path, **params: client.get(f"/datasets/crud/{path}", params).json()


def rows_of(report: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows of the JSON by kind of task and model."""
    return {(row["group"], row["settings"]["llm"]): row for row in report["rows"]}


def test_page_has_the_expected_values(grid):
    """A single test, as the data are imported once."""
    expected_values = expected("crud")
    assert expected_values["overlap"].keys() == texts().keys()
    for rules in ("paper", "authors"):
        rows = rows_of(
            grid("reports-against-references.json", vary="system", tokens="jieba", rules=rules)
        )
        for name, right in expected_values["questeval"].items():
            check_answers(rows, name, right, rules)
    for name, right in expected_values["overlap"].items():
        check_texts(grid, rows, name, right)


def check_texts(grid, rows, name: str, expected_values: dict[str, Any]) -> None:
    kind, model = name.split(".")
    group = KINDS[kind][1]
    row = rows[group, model]
    for theirs, ours in MEASURES.items():
        same(row["measures"][ours], expected_values["means"][theirs])
    system_items = grid(
        "reports-against-references/items.json", vary="system", tokens="jieba", system=row["system"]
    )
    items = {item["topic"]: item["values"] for item in system_items["items"]}
    for item, right in expected_values["first_items"].items():
        check_item(items.get(f"{group}.{item}"), right)


def check_item(values: dict[str, Any] | None, expected_values: dict[str, Any] | None) -> None:
    if expected_values is None or values is None:
        assert values is expected_values
        return
    for theirs, ours in MEASURES.items():
        if theirs in expected_values:
            assert values[ours] == near(expected_values[theirs])
    parts = [values[f"bleu_{n}"] for n in range(1, 5)]
    assert parts == [near(precision) for precision in expected_values["precisions"]]


def check_answers(rows, name: str, expected_values: dict[str, Any], rules: str) -> None:
    for system in GENERATIONS:
        row = rows[CLASSES[name], system]
        precision, recall = row["measures"]["qa_precision"], row["measures"]["qa_recall"]
        right = expected_values[system]
        if rules == "authors":
            same(precision, right["authors"]["QA_avg_F1"])
            same(recall, right["authors"]["QA_recall"])
        else:
            same(precision, right["undefined_left_out"]["precision"])
        if "left_out" in right:
            n_without = row["n_reports"] - precision["n"] - precision["undefined"]
            assert n_without == right["left_out"]


def same(actual: dict[str, Any], right: dict[str, Any]) -> None:
    assert (actual["value"], actual["n"]) == (near(right["value"]), right["n"])


def test_tokens_are_those_of_the_authors():
    cut = tokens_by_name("jieba").cutter()
    summary = read("event_summary.json")[0]["summary"]
    assert cut(summary) == expected("crud")["tokens_first_summary"]
