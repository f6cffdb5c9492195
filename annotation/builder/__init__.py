"""Campaign builder: drafts, sampling, readiness, preview and invitations."""

from annotation.pages import Page

PAGE = Page("Campaign builder", help="campaigns#a-new-campaign", section="campaigns")
