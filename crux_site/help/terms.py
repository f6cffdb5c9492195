"""The glossary: each term of docs/terms.md with its definition in one line."""

from functools import cache
from typing import NamedTuple

from crux_site.help.docs import doc

PAGE = "terms"


class Term(NamedTuple):
    url: str
    definition: str


@cache
def terms() -> dict[str, Term]:
    """By the words of their headings. The definition is the first paragraph below."""
    glossary = doc(PAGE)
    return {
        section.title: Term(f"{glossary.url}#{section.anchor}", section.words.partition("\n")[0])
        for section in glossary.sections
        if section.level == 3
    }
