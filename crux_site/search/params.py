"""What is searched for, and in which datasets, texts and kinds of places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django import forms

from annotation.models import Text
from evaluation.data.query import OneOf, QueryForm

LONGEST = 200  # signs of what is searched for
GROUPS = {"texts": "texts", "questions": "sub-questions", "quotes": "nugget spans"}


@dataclass(frozen=True)
class Wanted:
    """`q` is as it was written, or its beginning; None in the others is all."""

    q: str
    dataset: str | None
    kind: str | None
    group: str | None


class SearchForm(QueryForm):
    """The parameters of a search. `kind` is of texts: where it is asked for, sub-questions are none of it."""

    dataset = OneOf("dataset")
    kind = OneOf("kind of text", Text.Kind.values)
    q = forms.CharField(required=False)

    def __init__(self, datasets: Iterable[str], query: Mapping[str, str]) -> None:
        # NUL is a sign like others between words; a field of Django's would refuse it.
        words = query.get("q", "").replace("\0", " ")[:LONGEST]
        super().__init__({**query, "q": words})
        self.fields["in"] = OneOf("place", GROUPS)
        self.offer(dataset=datasets)


def wanted(datasets: Iterable[str], query: Mapping[str, str]) -> Wanted:
    """What an address asks for. Raises SelectionError for a dataset, kind or place that is not there."""
    asked = SearchForm(datasets, query).asked()
    return Wanted(asked["q"], asked["dataset"], asked["kind"], asked["in"])
