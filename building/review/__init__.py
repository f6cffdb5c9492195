"""Review pages: people accept, edit or reject generated output."""

from annotation.pages import Page

PAGE = Page("Review", help="building#review-of-outputs", section="texts")
