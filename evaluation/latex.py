"""LaTeX of tables of results, for a document that uses the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from annotation.decimals import decimals
from evaluation.latex_text import code_points, escape
from evaluation.stats.estimate import Estimate

MAX_ROWS = 1000
"""Rows of the longest table in LaTeX."""
ROWS_OF_A_PAGE = 40  # a longer table is a longtable, which breaks over pages
CHARACTERS_OF_A_COLUMN = 42  # about as many fit into one of two columns of a page
LONGEST_LINE = 30  # a column with longer text breaks its lines

_MARKUP = re.compile(r"\\[a-zA-Z]+|[{}$\\]")

Cell = Estimate | str | int | float | None


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
    are left out. A table too wide for a column takes the width of the page, and is scaled down to it.
    `source` is the origin of the table, for a comment.
    """
    notes: dict[str, str] = {}
    columns = [_printed(column, notes) for column in _columns(header, rows)]
    below = [f"{superscript(letter)}~{escape(reason)}." for reason, letter in notes.items()]
    if any(isinstance(cell, Estimate) and cell.low is not None for row in rows for cell in row):
        below.insert(0, "In brackets: 95\\% intervals.")
    content = _Content(
        columns="".join(column.alignment for column in columns),
        titles=" & ".join(escape(column.title) for column in columns) + r" \\",
        lines=[_line(cells) for cells in zip(*(column.cells for column in columns), strict=True)],
        below=[f"  {note}\\par" for note in below],
        caption=f"\\caption{{{escape(caption)}.}}",
        label=f"\\label{{tab:{''.join(sign if sign.isascii() and sign.isalnum() else '-' for sign in label)}}}",
    )
    if len(rows) > ROWS_OF_A_PAGE:
        typeset = _longtable(content)
    else:
        typeset = table_float(
            content.caption,
            content.label,
            _tabular(content),
            content.below,
            width=sum(column.width + 2 for column in columns),
        )
    comments = [f"% {' '.join(source.split())}", *code_points("\n".join(typeset))]
    return "\n".join([*comments, *typeset, ""])


def table_float(
    caption: str, label: str, tabular: Sequence[str], below: Sequence[str], *, width: int
) -> list[str]:
    """Return the lines of a float with notes below, by the characters of the tabular's width.

    Where it does not fit into a column, it takes the width of the page, scaled down if need be.
    """
    star = "*" if width > CHARACTERS_OF_A_COLUMN else ""
    if star:
        shrink = "  \\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%"
        tabular = [shrink, *tabular[:-1], f"{tabular[-1]}}}"]
    return [
        f"% Needs \\usepackage{{booktabs{',graphicx' if star else ''}}}.",
        f"\\begin{{table{star}}}[t]",
        "  \\centering\\small",
        *(f"  {caption}", f"  {label}"),
        *tabular,
        *(["  \\par\\smallskip\\footnotesize\\raggedright"] if below else []),
        *below,
        f"\\end{{table{star}}}",
    ]


def printed_width(latex: str) -> int:
    """Return about the number of characters that a line of LaTeX prints."""
    return len(_MARKUP.sub("", latex))


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

    @property
    def breaks_lines(self) -> bool:
        """Return whether the column has long text of short words."""
        is_long = any(len(cell) > LONGEST_LINE for cell in self.cells)
        parts = [part for cell in self.cells for part in cell.split()]
        return not self.is_number and is_long and max(map(len, parts)) <= LONGEST_LINE / 2

    @property
    def width(self) -> int:
        """Number of characters of the longest line, about."""
        if self.breaks_lines:
            return LONGEST_LINE
        return max(map(printed_width, (self.title, *self.cells)))

    @property
    def alignment(self) -> str:
        """Column of `tabular`; two characters are about as wide as an em."""
        if self.breaks_lines:
            return f"p{{{LONGEST_LINE // 2}em}}"
        return "r" if self.is_number else "l"


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


def _tabular(content: _Content) -> list[str]:
    return [
        f"  \\begin{{tabular}}{{{content.columns}}}",
        *("    \\toprule", f"    {content.titles}", "    \\midrule"),
        *content.lines,
        *("    \\bottomrule", "  \\end{tabular}"),
    ]


def _longtable(content: _Content) -> list[str]:
    head = ["    \\toprule", f"    {content.titles}", "    \\midrule"]
    below = ["{\\footnotesize\\raggedright", *content.below, "}"] if content.below else []
    return [
        "% Needs \\usepackage{booktabs,longtable}. In a document of two columns it has its own pages.",
        "\\makeatletter",
        "\\if@twocolumn\\onecolumn\\let\\columnsafter\\twocolumn\\else\\let\\columnsafter\\relax\\fi",
        "\\makeatother",
        f"{{\\small\\begin{{longtable}}{{{content.columns}}}",
        f"  {content.caption}{content.label}\\\\",
        *(*head, "    \\endfirsthead", *head, "    \\endhead"),
        *content.lines,
        *("    \\bottomrule", "\\end{longtable}}"),
        *below,
        "\\columnsafter\\relax",
    ]
