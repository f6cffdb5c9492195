"""Four systems on three topics: by nuggets in one dataset, by sub-questions in another."""

from pathlib import Path

from annotation.models import Dataset
from crux_site.imports.importing import import_dataset
from tests.toolbox.foreign_files import write

TOPICS = ["t1", "t2", "t3"]
WEIGHTS = ["vital", "vital", "okay"]
# Of each system what its report supports, on every topic alike: vital, vital, okay.
SUPPORT = {
    "alder": ["support", "support", "not_support"],
    "birch": ["support", "partial_support", "support"],
    "cedar": ["support", "not_support", "not_support"],
    "dogwood": ["not_support", "partial_support", "partial_support"],
}
# Of the two sub-questions of every topic, how well each report answers them.
GRADES = {"alder": [5, 4], "birch": [5, 0], "cedar": [5, 3], "dogwood": [1, 0]}


def body(system: str, topic: str) -> str:
    return f"What {system} says of {topic}."


def assigned(system: str, topic: str) -> dict:
    nuggets = [
        {"text": f"nugget {n} of {topic}", "importance": weight, "assignment": assignment}
        for n, (weight, assignment) in enumerate(zip(WEIGHTS, SUPPORT[system], strict=True))
    ]
    return {
        "query": f"What of {topic}?",
        "qid": topic,
        "run_id": system,
        "answer_text": body(system, topic),
        "nuggets": nuggets,
    }


def make_nuggets(folder: Path) -> Dataset:
    """Assigned by model-a in all, and by nobody else."""
    lines = [assigned(system, topic) for topic in TOPICS for system in SUPPORT]
    import_dataset(write(folder / "nuggets", {"model-a.jsonl": lines}), "nuggets", form="nuggets")
    return Dataset.objects.get(slug="nuggets")


def make_questions(folder: Path) -> Dataset:
    """The same reports, graded by a judge; t4 is in this dataset alone."""
    topics = [*TOPICS, "t4"]
    files = {
        "topics.jsonl": [{"id": topic, "request": f"What of {topic}?"} for topic in topics],
        "subquestions.jsonl": [{"id": topic, "subquestions": ["Who?", "When?"]} for topic in topics],
        "passages.jsonl": [{"id": f"{topic}:0", "contents": "Both."} for topic in topics],
        "reports_cited.jsonl": [
            {"topic": topic, "system": system, "name": topic, "body": body(system, topic),
             "statements": []}
            for topic in TOPICS
            for system in GRADES
        ],
        "ratings.jsonl": [
            {"rater": "judge", "kind": "model", "rubric": "graded", "question_index": n, "grade": grade}
            | text
            for topic in TOPICS
            for text, grades in [
                ({"text": f"{topic}:0"}, [5, 5]),
                *(({"text_kind": "report", "system": system, "text": topic}, GRADES[system])
                  for system in GRADES),
            ]
            for n, grade in enumerate(grades)
        ],
    }  # fmt: skip
    import_dataset(write(folder / "questions", files), "questions")
    return Dataset.objects.get(slug="questions")
