"""Participation in a campaign: entry, consent, parts, assignment, completion, payment."""

from annotation.pages import Page

PAGE = Page("My work", help="campaigns#how-participants-join")
