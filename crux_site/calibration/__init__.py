"""Calibration of judges: expected grades and probabilities against people's grades."""

from annotation.pages import Page, Tab

PAGE = Page(
    "Calibration",
    help="metrics#calibration-of-a-judge",
    tab=Tab(url_name="calibration", order=80, carries="selection"),
    shared=("calibration", "calibration_table", "calibration_json"),
)
