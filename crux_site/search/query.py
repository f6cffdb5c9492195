"""Query of the search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django import forms

from annotation.models import Text
from evaluation.data.query import OneOf, PageQuery, parameter

LONGEST = 200  # characters of `q`; the rest is cut
GROUPS = {
    "texts": "texts",
    "questions": "sub-questions",
    "quotes": "nugget spans",
    "notes": "notes",
}


class SiteQuery(PageQuery):
    """Parameters of a search, None for all; a `kind` of text excludes sub-questions."""

    dataset: str | None = parameter(OneOf("dataset"))
    kind: str | None = parameter(OneOf("kind of text", Text.Kind.values))
    q: str = parameter(forms.CharField(required=False))
    group: str | None = parameter(OneOf("place", GROUPS), "in")

    def __init__(self, datasets: Iterable[str], params: Mapping[str, str]) -> None:
        # A form field refuses NUL; here it separates words as other characters do.
        text = params.get("q", "").replace("\0", " ")[:LONGEST]
        super().__init__({**params, "q": text}, dataset=datasets)
