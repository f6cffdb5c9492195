"""Pages of judges: list, forms, trial of a prompt."""

from annotation.pages import Page

PAGE = Page("Judges", help="judging#definition-of-a-judge")
