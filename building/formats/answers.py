"""Reports in TREC answer formats: TREC RAG 2025, and RAGTIME with NeuCLIR.

Checked against what their validators read in November 2026: 400 words and 100 references at most in TREC RAG.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.formats.writing import ExportError, json_line
from annotation.models import Dataset, Text
from building.engine.statements import statements_of, with_citations
from building.writing.sentences import n_words, texts

MAX_WORDS, MAX_REFERENCES = 400, 100
AUTOMATIC, MANUAL = "automatic", "manual"
TYPES = (AUTOMATIC, MANUAL)


@dataclass(frozen=True)
class Run:
    """Metadata of a TREC answer run, repeated on each line."""

    system: str
    team: str
    kind: str = AUTOMATIC


@dataclass(frozen=True)
class Answer:
    """A report in statements with the names of their citations.

    `n_wrong` counts citations of nothing known.
    """

    report: Text
    statements: tuple[tuple[str, tuple[str, ...]], ...]
    n_wrong: int

    @property
    def references(self) -> list[str]:
        """Return the cited names without repeats, in order of first citation."""
        return list(dict.fromkeys(name for _, cited in self.statements for name in cited))

    @property
    def n_words(self) -> int:
        return sum(n_words(body) for body, _ in self.statements)


def answer(report: Text) -> Answer:
    """Split a report with a body into statements.

    The words between those that cite are parted into sentences. They are parted again once a space stands
    between them, as there will be when the line is read: so the next export of it is the same.
    """
    statements: list[tuple[str, tuple[str, ...]]] = []
    between: list[str] = []
    n_wrong = 0

    def flush() -> None:
        statements.extend((sentence, ()) for sentence in texts(" ".join(between)))
        between.clear()

    for statement in statements_of(report):
        body = statement.words.strip()
        cited = [citation.cited.name for citation in statement.citations if citation.cited]
        n_wrong += len(statement.citations) - len(cited)
        if body and cited:
            flush()
            statements.append((body, tuple(dict.fromkeys(cited))))
        elif body:
            between.append(body)
    flush()
    return Answer(report, tuple(statements), n_wrong)


def rag_line(run: Run, report_answer: Answer) -> dict[str, Any]:
    """Format a TREC RAG 2025 line; citations are indices into the references."""
    topic, references = report_answer.report.topic, report_answer.references
    assert topic is not None
    number_of = {name: number for number, name in enumerate(references)}
    return {
        "metadata": {
            "team_id": run.team,
            "run_id": run.system,
            "type": run.kind,
            "narrative_id": topic.name,
            "narrative": topic.request,
        },
        "references": references,
        "answer": [
            {"text": body, "citations": [number_of[name] for name in cited]}
            for body, cited in report_answer.statements
        ],
    }


def ragtime_line(run: Run, report_answer: Answer) -> dict[str, Any]:
    """Format a RAGTIME or NeuCLIR line; citations are names."""
    assert report_answer.report.topic is not None
    return {
        "metadata": {
            "team_id": run.team,
            "run_id": run.system,
            "topic_id": report_answer.report.topic.name,
        },
        "responses": [
            {"text": body, "citations": list(cited)} for body, cited in report_answer.statements
        ],
        "references": report_answer.references,
    }


LINES: Mapping[str, Callable[[Run, Answer], dict[str, Any]]] = {
    "trec-rag": rag_line,
    "ragtime": ragtime_line,
}


def lines(dataset: Dataset, form: str, run: Run, notes: Counter[str]) -> Iterator[str]:
    """Yield the answer lines of a system, one per topic in topic order; count notes on flaws.

    Raises ExportError for a system without reports, and for a topic of which it has two.
    """
    reports = dataset.texts.filter(kind=Text.Kind.REPORT, system=run.system)
    ordered = reports.exclude(topic=None).order_by("topic__position", "pk")
    if not ordered.exists():
        systems = dataset.texts.filter(kind=Text.Kind.REPORT).order_by("system")
        names = ", ".join(systems.values_list("system", flat=True).distinct())
        raise ExportError(f"--system must be one of: {names or 'there is none'}")
    n_of = Counter(ordered.values_list("topic__name", flat=True))
    if twice := next((name for name, n in n_of.items() if n > 1), None):
        raise ExportError(f"{run.system} has {n_of[twice]} reports of {twice}; a run has one")
    return _lines(with_citations(ordered, with_bodies=False), form, run, notes)


def _lines(reports: Any, form: str, run: Run, notes: Counter[str]) -> Iterator[str]:
    for report in reports:
        if report.body is None:
            notes["reports without words, left out"] += 1
            continue
        report_answer = answer(report)
        notes["citations of nothing, left out"] += report_answer.n_wrong
        if form == "trec-rag":
            notes[f"answers of more than {MAX_WORDS} words"] += report_answer.n_words > MAX_WORDS
            exceeds = len(report_answer.references) > MAX_REFERENCES
            notes[f"answers of more than {MAX_REFERENCES} references"] += exceeds
        yield json_line(LINES[form](run, report_answer))
