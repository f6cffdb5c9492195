"""Monitoring of a campaign: progress, participants, staff actions, reconciliation, export."""

from annotation.pages import Page

PAGE = Page("Campaign", help="campaigns#monitoring-a-campaign")
