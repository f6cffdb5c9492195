"""Glossary: each term of docs/terms.md with its one-line definition."""

from functools import cache
from typing import NamedTuple

from crux_site.help.docs import doc

PAGE = "terms"


class Term(NamedTuple):
    url: str
    definition: str


@cache
def terms() -> dict[str, Term]:
    """Return the terms by heading; the definition is the first paragraph of the section."""
    glossary = doc(PAGE)
    return {
        section.title: Term(f"{glossary.url}#{section.anchor}", section.text.partition("\n")[0])
        for section in glossary.sections
        if section.level == 3
    }
