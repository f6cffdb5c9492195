"""Tests of a judge: its noise and its biases, as a page and as files."""

from annotation.pages import Page

PAGE = Page("Tests of a judge", help="judging#tests-of-a-judge", section="judges")
