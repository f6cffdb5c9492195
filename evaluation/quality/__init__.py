"""Quality of a campaign's work: all raters, one rater, one item."""

from annotation.pages import Page

PAGE = Page("Quality", help="campaigns#quality", section="campaigns")
