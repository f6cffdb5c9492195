"""Links of the list of pairs."""

from typing import Any

from django import template
from django.urls import reverse

from evaluation.pairs.page import PairList

register = template.Library()


@register.simple_tag
def list_url(found: PairList, **changes: Any) -> str:
    """The same list of pairs, with changes."""
    slug = found.matrix.selection.dataset.slug
    return f"{reverse('pairs', args=[slug])}?{found.query(**changes)}"


@register.simple_tag
def list_file_url(found: PairList) -> str:
    """The list of pairs, all of them, as a file."""
    slug = found.matrix.selection.dataset.slug
    return f"{reverse('pairs_csv', args=[slug])}?{found.query()}"
