"""Prolific's export: as downloaded, as saved by spreadsheets, and invalid files."""

import pytest

from annotation.formats.prolific import MAX_PROBLEMS, ProlificExportError, read
from tests.toolbox.prolific_list import export


def test_old_column_names_are_read_and_unknown_columns_ignored():
    raw = (
        b"\xef\xbb\xbfsession_id,participant_id,status,entered_code,prolific_score\n"
        b"s,p,awaiting_review,C,100\n\n"
    )
    [row] = read(raw)
    assert (row.pk, row.person, row.status, row.code) == ("s", "p", "AWAITING REVIEW", "C")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "Line 1: the column “Submission id”, “Participant id”"),
        (b"Submission id,Status,Completion code\n", "Line 1: the column “Participant id” is"),
        (export(("s", "p", "ACTIVE", "")) + b"s2,p2\n", "Line 3: 2 cells, where the first line"),
        (export(("s", "", "ACTIVE", "")), "Line 2: “Participant id” is empty"),
        (export(("s", "p", "ACTIVE", ""), ("s", "q", "ACTIVE", "")), "Line 3: the submission s is"),
        (export(("s", "p", "ACTIVE", "")) + b'"open', "Line 3: broken CSV"),
        (export(("s", "p", "ACTIVE", "")) + b"\xff\xfe", "Line 3: 1 cells"),
        (
            b"PK\x03\x04\x00\x80\x00",
            "Line 1: not text. Prolific's export is a CSV; save a spreadsheet",
        ),
        (b"\x81\x8d", "Line 1: not text"),
        (b'sep="\nSubmission id', "Line 1: the column"),
        (b"x" * 200_000, "Line 1: "),
        (b'"' * 5, "Line 1: "),
        ("Submission id".encode("utf-16-le") + b"\0", "Line 1: not text"),
        (b"\x00\x01", "Line 1: the column"),
        (b"sep=;\r\nSubmission id;Status\r\n", "Line 2: the column “Participant id”"),
        (
            b"sep=;\n" + export(("s", "", "ACTIVE", "")).replace(b",", b";"),
            "Line 3: “Participant id”",
        ),
    ],
)
def test_broken_file_names_its_line(raw, message):
    with pytest.raises(ProlificExportError) as refused:
        read(raw)
    assert message in refused.value.problems[0]


AS_SAVED = {
    "as it came": lambda raw: raw,
    "semicolons": lambda raw: raw.replace(b",", b";"),
    "tabs": lambda raw: raw.replace(b",", b"\t"),
    "a line that says so": lambda raw: b"sep=;\r\n" + raw.replace(b",", b";"),
    "a bar, said so": lambda raw: b"sep=|\n" + raw.replace(b",", b"|"),
    "tabs, said so": lambda raw: b"sep=\t\r\n" + raw.replace(b",", b"\t"),
    "semicolons, in UTF-16, said so": lambda raw: (
        "sep=;\r\n" + raw.decode().replace(",", ";")
    ).encode("utf-16"),
    "quoted names": lambda raw: raw.replace(b"Participant id", b'"Participant id"'),
    "with a mark": lambda raw: b"\xef\xbb\xbf" + raw,
    "UTF-16": lambda raw: raw.decode().encode("utf-16"),
    "UTF-16, big end first, no mark": lambda raw: raw.decode().encode("utf-16-be"),
    "UTF-16, tabs, no mark": lambda raw: raw.replace(b",", b"\t").decode().encode("utf-16-le"),
    "Windows-1252": lambda raw: raw.decode().encode("cp1252"),
    "Windows-1252, semicolons": lambda raw: raw.decode().replace(",", ";").encode("cp1252"),
}


@pytest.mark.parametrize("how", AS_SAVED)
def test_export_saved_by_a_spreadsheet_is_read(how):
    raw = (
        "Submission id,Participant id,Status,Started at,Completion code,Fluent languages\r\n"
        's1,p1,AWAITING REVIEW,2026-03-02T12:27:09.179000Z,DONE1,"Français"\r\n'
        "s2,p2,TIMED-OUT,,,Türk\r\n"
    ).encode()
    assert [(row.pk, row.person, row.status, row.code) for row in read(AS_SAVED[how](raw))] == [
        ("s1", "p1", "AWAITING REVIEW", "DONE1"),
        ("s2", "p2", "TIMED OUT", ""),
    ]


def test_problems_of_a_file_are_reported_up_to_a_limit():
    raw = export(*((f"s{n}", "", "ACTIVE", "") for n in range(30)))
    with pytest.raises(ProlificExportError) as refused:
        read(raw)
    assert len(refused.value.problems) == MAX_PROBLEMS + 1
    assert refused.value.problems[2].startswith("Line 4")
