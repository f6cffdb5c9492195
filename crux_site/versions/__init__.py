"""Versions of texts and questions: edit, compare, restore."""

from annotation.pages import Page

PAGE = Page("Text history", help="admins#text-edits")
