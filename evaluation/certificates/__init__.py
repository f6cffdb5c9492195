"""Certificates: tests of whether a judge may stand in for people, and their history."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Certificates",
    help="judging#certificates",
    section="judges",
    links=(NavLink(url_name="certificates", order=40, rater_kinds=("human",)),),
    shared=("certificates", "certificate", "certificate_table", "certificate_json"),
)
