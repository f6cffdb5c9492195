"""LaTeX of tables of results, for a document that uses the package booktabs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from annotation.decimals import decimals
from evaluation.stats.estimate import Estimate

MAX_ROWS = 1000
"""Rows of the longest table in LaTeX."""
ROWS_OF_A_PAGE = 40  # a longer table is a longtable, which breaks over pages
WIDE = 7  # columns of the widest table in one column of a page

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': "''",
        "“": "``",
        "”": "''",
        "–": "--",
        "α": r"$\alpha$",
        "η": r"$\eta$",
        "ρ": r"$\rho$",
        "τ": r"$\tau$",
        "±": r"$\pm$",
    }
)

Cell = Estimate | str | int | float | None


def escape(text: str) -> str:
    """Return text escaped for LaTeX, on one line."""
    return " ".join(text.split()).translate(_ESCAPES)


def signed(number: str) -> str:
    """Return a number with a minus sign in place of the hyphen."""
    return number.replace("-", "$-$")


def superscript(letter: str) -> str:
    return f"\\textsuperscript{{{letter}}}"


def footnote_letter(index: int) -> str:
    """Return a to z, then aa, ab and so on."""
    turn, letter = divmod(index, len(ascii_lowercase))
    return (footnote_letter(turn - 1) if turn else "") + ascii_lowercase[letter]


def latex_table(
    header: Sequence[str], rows: Sequence[Sequence[Cell]], *, label: str, caption: str, source: str
) -> str:
    r"""Return a table that `\input` takes: a float, or a longtable of over 40 rows.

    Estimates are printed with two decimals and their interval, p values with three. An undefined
    value is a dash with the letter of the footnote that gives the reason; columns without a value
    are left out. `source` is the address of the table, for a comment.
    """
    notes: dict[str, str] = {}
    columns = [_printed(column, notes) for column in _columns(header, rows)]
    below = [f"{superscript(letter)}~{escape(reason)}." for reason, letter in notes.items()]
    if any(isinstance(cell, Estimate) and cell.low is not None for row in rows for cell in row):
        below.insert(0, "In brackets: 95\\% intervals.")
    content = _Content(
        columns="".join("r" if column.is_number else "l" for column in columns),
        titles=" & ".join(escape(column.title) for column in columns) + r" \\",
        lines=[_line(cells) for cells in zip(*(column.cells for column in columns), strict=True)],
        below=[f"  {note}\\par" for note in below],
        caption=f"\\caption{{{escape(caption)}.}}",
        label=f"\\label{{tab:{''.join(sign if sign.isalnum() else '-' for sign in label)}}}",
    )
    typeset = _longtable(content) if len(rows) > ROWS_OF_A_PAGE else _float(content, len(columns))
    return "\n".join([f"% {' '.join(source.split())}", *typeset, ""])


@dataclass(frozen=True)
class _Column:
    """Column of a result table, with the reasons of its undefined values, row by row."""

    title: str
    cells: Sequence[Cell]
    reasons: Sequence[Cell]


@dataclass(frozen=True)
class _PrintedColumn:
    title: str
    cells: Sequence[str]
    is_number: bool


@dataclass(frozen=True)
class _Content:
    """Parts of a table in LaTeX, without the environment around them."""

    columns: str
    titles: str
    lines: Sequence[str]
    below: Sequence[str]
    caption: str
    label: str


def _columns(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Iterator[_Column]:
    """Yield the columns with a value; those of reasons go with the columns that they explain."""
    by_name = {name: [row[index] for row in rows] for index, name in enumerate(header)}
    for name, cells in by_name.items():
        if name == "reason" or name.removesuffix("_reason") in by_name.keys() - {name}:
            continue
        reasons = by_name.get(f"{name}_reason") or by_name.get("reason") or [None] * len(rows)
        if not rows or any(cell is not None for cell in (*cells, *reasons)):
            yield _Column(name.replace("_", " ") or "value", cells, reasons)


def _printed(column: _Column, notes: dict[str, str]) -> _PrintedColumn:
    """Return a column as LaTeX. Its footnotes are added to `notes`, by reason."""
    defined = [cell for cell in column.cells if cell is not None]
    is_number = bool(defined) and not any(isinstance(cell, str | bool) for cell in defined)
    decimal_places = 0 if all(_is_whole(cell) for cell in defined) else 2
    if "p" in column.title.split():
        decimal_places = 3
    cells = []
    for cell, reason in zip(column.cells, column.reasons, strict=True):
        if cell is None and isinstance(reason, str) and (is_number or not defined):
            cells.append(_undefined(reason, notes))
        elif isinstance(cell, Estimate):
            cells.append(_estimate(cell, notes))
        else:
            cells.append(_cell(cell, decimal_places))
    return _PrintedColumn(column.title, cells, is_number or not defined)


def _is_whole(cell: Cell) -> bool:
    return isinstance(cell, int) or (isinstance(cell, float) and cell.is_integer())


def _line(cells: Sequence[str]) -> str:
    # After the end of a row LaTeX reads a bracket or a star as an option.
    guard = "{}" if cells and cells[0].startswith(("[", "*")) else ""
    return f"    {guard}{' & '.join(cells)} \\\\"


def _cell(cell: str | int | float | None, decimal_places: int) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, str):
        return escape(cell)
    if isinstance(cell, float) and decimal_places == 3 and 0 <= cell < 0.0005:
        return "$<$0.001"
    return signed(str(cell) if isinstance(cell, int) else decimals(cell, decimal_places))


def _estimate(estimate: Estimate, notes: dict[str, str]) -> str:
    if estimate.value is None:
        return _undefined(estimate.reason or "", notes)
    number = signed(decimals(estimate.value))
    if estimate.low is None or estimate.high is None:
        return number
    return f"{number} [{signed(decimals(estimate.low))}, {signed(decimals(estimate.high))}]"


def _undefined(reason: str, notes: dict[str, str]) -> str:
    return (
        f"--{superscript(notes.setdefault(reason.removesuffix('.'), footnote_letter(len(notes))))}"
    )


def _float(content: _Content, n_columns: int) -> list[str]:
    star, size = ("*", "scriptsize") if n_columns > WIDE else ("", "small")
    below = [*(["  \\par\\smallskip\\footnotesize\\raggedright"] if content.below else [])]
    return [
        "% Needs \\usepackage{booktabs}.",
        f"\\begin{{table{star}}}[t]",
        f"  \\centering\\{size}",
        *(f"  {content.caption}", f"  {content.label}"),
        f"  \\begin{{tabular}}{{{content.columns}}}",
        *("    \\toprule", f"    {content.titles}", "    \\midrule"),
        *content.lines,
        *("    \\bottomrule", "  \\end{tabular}"),
        *(*below, *content.below),
        f"\\end{{table{star}}}",
    ]


def _longtable(content: _Content) -> list[str]:
    head = ["    \\toprule", f"    {content.titles}", "    \\midrule"]
    below = ["{\\footnotesize\\raggedright", *content.below, "}"] if content.below else []
    return [
        "% Needs \\usepackage{booktabs,longtable}, and a document of one column.",
        f"{{\\small\\begin{{longtable}}{{{content.columns}}}",
        f"  {content.caption}{content.label}\\\\",
        *(*head, "    \\endfirsthead", *head, "    \\endhead"),
        *content.lines,
        *("    \\bottomrule", "\\end{longtable}}"),
        *below,
    ]
