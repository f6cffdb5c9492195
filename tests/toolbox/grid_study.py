"""Three systems on two kinds of tasks, with short texts; the reference is "a b c d e"."""

from pathlib import Path
from typing import Any

from tests.toolbox.related_papers import import_files

GROUPS = {"t-1": "read-1", "t-2": "read-1", "t-3": "delete"}
REFERENCE = "one two three four five"
REPORTS = {
    "k1": {"t-1": "one two three four six", "t-2": "one two", "t-3": REFERENCE},
    "k2": {"t-1": REFERENCE, "t-2": REFERENCE},
}
SETTINGS = {"k1": {"llm": "llama", "k": 1}, "k2": {"llm": "llama", "k": 2}, "k9": {"llm": "qwen"}}
QUESTIONS = ["What is first?", "What is last?"]


def answer(system: str, text: str, position: int, body: str | None, **more: Any) -> dict[str, Any]:
    """Return a line of ratings: a question's answer in a report.

    Without a system, in a reference.
    """
    return {
        "rater": "asker",
        "kind": "model",
        "rubric": "answered",
        "text": text,
        "text_kind": "report" if system else "reference",
        "system": system,
        "question_index": position,
        "grade": int(body is not None),
        "spans": [] if body is None else [{"quote": body}],
    } | more


def make_grid(folder: Path) -> Any:
    """Create the study: of t-1 the reference answers both questions, of t-2 one.

    Nobody answers about t-3. k1 answers "one" and cannot tell the last of t-1; k2 answers "one two" to
    the first of t-1, and not of t-2.
    """
    files: dict[str, list[dict[str, Any]]] = {
        "topics.jsonl": [
            {"id": topic, "request": f"Count {topic}.", "group": group}
            for topic, group in GROUPS.items()
        ],
        "subquestions.jsonl": [{"id": topic, "subquestions": QUESTIONS} for topic in GROUPS],
        "references.jsonl": [{"id": topic, "contents": REFERENCE} for topic in GROUPS],
        "reports_cited.jsonl": [
            {"topic": topic, "system": system, "name": topic, "body": body, "statements": []}
            for system, reports in REPORTS.items()
            for topic, body in reports.items()
        ],
        "systems.jsonl": [
            {"system": system, "settings": settings} for system, settings in SETTINGS.items()
        ],
        "values.jsonl": [
            {"topic": "t-1", "system": "k1", "measure": "similarity (m)", "value": 0.25}
        ],
        "ratings.jsonl": [
            answer("", "t-1:report", 0, "one"),
            answer("", "t-1:report", 1, "five"),
            answer("", "t-2:report", 0, "one"),
            answer("", "t-2:report", 1, None),
            answer("k1", "t-1", 0, "one"),
            answer("k1", "t-1", 1, None),
            answer("k1", "t-2", 0, "one"),
            answer("k1", "t-2", 1, None),
            answer("k2", "t-1", 0, "one two"),
            answer("k2", "t-1", 1, "five"),
            answer("k2", "t-2", 0, None),
            answer("k2", "t-2", 1, None),
        ],
    }
    return import_files(folder, "grid", files)
