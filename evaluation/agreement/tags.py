"""Where the numbers of the agreement page lead: the pairs that they count, and files."""

from typing import Any

from django import template
from django.urls import reverse

from evaluation.data.selection import Selection

register = template.Library()


@register.simple_tag
def pairs_url(selection: Selection, **changes: Any) -> str:
    """The list of the pairs that a number counts."""
    return f"{reverse('pairs', args=[selection.dataset.slug])}?{selection.query(**changes)}"


@register.simple_tag
def part_url(selection: Selection, parameter: str, name: str, kind: str) -> str:
    """The pairs behind a number about one topic or system (`parameter`)."""
    return pairs_url(selection, kind=kind, **{parameter: name})


@register.simple_tag
def cells_url(selection: Selection, cell: str, eta: int, rater: str = "", system: str = "") -> str:
    """The pairs in cells of a confusion at an eta: of one rater, of one system, or of all."""
    only = {"raters": rater, "system": system}
    wanted = {key: value for key, value in only.items() if value}
    return pairs_url(selection, cell=cell, eta=eta, **wanted)


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
