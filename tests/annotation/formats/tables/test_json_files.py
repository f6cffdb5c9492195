"""JSON and JSON lines as tables."""

import json

import pytest

from annotation.formats.tables.cells import TableError
from annotation.formats.tables.files import TableFile, open_tables


@pytest.fixture
def table(tmp_path):
    """Return the table of a JSON text: `table('[{"a": 1}]')`."""

    def table(text, name="rows.json"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return open_tables(TableFile.of(path))[0]

    return table


def test_nested_objects_are_columns_by_path(table):
    opened = table('{"a": {"b": 1, "c": {"d": null}}, "e": [1, {"f": 2}], "g": {}}\n', "rows.jsonl")
    assert opened.headers == ("a.b", "a.c.d", "e", "g")
    assert list(opened.rows()) == [(1, {"a.b": 1, "a.c.d": None, "e": [1, {"f": 2}], "g": {}})]


def test_array_within_an_object_is_found(table):
    opened = table('{"version": 1, "results": {"rows": [{"a": 1}, {"a": 2}]}}')
    assert [cells["a"] for _, cells in opened.rows()] == [1, 2]
    assert opened.location(2, "a") == "rows.json: results.rows[1].a"


def test_several_arrays_are_asked_for(table):
    with pytest.raises(TableError, match=r"several arrays \(a, b\)"):
        table('{"a": [{"x": 1}], "b": [{"x": 1}]}')


def test_json_lines_under_the_name_of_json(table):
    assert [row for row, _ in table('{"a": 1}\n\n{"a": 2}\n').rows()] == [1, 3]


FRAME = [{"q": "Why?", "c": ["x", "y"]}, {"q": "How?", "c": []}]


@pytest.mark.parametrize(
    "value",
    [
        {"q": {"0": "Why?", "1": "How?"}, "c": {"0": ["x", "y"], "1": []}},
        {"0": FRAME[0], "1": FRAME[1]},
        {"q": ["Why?", "How?"], "c": [["x", "y"], []]},
        {"columns": ["q", "c"], "index": [0, 1], "data": [["Why?", ["x", "y"]], ["How?", []]]},
    ],
    ids=["columns", "rows by number", "lists", "split"],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_data_frame_as_one_object_is_read_by_row(table, value, indent):
    opened = table(json.dumps(value, indent=indent))
    assert [row for _, row in opened.rows()] == FRAME
    assert opened.location(2, "q") == "rows.json: row 2"


@pytest.mark.parametrize(
    "value",
    [
        {"q": {"101": "Why?", "7": "How?"}, "c": {"101": 4, "7": 5}},
        {"101": {"q": "Why?", "c": 4}, "7": {"q": "How?", "c": 5}},
        {"columns": ["q", "c"], "index": [101, 7], "data": [["Why?", 4], ["How?", 5]]},
    ],
    ids=["columns", "rows by key", "split"],
)
def test_keys_of_a_data_frame_are_a_column_unless_they_number_the_rows(table, value):
    rows = [row for _, row in table(json.dumps(value)).rows()]
    assert rows == [{"index": "101", "q": "Why?", "c": 4}, {"index": "7", "q": "How?", "c": 5}]


@pytest.mark.parametrize(
    "value",
    [
        {"grades": {"1": 2, "2": 0}},
        {"q": "Why?", "a": "So."},
        {"q": ["Why?"], "a": "So."},
        {"q": ["Why?"], "a": ["So.", "No."]},
        {"q": {"de": "Warum?"}, "a": {"de": "Darum."}},
        {"q": {"0": "Why?"}, "a": {"1": "So."}},
    ],
)
def test_other_object_on_one_line_is_one_row(table, value):
    assert len(list(table(json.dumps(value)).rows())) == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", "3", '"a"', "[1, 2]", "[{}", "nul", "[" * 5000])
def test_other_json_is_a_table_error(table, text):
    with pytest.raises(TableError):
        list(table(text).rows())


def test_line_that_is_no_object_names_itself(table):
    with pytest.raises(TableError) as error:
        table('{"a": 1}\n[2]\n', "rows.jsonl")
    assert error.value.location == ":2"


def test_nan_is_missing_and_no_error(table):
    ((_, cells),) = table('[{"a": NaN, "b": 1}]').rows()
    assert cells["a"] != cells["a"]


def test_too_many_columns_are_refused(table):
    with pytest.raises(TableError, match="2,000"):
        table(json.dumps([{f"c{n}": n for n in range(2001)}]))


def parquet(path, rows):
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    pq.write_table(pa.Table.from_pylist(rows), path)


def test_parquet_has_columns_by_path_and_lists(tmp_path):
    path = tmp_path / "rows.parquet"
    parquet(path, [{"q": "Why?", "m": None, "c": []}, {"q": "Who?", "m": {"f": 0.5}, "c": ["a"]}])
    (table,) = open_tables(TableFile.of(path))
    assert {"q", "m.f", "c"} <= {*table.headers}
    assert [cells["q"] for _, cells in table.rows()] == ["Why?", "Who?"]
    assert [cells.get("m.f") for _, cells in table.rows()] == [None, 0.5]


def test_broken_parquet_is_a_table_error(tmp_path):
    path = tmp_path / "rows.parquet"
    parquet(path, [{"q": "Why?" * 1000}] * 100)
    data = path.read_bytes()
    for broken in (data[: len(data) // 2], b"PAR1" + b"x" * 50, b"", data[:20] + b"zz" + data[22:]):
        path.write_bytes(broken)
        with pytest.raises(TableError):
            list(open_tables(TableFile.of(path))[0].rows())


@pytest.mark.parametrize("head", ["\n\n", "\ufeff\n", "# made by hand\n", "//made\n \n# 2026\n"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '[{"a": 1}, {"a": 2}]'),
        ("a.json", '{"a": 1}\n{"a": 2}\n'),
        ("a.jsonl", '{"a": 1}\n{"a": 2}\n'),
        ("a.json", '{"rows": [{"a": 1}, {"a": 2}]}'),
    ],
)
def test_comments_above_the_first_value_are_skipped(table, head, name, text):
    assert [row for _, row in table(head + text, name).rows()] == [{"a": 1}, {"a": 2}]


def test_line_of_broken_json_below_comments_is_right(table):
    with pytest.raises(TableError, match=r"is broken JSON: .* \(column 11\)") as refused:
        table('# made\n\n[{"a": 1},]', "a.json")
    assert refused.value.location == ":3"


SHORT = [{"q": "Why?", "c": 4}, {"q": "How?", "c": 5}]


@pytest.mark.parametrize(
    "value",
    [
        {"schema": {"fields": [{"name": "q"}], "pandas_version": "1.4.0"}, "data": SHORT},
        {"columns": ["q", "c"], "data": [["Why?", 4], ["How?", 5]]},
        {
            "index": [0, 1],
            "columns": ["q", "c"],
            "data": [["Why?", 4], ["How?", 5]],
            "index_names": [None],
            "column_names": [None],
        },
    ],
    ids=["table", "split without index", "tight"],
)
def test_further_orients_of_a_data_frame_are_read_by_row(table, value):
    assert [row for _, row in table(json.dumps(value)).rows()] == SHORT


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ({"t1": {"question": "Why?", "k": 4}, "t2": {"question": "How?", "k": 5, "m": 1}}, "id"),
        ({"question": {"t1": "Why?", "t2": "How?"}, "k": {"t1": 4, "t2": 5}}, "index"),
    ],
    ids=["rows by id", "columns by id"],
)
def test_rows_by_id_keep_the_id(table, value, key):
    rows = [row for _, row in table(json.dumps(value)).rows()]
    expected = [{key: "t1", "question": "Why?", "k": 4}, {key: "t2", "question": "How?", "k": 5}]
    assert [{name: row[name] for name in expected[0]} for row in rows] == expected


@pytest.mark.parametrize(
    "value",
    [
        {"a": {"model": "m", "results": SHORT}, "b": {"model": "n", "results": SHORT}},
        {
            "train": {"question": {"0": "Why?"}, "answer": {"0": "So."}},
            "test": {"question": {"0": "How?"}, "answer": {"0": "So."}},
        },
        {
            "bot-a": {"question": "Why?", "answer": "a"},
            "bot-b": {"question": "Why?", "answer": "b"},
        },
    ],
    ids=["runs", "splits", "systems"],
)
def test_other_objects_of_objects_are_no_rows_by_id(table, value):
    with pytest.raises(TableError, match=r"has (several arrays|no array)"):
        table(json.dumps(value, indent=1))


def test_line_of_a_broken_object_among_others_is_named(table):
    objects = ['{\n"q": "Why?",\n"a": "So."\n}\n'] * 3 + ['{\n"q": "Why?"\n"a": "So."\n}\n']
    with pytest.raises(TableError, match="',' delimiter") as refused:
        table("".join(objects))
    assert refused.value.location == ":15"


@pytest.mark.parametrize("name", ["rows.json", "rows.jsonl", "rows.txt", "rows"])
@pytest.mark.parametrize("indent", [None, 1])
def test_list_is_read_under_any_name(table, name, indent):
    assert [row for _, row in table(json.dumps(FRAME, indent=indent), name).rows()] == FRAME


@pytest.mark.parametrize("name", ["rows.json", "rows.jsonl", "rows.log"])
def test_objects_over_several_lines_are_rows(table, name):
    text = "\n".join(json.dumps(row, indent=1) for row in FRAME)
    assert [row for _, row in table(text, name).rows()] == FRAME


@pytest.mark.parametrize("name", ["rows.txt", "20260301_101500"])
def test_json_lines_are_read_under_any_name(table, name):
    text = "".join(f"{json.dumps(row)}\n" for row in FRAME)
    assert [row for _, row in table(text, name).rows()] == FRAME


@pytest.mark.parametrize("text", ["[q],c\nWhy?,4\n", "{q}\tc\nWhy?\t4\n", "q,c\n[1],4\n"])
def test_text_that_begins_like_json_is_text(table, text):
    assert len(table(text, "rows.txt").headers) == 2


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.feather", b"ARROW1\0\0"),
        ("a.pkl", b"\x80\x05]\x94."),
        ("a.docx", b"PK\x03\x04"),
        ("a.sqlite", b"SQLite format 3\0"),
        ("a.html", b"<table>\n<tr>"),
        ("a.xml", b'\xef\xbb\xbf<?xml version="1.0"?>\n'),
        ("a.ipynb", b'{"cells": []}'),
    ],
)
def test_file_that_is_no_table_is_refused_with_a_remedy(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(TableError, match="CSV, JSON lines or Parquet"):
        open_tables(TableFile.of(path))


@pytest.mark.parametrize("name", ["a.xml", "a.html", "a.mat"])
def test_text_under_the_name_of_another_kind_is_read(table, name):
    assert list(table("question,answer\na,b\n", name).headers) == ["question", "answer"]


@pytest.mark.parametrize("name", ["rows.json", "rows.jsonl"])
def test_json_of_another_encoding_is_refused_with_its_line(tmp_path, name):
    path = tmp_path / name
    path.write_bytes('{"q": "Why?"}\n{"q": "为什么？"}\n'.encode("gb18030"))
    with pytest.raises(TableError, match="not UTF-8: byte 0x") as refused:
        open_tables(TableFile.of(path))
    assert refused.value.location == ":2"
    path = tmp_path / "list.json"
    path.write_bytes('[{"q": "Why?"},\n{"q": "为什么？"}]\n'.encode("gb18030"))
    with pytest.raises(TableError, match="not UTF-8") as refused:
        open_tables(TableFile.of(path))
    assert refused.value.location == ":2"
