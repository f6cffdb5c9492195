"""Task page of one item: its questions, its answers, and saving."""

from annotation.pages import Page

PAGE = Page("Task", help="workers")
