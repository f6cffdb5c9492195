"""Tables of result pages: order, undefined values by letter, columns without a value."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import Any, NamedTuple

from django.http import QueryDict
from django.utils.html import conditional_escape, format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from evaluation.latex import footnote_letter

SORT = "sort"
"""Parameter of the order of a table: `TABLE:COLUMN`, or `TABLE:-COLUMN` from the greatest value."""
WIDTHS = {"wide": 112, "wider": 148}
"""Characters of the widest table that fits into a window of 1200 px, and of 1440 px."""
BAR = 16
"""Characters of the width of a drawn interval."""
NAME, SHORT_NAME = 32, 18
"""Characters of the longest name on one line in such a window, and on a phone."""
PHONE, PHONE_HEAD = 44, 20
"""Characters of a line on a phone, and of its first cell, which takes 42% of the screen."""
SortValue = float | str | None

_TAGS = re.compile(r"<[^>]*>")
_BESIDE_NAME = re.compile(r"<(small|span)\b[^>]*>.*?</\1>", re.DOTALL)
_JOINTS = re.compile(r"(?<=[._/])(?=[^._/])")


class Order(NamedTuple):
    """Column that orders a table, and whether the greatest value comes first."""

    column: str
    falls: bool

    @classmethod
    def parse(cls, name: str) -> Order:
        """Parse the name of a column; a minus before it reverses the order."""
        return cls(name.removeprefix("-"), name.startswith("-"))


@dataclass(frozen=True)
class PageOrder:
    """Order of a table of which a page has only a part: the view has sorted all its rows."""

    columns: Collection[str]
    order: Order | None


def requested_order(
    params: Mapping[str, str], table: str, columns: Collection[str], *, is_main: bool = False
) -> Order | None:
    """Return the order of the table in the URL; None if it names no column of the table.

    An order without the name of a table, `?sort=COLUMN`, is that of the main table of the page.
    """
    name, colon, column = params.get(SORT, "").rpartition(":")
    order = Order.parse(column)
    is_meant = name == table if colon else is_main
    return order if is_meant and order.column in columns else None


def order_rows(
    params: Mapping[str, str],
    table: str,
    rows: Iterable[Any],
    values: Mapping[str, Callable[[Any], SortValue]],
    *,
    is_main: bool = False,
) -> tuple[list[Any], PageOrder]:
    """Sort all rows of a table by the column in the URL, which is one of `values`, if any."""
    order = requested_order(params, table, values, is_main=is_main)
    rows = list(rows)
    return sort_rows(rows, order, values[order.column]) if order else rows, PageOrder(values, order)


def page_query(query: str, params: Mapping[str, str]) -> str:
    """Return the query string in front of the number of a page: the choices and the order."""
    order = urlencode({SORT: params[SORT]}) if params.get(SORT) else ""
    return "".join(f"{part}&" for part in (query, order) if part)


def sort_rows(rows: Iterable[Any], order: Order, value: Callable[[Any], SortValue]) -> list[Any]:
    """Sort rows by a value; rows without one come last in both directions."""
    keyed = [(value(row), row) for row in rows]
    defined = [pair for pair in keyed if pair[0] is not None]
    defined.sort(key=lambda pair: _sort_key(pair[0]), reverse=order.falls)
    return [row for _, row in defined] + [row for key, row in keyed if key is None]


def _sort_key(value: SortValue) -> tuple[bool, Any]:
    return isinstance(value, str), value.casefold() if isinstance(value, str) else value


def breakable(name: object) -> SafeString:
    """Return a name that breaks only behind a full stop, an underscore, a slash or a hyphen.

    A short one does not break: screen readers pause at each place where a name may break.
    """
    text = str(name)
    parts = _JOINTS.split(text) if len(text) > SHORT_NAME else [text]
    return SafeString("<wbr>".join(map(conditional_escape, parts)))


def name_css(content: str) -> str:
    """Return the class of a name that stays on one line where there is room."""
    name = _plain(_BESIDE_NAME.sub("", content))
    return "name short" if len(name) <= SHORT_NAME else "name" if len(name) <= NAME else ""


def sentence(reason: str) -> str:
    """Return the reason of an undefined value as a sentence."""
    cause = reason.removeprefix("undefined, ").removeprefix("because ").removesuffix(".")
    return f"Undefined, because {cause}."


@dataclass(frozen=True)
class Column:
    """Column with its label. Its key names it in the URL; without one it does not sort."""

    key: str
    label: str
    is_number: bool = False
    group: str = ""
    css: str = ""

    def classes(self, *, is_secondary: bool) -> str:
        kinds = {"number": self.is_number, "secondary": is_secondary, self.css: bool(self.css)}
        return " ".join(name for name, applies in kinds.items() if applies)


@dataclass(frozen=True)
class Cell:
    """Cell of a row. An undefined estimate has a reason in place of its content."""

    content: str = ""
    value: SortValue = None
    css: str = ""
    is_head: bool = False
    is_estimate: bool = False
    reason: str = ""
    limits: str = ""
    counts: str = ""

    def width(self, *, stacked: bool) -> int:
        """Return the characters of the widest line; `stacked`: the interval has its own line."""
        small = max(len(self.limits), len(self.counts)) * 7 // 8
        if stacked or not self.limits:
            return max(_length(self.content), small)
        return max(_length(self.content) + 1 + len(self.limits) * 7 // 8, small)


Row = Sequence[Cell]


class RowGroup(NamedTuple):
    """Rows below a common title; the rows of a table without groups have one without a title."""

    title: str
    rows: list[Row]


class Export(NamedTuple):
    """Links to a table in each format. The title tells the menu's second table from its first."""

    label: str
    title: str
    files: Sequence[tuple[str, str]]
    tex: str = ""


