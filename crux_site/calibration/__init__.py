"""Calibration of judges: expected grades and probabilities against people's grades."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Calibration",
    help="metrics#calibration-of-a-judge",
    section="agreement",
    links=(
        NavLink(
            url_name="calibration", order=10, carries="selection", rater_kinds=("human", "model")
        ),
    ),
    shared=("calibration", "calibration_figure", "calibration_table", "calibration_json"),
)
