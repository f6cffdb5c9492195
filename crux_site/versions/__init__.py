"""Versions of texts and questions: edit, compare, restore."""

from annotation.pages import Page

PAGE = Page("Earlier words", help="admins#text-edits")