class Head(NamedTuple):
    """Head of a column: `query` sorts by it, and `direction` is the value of aria-sort.

    Phones show a secondary column only when asked to.
    """

    column: Column
    query: str = ""
    direction: str = ""
    is_secondary: bool = False

    @property
    def css(self) -> str:
        return self.column.classes(is_secondary=self.is_secondary)

    @property
    def arrow(self) -> SafeString:
        if not self.direction:
            return SafeString("")
        arrow = "↓" if self.direction == "descending" else "↑"
        return format_html('&nbsp;<span aria-hidden="true">{}</span>', arrow)


class HeadGroup(NamedTuple):
    """Heads of neighbouring columns below a common title, or of one column without it."""

    title: str
    heads: list[Head]

    @property
    def is_secondary(self) -> bool:
        return all(head.is_secondary for head in self.heads)


@dataclass
class PageTable:
    """Table of a page, to which the tags inside `{% results_table %}` add its parts."""

    name: str
    title: str
    params: QueryDict
    level: int = 2
    css: str = "table"
    order: str = ""
    is_main: bool = False
    n_keys: int = 1
    """Columns on the left that name a row together."""
    page_order: PageOrder | None = None
    empty: str = ""
    remedy: str = ""
    columns: list[Column] = field(default_factory=list)
    groups: list[RowGroup] = field(default_factory=list)
    foot: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    exports: list[Export] = field(default_factory=list)
    pending: list[Cell] = field(default_factory=list)
    footnotes: dict[str, str] = field(default_factory=dict)
    """Letters of the reasons of undefined values, in the order of the cells."""
    markup: str = ""
    """Rows of a matrix, which has no columns to sort by."""

    def add_row(self, *, is_foot: bool = False) -> None:
        """Make the pending cells a row. Raises ValueError unless each column has one cell."""
        if len(self.pending) != len(self.columns):
            raise ValueError(
                f"The table {self.name} has {len(self.columns)} columns, its row {len(self.pending)} cells."
            )
        row, self.pending = self.pending, []
        if is_foot:
            self.foot.append(row)
            return
        if not self.groups:
            self.groups.append(RowGroup("", []))
        self.groups[-1].rows.append(row)

    def undefined(self, reason: str) -> SafeString:
        """Return a dash with the letter of the reason, which is listed below the table."""
        letter = self.footnotes.setdefault(sentence(reason), footnote_letter(len(self.footnotes)))
        return format_html(
            '<a class="undefined" href="#{0}-why-{1}" aria-label="undefined: {1}">–&nbsp;<i>{1}</i></a>',
            self.name,
            letter,
        )

    def context(self) -> dict[str, Any]:
        """Return the context of the template: the table without its empty columns, in order."""
        rows = [row for group in self.groups for row in group.rows] + self.foot
        left_out = self._left_out(rows)
        indexes = [index for index in range(len(self.columns)) if index not in left_out]
        has_value = not left_out or self._has_value(rows, indexes)
        stacked = self._width(rows, indexes, stacked=False) > WIDTHS["wide"]
        width = self._width(rows, indexes, stacked=stacked)
        sizes = [name for name, widest in WIDTHS.items() if width > widest]
        secondary = self._secondary(rows, indexes)
        head_groups = self._head_groups(indexes, secondary)
        second_heads = [head for group in head_groups if group.title for head in group.heads]
        return {
            "table": self,
            "is_empty": not rows and not self.markup,
            "no_value": [] if has_value else list(dict.fromkeys(chain(*left_out.values()))),
            "left_out": self._described(left_out),
            "css": " ".join([self.css, *(["stacked"] if stacked else []), *sizes]),
            "head_groups": head_groups,
            "second_heads": second_heads,
            "n_head_rows": 2 if second_heads else 1,
            "n_columns": len(indexes),
            "n_secondary": len(secondary),
            "bodies": [
                (group, [self._line(row, indexes, secondary) for row in self._ordered(group.rows)])
                for group in self.groups
            ],
            "foot": [self._line(row, indexes, secondary) for row in self.foot],
        }

    def _left_out(self, rows: Sequence[Row]) -> dict[int, list[str]]:
        """Return the reasons of the columns without a value, by their indexes."""
        cells = {index: [row[index] for row in rows] for index in range(len(self.columns))}
        return {
            index: _unique([cell.reason] for cell in column)
            for index, column in cells.items()
            if column and all(cell.reason for cell in column)
        }

    def _described(self, left_out: Mapping[int, Sequence[str]]) -> list[tuple[list[str], str]]:
        """Return the labels of the columns that are left out for the same reasons."""
        labels: dict[str, list[str]] = {}
        for index, reasons in left_out.items():
            column = self.columns[index]
            group = format_html("{}: ", column.group) if column.group else ""
            labels.setdefault(" ".join(reasons), []).append(group + column.label)
        return [(names, reasons) for reasons, names in labels.items()]

    def _has_value(self, rows: Sequence[Row], indexes: Sequence[int]) -> bool:
        """Return whether the table is worth displaying without the columns that are left out."""
        cells = [row[index] for row in rows for index in indexes]
        if self.remedy:
            return any(cell.is_estimate for cell in cells)
        return any(not cell.is_head for cell in cells)

    @property
    def heading(self) -> SafeString:
        return format_html('<h{0} id="{1}-title">{2}</h{0}>', self.level, self.name, self.title)

    def _columns_of_order(self) -> Collection[str]:
        if self.page_order:
            return self.page_order.columns
        return [column.key for column in self.columns if column.key]

    def _current(self) -> Order | None:
        if self.page_order:
            return self.page_order.order
        columns = self._columns_of_order()
        order = requested_order(self.params, self.name, columns, is_main=self.is_main)
        return order or (Order.parse(self.order) if self.order else None)

    def _ordered(self, rows: Sequence[Row]) -> Sequence[Row]:
        order = self._current()
        if self.page_order or not order:
            return rows
        index = [column.key for column in self.columns].index(order.column)
        return sort_rows(rows, order, lambda row: row[index].value)

    def _head_groups(self, indexes: Sequence[int], secondary: Collection[int]) -> list[HeadGroup]:
        heads = [
            self._head(self.columns[index])._replace(is_secondary=index in secondary)
            for index in indexes
        ]
        groups: list[HeadGroup] = []
        for title, members in groupby(heads, key=lambda head: head.column.group):
            if title:
                groups.append(HeadGroup(title, list(members)))
            else:
                groups += [HeadGroup("", [head]) for head in members]
        return groups

    def _head(self, column: Column) -> Head:
        if column.key not in self._columns_of_order():
            return Head(column)
        order = self._current()
        is_current = order is not None and order.column == column.key
        falls = order.falls if order and is_current else not column.is_number
        params = self.params.copy()
        params.pop("page", None)
        name = column.key if falls else f"-{column.key}"
        params[SORT] = f"{self.name}:{name}"
        direction = ("descending" if falls else "ascending") if is_current else ""
        return Head(column, params.urlencode(safe=":"), direction)

    def _width(self, rows: Sequence[Row], indexes: Sequence[int], *, stacked: bool) -> int:
        """Return the characters of a line: texts and labels may break between words."""
        return sum(self._column_width(rows, index, stacked=stacked) for index in indexes)

    def _column_width(self, rows: Sequence[Row], index: int, *, stacked: bool) -> int:
        column = self.columns[index]
        widths = [
            cell.width(stacked=stacked)
            if cell.css or column.is_number
            else _longest_word(cell.content)
            for cell in (row[index] for row in rows)
        ]
        label = BAR if column.css else _longest_word(column.label)
        return 2 + max(label, *widths, 0)

    def _secondary(self, rows: Sequence[Row], indexes: Sequence[int]) -> set[int]:
        """Return the columns for which a phone has no room.

        It shows the first column, that of the order, the first of estimates (or of counts), and
        then those on the left while they fit. Columns below a common title stay together. Drawn
        intervals are on no phone.
        """
        order = self._current()
        room = PHONE - sum(
            min(self._column_width(rows, index, stacked=True), PHONE_HEAD)
            for index in indexes[: self.n_keys]
        )
        units = [
            list(unit)
            for _, unit in groupby(
                indexes[self.n_keys :], key=lambda index: self.columns[index].group or index
            )
        ]
        units = [unit for unit in units if not self.columns[unit[0]].css]
        ordered = order.column if order else None
        of_order = [unit for unit in units if any(self.columns[i].key == ordered for i in unit)]
        of_counts = [unit for unit in units if self.columns[unit[0]].is_number]
        of_values = [
            unit for unit in units if any(row[i].is_estimate for row in rows for i in unit)
        ]
        first = (of_values or of_counts)[:1]
        displayed = of_order + [unit for unit in first if unit not in of_order]
        secondary: set[int] = set()
        for unit in displayed + [unit for unit in units if unit not in displayed]:
            room -= sum(self._column_width(rows, index, stacked=True) for index in unit)
            if room < 0 and unit not in displayed:
                secondary.update(unit)
        return secondary

    def _line(self, row: Row, indexes: Sequence[int], secondary: Collection[int]) -> SafeString:
        cells = [
            self._cell(row[index], self.columns[index], is_secondary=index in secondary)
            for index in indexes
        ]
        return SafeString(f"<tr>{''.join(cells)}</tr>")

    def _cell(self, cell: Cell, column: Column, *, is_secondary: bool) -> SafeString:
        parts: list[str] = [
            self.undefined(cell.reason) if cell.reason else conditional_escape(cell.content)
        ]
        # Joined without format_html, which took a tenth of the time of rendering 4,000 cells.
        for css, text in (("limits", cell.limits), ("counts", cell.counts)):
            if text:
                parts.append(f'<small class="{css}">{conditional_escape(text)}</small>')
        css = " ".join(filter(None, [column.classes(is_secondary=is_secondary), cell.css]))
        attributes = ' scope="row"' if cell.is_head else ""
        attributes += f' class="{conditional_escape(css)}"' if css else ""
        tag = "th" if cell.is_head else "td"
        return SafeString(f"<{tag}{attributes}>{' '.join(parts)}</{tag}>")


def _unique(reasons: Iterable[Iterable[str]]) -> list[str]:
    """Return the reasons as sentences, each once."""
    return list(dict.fromkeys(sentence(reason) for group in reasons for reason in group))


def _plain(markup: str) -> str:
    return " ".join(_TAGS.sub("", markup).split())


def _length(markup: str) -> int:
    return len(_plain(markup))


def _longest_word(markup: str) -> int:
    return max(map(len, _plain(markup).split()), default=0)
