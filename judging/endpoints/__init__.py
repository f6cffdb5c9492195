"""Model servers of a project: forms, connection test, budget, allowed hosts."""

from annotation.pages import Page

PAGE = Page("Model servers", help="judging#model-servers-of-a-project")
