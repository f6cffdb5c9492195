"""Reader and writer of notes.jsonl.

A line: {"topic", "question_index", "text_kind", "system", "text", "by", "at", "note"}.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.utils import timezone

from annotation.formats.batches import batches
from annotation.formats.layout import Source
from annotation.formats.reading import rows
from annotation.formats.records import NoteRow
from annotation.formats.summary import quoted_value
from annotation.formats.target import Target
from annotation.formats.writing import by_code_point, json_line
from annotation.models import Dataset, Text
from annotation.plurals import n_of
from evaluation.models import PairNote

_BATCH = 500
Line = tuple[int, NoteRow]
TextKey = tuple[str, str, str]  # kind, system and name of a text
_TEXT = ("kind", "system", "name")


def read(target: Target, source: Source) -> None:
    """Store the notes that are new. A note that was withdrawn here stays withdrawn.

    Who wrote a note is a name: it is no account's, so that nobody withdraws it.
    """
    for batch in batches(rows(target, source, NoteRow), _BATCH):
        texts = _texts(target, batch)
        stored = PairNote.objects.filter(text__in=texts.values())
        note_keys = set(stored.values_list(*_STORED))
        timeless_keys = {
            (text, question, author, body) for text, question, author, _, body in note_keys
        }
        new: list[PairNote] = []
        for line, row in batch:
            text, question = (
                _text(target, source, line, row, texts),
                _question(target, source, line, row),
            )
            if text is None or question is None:
                continue
            at = datetime.fromisoformat(row.at) if row.at else timezone.now()
            note = (text, question, row.by, at, row.note)
            timeless_key = (text, question, row.by, row.note)
            if note in note_keys or (row.at is None and timeless_key in timeless_keys):
                target.summary.file(source.name).unchanged += 1
                continue
            note_keys.add(note)
            timeless_keys.add(timeless_key)
            new.append(PairNote(**dict(zip(_STORED, note, strict=True))))
        PairNote.objects.bulk_create(new)
        target.summary.file(source.name).created += len(new)
        target.summary.created["notes on pairs"] += len(new)


_STORED = ("text_id", "question_id", "author", "at", "body")


def _text(
    target: Target, source: Source, line: int, row: NoteRow, texts: dict[TextKey, int]
) -> int | None:
    text = texts.get((row.text_kind, row.system, row.text))
    if text is None:
        kind, name, system = map(quoted_value, (row.text_kind, row.text, row.system))
        message = f"the dataset has no {kind} {name} of {system}"
        target.problem(source, line, "text", message)
    return text


def _question(target: Target, source: Source, line: int, row: NoteRow) -> int | None:
    topic = target.topic(source, line, "topic", row.topic)
    if topic is None:
        return None
    if row.question_index >= len(topic.questions):
        message = f"{topic.name} has {n_of(len(topic.questions), 'question')}"
        target.problem(source, line, "question_index", message)
        return None
    return topic.questions[row.question_index].pk


def _texts(target: Target, batch: Sequence[Line]) -> dict[TextKey, int]:
    """The keys of the texts of these lines."""
    names = {row.text for _, row in batch}
    texts = Text.objects.filter(dataset=target.dataset, name__in=names)
    return {(kind, system, name): pk for kind, system, name, pk in texts.values_list(*_TEXT, "pk")}


def lines(dataset: Dataset) -> Iterator[str]:
    """The notes that nobody withdrew, by topic, question, text and time."""
    notes = PairNote.objects.not_withdrawn().filter(text__dataset=dataset)
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
