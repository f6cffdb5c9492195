"""Power analysis of a planned study: topics and raters needed to detect a difference."""

from annotation.pages import Page

PAGE = Page("Statistical power", help="metrics#tests", section="campaigns")
