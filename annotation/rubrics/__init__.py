"""Rubrics and guidelines: pages and forms."""

from annotation.pages import Page

PAGE = Page("Rubrics", help="admins#rubrics")
