"""Pages of retrieval runs: recipe, provenance, ranking."""

from annotation.pages import Page

PAGE = Page("Retrieval run", help="building#creating-a-retrieval-run", section="texts")
