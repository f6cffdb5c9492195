"""Label sequences: plans of labels for a narrower interval or a decision, and their results."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Label sequences",
    help="researchers#label-sequences",
    section="matrix",
    links=(NavLink(url_name="label_sequences", order=11, carries="selection"),),
)
