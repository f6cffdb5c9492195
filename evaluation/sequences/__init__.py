"""Label sequences: plans of labels for an interval or a decision, and results."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Label sequences",
    help="researchers#label-sequences",
    section="matrix",
    links=(NavLink(url_name="label_sequences", order=11, carries="selection"),),
)
