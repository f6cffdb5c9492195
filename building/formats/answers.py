"""Reports as answers that tracks of TREC take: TREC RAG 2025, and RAGTIME with NeuCLIR.

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

MOST_WORDS, MOST_REFERENCES = 400, 100
AUTOMATIC, MANUAL = "automatic", "manual"
TYPES = (AUTOMATIC, MANUAL)


@dataclass(frozen=True)
class Run:
    """Whose answers they are, as the first part of each line says it."""

    system: str
    team: str
    kind: str = AUTOMATIC


@dataclass(frozen=True)
class Answer:
    """A report in statements, each with the names of what it cites. `n_wrong` citations are of nothing."""

    report: Text
    statements: tuple[tuple[str, tuple[str, ...]], ...]
    n_wrong: int

    @property
    def references(self) -> list[str]:
        """What it cites, each text once, in the order of the first citation."""
        return list(dict.fromkeys(name for _, cited in self.statements for name in cited))

    @property
    def n_words(self) -> int:
        return sum(n_words(words) for words, _ in self.statements)


def answer(report: Text) -> Answer:
    """A report that has words, in statements.

    The words between those that cite are parted into sentences. They are parted again once a space stands
    between them, as there will be when the line is read: so the next export of it is the same.
    """
    statements: list[tuple[str, tuple[str, ...]]] = []
    between: list[str] = []
    n_wrong = 0

    def flush() -> None:
        statements.extend((words, ()) for words in texts(" ".join(between)))
        between.clear()

    for statement in statements_of(report):
        words = statement.words.strip()
        cited = [each.cited.name for each in statement.citations if each.cited]
        n_wrong += len(statement.citations) - len(cited)
        if words and cited:
            flush()
            statements.append((words, tuple(dict.fromkeys(cited))))
        elif words:
            between.append(words)
    flush()
    return Answer(report, tuple(statements), n_wrong)


def rag_line(run: Run, each: Answer) -> dict[str, Any]:
    """A line of TREC RAG 2025, its citations the places of the references."""
    topic, references = each.report.topic, each.references
    assert topic is not None
    place = {name: number for number, name in enumerate(references)}
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
            {"text": words, "citations": [place[name] for name in cited]}
            for words, cited in each.statements
        ],
    }


def ragtime_line(run: Run, each: Answer) -> dict[str, Any]:
    """A line of RAGTIME and NeuCLIR, its citations by name."""
    assert each.report.topic is not None
    return {
        "metadata": {
            "team_id": run.team,
            "run_id": run.system,
            "topic_id": each.report.topic.name,
        },
        "responses": [
            {"text": words, "citations": list(cited)} for words, cited in each.statements
        ],
        "references": each.references,
    }


LINES: Mapping[str, Callable[[Run, Answer], dict[str, Any]]] = {
    "trec-rag": rag_line,
    "ragtime": ragtime_line,
}


def lines(dataset: Dataset, form: str, run: Run, notes: Counter[str]) -> Iterator[str]:
    """The answers of a system, one of each topic, in the order of topics; notes on what is not as it should be.

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
    return _lines(with_citations(ordered, with_words=False), form, run, notes)


def _lines(reports: Any, form: str, run: Run, notes: Counter[str]) -> Iterator[str]:
    for report in reports:
        if report.body is None:
            notes["reports without words, left out"] += 1
            continue
        each = answer(report)
        notes["citations of nothing, left out"] += each.n_wrong
        if form == "trec-rag":
            notes[f"answers of more than {MOST_WORDS} words"] += each.n_words > MOST_WORDS
            over = len(each.references) > MOST_REFERENCES
            notes[f"answers of more than {MOST_REFERENCES} references"] += over
        yield json_line(LINES[form](run, each))
