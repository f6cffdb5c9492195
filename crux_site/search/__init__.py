"""Search in the texts of all datasets of a user."""

from annotation.pages import Page

PAGE = Page("Search", help="researchers#search")
