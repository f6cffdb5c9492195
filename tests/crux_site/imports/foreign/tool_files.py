"""Files of annotation tools: tasks, records, annotations."""

import json

BODY = "🚢 The wheel\nturned. The wheel 🚢 broke."


PAIR = "mill-1/1/passage//mill-1:0%230"


STUDY = {
    "topics.jsonl": [{"id": "mill-1", "request": "Report on the mill."}],
    "subquestions.jsonl": [{"id": "mill-1", "subquestions": ["Who mended it?", "What broke?"]}],
    "passages.jsonl": [{"id": "mill-1:0#0", "contents": BODY}],
}


def array(*objects: dict) -> list[str]:
    return json.dumps(objects, indent=1, ensure_ascii=False).split("\n")


def choice(grade: object, rubric: str = "graded", kind: str = "choices") -> dict:
    value = {"choices": [grade]} if kind == "choices" else {kind: grade}
    return {"from_name": rubric, "to_name": "text", "type": kind, "value": value}


def task(*results: dict, by: object = 7, **more: object) -> dict:
    annotation = {"id": 3, "completed_by": by, "result": list(results), "lead_time": 4.2}
    data = {"pair": PAIR, "question": "What broke?", "text": BODY}
    return {"id": 1, "data": data, "annotations": [annotation], "drafts": [], **more}


def record(**more: object) -> dict:
    fields = {"text": BODY, "question": "What broke?"}
    return {"id": PAIR, "fields": fields, "metadata": {}, "_server_id": "1", "vectors": {}} | more


def annotation(**more: object) -> dict:
    bodies = [
        {"type": "TextualBody", "purpose": "assessing", "value": "4"},
        {"type": "TextualBody", "purpose": "classifying", "value": "graded"},
        "http://example.org/other",
    ]
    about = {"type": "Annotation", "crux:pair": PAIR, "creator": "eve", "body": bodies}
    return about | {"target": "http://example.org/text"} | more
