"""Pages of generated reports: statements, citations, sources."""

from annotation.pages import Page

PAGE = Page("Reports", help="building#reports", section="texts")
