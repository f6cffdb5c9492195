"""Mixed model of systems: contrasts with a base system, and tests of equivalence."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Mixed model",
    help="metrics#tests",
    section="agreement",
    links=(NavLink(url_name="mixed_model", order=20, carries="selection", rater_kinds=("human",)),),
    shared=("mixed_model", "mixed_model_table", "mixed_model_json"),
)
