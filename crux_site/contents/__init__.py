"""Pages that rename and remove entities of a dataset: runs, raters, systems."""

from annotation.pages import Page

PAGE = Page("Rename, replace, remove", help="admins#history-and-what-can-be-undone")
