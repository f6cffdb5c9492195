"""Comparison of two rankings of a topic."""

from annotation.pages import Page

PAGE = Page(
    "Comparison of two rankings", help="building#comparison-of-two-rankings", section="texts"
)
