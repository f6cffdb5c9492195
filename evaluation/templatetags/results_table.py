"""Template tags of the tables of result pages.

    {% results_table "pairs" "Pairs of raters" empty="No two raters have rated the same pair." %}
      {% export url "Pairs of raters" %}
      {% column "raters" "Raters" %}
      {% number_column "kappa" "κ" %}
      {% for pair in pairs %}
        {% row %}
          {% name_cell pair.name url %}
          {% number pair.kappa url %}
        {% endrow %}
      {% endfor %}
      {% table_note %}An explanation.{% endtable_note %}
    {% endresults_table %}

The head has a link for each column, which sorts by the values of its cells, and a menu of files. The
reasons of undefined values are listed below. A table whose rows are written by hand, a matrix, has no
column; its cells use `{% undefined_mark %}`.
"""

from __future__ import annotations

from typing import Any

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token, token_kwargs
from django.template.loader import render_to_string
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString

from annotation.decimals import printed
from evaluation import charts, page_tables
from evaluation.page_tables import Cell, Column, Export, PageTable, RowGroup, SortValue
from evaluation.result_tables import FORMATS, PAGE_FORMATS
from evaluation.stats.estimate import Estimate
from evaluation.templatetags.numbers import limits
from evaluation.templatetags.table_files import NAMES

register = template.Library()

_TABLE = "results_table"  # in the context


class ResultsTableNode(template.Node):
    def __init__(
        self,
        nodelist: NodeList,
        name: FilterExpression,
        title: FilterExpression,
        options: dict[str, FilterExpression],
    ) -> None:
        self.nodelist, self.name, self.title, self.options = nodelist, name, title, options

    def render(self, context: template.Context) -> SafeString:
        options = {name: option.resolve(context) for name, option in self.options.items()}
        table = PageTable(
            self.name.resolve(context),
            conditional_escape(self.title.resolve(context)),
            context["request"].GET,
            **options,
        )
        with context.push(**{_TABLE: table}):
            content = self.nodelist.render(context)
        if not table.columns:
            table.markup = content
        return render_to_string("evaluation/_results_table.html", table.context())


@register.tag
def results_table(parser: Parser, token: Token) -> ResultsTableNode:
    """Render a table under a name, which is its `id`, and a title; options: see PageTable.

    `{% table_title %}` inside sets a longer title.
    """
    _, name, *bits = token.split_contents()
    title = "''" if not bits or "=" in bits[0].split('"')[0] else bits.pop(0)
    options = token_kwargs(bits, parser)
    nodelist = parser.parse(("endresults_table",))
    parser.delete_first_token()
    return ResultsTableNode(
        nodelist, parser.compile_filter(name), parser.compile_filter(title), options
    )


@register.simple_tag(takes_context=True)
def column(context: template.Context, key: str, label: str, group: str = "") -> str:
    """Add a column of texts."""
    context[_TABLE].columns.append(Column(str(key), conditional_escape(label), group=group))
    return ""


@register.simple_tag(takes_context=True)
def number_column(context: template.Context, key: str, label: str, group: str = "") -> str:
    """Add a column of numbers, aligned to the right."""
    context[_TABLE].columns.append(
        Column(str(key), conditional_escape(label), is_number=True, group=group)
    )
    return ""


@register.simple_tag(takes_context=True)
def bar_column(context: template.Context, statistic: str, axis: charts.Axis) -> str:
    """Add a column of intervals drawn on a common axis; numbers are in another column."""
    low, high = (printed(end, 0) for end in axis)
    context[_TABLE].columns.append(Column("", f"{statistic} from {low} to {high}", css="bar"))
    return ""


@register.simple_tag(takes_context=True)
def row_group(context: template.Context, title: str) -> str:
    """Begin the rows below a common title; rows are sorted within it."""
    context[_TABLE].groups.append(RowGroup(title, []))
    return ""


@register.simple_block_tag(takes_context=True)
def row(context: template.Context, content: str, foot: bool = False) -> str:
    """Add a row of the cells inside; one of the foot is not sorted."""
    context[_TABLE].add_row(is_foot=foot)
    return ""


def add_cell(context: template.Context, cell: Cell) -> str:
    """Add a cell to the row that is being built: for tags of cells of single pages."""
    context[_TABLE].pending.append(cell)
    return ""


@register.simple_tag(takes_context=True)
def name_cell(context: template.Context, name: object, url: str = "", note: str = "") -> str:
    """Add the name of the row, linked if there is a URL, with a note below it."""
    content = page_tables.breakable(name)
    if url:
        content = format_html('<a href="{}">{}</a>', url, content)
    if note:
        content = format_html('{} <small class="why">{}</small>', content, note)
    css = page_tables.name_css(content)
    return add_cell(context, Cell(content, str(name), css, is_head=True))


