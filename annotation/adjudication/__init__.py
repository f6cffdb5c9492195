"""Adjudication: where raters differ, and the decisions of an adjudicator."""

from annotation.pages import Page

PAGE = Page("Adjudication", help="campaigns#adjudication", section="campaigns")
