"""Mixed model of systems: contrasts with a base system, and tests of equivalence."""

from annotation.pages import Page, Tab

PAGE = Page(
    "Mixed model",
    help="metrics#tests",
    tab=Tab(url_name="mixed_model", order=70, carries="selection"),
    shared=("mixed_model", "mixed_model_table", "mixed_model_json"),
)
