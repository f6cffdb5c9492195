"""LaTeX output of tables, for a document that uses the package booktabs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import chain

from evaluation.latex import printed_width, signed, superscript, table_float
from evaluation.latex_text import code_points, escape
from evaluation.replications.crux_paper.table_layout import Cell, Line, PaperTable


def latex(table: PaperTable, *, intervals: bool = False) -> str:
    r"""Return the table as a float that `\input` takes, ending with a newline.

    `intervals` prints each 95% interval behind its value: half its width, or both ends where it is
    not symmetric. The greatest ranked
    value of a column is bold and the least underlined, ties with them, as they are printed. An
    undefined value is a dash with the letter of the footnote that gives the reason.
    """
    notes = table.footnotes()
    heads = list(_heads(table))
    rows = [[_row(table, line, notes, intervals) for line in block.lines] for block in table.blocks]
    tabular = [
        f"  \\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        *("    \\toprule", *heads),
        *chain.from_iterable(
            ["    \\midrule", *(f"    {_joined(row)}" for row in block)] for block in rows
        ),
        *("    \\bottomrule", "  \\end{tabular}"),
    ]
    below = [f"{superscript(letter)}~{escape(reason)}." for reason, letter in notes.items()]
    below += [escape(note) for note in table.notes]
    cells = [_titles(table), *chain.from_iterable(rows)]
    lines = table_float(
        f"\\caption{{{escape(table.caption)}}}",
        f"\\label{{tab:{table.label}}}",
        tabular,
        [f"  {note}\\par" for note in below],
        width=sum(max(map(printed_width, column)) + 2 for column in zip(*cells, strict=True)),
    )
    return "\n".join([*code_points("\n".join(lines)), *lines, ""])


def latex_figure(label: str, caption: str, *, wide: bool = False) -> str:
    r"""Return the float of a figure that lies beside it as `LABEL.pdf`, for `\input`."""
    star = "*" if wide else ""
    lines = (
        "% Needs \\usepackage{graphicx}.",
        f"\\begin{{figure{star}}}[t]",
        "  \\centering",
        f"  \\includegraphics[width=\\{'textwidth' if wide else 'columnwidth'}]{{{label}.pdf}}",
        f"  \\caption{{{escape(caption)}}}",
        f"  \\label{{fig:{label}}}",
        f"\\end{{figure{star}}}",
    )
    return "\n".join([*code_points("\n".join(lines)), *lines, ""])


def _heads(table: PaperTable) -> Iterable[str]:
    if table.groups:
        spans, rules, first = [""], [], 2
        for group, width in table.groups:
            spans.append(
                f"\\multicolumn{{{width}}}{{c}}{{{escape(group)}}}" if group else "&" * (width - 1)
            )
            if group:
                rules.append(f"\\cmidrule(lr){{{first}-{first + width - 1}}}")
            first += width
        yield f"    {' & '.join(spans).strip()} \\\\"
        yield f"    {' '.join(rules)}"
    yield f"    {_joined(_titles(table))}"


def _titles(table: PaperTable) -> list[str]:
    return [escape(table.stub), *(column.latex for column in table.columns)]


def _row(table: PaperTable, line: Line, notes: dict[str, str], intervals: bool) -> list[str]:
    # After the end of a row LaTeX reads a bracket or a star as an option.
    guard = "{}" if line.name.startswith(("[", "*")) else ""
    name = guard + escape(line.name) + (superscript(notes[line.note]) if line.note else "")
    cells = (
        _cell(cell, notes, intervals, table.extreme(line, column))
        for column, cell in enumerate(line.cells)
    )
    return [name, *cells]


def _joined(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _cell(cell: Cell | None, notes: dict[str, str], intervals: bool, extreme: str | None) -> str:
    if cell is None:
        return ""
    if cell.number is None:
        return f"--{superscript(notes[cell.estimate.reason or ''])}"
    number = signed(cell.number)
    if extreme:
        number = f"\\{'textbf' if extreme == 'greatest' else 'underline'}{{{number}}}"
    return f"{number} {_interval(cell)}".rstrip() if intervals else number


def _interval(cell: Cell) -> str:
    """Return half the interval's width, where it is symmetric about the value, else both ends."""
    value, low, high = cell.estimate.value, cell.estimate.low, cell.estimate.high
    if value is None or low is None or high is None:
        return ""
    if math.isclose(value - low, high - value, rel_tol=1e-6, abs_tol=1e-9):
        return f"$\\pm$ {cell.style.number((high - low) / 2)}"
    return f"[{signed(cell.style.number(low))}, {signed(cell.style.number(high))}]"
