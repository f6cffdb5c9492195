"""What is wrong with a file, said so that its owner can find the place."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotation.importers.summary import ImportSummary

LIMIT = 20  # a file that is wrong throughout says the same thing a thousand times


@dataclass(frozen=True)
class Problem:
    """One error: where it is, and what was expected there. Line 0: the file as a whole."""

    file: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return ": ".join(part for part in (place, self.field, self.message) if part)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class ImportFailed(Exception):
    """Nothing was imported; `problems` says why, and `summary` how far the reading came."""

    def __init__(self, problems: list[Problem], summary: "ImportSummary | None" = None) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems
        self.summary = summary


def shown(value: object, length: int = 60) -> str:
    """A value of a file inside a message: short, and with odd characters escaped."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= length else f"{text[:length]}..."