@register.simple_block_tag(takes_context=True)
def head_cell(context: template.Context, content: str, sort: SortValue = None) -> str:
    """Add the head of the row with any content; `sort` is its value in the order of rows."""
    return add_cell(context, Cell(content, sort, page_tables.name_css(content), is_head=True))


@register.simple_block_tag(takes_context=True)
def cell(context: template.Context, content: str, sort: SortValue = None) -> str:
    """Add a cell with any content; `sort` is its value in the order of rows."""
    return add_cell(context, Cell(content, sort))


@register.simple_tag(takes_context=True)
def text_cell(context: template.Context, text: object) -> str:
    """Add a cell with a text or a name."""
    css = page_tables.name_css(str(text))
    return add_cell(context, Cell(page_tables.breakable(text), str(text), css))


@register.simple_tag(takes_context=True)
def count(context: template.Context, n: int, url: str = "", note: str = "") -> str:
    """Add a count, linked to what it counts unless it is 0, with a note behind it."""
    content: str = f"{n:,}"
    if url and n:
        content = format_html('<a href="{}">{}</a>', url, content)
    if note:
        content = format_html('{} <span class="quiet">{}</span>', content, note)
    return add_cell(context, Cell(content, n))


@register.simple_tag(takes_context=True)
def number(
    context: template.Context,
    estimate: Estimate,
    url: str = "",
    interval: bool = True,
    n: bool = False,
    missing: str = "",
    decimals: int = 2,
    sign: bool = False,
    note: str = "",
) -> str:
    """Add an estimate with link and interval, or the letter of the reason why it has none.

    With `n` its n follows. `missing` is the word for those left out, whose number follows too.
    """
    counts = [f"n = {estimate.n:,}"] if n else []
    if estimate.missing and (n or missing):
        counts.append(f"{estimate.missing:,} {missing or 'missing'}")
    content = "" if estimate.value is None else printed(estimate.value, decimals, sign=sign)
    if url and content:
        content = format_html('<a href="{}">{}</a>', url, content)
    return add_cell(
        context,
        Cell(
            content,
            estimate.value,
            is_estimate=True,
            reason=estimate.reason or "",
            limits=(limits(estimate, decimals) or "no interval") if interval and content else "",
            counts=", ".join([*counts, *([note] if note else [])]),
        ),
    )


@register.simple_tag(takes_context=True)
def bar(context: template.Context, estimate: Estimate, axis: charts.Axis) -> str:
    """Add an estimate and its interval as a drawing."""
    drawing = render_to_string("evaluation/_interval.html", {"strip": charts.strip(estimate, axis)})
    return add_cell(context, Cell(drawing))


@register.simple_tag(takes_context=True)
def undefined(context: template.Context, reason: str) -> str:
    """Add the cell of an undefined value, from its reason."""
    return add_cell(context, Cell(is_estimate=True, reason=reason))


@register.simple_tag(takes_context=True)
def undefined_mark(context: template.Context, reason: str) -> SafeString:
    """Render an undefined value of a matrix, from its reason."""
    marked: SafeString = context[_TABLE].undefined(reason)
    return marked


@register.simple_block_tag(takes_context=True)
def table_title(context: template.Context, content: str) -> str:
    context[_TABLE].title = content
    return ""


@register.simple_block_tag(takes_context=True)
def table_note(context: template.Context, content: str) -> str:
    """Add an explanation below the table, unless it is empty."""
    if content.strip():
        context[_TABLE].notes.append(content)
    return ""


@register.simple_tag(takes_context=True)
def export(
    context: template.Context,
    url: str,
    label: str,
    query: str = "",
    json: bool | str = True,
    title: str = "",
) -> str:
    """Add the files of a table to the menu of its head: see `file_links`."""
    context[_TABLE].exports.append(file_links(url, label, query, json, title))
    return ""


@register.inclusion_tag("evaluation/_export.html")
def export_menu(url: str, label: str, query: str = "", json: bool | str = True) -> dict[str, Any]:
    """Render the menu of the files of a figure: see `file_links`."""
    return {"exports": [file_links(url, label, query, json)]}


def file_links(
    url: str, label: str, query: str = "", json: bool | str = True, title: str = ""
) -> Export:
    """Return the links to a table in each format, from the URL of its CSV file.

    `json` is the URL of a page's JSON file that has the numbers of this table; False if none has.
    """
    path, _, own_query = url.partition("?")
    stem, search = path.removesuffix(".csv"), query or own_query
    links = {
        ending: f"{stem}.{ending}?{search}" if search else f"{stem}.{ending}"
        for ending in (FORMATS if json is True else PAGE_FORMATS)
    }
    if isinstance(json, str):
        links["json"] = json
    files = [(NAMES[ending], links[ending]) for ending in FORMATS if ending in links]
    return Export(label, title, files, links["tex"])


@register.filter
def breakable(name: object) -> SafeString:
    """Let a name break behind a full stop, an underscore, a slash or a hyphen, nowhere else."""
    return page_tables.breakable(name)
