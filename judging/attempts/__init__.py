"""Attempts of a judge as files: every reply with its state."""

from annotation.pages import Page

PAGE = Page("Attempts", help="judging#what-a-reply-becomes")
