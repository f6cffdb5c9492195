"""Comparison of a campaign with Prolific's list: submissions, parts, reasons for review."""

from annotation.pages import Page

PAGE = Page("Compare with Prolific", help="campaigns#comparing-with-prolific", section="campaigns")
