"""Tables of records: which row is the header."""

import pytest
from openpyxl import Workbook

from annotation.formats.tables.files import TableFile, open_tables

LONG = "The board of the harbour has owned the ferry since the year of the flood. " * 2


@pytest.fixture
def headers(tmp_path):
    """Return the headers of a CSV text: `headers("a,b\\n1,2\\n")`."""

    def headers(text):
        path = tmp_path / "table.csv"
        path.write_text(text, encoding="utf-8")
        return open_tables(TableFile.of(path))[0].headers

    return headers


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (",question,grade\n0,Why?,4\n1,How?,5\n", ("Column A", "question", "grade")),
        ("q,a,grade,grade\nWhy?,So.,3,4\nHow?,Thus.,0,1\n", ("q", "a", "grade", "grade (2)")),
        ("q,a,,n\nWhy?,So.,x,3\nHow?,Thus.,y,4\n", ("q", "a", "Column C", "n")),
        (f"q,a,\nWhy?,{LONG},fine\nHow?,{LONG},good\n", ("q", "a", "Column C")),
        (",q,a,m,n\n0,Why?,So.,1.0,1.0\n1,How?,Thus.,0.5,\n", ("Column A", "q", "a", "m", "n")),
        ("q,a,n\nWhy?,So.,3\nHow?,So, or not.,4\n", ("q", "a", "n")),
    ],
    ids=[
        *("data frame with row numbers", "repeated name", "blank name", "blank name, long texts"),
        *("blank last cell", "a comma without quotes"),
    ],
)
def test_header_with_blank_or_repeated_names_is_no_row_of_data(headers, text, names):
    assert headers(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "Study of 2026,,,\nq,1,2,3\nWhy?,4,5,3\n",
        "q,1,2,3\nWhy?,4,5,3\n",
        "Study,by Anna,,\nq,1,2,3\nWhy?,4,5,3\n",
    ],
    ids=["title", "first row", "title of two cells"],
)
def test_header_with_numbers_as_names_is_kept(headers, text):
    assert headers(text) == ("q", "1", "2", "3")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Annotator;Anna\nText;1;2\nt1;0;1\n", ("Text", "1", "2")),
        (f"Study;May\nid;{LONG};n\na;4;1\n", ("id", " ".join(LONG.split()), "n")),
        ("Text;Coverage;;Fluency;\nid;1;2;3;4\nt1;0;1;0;1\n", ("id", "1", "2", "3", "4")),
    ],
    ids=["metadata", "long name", "groups of columns"],
)
def test_header_below_a_narrower_row_is_kept(headers, text, names):
    assert headers(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("id,n,n,n,n\nt1,yes,no,maybe,yes\nt2,no,no,maybe,no\n", ("id", "n", "n (2)")),
        (f"id,text,n,n\nt1,Short answer,yes,\nt2,{LONG},no,no\n", ("id", "text", "n")),
    ],
    ids=["words", "a blank and a long text"],
)
def test_first_row_with_a_repeated_name_above_words_is_the_header(headers, text, names):
    assert headers(text)[: len(names)] == names


def _workbook(tmp_path, *merged, rows):
    workbook = Workbook()
    for row in rows:
        workbook.active.append(row)
    for cells in merged:
        workbook.active.merge_cells(cells)
    workbook.save(tmp_path / "grades.xlsx")
    return open_tables(TableFile.of(tmp_path / "grades.xlsx"))[0]


def test_header_of_two_rows_with_merged_names_is_joined(tmp_path):
    table = _workbook(
        tmp_path,
        *("A1:F1", "A2:A3", "B2:B3", "C2:D2", "E2:F2"),
        rows=[
            ["Study of the ferry"],
            ["q", "a", "Anna", None, "Ben", None],
            [None, None, "fit", "style", "fit", "style"],
            ["Why?", "So.", 4, 5, 3, 2],
            ["How?", "Thus.", 1, 0, 2, 3],
        ],
    )
    assert table.headers == ("q", "a", "Anna / fit", "Anna / style", "Ben / fit", "Ben / style")
    assert [row for row, _ in table.rows()] == [4, 5]


def test_header_with_repeated_names_below_a_merged_title_is_found(tmp_path):
    rows = [
        ["Study of the ferry"],
        ["q", "a", "n", "n"],
        ["Why?", "So.", 4, 5],
        ["How?", "So.", 1, 0],
    ]
    table = _workbook(tmp_path, "A1:D1", rows=rows)
    assert table.headers == ("q", "a", "n", "n (2)")
