"""Demo data, and the page that loads them into an empty site."""

from annotation.pages import Page

PAGE = Page("Demo", help="admins#the-first-admin")
