"""Numbers of the agreement page of the real study, against those that the command prints."""

import json
import re
from io import StringIO
from urllib.parse import parse_qs

import pytest
from django.core.management import call_command

from tests.toolbox.html_tables import tables
from tests.toolbox.responses import text_of_page

PAGE = "/datasets/crux-duc04/agreement/"


@pytest.fixture
def rosa(real_study, cast):
    return cast.client("researcher")


def both(rosa, query=""):
    """The page's tables, the object that the command prints, and the page in words."""
    options = [f"--{key}={','.join(value)}" for key, value in parse_qs(query).items()]
    out = StringIO()
    call_command(
        "agreement", "crux-duc04", "--json", *(o for o in options if "truth" not in o), stdout=out
    )
    response = rosa.get(f"{PAGE}?{query}")
    return tables(response), json.loads(out.getvalue()), text_of_page(response)


def format_value(value: float | None) -> str:
    """As the page prints a number."""
    return "undefined" if value is None else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def measure(estimate: dict) -> str:
    """As a table prints an estimate with its interval, or why there is none."""
    if estimate["value"] is None:
        return f"undefined {estimate['reason'].removeprefix('undefined, ')}"
    ci = estimate["ci95"]
    limits = f"[{format_value(ci[0])}, {format_value(ci[1])}]" if ci else "no interval"
    return f"{format_value(estimate['value'])} {limits}"


def bare(estimate: dict) -> str:
    return measure(estimate) if estimate["value"] is None else format_value(estimate["value"])


def parts(by_name: dict, *, with_interval: bool) -> list[list[str]]:
    return [
        [
            name,
            "",
            (measure if with_interval else bare)(part["fleiss_kappa"]),
            bare(part["details"]["gwet_ac1"]),
            bare(part["details"]["percent_agreement"]),
            bare(part["details"]["prevalence"]),
            str(part["fleiss_kappa"]["n"])
            + (f" of {part['n_items']}" if part["fleiss_kappa"]["missing"] else ""),
            str(part["n_missing"]),
        ]
        for name, part in by_name.items()
    ]


NAMES = ("precision", "recall", "f1")


def scores(judged: dict) -> list[str]:
    details = judged["details"]
    names = [f"{name}_{side}" for side in ("answerable", "unanswerable") for name in NAMES]
    return [
        *(measure(details[name]) for name in [*names, "cohen_binary"]),
        *([measure(details["cohen_quadratic"])] if "cohen_quadratic" in details else []),
        *(bare(details[name]) for name in ("prevalence", "judge_prevalence")),
        str(judged["n"]),
    ]


def test_numbers_of_the_real_study_equal_the_command(rosa):
    _check_report_coverage(rosa)
    for judge in ("crux_prejudge", "llama33_70b"):
        _check_grades(rosa, judge)
    for query in ("", "rubric=graded&judge=llama33_70b&eta=4&raters=annotator1,annotator2"):
        _, agreement, _ = both(rosa, query)
        assert (
            json.loads(rosa.get(f"/datasets/crux-duc04/agreement.json?{query}").content)
            == agreement
        )


