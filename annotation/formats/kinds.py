"""Kinds of our own files: patterns of names, and keys of lines. No Django here."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """Kind of a file; the value is the pattern of its name for people."""

    RUBRICS = "rubrics.jsonl"
    RATERS = "raters.jsonl"
    TOPICS = "topics.jsonl"
    SUBQUESTIONS = "subquestions.jsonl"
    PASSAGES = "passages*.jsonl"
    DOCUMENTS = "documents*/ (one file for each passage)"
    WHOLE_DOCUMENTS = "documents*.jsonl"
    REFERENCES = "references.jsonl"
    REPORTS_ANNOTATED = "reports_annotated.jsonl"
    REPORTS_ALL = "reports_all.<system>.jsonl"
    RUN = "runs/<run>.run"
    QLABELS = "annotations/<rater>.qlabels.jsonl"
    QRELS = "annotations/<rater>.qrels.jsonl"
    HISTORY_QLABELS = "annotations/history/<rater>.qlabels.*.jsonl"
    HISTORY_QRELS = "annotations/history/<rater>.qrels.*.jsonl"
    JUDGEMENTS = "judgements/<judge>.judgements.jsonl"
    REFERENCE = "judgements/<judge>.reference.jsonl"
    RATINGS = "ratings*.jsonl"
    COPIED_GRADES = "copied_grades.jsonl"
    EXPOSURES = "exposures.jsonl"
    SYSTEMS = "systems.jsonl"
    VALUES = "values*.jsonl"
    ORIGINS = "origins.jsonl"
    WRITERS = "writers.jsonl"
    WRITTEN = "written.jsonl"
    TEXT_HISTORY = "text_history.jsonl"
    NOTES = "notes.jsonl"
    # Not files of this layout: of annotation.formats.foreign, tables and forms.
    CITED = "reports_cited.jsonl"
    GRADES = "qrels"
    ADDED_QUESTIONS = "questions added to their topics"


@dataclass(frozen=True)
class _Keys:
    """Keys of a line: required ones, each with its other names, and what further keys may be.

    `optional` are all further keys that a line may have; None: any but `never`.
    """

    required: tuple[frozenset[str], ...]
    optional: frozenset[str] | None = None
    never: frozenset[str] = frozenset()

    def match(self, keys: frozenset[str]) -> bool:
        if not all(names & keys for names in self.required) or self.never & keys:
            return False
        shape = frozenset().union(*self.required, self.optional or ())
        return self.optional is None or keys <= shape


def _keys(required: str, optional: str | None = None, never: str = "") -> _Keys:
    """Return the keys of a line, from names separated by blanks, and by | where one is enough."""
    return _Keys(
        tuple(frozenset(names.split("|")) for names in required.split()),
        None if optional is None else frozenset(optional.split()),
        frozenset(never.split()),
    )


_TEXTS = _keys("id contents")
_REPORTS = _keys("qid topic questions response")
_RATINGS_OF_A_JUDGE = _keys("example_id|id pid|docid rating")
KEYS: dict[Kind, _Keys] = {
    Kind.RUBRICS: _keys("slug title guideline levels"),
    Kind.RATERS: _keys("name kind", optional="adjudicator first_rating judge"),
    Kind.TOPICS: _keys("id request"),
    Kind.SUBQUESTIONS: _keys("id subquestions"),
    Kind.PASSAGES: _TEXTS,
    Kind.WHOLE_DOCUMENTS: _keys("id contents", never="document start end"),
    Kind.REFERENCES: _keys("id contents", never="document start end"),
    Kind.REPORTS_ANNOTATED: _REPORTS,
    Kind.REPORTS_ALL: _REPORTS,
    Kind.CITED: _keys("topic system body statements"),
    Kind.QLABELS: _keys("id question_based_nugget answerability"),
    Kind.QRELS: _keys("id document relevances"),
    Kind.JUDGEMENTS: _RATINGS_OF_A_JUDGE,
    Kind.REFERENCE: _RATINGS_OF_A_JUDGE,
    Kind.RATINGS: _keys("rater rater_kind|kind rubric text grade"),
    Kind.COPIED_GRADES: _keys("rater rubric topic question_index text copied_from", never="grade"),
    Kind.EXPOSURES: _keys("rater rubric exposure", never="grade"),
    Kind.SYSTEMS: _keys("system settings", optional=""),
    Kind.VALUES: _keys("topic system measure value"),
    Kind.ORIGINS: _keys("run recipe fingerprint origin"),
    Kind.WRITERS: _keys("writer task backend model revision system prompt sampling fingerprint"),
    Kind.WRITTEN: _keys("writer topic document run message sample left_out inputs draft products"),
    Kind.TEXT_HISTORY: _keys("number body counts replaced"),
    Kind.NOTES: _keys("topic question_index text by note"),
}


def kinds_of(lines: Iterable[frozenset[str]]) -> list[Kind]:
    """Return the kinds that the keys of most of these lines fit; several where they are alike."""
    lines = list(lines)
    n_of = Counter({kind: sum(keys.match(line) for line in lines) for kind, keys in KEYS.items()})
    maximum = max(n_of.values())
    return [kind for kind in KEYS if n_of[kind] == maximum] if 2 * maximum > len(lines) else []
