"""Template tags for links of the list of pairs."""

from collections.abc import Iterable
from typing import Any

from django import template
from django.urls import reverse

from evaluation.pairs.page import PairList

register = template.Library()


@register.simple_tag
def list_url(listed: PairList, **changes: Any) -> str:
    """Return the URL of the same list of pairs, with changes."""
    slug = listed.matrix.selection.dataset.slug
    return f"{reverse('pairs', args=[slug])}?{listed.query(**changes)}"


@register.simple_tag
def list_url_without(listed: PairList, parameters: Iterable[str]) -> str:
    """Return the URL of the same list of pairs, without these parameters."""
    return list_url(listed, **dict.fromkeys(parameters))


@register.simple_tag
def list_file_url(listed: PairList) -> str:
    """Return the URL of the whole list of pairs as a file."""
    slug = listed.matrix.selection.dataset.slug
    return f"{reverse('pairs_csv', args=[slug])}?{listed.query()}"
