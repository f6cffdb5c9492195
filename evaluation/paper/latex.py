"""A table as LaTeX, for a document that uses the package booktabs."""

from __future__ import annotations

import math
from collections.abc import Iterable

from evaluation.paper.sheet import Cell, Line, Sheet

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


def escape(words: str) -> str:
    """Words as LaTeX text, on one line: what LaTeX takes for its own is shown as it stands."""
    return " ".join(words.split()).translate(_ESCAPES)


def latex(sheet: Sheet, *, intervals: bool = False) -> str:
    r"""The table as a float that `\input` takes, ending with a line end.

    `intervals` prints each 95% interval behind its value: half its width, or both ends where it is
    not symmetric. The greatest ranked
    value of a column is bold and the least underlined, ties with them, as they are printed. An
    undefined value is a dash with the letter of the footnote that says why.
    """
    notes = sheet.footnotes()
    wide = "*" if len(sheet.columns) > 7 else ""
    body = [
        "% Needs \\usepackage{booktabs}.",
        f"\\begin{{table{wide}}}[t]",
        "  \\centering\\small",
        f"  \\caption{{{escape(sheet.caption)}}}",
        f"  \\label{{tab:{sheet.label}}}",
        f"  \\begin{{tabular}}{{l{'r' * len(sheet.columns)}}}",
        "    \\toprule",
        *_heads(sheet),
    ]
    for block in sheet.blocks:
        body.append("    \\midrule")
        body += [f"    {_row(sheet, line, notes, intervals)}" for line in block.lines]
    body += ["    \\bottomrule", "  \\end{tabular}"]
    below = [f"\\textsuperscript{{{letter}}}~{escape(why)}." for why, letter in notes.items()]
    below += [escape(note) for note in sheet.notes]
    if below:
        body.append("  \\par\\smallskip\\footnotesize\\raggedright")
        body += [f"  {note}\\par" for note in below]
    return "\n".join([*body, f"\\end{{table{wide}}}", ""])


def latex_figure(label: str, caption: str, *, wide: bool = False) -> str:
    r"""The float of a figure that lies beside it as `LABEL.png`, for `\input`."""
    star = "*" if wide else ""
    lines = (
        "% Needs \\usepackage{graphicx}.",
        f"\\begin{{figure{star}}}[t]",
        "  \\centering",
        f"  \\includegraphics[width=\\{'textwidth' if wide else 'columnwidth'}]{{{label}.png}}",
        f"  \\caption{{{escape(caption)}}}",
        f"  \\label{{fig:{label}}}",
        f"\\end{{figure{star}}}",
    )
    return "\n".join([*lines, ""])


def _heads(sheet: Sheet) -> Iterable[str]:
    if sheet.groups:
        spans, rules, first = [""], [], 2
        for group, width in sheet.groups:
            spans.append(
                f"\\multicolumn{{{width}}}{{c}}{{{escape(group)}}}" if group else "&" * (width - 1)
            )
            if group:
                rules.append(f"\\cmidrule(lr){{{first}-{first + width - 1}}}")
            first += width
        yield f"    {' & '.join(spans).strip()} \\\\"
        yield f"    {' '.join(rules)}"
    yield f"    {' & '.join([escape(sheet.stub), *(c.latex for c in sheet.columns)])} \\\\"


def _row(sheet: Sheet, line: Line, notes: dict[str, str], intervals: bool) -> str:
    # After the end of a row LaTeX takes a bracket or a star for its own.
    guard = "{}" if line.name.startswith(("[", "*")) else ""
    name = guard + escape(line.name) + (_mark(notes[line.note]) if line.note else "")
    cells = (
        _cell(cell, notes, intervals, sheet.extreme(line, column))
        for column, cell in enumerate(line.cells)
    )
    return f"{' & '.join([name, *cells])} \\\\"


def _cell(cell: Cell | None, notes: dict[str, str], intervals: bool, extreme: str | None) -> str:
    if cell is None:
        return ""
    if cell.number is None:
        return f"--{_mark(notes[cell.estimate.reason or ''])}"
    shown = _signed(cell.number)
    if extreme:
        shown = f"\\{'textbf' if extreme == 'greatest' else 'underline'}{{{shown}}}"
    return f"{shown} {_interval(cell)}".rstrip() if intervals else shown


def _interval(cell: Cell) -> str:
    """Half its width, where the value stands in its middle, else both ends."""
    value, low, high = cell.estimate.value, cell.estimate.low, cell.estimate.high
    if value is None or low is None or high is None:
        return ""
    if math.isclose(value - low, high - value, rel_tol=1e-6, abs_tol=1e-9):
        return f"$\\pm$ {cell.style.number((high - low) / 2)}"
    return f"[{_signed(cell.style.number(low))}, {_signed(cell.style.number(high))}]"


def _signed(number: str) -> str:
    return number.replace("-", "$-$")


def _mark(letter: str) -> str:
    return f"\\textsuperscript{{{letter}}}"
