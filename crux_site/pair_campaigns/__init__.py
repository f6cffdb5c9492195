"""Campaigns of chosen pairs: disagreements, samples, failures, certificates."""

from annotation.pages import Page

PAGE = Page("New campaign", help="campaigns#campaigns-of-chosen-pairs", section="campaigns")
