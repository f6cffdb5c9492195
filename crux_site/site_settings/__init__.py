"""Site settings: all that only admins of the site can do, on one page."""

from annotation.pages import Page

PAGE = Page("Site settings", help="admins#site-settings")
