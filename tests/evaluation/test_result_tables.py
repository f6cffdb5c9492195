"""Result tables as CSV, JSON and LaTeX files."""

import json

import pytest
from django.test import RequestFactory
from django.urls import reverse

from annotation.formats.writing import ExportError
from evaluation.latex import MAX_ROWS
from evaluation.result_tables import ResultTable, Statistic, csv_response, table_file
from evaluation.stats.estimate import Estimate

TABLE = ResultTable(
    ["rater", Statistic("kappa"), Statistic("")],
    [
        ["ann", Estimate(0.5, None, 4, 1, low=0.25, high=0.75), 7],
        ["=ben", Estimate(None, "undefined, because one level", 4), None],
    ],
)


def file_of(file_format, table=TABLE):
    request = RequestFactory().get("/datasets/mill/agreement/pairs.csv?eta=3")
    return table_file(request, file_format, table, name="mill-pairs", caption="Pairs")


def test_estimate_is_six_columns_in_csv():
    response = file_of("csv")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="mill-pairs.csv"'
    header, ann, ben = response.content.decode().splitlines()
    parts = ("kappa", "kappa_low", "kappa_high", "kappa_n", "kappa_missing", "kappa_reason")
    assert header == f"rater,{','.join(parts)},value,low,high,n,missing,reason"
    assert ann == "ann,0.5,0.25,0.75,4,1,,7,,,,,"
    # A spreadsheet would run the first cell without the apostrophe.
    assert ben == '\'=ben,,,,4,0,"undefined, because one level",,,,,,'


def test_json_has_the_names_of_the_csv_columns():
    ann, ben = json.loads(file_of("json").content)
    assert ann["kappa"] == 0.5
    assert ann["kappa_high"] == 0.75
    assert ann["value"] == 7
    assert ben["rater"] == "=ben"
    assert ben["kappa"] is None
    assert ben["kappa_reason"] == "undefined, because one level"


def test_latex_names_its_source():
    response = file_of("tex")
    assert response["Content-Disposition"] == 'attachment; filename="mill-pairs.tex"'
    first = response.content.decode().splitlines()[0]
    assert first.endswith("testserver/datasets/mill/agreement/pairs.csv?eta=3")


def test_table_that_is_too_long_for_latex_names_csv():
    rows = ResultTable(["n"], ([n] for n in range(MAX_ROWS + 1)))
    with pytest.raises(ExportError, match="Use CSV"):
        file_of("tex", rows)


def test_csv_of_plain_rows():
    response = csv_response("x", ["a", "b"], [["=1+1", -1], ["b", None]])
    assert response.content.decode() == "a,b\n'=1+1,-1\nb,\n"


@pytest.mark.django_db
def test_formats_of_a_page_have_the_same_rows(cast, study):
    client = cast.client("researcher")
    url = reverse("agreement_table", args=[study.dataset.slug, "pairs"])
    assert url.endswith("/agreement/pairs.csv")
    n_rows = len(client.get(url).content.decode().splitlines()) - 1
    assert len(client.get(url.replace(".csv", ".json")).json()) == n_rows
    text = client.get(url.replace(".csv", ".tex")).content.decode()
    assert text.count(r" \\") == n_rows + 1
    assert client.get(url.replace(".csv", ".xlsx")).status_code == 404
    assert client.post(url).status_code == 405
