"""Projects: members, access rules, shared links."""

from annotation.pages import Page

PAGE = Page("Projects", help="admins#projects")
