"""Links from the numbers of the agreement page to the pairs that they count, and to files."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evaluation.agreement.composition import ALL_SYSTEMS, GradesOf
from evaluation.agreement.confusions import MAJORITY_PREFIX
from evaluation.data.columns import JUDGE
from evaluation.data.selection import Selection

register = template.Library()


@register.simple_tag
def pairs_url(selection: Selection, **changes: Any) -> str:
    """Return the URL of the list of the pairs that a number counts."""
    return f"{reverse('pairs', args=[selection.dataset.slug])}?{selection.query(**changes)}"


@register.simple_tag
def part_url(selection: Selection, parameter: str, name: str | int, kind: str) -> str:
    """Return the URL of the pairs of one topic, system or slice (`parameter`)."""
    return pairs_url(selection, kind=kind, **{parameter: name})


@register.simple_tag
def cells_url(selection: Selection, cell: str, eta: int, rater: str = "", system: str = "") -> str:
    """Return the URL of the pairs in cells of a confusion at an eta.

    `rater` or `system` restrict them; by default all.
    """
    only = {"raters": rater, "system": system}
    filters = {key: value for key, value in only.items() if value}
    return pairs_url(selection, cell=cell, eta=eta, **filters)


@register.simple_tag
def grade_pairs_url(selection: Selection, other: str, truth: str | None, *grades: Any) -> str:
    """Return the URL of the pairs with these grades of the two sides of a confusion.

    `grades` are those of `truth` and of `other`. None leaves a side out; where there is a third argument
    either of the two is enough. `truth` is None for the majority of those beside `other`.
    """
    truth_grade, other_grade, *either = grades
    sides = [
        *(
            [f"{truth or f'{MAJORITY_PREFIX}:{other}'}:{truth_grade}"]
            if truth_grade is not None
            else []
        ),
        *([f"{other}:{other_grade}"] if other_grade is not None else []),
    ]
    only = {"raters": f"{truth},{other}"} if truth else {}
    return pairs_url(selection, **only, **{"either" if either else "gave": ",".join(sides)})


@register.simple_tag
def rater_grade_url(selection: Selection, row: GradesOf, grade: int) -> str:
    """Return the URL of the pairs to which a rater or the judge gave a grade.

    Of one system, or of all.
    """
    only: dict[str, Any] = {} if row.system == ALL_SYSTEMS else {"system": row.system}
    if row.rater.place == JUDGE:
        return pairs_url(selection, judge_grade=grade, **only)
    return pairs_url(selection, gave=f"{row.rater.name}:{grade}", **only)


@register.simple_tag
def level_name(selection: Selection, level: int) -> SafeString:
    """Return the label of a grade: its name and its number, or the number alone."""
    name = selection.names.get(level, str(level))
    if name == str(level):
        return format_html("{}", level)
    return format_html('{} <small class="quiet">{}</small>', name, level)


@register.simple_tag
def table_url(selection: Selection, table: str, truth: str = "") -> str:
    """Return the URL of a table of the agreement page as a file."""
    url = reverse("agreement_table", args=[selection.dataset.slug, table])
    return f"{url}?{selection.query(truth=truth or None)}"


@register.simple_tag
def json_url(selection: Selection) -> str:
    """Return the URL of the agreement page as a JSON file."""
    return f"{reverse('agreement_json', args=[selection.dataset.slug])}?{selection.query()}"


@register.simple_tag
def agreement_url(selection: Selection, **changes: Any) -> str:
    """Return the URL of the agreement page for the same selection, with changes."""
    return f"{reverse('agreement', args=[selection.dataset.slug])}?{selection.query(**changes)}"


@register.simple_tag
def explore_url(selection: Selection, name: str, **changes: Any) -> str:
    """Return the URL of an interactive figure for the same selection, with changes."""
    url = reverse("agreement_figure", args=[selection.dataset.slug, name])
    return f"{url}?{selection.query(**changes)}"
