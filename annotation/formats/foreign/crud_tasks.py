"""Tasks of CRUD-RAG: their names, request fields and reference fields."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import AliasChoices, Field, field_validator

from annotation.formats.foreign import rows
from annotation.formats.records import Row, StoredText, TopicRow


@dataclass(frozen=True, slots=True)
class Task:
    """A kind of task: the group of its topics, and the fields of request and reference."""

    group: str
    request: tuple[str, ...]
    reference: str


TASKS = {
    "continuing_writing": Task("create", ("beginning",), "continuing"),
    "questanswer_1doc": Task("read-1", ("questions",), "answers"),
    "questanswer_2docs": Task("read-2", ("questions",), "answers"),
    "questanswer_3docs": Task("read-3", ("questions",), "answers"),
    "hallu_modified": Task(
        "update", ("newsBeginning", "hallucinatedContinuation"), "hallucinatedMod"
    ),
    "event_summary": Task("delete", ("event",), "summary"),
}
# Names of the classes of its code, and of the files that they save.
CLASSES = {
    "ContinueWriting": "continuing_writing",
    "QuestAnswer1Doc": "questanswer_1doc",
    "QuestAnswer2Docs": "questanswer_2docs",
    "QuestAnswer3Docs": "questanswer_3docs",
    "HalluModified": "hallu_modified",
    "Summary": "event_summary",
}


class TaskItem(Row):
    """Base of an item of a task.

    Its topic is named after both, as ids repeat over tasks.
    """

    id: rows.TopicId = Field(validation_alias=AliasChoices("ID", "id"))
    task: StoredText

    @field_validator("task")
    @classmethod
    def _check_task(cls, task: str) -> str:
        if task not in TASKS:
            raise ValueError(f"is none of the tasks {', '.join(TASKS)}")
        return task

    @property
    def topic(self) -> str:
        return f"{TASKS[self.task].group}.{self.id}"

    def topic_row(self, request: str = "") -> TopicRow:
        group = TASKS[self.task].group
        return TopicRow.model_construct(id=self.topic, request=request, group=group)
