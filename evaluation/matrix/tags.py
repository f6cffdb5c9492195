"""Template tags for links of the rating matrices, and for the cells of a row."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from evaluation.matrix.page import MatrixPage
from evaluation.matrix.query import MatrixQuery
from evaluation.matrix.rows import Cell, MatrixRow

register = template.Library()


@register.simple_tag
def matrix_link(choice: MatrixQuery, topic: int, *table: str, **changes: Any) -> str:
    """Return the URL of a topic's matrix in the same state, with changes; or of its file."""
    name = "matrix_table" if table else "matrix"
    url = reverse(name, args=[choice.dataset.slug, topic, *table])
    query = choice.query(**changes)
    return f"{url}?{query}" if query else url


@register.simple_tag
def matrices_link(choice: MatrixQuery, page: str = "matrices", **changes: Any) -> str:
    """Return the URL of the list of topics in the same state, with changes; or of its file."""
    url = reverse(page, args=[choice.dataset.slug])
    query = choice.query(**{"all": None, **changes})
    return f"{url}?{query}" if query else url


@register.simple_tag
def matrix_cells(page: MatrixPage, row: MatrixRow) -> SafeString:
    """Render the cells of a row, each a link to its pair, or to the judge's reply.

    A page has thousands of them, and a loop of the template takes a hundred times as long. The name
    and the address are escaped; all else is a number or a constant of this code.
    """
    name, query = escape(row.name), escape(row.pair_query)
    pair = f"{escape(page.pairs_url)}{row.text}/"
    reply = _replies(page, row)

    def address(cell: Cell) -> str:
        has_reply = reply and cell.grade is not None and not cell.by_people
        return f"{reply}{cell.question}/" if has_reply else f"{pair}{cell.question}/{query}"

    return mark_safe(  # noqa: S308 - name and address are escaped above
        "".join(
            f'<td{_marks(cell)}><a href="{address(cell)}'
            f'" aria-label="{name}, question {cell.number}: {cell.description}">'
            f"{'–' if cell.grade is None else cell.grade}</a></td>"
            for cell in row.cells
        )
    )


def _replies(page: MatrixPage, row: MatrixRow) -> str:
    """Return the base URL of the replies about a text; "" where cells open their pairs.

    A reply's own URL ends in its question.
    """
    counted_as_zero = row.is_visitor and page.pool.visitors_are_zero
    if not page.choice.opens_replies or page.judge is None or counted_as_zero:
        return ""
    return reverse("judge_reply", args=[page.judge, row.text, 0]).removesuffix("0/")


def _marks(cell: Cell) -> str:
    """Return the HTML attributes of a cell that the stylesheet and the script read."""
    if cell.grade is None:
        return ' class="hatched"'
    role = f' data-role="{cell.role}"' if cell.role else ""
    by = ' data-by="people"' if cell.by_people else ""
    return f' data-shade="{cell.shade}"{role}{by}'
