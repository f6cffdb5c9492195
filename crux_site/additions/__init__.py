"""Additions by hand: a topic, a sub-question or a text, stored as an import is."""

from annotation.pages import Page

PAGE = Page("Add by hand", help="admins#additions-by-hand", section="texts")
