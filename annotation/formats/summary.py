"""Summary of an import, and problems of its files: for pages, terminals, programs."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from annotation.errors import UserError
from annotation.formats.left_out_rows import LeftOutRow, rows_of
from annotation.plurals import n_of

LIMIT = 20  # a file that is wrong throughout says the same thing a thousand times


@dataclass(frozen=True)
class Problem:
    """An error: its position, and what was expected there. Line 0: the file as a whole."""

    file: str
    line: int
    field: str
    message: str
    where: str = ""
    """The item, and the ids of a tool: "item 3, task 7, annotation 70, person 4"."""

    def __str__(self) -> str:
        position = f"{self.file}:{self.line}" if self.line else self.file
        return ": ".join(part for part in (position, self.where, self.field, self.message) if part)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class DatasetImportError(UserError):
    """Failed import without effect; `problems` are the errors, `summary` the progress."""

    def __init__(self, problems: list[Problem], summary: "ImportSummary | None" = None) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems
        self.summary = summary


def quoted_value(value: object, length: int = 60) -> str:
    """Return a value of a file for a message: short, and with odd characters escaped."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= length else f"{text[:length]}..."


MAX_LISTED = 20  # conflicts and differences that are told one by one; the others are counted


class Conversion(StrEnum):
    """Conversions from a file's conventions to ours, with their labels."""

    STRIPPED = "questions with white space at their ends, shown without it"
    EMPTY_QUESTIONS = "questions without words, kept in their place, filtered"
    FILTERED = "questions that are null in annotated reports, now filtered"
    UNJUDGED = "-1, unjudged: no row"
    MINUS_TWO = "-2, filtered: no row"
    NA_KEYS = '"NA" keys of filtered questions, left out'
    NO_RATING = "null ratings of a judge: no row"
    NO_GRADE = "-1 ratings of a judge, whose reply was no grade: no row"
    KEPT_FILTERED = "grades of filtered questions by people, kept"
    KEPT_JUDGED = "grades of filtered questions by judges, kept"
    NO_HIGHLIGHT = "answerable without a highlight, kept"
    UNGRADED_WORDS = "highlights without a grade, left out"
    NOT_HANDED_IN = "answers that were skipped, discarded or left as drafts in a tool: no row"
    NO_GRADES = "answers in a tool that are no grades: no row"
    NO_PAIR = "instances in a tool that are no pair: no row"
    NO_ACCOUNT = "annotations of no account: no row"
    NO_MODEL = "predictions without a model: no row"
    NO_AGENT = "suggestions without an agent: no row"
    WRONG = "answers in a tool that have an error: no row"
    UNSOUND = "rows of other tools' files that have an error: left out"
    EMPTY_PASSAGE = "passages without words: no text"
    TWICE = "answers in a tool to a pair that the same person graded otherwise: no row"
    NUMBER_ALONE = "predictions of which a tool's export has the number alone: no row"
    MOVED = "spans whose words are not where their file says: looked for in the text"
    NOWHERE = "spans whose words are not in the text: kept without a place"
    OTHER_TYPE = "annotated reports whose type is unlike their name: the name counts"
    RELOCATED = "highlights found once their text had come"
    COMMENTS = "comments above the first line of a file: not read"
    REPEATED = "lines that say again what an earlier line said"
    EARLIER = "questions named by their earlier words: read as those of now"
    BEFORE_CHANGE = "texts and questions in the words from before a change: those of now stay"
    JUDGE_NOT_LINKED = (
        "judges whose name or definition is in use here: their grades came without it"
    )
    RUN_BY_SCORE = (
        "topics of runs whose lines are not in the order of their scores: ranked by score, "
        "unless you choose the order of lines"
    )
    RUN_BY_LINE = (
        "topics of runs whose lines are not in the order of their scores: ranked by line, "
        "unless you choose the order of scores"
    )
    INDEXES_AS_STRINGS = "places written as words in citations: read as places in the references"
    CITES_NOTHING = "citations of places outside the references: kept without a text"
    TITLE_KEPT = "another title for a dataset that has one: it keeps its own"


