"""Where the numbers of the agreement page lead: the pairs that they count, and files."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evaluation.agreement.composition import ALL, GradesOf
from evaluation.agreement.confusions import MOST
from evaluation.data.columns import JUDGE
from evaluation.data.selection import Selection

register = template.Library()


@register.simple_tag
def pairs_url(selection: Selection, **changes: Any) -> str:
    """The list of the pairs that a number counts."""
    return f"{reverse('pairs', args=[selection.dataset.slug])}?{selection.query(**changes)}"


@register.simple_tag
def part_url(selection: Selection, parameter: str, name: str | int, kind: str) -> str:
    """The pairs behind a number about one topic, system or slice (`parameter`)."""
    return pairs_url(selection, kind=kind, **{parameter: name})


@register.simple_tag
def cells_url(selection: Selection, cell: str, eta: int, rater: str = "", system: str = "") -> str:
    """The pairs in cells of a confusion at an eta: of one rater, of one system, or of all."""
    only = {"raters": rater, "system": system}
    wanted = {key: value for key, value in only.items() if value}
    return pairs_url(selection, cell=cell, eta=eta, **wanted)


@register.simple_tag
def gave_url(selection: Selection, other: str, truth: str | None, *said: Any) -> str:
    """The pairs to which sides of a confusion gave grades: `said` is those of `truth` and of `other`.

    None leaves a side out; where there is a third argument either of the two is enough. `truth` is
    None for the majority of those beside `other`.
    """
    true, own, *either = said
    sides = [
        *([f"{truth or f'{MOST}:{other}'}:{true}"] if true is not None else []),
        *([f"{other}:{own}"] if own is not None else []),
    ]
    only = {"raters": f"{truth},{other}"} if truth else {}
    return pairs_url(selection, **only, **{"either" if either else "gave": ",".join(sides)})


@register.simple_tag
def given_url(selection: Selection, row: GradesOf, grade: int) -> str:
    """The pairs to which a rater, or the judge, gave a grade, of one system or all."""
    only: dict[str, Any] = {} if row.system == ALL else {"system": row.system}
    if row.rater.place == JUDGE:
        return pairs_url(selection, judge_grade=grade, **only)
    return pairs_url(selection, gave=f"{row.rater.name}:{grade}", **only)


@register.simple_tag
def level_name(selection: Selection, level: int) -> SafeString:
    """What a grade is called: its name with its number, or where it has none its number alone."""
    name = selection.names.get(level, str(level))
    if name == str(level):
        return format_html("{}", level)
    return format_html('{} <small class="quiet">{}</small>', name, level)


@register.simple_tag
def table_url(selection: Selection, table: str, truth: str = "") -> str:
    """A table of the agreement page as a file."""
    url = reverse("agreement_csv", args=[selection.dataset.slug, table])
    return f"{url}?{selection.query(truth=truth or None)}"


@register.simple_tag
def json_url(selection: Selection) -> str:
    """The agreement page as a file."""
    return f"{reverse('agreement_json', args=[selection.dataset.slug])}?{selection.query()}"


@register.simple_tag
def agreement_url(selection: Selection, **changes: Any) -> str:
    """The agreement page for the same selection, with changes."""
    return f"{reverse('agreement', args=[selection.dataset.slug])}?{selection.query(**changes)}"
