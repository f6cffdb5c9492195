"""List of a dataset's pages, beside each of them, and the notice of new ratings."""

from annotation.pages import Page

PAGE = Page("New ratings", help="researchers")