REMEDIES = {
    Conversion.NO_ACCOUNT: (
        "Export the file with the accounts of the annotators, or write each person's name into it"
    ),
    Conversion.NO_MODEL: "Write the name of the model into model_version",
    Conversion.NO_AGENT: "Write the name of the model into agent",
    Conversion.NUMBER_ALONE: "Export a snapshot, which has predictions in full",
    Conversion.NOT_HANDED_IN: "Submit the answers in the tool, and export again",
    Conversion.NO_GRADES: "Name the question of the grade like a rubric, with grades as digits",
    Conversion.UNGRADED_WORDS: "Grade the pair under the rubric that the highlights name",
    Conversion.TWICE: "Choose the newest of several answers (--repeated newest), or remove one",
}
"""What to do where no answer of a tool's file becomes a grade, by the label of what is left out."""


@dataclass
class FileSummary:
    """Counts of one file: its lines, and the outcomes of its rows.

    Rows are topics, sub-questions, texts, ranked texts and ratings. Filled: a stored text that had
    no body, or a ranked text without its score.
    """

    name: str
    read: int = 0
    created: int = 0
    unchanged: int = 0
    filled: int = 0
    conflicts: int = 0


@dataclass
class TextEditCount:
    """Counts of text edits and their effects. Lost spans are listed for manual placement."""

    texts: int = 0
    questions: int = 0
    grades: int = 0
    spans: int = 0
    lost_spans: int = 0
    lost_citations: int = 0

    @property
    def n(self) -> int:
        return self.texts + self.questions


@dataclass
class LocatedCount:
    """Counts of the highlights of one file by their match in the texts.

    `none` counts the grades that require a highlight and came without one.
    """

    file: str
    rater: str
    rubric: str
    exact: int = 0
    normalised: int = 0
    unlocated: int = 0
    none: int = 0


@dataclass(frozen=True)
class Conflict:
    """A pair with another grade stored for the rater. The stored one stays."""

    file: str
    line: int
    rater: str
    text: str
    question: int
    what: str  # "grade" or "highlight"
    stored: str
    other: str

    def __str__(self) -> str:
        return (
            f"{self.file}:{self.line}: {self.what} of {self.text}, question {self.question}: "
            f"stored {self.stored}, here {self.other}"
        )


@dataclass(frozen=True)
class SkippedFile:
    """A file or folder that was not read, with the reason."""

    name: str
    files: int
    why: str


@dataclass
class Replaced:
    """Rows deleted before the files were read, and rows created in their place, by label."""

    name: str
    gone: dict[str, int]
    created: dict[str, int] = field(default_factory=dict)

    @property
    def counts(self) -> list[tuple[str | int, ...]]:
        return [
            (label, self.gone.get(label, 0), self.created.get(label, 0))
            for label in {**self.gone, **self.created}
        ]

    def __str__(self) -> str:
        return f"{self.name}: {', '.join(f'{n} {label}' for label, n in self.gone.items())}"


