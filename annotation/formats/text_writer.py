"""Storing texts: new ones, those whose words were missing, and those that are there already."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.formats.highlights import relocate
from annotation.formats.layout import Source
from annotation.formats.summary import Mapped
from annotation.formats.target import Target
from annotation.models import Text, digest

_NOUNS = {
    Text.Kind.PASSAGE: "passages",
    Text.Kind.REPORT: "reports",
    Text.Kind.REFERENCE: "reference summaries",
}


@dataclass(frozen=True, slots=True)
class Incoming:
    """A text as a line of a file gives it; `field` names its words in that file."""

    line: int
    field: str
    name: str
    body: str
    topic_id: int | None
    system: str = ""
    file: str = ""  # where the file is a folder of passages


def store(target: Target, source: Source, kind: Text.Kind, incoming: Sequence[Incoming]) -> None:
    """Make the texts that are new and fill those that have no words yet.

    A text that is there with other words is an error, for a changed text would have to be a new
    version; so are two lines that give one text other words.
    """
    summary = target.summary.file(source.name)
    texts: dict[tuple[str, str], Incoming] = {}
    for text in incoming:
        first = texts.setdefault((text.system, text.name), text)
        if first is not text:
            if first.body != text.body:
                message = f"{text.name} has other words on line {first.line}"
                target.problem(text.file or source, text.line, text.field, message)
            elif kind != Text.Kind.REFERENCE:  # every report of a topic brings its reference
                target.summary.mapped[Mapped.REPEATED] += 1
    stored = {
        (system, name): (pk, sha256)
        for pk, system, name, sha256 in Text.objects.filter(
            dataset=target.dataset, kind=kind, name__in={name for _, name in texts}
        ).values_list("pk", "system", "name", "sha256")
    }
    new, filled = [], []
    for key, text in texts.items():
        sha256 = digest(text.body)
        pk, before = stored.get(key, (None, ""))
        if pk is None:
            new.append(_text(target, kind, text, sha256))
        elif not before:
            filled.append(Text(pk=pk, body=text.body, sha256=sha256))
        elif before == sha256:
            summary.unchanged += 1
        else:
            message = (
                f"{text.name} is in the dataset with other words; a changed text would be a new "
                "version, which cannot be stored yet"
            )
            target.problem(text.file or source, text.line, text.field, message)
    Text.objects.bulk_create(new)
    summary.created += len(new)
    target.summary.created[_NOUNS[kind]] += len(new)
    if filled:
        Text.objects.bulk_update(filled, ["body", "sha256"])
        summary.filled += len(filled)
        target.summary.mapped[Mapped.RELOCATED] += relocate([text.pk for text in filled])


def _text(target: Target, kind: Text.Kind, text: Incoming, sha256: str) -> Text:
    # bulk_create does not call save(), which would work out the hash.
    return Text(
        dataset=target.dataset,
        topic_id=text.topic_id,
        kind=kind,
        system=text.system,
        name=text.name,
        body=text.body,
        sha256=sha256,
    )
