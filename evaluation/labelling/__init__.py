"""Selection of reports to label next, and samples of reports."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Label next",
    help="researchers#label-next",
    section="matrix",
    links=(NavLink(url_name="label_next", order=10, carries="selection"),),
)
