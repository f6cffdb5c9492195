"""datasets/<slug>/agreement/figure/<name>/, with the numbers of the page."""

import pytest

from annotation.models import Dataset
from evaluation.agreement.coverage_chart import coverage_by_system
from evaluation.agreement.sweep_chart import CHARTS
from tests.toolbox.html_tables import tables
from tests.toolbox.responses import links, text_of_page


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def figure_of(response):
    return response.context["explore"].figure


def traces_of(response) -> dict[str, list[dict]]:
    by_name: dict[str, list[dict]] = {}
    for trace in figure_of(response)["data"]:
        by_name.setdefault(trace["name"], []).append(trace)
    return by_name


def test_coverage_figure_has_the_numbers_of_the_page(rosa, study):
    response = rosa.get(study.url("agreement/figure/coverage"))
    report = rosa.get(study.url("agreement")).context["report"]
    rows = sorted(report.reports, key=lambda row: row.system)
    traces = traces_of(response)
    # A panel for each system, here with one report each: bm25 comes first.
    for name, values in {
        "mean of the raters": [row.mean for row in rows],
        "ann": [row.coverage[0].value for row in rows],
        "ben": [row.coverage[1].value for row in rows],
        "judge, η = 3": [row.judge.value for row in rows],
    }.items():
        plotted = [value for trace in traces[name] for value in trace["y"]]
        assert plotted == pytest.approx(values), name
    (oracle,) = [text for trace in traces["ann"] for text in trace["text"] if "oracle" in text]
    assert oracle.endswith("ann: 0.6667, n = 3 sub-questions")
    assert "topic " in oracle
    (bm25,) = [t for trace in traces["judge, η = 3"] for t in trace["text"] if "bm25" in t]
    assert bm25.endswith("n = 3 sub-questions, 1 not rated")
    layout = figure_of(response)["layout"]
    assert layout["yaxis"]["title"]["text"] == "coverage<br>(share of sub-questions)"
    assert [title["text"] for title in layout["annotations"]] == [
        "annotated.bm25, 1 report",
        "annotated.oracle, 1 report",
    ]


def test_coverage_table_has_the_values_of_the_figure_and_its_links(rosa, study):
    response = rosa.get(study.url("agreement/figure/coverage"))
    rows = tables(response)["Coverage of each report"]
    assert [row[3:] for row in rows] == [
        ["0.67 n = 3", "0.67 n = 3", "0.67 n = 2", "0.33 n = 3, 1 not rated"],
        ["0.67 n = 3", "0.33 n = 3", "0.50 n = 2", "0.33 n = 3"],
    ]
    urls = [url for trace in figure_of(response)["data"] for url in trace["customdata"]]
    assert set(urls) <= set(links(response))


def test_reports_of_a_system_are_thinned_from_the_highest_to_the_lowest(rosa, study):
    report = rosa.get(study.url("agreement")).context["report"]
    (of_system, *_) = coverage_by_system(report, max_reports=1).rows
    assert (len(of_system.reports), of_system.n_reports) == (1, 1)
    # bm25 has a value of the judge, although it rated two of three.
    assert of_system.is_judged


def test_sweep_figure_has_the_numbers_of_the_page(rosa, study):
    response = rosa.get(study.url("agreement/figure/sweep"))
    sweep = rosa.get(study.url("agreement")).context["judged"].sweep
    traces = traces_of(response)
    for panel, names in enumerate(CHARTS.values()):
        for name, label in names.items():
            estimates = [getattr(scores, name) for scores in sweep]
            # The first two panels have lines of the same names.
            trace = traces[label][panel if panel < 2 else 0]
            assert trace["y"] == [estimate.value for estimate in estimates]
            assert all(
                f"n = {estimate.n}" in text
                for estimate, text in zip(estimates, trace["text"], strict=True)
                if estimate.value is not None
            )
    assert "eta=2" in traces["κ"][0]["customdata"][1]
    assert figure_of(response)["layout"]["xaxis"]["title"]["text"].startswith("η (")
    rows = tables(response)["Every threshold as a table"]
    assert [row[0] for row in rows] == [str(scores.eta) for scores in sweep]


def test_choices_of_the_page_are_those_of_the_figure(rosa, study):
    page = rosa.get(study.url("agreement", "raters=ann&raters=ben&truth=ben"))
    urls = links(page)
    (sweep,) = [url for url in urls if "/figure/sweep/" in url]
    assert "truth=ben" in sweep
    assert "The grades of ben count as correct." in text_of_page(rosa.get(sweep))
    (coverage,) = [url for url in urls if "/figure/coverage/" in url]
    assert f"/datasets/{study.dataset.slug}/agreement/?" in rosa.get(coverage).content.decode()


def test_unknown_figure_is_404(rosa, study):
    assert rosa.get(study.url("agreement/figure/nothing")).status_code == 404
    assert rosa.get(study.url("agreement/figure/sweep", "judge=eve")).status_code == 400


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("coverage", "these raters have not rated a report"),
        ("sweep", "no judge has rated these texts yet"),
    ],
)
def test_empty_figure_displays_the_reason(rosa, db, name, reason):
    Dataset.objects.create(slug="empty", title="Empty")
    response = rosa.get(f"/datasets/empty/agreement/figure/{name}/")
    assert response.status_code == 200
    assert reason in text_of_page(response)
    assert "plotly" not in response.content.decode()


def test_sweep_without_a_judge_displays_the_reason(rosa, study):
    no_judge = rosa.get(study.url("agreement/figure/sweep", "judge="))
    assert "no judge is chosen" in text_of_page(no_judge)


def test_figure_is_refused_to_workers(cast, study):
    assert cast.client("worker").get(study.url("agreement/figure/sweep")).status_code == 403
