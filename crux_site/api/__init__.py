"""API of the site: URLs of all endpoints, and the OpenAPI schema."""

from annotation.pages import Page

PAGE = Page("The API", help="api")
