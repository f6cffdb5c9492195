"""A small study in the authors' formats, written by the tests themselves.

Two topics of three questions, five passages with words and one without, reports of two annotated
systems and one other, two annotators and a judge; and every trap of the real files: questions with
a leading line end, a null question, constant ranks, "NA" keys, -1 and -2, a highlight with other
white space, one that is nowhere in its text, and one that stands in it twice.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.color import no_style
from django.db import connection

from annotation.models import Dataset, NuggetSpan, Rater, Rating

TOPICS = {"t-1": "Write about the Halden.", "t-2": "Write about the reservoir — über alles 🚢."}
QUESTIONS = {
    "t-1": ["What failed on the ferry?", "Was anybody hurt?", "Who was prosecuted?"],
    "t-2": ["What was found?", "What does it cost?", "Who pays?"],
}
# As the files have them: with the line end that their list number left.
WRITTEN = {topic: [f"\n {body}" for body in bodies] for topic, bodies in QUESTIONS.items()}
NULLS = {"t-1": {2}, "t-2": set()}
PASSAGES = {
    "t-1:0#0": "The ferry Halden lost steering.\nNobody was hurt.",
    "t-1:0#1": "A coupling failed. The coupling was old.",
    "t-1:1#2": "Café e\u0301clair 🚢 عبّارة هالدن — steering was lost.",
    "t-2:0#0": "Divers found a crack in the dam.",
    "t-2:1#1": "The cost is not known.",
}
BODILESS = "other-7:0#3"
CONTEXTS = {
    "oracle": {"t-1": ["t-1:0#1", "t-1:0#0"], "t-2": ["t-2:1#1"]},
    "bm25": {"t-1": ["t-1:0#0", BODILESS], "t-2": ["t-2:0#0", "t-1:0#0"]},
}
REPORTS = {
    (
        "oracle",
        "t-1",
    ): "A coupling failed at sea.\n\nNobody  was\nhurt. The coupling was old.",
    ("oracle", "t-2"): "Divers found a crack. 🚢 The cost is not known.",
    ("bm25", "t-1"): "Steering was lost. Nobody was hurt.",
    ("bm25", "t-2"): "A crack was found.",
}
REFERENCES = {"t-1": "A coupling broke.", "t-2": "Divers saw a crack."}

Rows = list[dict[str, Any]]


def qid(context: str, topic: str) -> str:
    return topic if context == "oracle" else f"{context}_{topic}"


def report(context: str, topic: str, *, annotated: bool) -> dict[str, Any]:
    docids = list(CONTEXTS[context][topic])
    return {
        "qid": qid(context, topic) if annotated else topic,
        "topic": TOPICS[topic],
        "questions": [
            None if annotated and i in NULLS[topic] else question
            for i, question in enumerate(WRITTEN[topic])
        ],
        "type": "oracle",  # in every line, as in the authors' file
        "docids": docids,
        "report": REFERENCES[topic],
        "response": REPORTS[context, topic] + ("" if annotated else " (another report)"),
        "k": len(docids),
    }


def t1(
    context: str, topic: str, labels: list[int], highlights: dict[int, str] | None = None
) -> dict[str, Any]:
    nuggets = {
        ("NA" if label == -2 else question): (highlights or {}).get(i, "")
        for i, (label, question) in enumerate(zip(labels, WRITTEN[topic], strict=True))
    }
    return {
        "id": qid(context, topic),
        "question_based_nugget": nuggets,
        "answerability": labels,
        "coverage": labels.count(1) / 3,
    }


def t2(
    topic: str, passage: str, grades: list[int], highlights: dict[int, str] | None = None
) -> dict:
    return {
        "id": topic,
        "document": passage,
        "relevances": {str(i): grade for i, grade in enumerate(grades)},
        "rationales": {str(i): (highlights or {}).get(i, "") for i in range(3)},
    }


def judged(topic: str, passage: str, rating: list[int | None]) -> dict[str, Any]:
    return {"example_id": topic, "pid": passage, "rating": rating}


def study() -> dict[str, Rows | list[str]]:
    """The lines of each file, by its name."""
    return {
        "topics.jsonl": [{"id": name, "request": request} for name, request in TOPICS.items()],
        "subquestions.jsonl": [
            {"id": name, "subquestions": list(questions)} for name, questions in WRITTEN.items()
        ],
        "passages.jsonl": [
            {"id": name, "contents": body}
            for name, body in PASSAGES.items()
            if name.startswith("t-1")
        ],
        "passages_referenced.jsonl": [
            {"id": name, "contents": body}
            for name, body in PASSAGES.items()
            if name.startswith("t-2")
        ],
        "reports_annotated.jsonl": [
            report(context, topic, annotated=True) for context in CONTEXTS for topic in TOPICS
        ],
        "reports_all.bm25.jsonl": [report("bm25", topic, annotated=False) for topic in TOPICS],
        "runs/human_eval.bm25.run": [
            f"{topic} Q0 {name} 3 0.3333333333333333 human_eval_bm25"
            for topic in TOPICS
            for name in CONTEXTS["bm25"][topic]
        ],
        "runs/first_stage.lsr.run": [
            f"{topic} Q0 {name} {rank} {1 / rank} lsr"
            for topic in TOPICS
            for rank, name in enumerate(["t-2:1#1", BODILESS, "t-1:0#1"], 1)
        ],
        "annotations/ann.qlabels.jsonl": [
            # Found exactly, and with white space joined.
            t1("oracle", "t-1", [1, 1, -2], {0: "A coupling failed", 1: "Nobody was hurt."}),
            # Nowhere in the text; answerable without a highlight; unjudged.
            t1("oracle", "t-2", [1, 1, -1], {0: "a dam that broke"}),
            t1("bm25", "t-1", [0, 1, 0], {1: "Nobody was hurt"}),
        ],
        "annotations/bob.qlabels.jsonl": [
            t1("oracle", "t-1", [1, 0, -2], {0: "coupling failed [...] coupling was old"}),
            t1("oracle", "t-2", [1, 0, 0], {0: "🚢"}),
        ],
        "annotations/ann.qrels.jsonl": [
            t2("t-1", "t-1:0#0", [3, 5, -1], {1: "Nobody was hurt."}),
            t2("t-1", "t-1:0#1", [-1, -1, 4], {0: "left out", 2: "not there"}),
        ],
        "judgements/judge.judgements.jsonl": [
            judged("t-1", "t-1:0#0", [5, 4, 0]),
            judged("t-1", BODILESS, [0, None, 1]),
            judged("t-2", "t-1:0#0", [0, 0, 2]),
        ],
        "judgements/judge.reference.jsonl": [
            {**judged("t-1", "t-1:report", [5, None, 3]), "answerable_at_3": [True, False, True]}
        ],
    }


def write(folder: Path, files: dict[str, Any] | None = None) -> Path:
    """Write the study, or these files of it, as a folder."""
    for name, rows in (files if files is not None else study()).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(line(row) for row in rows), encoding="utf-8")
    return folder


def line(row: dict[str, Any] | str) -> str:
    return (row if isinstance(row, str) else json.dumps(row)) + "\n"


def fingerprint() -> str:
    """Return a hash of all rows of our tables as stored, keys and dates included."""
    models = [*apps.get_app_config("annotation").get_models(), *_evaluation(), *_building()]
    digest = hashlib.sha256()
    quoted = connection.ops.quote_name
    with connection.cursor() as cursor:
        for model in models:
            digest.update(model.__name__.encode())
            table, key = quoted(model._meta.db_table), quoted(model._meta.pk.column)
            cursor.execute(f"select * from {table} order by {key}")  # noqa: S608
            for row in cursor:
                digest.update(repr(row).encode())
    return digest.hexdigest()


def _evaluation() -> list[type]:
    return list(apps.get_app_config("evaluation").get_models())


def _building() -> list[type]:
    return list(apps.get_app_config("building").get_models())


def empty_database() -> None:
    """No dataset, no rater, no rating; keys go on from where they were."""
    # At once: row by row, those of the real study take longer than to import them.
    connection.check_constraints()  # PostgreSQL empties no table whose rows it has yet to check
    tables = [model._meta.db_table for model in (NuggetSpan, Rating)]
    connection.ops.execute_sql_flush(connection.ops.sql_flush(no_style(), tables))
    Dataset.objects.all().delete()
    Rater.objects.all().delete()


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(files)}
