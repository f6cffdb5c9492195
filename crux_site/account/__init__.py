"""Account page of a user: password and API tokens."""

from annotation.pages import Page

PAGE = Page("Your account", help="api#tokens")
