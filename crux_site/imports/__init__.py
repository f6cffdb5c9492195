"""Imports: upload, preview, errors, progress."""

from annotation.pages import Page

PAGE = Page("Import", help="admins#import")