@dataclass
class ImportSummary:
    """Effects of an import, or of its dry run.

    `totals` are the counts of the dataset afterwards. Printable (`str`) and JSON-able (`as_dict`).
    """

    dataset: str
    dry_run: bool = False
    files: list[FileSummary] = field(default_factory=list)
    created: Counter[str] = field(default_factory=Counter)
    mapped: Counter[str] = field(default_factory=Counter)
    located: list[LocatedCount] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    n_conflicts: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    n_differences: int = 0
    new_words: TextEditCount = field(default_factory=TextEditCount)
    left_out: list[SkippedFile] = field(default_factory=list)
    left_out_rows: list[LeftOutRow] = field(default_factory=list)
    errors: list[Problem] = field(default_factory=list)
    replaced: Replaced | None = None
    totals: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def changed(self) -> bool:
        """True unless everything that was read was stored already."""
        return bool(self.created) or any(file.filled for file in self.files)

    @property
    def unchanged(self) -> int:
        return sum(file.unchanged for file in self.files)

    def file(self, name: str) -> FileSummary:
        """Return the summary of a file, created at the first call."""
        for summary in reversed(self.files):
            if summary.name == name:
                return summary
        self.files.append(FileSummary(name))
        return self.files[-1]

    def conflict(self, conflict: Conflict) -> None:
        self.n_conflicts[conflict.what] += 1
        self.file(conflict.file).conflicts += 1
        if len(self.conflicts) < MAX_LISTED:
            self.conflicts.append(conflict)

    def difference(self, message: str) -> None:
        self.n_differences += 1
        if len(self.differences) < MAX_LISTED:
            self.differences.append(message)

    def as_dict(self) -> dict[str, Any]:
        """Return plain lists, dicts, strings and numbers."""
        left_out_rows = rows_of(self.left_out_rows)
        return {
            "dataset": self.dataset,
            "dry_run": self.dry_run,
            "changed": self.changed,
            "files": [vars(file) for file in self.files],
            "created": dict(self.created),
            "mapped": {str(name): n for name, n in self.mapped.items()},
            "located": [vars(count) for count in self.located],
            "conflicts": [vars(conflict) for conflict in self.conflicts],
            "n_conflicts": dict(self.n_conflicts),
            "differences": self.differences,
            "n_differences": self.n_differences,
            "new_words": vars(self.new_words),
            "left_out": [vars(skipped) for skipped in self.left_out],
            "left_out_rows": left_out_rows,
            "left_out_answers": left_out_rows,  # the name in 0.2.0
            "errors": [error.as_dict() for error in self.errors],
            "replaced": self.replaced
            and {"name": self.replaced.name, "counts": self.replaced.counts},
            "totals": self.totals,
            "seconds": round(self.seconds, 2),
        }

    def __str__(self) -> str:
        parts = [
            _table(
                ("file", "lines", "created", "unchanged", "filled", "conflicts"),
                [
                    (f.name, f.read, f.created, f.unchanged, f.filled, f.conflicts)
                    for f in self.files
                ],
            ),
            self.replaced and _table((self.replaced.name, "gone", "come"), self.replaced.counts),
            _counts("Created", self.created) or "Created: nothing",
            _counts("Text edits", _text_edits(self.new_words)),
            _counts("Mapped", self.mapped),
        ]
        if self.located:
            parts.append(
                _table(
                    ("highlights", "rubric", "exact", "normalised", "unlocated", "none"),
                    [
                        (c.file, c.rubric, c.exact, c.normalised, c.unlocated, c.none)
                        for c in self.located
                    ],
                )
            )
        if self.n_conflicts:
            title = ", ".join(n_of(n, aspect) for aspect, n in sorted(self.n_conflicts.items()))
            n = sum(self.n_conflicts.values())
            parts.append(_list(f"Conflicts, what was stored stays: {title}", self.conflicts, n))
        if self.differences:
            title = f"Contexts unlike their run: {self.n_differences}"
            parts.append(_list(title, self.differences, self.n_differences))
        if self.left_out:
            rows = [
                f"{skipped.name}{f' ({skipped.files} files)' if skipped.files > 1 else ''}: {skipped.why}"
                for skipped in self.left_out
            ]
            parts.append(_list("Left out", rows, len(rows)))
        if left_out := self.left_out_rows:
            title = f"Rows left out: {len(left_out):,}"
            parts.append(_list(title, left_out[:MAX_LISTED], len(left_out)))
        parts.append(_counts(f"Dataset {self.dataset} now holds", self.totals))
        if self.dry_run:
            parts.append("Dry run: nothing was changed.")
        return "\n\n".join(part for part in parts if part)


def _text_edits(count: TextEditCount) -> dict[str, int]:
    """Return counts of text edits by label, or {} without any."""
    if not count.n:
        return {}
    return {
        "texts": count.texts,
        "sub-questions": count.questions,
        "grades of the old wording": count.grades,
        "marked spans": count.spans,
        "spans that lose their place, to be placed by hand": count.lost_spans,
        "citations removed with their statements": count.lost_citations,
    }


def _table(head: tuple[str, ...], rows: list[tuple[str | int, ...]]) -> str:
    """Return a table with text columns aligned left, numbers right."""
    cells = [head, *(tuple(str(cell) for cell in row) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    is_text = [bool(rows) and isinstance(cell, str) for cell in (rows[0] if rows else head)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if aligns_left else cell.rjust(width)
            for cell, width, aligns_left in zip(row, widths, is_text, strict=True)
        ).rstrip()
        for row in cells
    )


def _counts(title: str, counts: dict[str, int]) -> str:
    if not counts:
        return ""
    width = max(len(f"{n}") for n in counts.values())
    return "\n".join([f"{title}:", *(f"  {n:>{width}}  {name}" for name, n in counts.items())])


def _list(title: str, rows: list[Any], n: int) -> str:
    more = [f"  and {n - len(rows)} more"] if n > len(rows) else []
    return "\n".join([f"{title}", *(f"  {row}" for row in rows), *more])
