"""notes.jsonl: {"topic", "question_index", "text_kind", "system", "text", "by", "at", "note"}."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from annotation.formats.batches import batches
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import NoteRow
from annotation.formats.summary import shown
from annotation.formats.target import Target
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset, Text
from evaluation.models import PairNote

_BATCH = 500
Line = tuple[int, NoteRow]
Place = tuple[str, str, str]  # kind, system and name of a text
_TEXT = ("kind", "system", "name")


def read(target: Target, source: Source) -> None:
    """Keep the notes that are new. One that was withdrawn here stays withdrawn.

    Who wrote a note is a name: it is no account's, so that nobody withdraws it.
    """
    for batch in batches(rows(target, source, NoteRow), _BATCH):
        texts = _texts(target, batch)
        there = PairNote.objects.filter(text__in=texts.values())
        known = set(there.values_list("text_id", "question_id", "author", "at", "body"))
        new: list[PairNote] = []
        for line, row in batch:
            text, question = (
                _text(target, source, line, row, texts),
                _question(target, source, line, row),
            )
            if text is None or question is None:
                continue
            note = (text, question, row.by, datetime.fromisoformat(row.at), row.note)
            if note in known:
                target.summary.file(source.name).unchanged += 1
                continue
            known.add(note)
            new.append(PairNote(**dict(zip(_STORED, note, strict=True))))
        PairNote.objects.bulk_create(new)
        target.summary.file(source.name).created += len(new)
        target.summary.created["notes on pairs"] += len(new)


_STORED = ("text_id", "question_id", "author", "at", "body")


def _text(
    target: Target, source: Source, line: int, row: NoteRow, texts: dict[Place, int]
) -> int | None:
    text = texts.get((row.text_kind, row.system, row.text))
    if text is None:
        message = (
            f"the dataset has no {shown(row.text_kind)} {shown(row.text)} of {shown(row.system)}"
        )
        target.problem(source, line, "text", message)
    return text


def _question(target: Target, source: Source, line: int, row: NoteRow) -> int | None:
    topic = target.topic(source, line, "topic", row.topic)
    if topic is None:
        return None
    if row.question_index >= len(topic.questions):
        message = f"{topic.name} has {len(topic.questions)} questions"
        target.problem(source, line, "question_index", message)
        return None
    return topic.questions[row.question_index].pk


def _texts(target: Target, batch: Sequence[Line]) -> dict[Place, int]:
    """The keys of the texts of these lines."""
    named = {row.text for _, row in batch}
    texts = Text.objects.filter(dataset=target.dataset, name__in=named)
    return {(kind, system, name): pk for kind, system, name, pk in texts.values_list(*_TEXT, "pk")}


def lines(dataset: Dataset) -> Iterator[str]:
    """The notes that nobody withdrew, by topic, question, text and time."""
    notes = PairNote.objects.standing().filter(text__dataset=dataset)
    ordered = notes.order_by(
        by_code_point("question__topic__name"),
        "question__position",
        *(by_code_point(f"text__{field}") for field in _TEXT),
        "at",
        by_code_point("author"),
        by_code_point("body"),
    )
    for note in ordered.select_related("text", "question__topic").iterator(chunk_size=_BATCH):
        yield json_line(
            {
                "topic": note.question.topic.name,
                "question_index": note.question.position,
                "text_kind": note.text.kind,
                "system": note.text.system,
                "text": note.text.name,
                "by": note.author,
                "at": note.at.isoformat(),
                "note": note.body,
            }
        )
