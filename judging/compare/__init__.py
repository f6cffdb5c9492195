"""Comparison of two judges on the pairs that both graded."""

from annotation.pages import Page

PAGE = Page("Compare judges", help="judging#inspecting-judges", section="judges")
