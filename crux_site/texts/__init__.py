"""Texts page of a dataset: topics, texts by kind and system, retrieval runs."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Texts",
    help="researchers#texts",
    section="texts",
    links=(NavLink(url_name="texts"),),
    shared=("texts",),
)
