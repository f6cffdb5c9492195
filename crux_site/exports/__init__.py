"""Exports of a dataset and of a project."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Exports",
    help="researchers#exports",
    section="paper",
    links=(NavLink(url_name="exports", order=10),),
    shared_with_text=("exports", "export_file"),
)
