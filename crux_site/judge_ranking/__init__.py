"""Ranking of the judges of a dataset by agreement with people, on the same pairs."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Judges",
    help="judging#judges-on-the-same-pairs",
    section="judges",
    links=(NavLink(url_name="judge_ranking", carries="selection"),),
)
