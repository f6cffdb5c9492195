"""Pages of judge runs: plan, progress, actions."""

from annotation.pages import Page

PAGE = Page("Judge runs", help="judging#judge-runs")
