"""Exports of a dataset and of a project."""

from annotation.pages import Page

PAGE = Page(
    "Exports",
    help="researchers#exports",
    shared_with_text=("exports", "export_file"),
)
