"""Search page over the passages of a dataset."""

from annotation.pages import Page

PAGE = Page("Search in passages", help="building#search")
