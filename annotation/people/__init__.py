"""User accounts: roles and invitations."""

from annotation.pages import Page

PAGE = Page("People", help="admins#accounts-and-roles")
