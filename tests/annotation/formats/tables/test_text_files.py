"""Separated text: encodings, delimiters, quotes, and the line of each record."""

import gzip

import pytest

from annotation.formats.tables.cells import TableError
from annotation.formats.tables.text_files import WINDOWS, records, text_format


def read(path, **settings):
    return list(records(path, text_format(path, **settings)))


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("\ufeffname,größe\nx,é\n".encode(), "utf-8-sig"),
        ("name,größe\nx,é\n".encode("utf-16"), "utf-16"),
        ("name,größe\nx,é\n".encode("cp1252"), WINDOWS),
        ("name,größe\nx,é\n".encode(), "utf-8"),
    ],
)
def test_encoding_is_detected(written, data, encoding):
    path = written(data)
    assert text_format(path).encoding == encoding
    assert read(path) == [(1, ["name", "größe"]), (2, ["x", "é"])]


def test_windows_encoding_is_told(written):
    assert text_format(written("größe;b\n1;2\n".encode("cp1252"))).notes
    assert not text_format(written(b"a;b\n1;2\n")).notes


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_the_one_that_fits_most_records(written, delimiter):
    text = f'a{delimiter}b\n"1, 2; 3"{delimiter}x\n4{delimiter}"y\n\nz"\n'
    rows = read(written(text.encode()))
    assert rows == [(1, ["a", "b"]), (2, ["1, 2; 3", "x"]), (3, ["4", "y\n\nz"])]


def test_two_delimiters_that_fit_alike_are_asked_for(written):
    path = written(b"a,b;c,d\n1,2;3,4\n1,2;3,4\n")
    with pytest.raises(TableError, match="separated by"):
        text_format(path)
    assert read(path, delimiter=";")[0] == (1, ["a,b", "c,d"])


def test_sep_line_is_obeyed(written):
    assert read(written(b"sep=;\r\na;b\r\n1,5;2\r\n")) == [(2, ["a", "b"]), (3, ["1,5", "2"])]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_line_ends(written, end):
    rows = read(written(end.join([b"a,b", b"1,2", b"", b"3,4", b""])))
    assert [cells for _, cells in rows] == [["a", "b"], ["1", "2"], ["3", "4"]]
    assert rows[-1][0] == 4


@pytest.mark.parametrize(
    ("cell", "read_as"),
    [
        ('"Yes" said Ida.', '"Yes" said Ida.'),
        ('"Yes, said Ida.', '"Yes, said Ida.'),
        ('"Yes"', "Yes"),
        ('"She said ""Yes"""', 'She said "Yes"'),
        ('"a\tb"', "a\tb"),
        ('5" deep', '5" deep'),
    ],
)
def test_quotes_between_tabs_are_words_unless_they_enclose_the_cell(written, cell, read_as):
    path = written(f"q\ta\tn\nWhy?\t{cell}\t1\nHow?\tSo.\t2\n".encode())
    rows = [["q", "a", "n"], ["Why?", read_as, "1"], ["How?", "So.", "2"]]
    assert [cells for _, cells in read(path)] == rows


def test_quotes_between_tabs_do_not_join_lines_of_full_width(written):
    path = written(b'q\ta\tn\nWhy?\t"Yes, said Ida.\t1\nHow?\tNo, said Bo."\t2\n')
    assert [len(cells) for _, cells in read(path)] == [3, 3, 3]


def test_unclosed_quote_names_its_line(written):
    with pytest.raises(TableError, match="quotation marks") as error:
        read(written(b'a,b\n1,2\n3,"4\n5,6\n'))
    assert error.value.location == ":3"


def test_compressed_file(written):
    assert read(written(gzip.compress(b"a,b\n1,2\n"), "table.csv.gz"))[1] == (2, ["1", "2"])


def test_broken_compression_is_a_table_error(written):
    path = written(gzip.compress(b"a,b\n" + b"1,2\n" * 9000)[:60], "table.csv.gz")
    with pytest.raises(TableError):
        read(path)


def test_binary_file_is_no_table(written):
    with pytest.raises(TableError, match="NUL"):
        text_format(written(b"\x00\x01\x02" * 100))


@pytest.mark.parametrize(
    "rule", ["|---|---|", "|:--|--:|", "| --- | :---: |", "|-|-|", "|:-:|---|"]
)
def test_table_in_markdown_has_no_row_of_its_rule(written, rule):
    rows = read(written(f"| q | a |\n{rule}\n| Why? | So it is. |\n| -- no | - |\n".encode()))
    assert [cells for _, cells in rows] == [
        ["", "q", "a", ""],
        ["", "Why?", "So it is.", ""],
        ["", "-- no", "-", ""],
    ]


def test_later_row_of_dashes_is_data(written):
    rows = read(written(b"id|text|grade\n1|So it is.|--\n--|--|--\n2|So.|1\n"))
    assert [number for number, _ in rows] == [1, 2, 3, 4]