def _check_report_coverage(rosa):
    page, agreement, page_tables = both(rosa)
    kappa = agreement["fleiss_kappa"]
    bootstrap = kappa["bootstrap"]
    assert (
        f"Fleiss κ {format_value(kappa['value'])} 95% interval {measure(kappa)[5:]}." in page_tables
    )
    low, high = map(format_value, bootstrap["ci95"])
    assert f"topics: [{low}, {high}], 10000 resamples" in page_tables
    assert f"seed 0; {bootstrap['caution']}." in page_tables
    for title, estimate in (
        ("Krippendorff α", agreement["krippendorff_alpha"]),
        ("Gwet AC1", agreement["details"]["gwet_ac1"]),
        ("Percent agreement", agreement["details"]["percent_agreement"]),
        ("Prevalence", agreement["details"]["prevalence"]),
    ):
        assert f"{title} {measure(estimate)}" in page_tables
    assert (
        f"All raters agree: {format_value(agreement['unanimous'])} of {agreement['n_items']}"
        in page_tables
    )
    assert page["By system"] == parts(agreement["by_system"], with_interval=True)
    by_topic = sorted(
        agreement["by_topic"].items(), key=lambda item: -item[1]["fleiss_kappa"]["value"]
    )
    assert page["By topic"] == parts(dict(by_topic), with_interval=False)
    assert page["Pairs of raters"] == [
        [
            f"{pair['a']} and {pair['b']}",
            "",
            measure(pair),
            format_value(pair["percent_agreement"]),
            format_value(pair["prevalence"]),
            f"{format_value(pair['spans_meet'])} n = {pair['details']['spans_meet']['n']}, "
            f"{pair['details']['spans_meet']['missing']} unmarked",
            str(pair["n"]),
            str(pair["missing"]),
        ]
        for pair in agreement["cohen"]
    ]
    assert page["Against the majority of the others"] == [
        [
            row["rater"],
            measure(row["scott_pi"]),
            format_value(row["percent_agreement"]),
            format_value(row["prevalence"]),
            str(row["scott_pi"]["n"]),
            str(row["n_without_majority"]),
        ]
        for row in agreement["against_majority"]
    ]
    assert page["By rater"] == [
        [
            name,
            measure(row["prevalence"]),
            str(row["n"]),
            str(row["n_missing"]),
            str(row["highlights"]["exact"] + row["highlights"]["normalised"]),
            str(row["highlights"]["unlocated"]),
            str(row["n_without_highlight"]),
        ]
        for name, row in agreement["rater_counts"].items()
    ]
    assert page["Coverage of reports, between raters"] == [
        [
            f"{row['a']} and {row['b']}",
            *(measure(row["details"][name]) for name in ("pearson", "spearman", "kendall")),
            str(row["n"]),
            str(row["missing"]),
        ]
        for row in agreement["coverage_correlation"]
    ]
    means = {
        row[0]: [cell.split()[0] for cell in row[1:]] for row in page["Mean coverage by system"]
    }
    assert means == {
        system: [format_value(value) for value in by_rater.values()]
        for system, by_rater in agreement["mean_coverage"].items()
    }
    coverage = {row[0]: row[3:] for row in page["Coverage as a table"]}
    assert coverage == {
        report: [
            format_value(agreement["coverage"][rater][report]) for rater in agreement["raters"]
        ]
        for report in agreement["coverage"]["annotator1"]
    }


def _check_grades(rosa, judge):
    page, agreement, page_tables = both(rosa, f"rubric=graded&judge={judge}&eta=3")
    assert (
        f"Krippendorff α {measure(agreement['between_raters']['krippendorff_alpha'])}"
        in page_tables
    )
    assert "Ordinal: larger differences of grades weigh more." in page_tables
    by_rater = page[f"{judge} against each rater"]
    assert by_rater == [
        [name, *scores(part), str(part["n_without_judge"])]
        for name, part in agreement["by_rater"].items()
    ]
    for query, part in (
        ("", agreement),
        ("&truth=annotator2", agreement["by_rater"]["annotator2"]),
    ):
        page, _, page_tables = both(rosa, f"rubric=graded&judge={judge}&eta=3{query}")
        sweep = page["Every threshold as a table"]
        assert sweep == [[str(threshold["eta"]), *scores(threshold)] for threshold in part["sweep"]]
        rater = "annotator2" if query else "raters"
        assert page[f"Grades by {rater} (rows) and by {judge} (columns)"] == [
            [str(level), *map(str, row), str(sum(row))]
            for level, row in zip(part["levels"], part["matrix"], strict=True)
        ]
        cells = part["confusion"]
        assert re.search(
            f"Both: answerable {cells['tp']} Only the judge {cells['fp']}", page_tables
        )
        assert re.search(f"Only the raters? {cells['fn']} Neither {cells['tn']}", page_tables)
        for name in ("Precision, answerable", "Recall, unanswerable"):
            key = name.lower().replace(", ", "_")
            assert f"{name} {measure(part['details'][key])}" in page_tables
        assert f"Binary κ {measure(part['details']['cohen_binary'])}" in page_tables
        assert f"Quadratic κ {measure(part['details']['cohen_quadratic'])}" in page_tables
