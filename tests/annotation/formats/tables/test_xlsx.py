"""Workbooks: values, formats, formulas and merged ranges of cells."""

from datetime import date, datetime
from datetime import time as time_of_day
from pathlib import Path

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart, Reference

from annotation.formats.tables import xlsx_guard
from annotation.formats.tables.cells import BrokenCell, CellProblem, FormattedNumber
from annotation.formats.tables.number_formats import display_number
from annotation.formats.tables.xlsx import worksheets
from tests.annotation.formats.tables.workbooks import (
    STRINGS_PART,
    STYLES_PART,
    TYPES_PART,
    WORKBOOK_PART,
    pack,
    packed_error,
    packed_rows,
    rows_of,
    sheet_xml,
    strings_xml,
    workbook_parts,
    write_workbook,
)

ROOT = Path(__file__).parents[4]
FORMULA = CellProblem.FORMULA
ERROR = CellProblem.ERROR


def test_defusedxml_is_used_by_openpyxl():
    assert openpyxl.DEFUSEDXML


def test_sheets_are_listed_in_the_order_of_the_file_with_their_sizes(tmp_path):
    path = write_workbook(
        tmp_path / "kiln.xlsx",
        {"Topics": [["id", "request"], ["k1", "Report."]], "Raw": [["x"]], "None": []},
        hidden=["Raw"],
    )

    listed = worksheets(path)

    assert [(s.name, s.is_hidden, s.n_rows, s.n_columns) for s in listed] == [
        ("Topics", False, 2, 2),
        ("Raw", True, 1, 1),
        ("None", False, 0, 0),
    ]
    assert rows_of(listed[0]) == {1: ["id", "request"], 2: ["k1", "Report."]}
    assert rows_of(listed[2]) == {}
    assert listed[0].location(3, 4) == "Topics!E3"
    assert listed[0].location(1, 26) == "Topics!AA1"


def test_records_of_two_sheets_are_read_side_by_side_and_again(tmp_path):
    rows = [[i, f"text {i}"] for i in range(500)]
    first, second = worksheets(write_workbook(tmp_path / "a.xlsx", {"A": rows, "B": rows[::-1]}))

    pairs = list(zip(first.records(), second.records(), strict=True))

    assert pairs[0] == ((1, [0, "text 0"]), (1, [499, "text 499"]))
    assert len(pairs) == 500
    assert len(list(first.records())) == 500


def test_numbers_are_whole_where_they_can_be(tmp_path):
    rows = packed_rows(
        tmp_path,
        '<row r="1"><c r="A1"><v>7.0</v></c><c r="B1"><v>7</v></c><c r="C1"><v>4.5</v></c>'
        '<c r="D1" t="b"><v>1</v></c><c r="E1" t="b"><v>0</v></c><c r="F1"><v>1E3</v></c>'
        '<c r="G1"><v>1e999</v></c></row>',
    )

    assert [repr(cell) for cell in rows[1][:6]] == ["7", "7", "4.5", "True", "False", "1000"]
    assert rows[1][6] == BrokenCell(ERROR, "#NUM!")


def test_dates_keep_their_kind(tmp_path):
    values = [date(2026, 3, 2), datetime(2026, 3, 2, 14, 30), time_of_day(9, 15)]
    path = write_workbook(tmp_path / "a.xlsx", {"A": [values]})

    assert rows_of(worksheets(path)[0])[1] == values


def test_dates_count_from_1904_where_the_file_says_so(tmp_path):
    parts = workbook_parts('<row><c s="1"><v>1</v></c></row>', styles=["yyyy-mm-dd"])
    parts[WORKBOOK_PART] = str(parts[WORKBOOK_PART]).replace(
        "<sheets>", '<workbookPr date1904="1"/><sheets>'
    )

    (worksheet,) = worksheets(pack(tmp_path / "a.xlsx", parts))

    assert rows_of(worksheet)[1] == [date(1904, 1, 2)]


def test_iso_dates_and_east_asian_formats_are_dates(tmp_path):
    rows = packed_rows(
        tmp_path,
        '<row><c t="d"><v>2026-03-02</v></c><c s="1"><v>46083</v></c><c s="2"><v>46083</v></c></row>',
        styles=[58, 'm"月"d"日"'],
    )

    assert rows[1] == [date(2026, 3, 2)] * 3


def test_duration_is_a_formatted_number(tmp_path):
    rows = packed_rows(tmp_path, '<row><c s="1"><v>1.0625</v></c></row>', styles=["[h]:mm:ss"])

    assert rows[1] == [FormattedNumber(1.0625, "25:30:00")]


@pytest.mark.filterwarnings("ignore::UserWarning:openpyxl")
def test_date_out_of_range_is_an_error_value(tmp_path):
    rows = packed_rows(tmp_path, '<row><c s="1"><v>1e9</v></c></row>', styles=["yyyy-mm-dd"])

    assert rows[1] == [BrokenCell(ERROR, "#VALUE!")]


def test_formatted_numbers_show_their_text(tmp_path):
    rows = [[7, 0.85, 0.8523, 0.5, 1234.5, 7.5]]
    formats = ["00000", "0%", "0.0%", "General", "#,##0.00", "00"]
    path = write_workbook(
        tmp_path / "a.xlsx",
        {"A": rows},
        formats={f"A!{letter}1": code for letter, code in zip("ABCDEF", formats, strict=True)},
    )

    assert rows_of(worksheets(path)[0])[1] == [
        FormattedNumber(7, "00007"),
        FormattedNumber(0.85, "85%"),
        FormattedNumber(0.8523, "85.2%"),
        0.5,
        1234.5,
        7.5,
    ]


@pytest.mark.parametrize(
    ("number", "number_format", "expected"),
    [
        (7, "00000", "00007"),
        (-7, "00000", "-00007"),
        (1234567, "00000", "1234567"),
        (0, "000", "000"),
        (7, '"D-"000', "D-007"),
        (7, r"\D000", "D007"),
        (123456789, "000-00-0000", "123-45-6789"),
        (7, "000;(000)", "007"),
        (-7, "000;(000)", "(007)"),
        (7, "[Red]000", "007"),
        (7, "[>5]000", None),
        (7.5, "000", None),
        (7, "0", None),
        (7, "0.00", None),
        (7, "#,##0", None),
        (7, '"$"000', None),
        (7, "[$EUR ]000", None),
        (7, "General", None),
        (7, "@", None),
        (7, "# ?/?", None),
        (7, "000;", "007"),
        (-7, "000;", None),
        (0.85, "0%", "85%"),
        (0.85, "0 %", "85 %"),
        (0.845, "0%", "85%"),
        (-0.5, "0%", "-50%"),
        (0.855, "0.0%", "85.5%"),
        (0.85, "0.0#%", "85.0%"),
        (0, "0.00%", "0.00%"),
        (1, "0%%", None),
        (1e300, "0%", None),
        (5, "", None),
        (5, '"unfinished', None),
        (5, "0" * 300, None),
    ],
)
def test_number_formats_are_shown_or_left(number, number_format, expected):
    assert display_number(number, number_format) == expected


def test_formulas_count_by_their_stored_value(tmp_path):
    rows = packed_rows(
        tmp_path,
        '<row r="1"><c r="A1"><f>1+1</f><v>2</v></c><c r="B1" t="str"><f>"a"</f><v>a</v></c>'
        '<c r="C1" t="str"><f>IF(A1=1,1,"")</f><v></v></c><c r="D1"><f>C9-1</f></c>'
        '<c r="E1"><f>C9-2</f><v/></c><c r="F1" t="e"><f>1/0</f><v>#DIV/0!</v></c>'
        '<c r="G1" t="e"><v>#N/A</v></c></row>',
    )

    assert rows[1] == [
        *(2, "a", None),
        *(BrokenCell(FORMULA, "=C9-1"), BrokenCell(FORMULA, "=C9-2")),
        *(BrokenCell(ERROR, "#DIV/0!"), BrokenCell(ERROR, "#N/A")),
    ]


def test_formulas_that_openpyxl_wrote_have_no_value(tmp_path):
    path = write_workbook(tmp_path / "a.xlsx", {"A": [["x", "y"], [1, "=A2-1"]]})

    assert rows_of(worksheets(path)[0])[2] == [1, BrokenCell(FORMULA, "=A2-1")]


def test_shared_formula_without_value_shows_the_first_text(tmp_path):
    rows = packed_rows(
        tmp_path,
        '<row><c><f t="shared" ref="A1:A2" si="0">B1+1</f></c></row>'
        '<row><c><f t="shared" si="0"/></c></row>',
    )

    assert rows == {1: [BrokenCell(FORMULA, "=B1+1")], 2: [BrokenCell(FORMULA, "=B1+1")]}


def test_zeros_of_formulas_that_wait_for_a_calculation_are_no_values(tmp_path):
    waiting = '<calcPr fullCalcOnLoad="1"/>'
    zeros = "<row><c><f>B1+1</f><v>0</v></c></row>"

    assert packed_rows(tmp_path, zeros, calculation=waiting)[1] == [BrokenCell(FORMULA, "=B1+1")]
    assert packed_rows(tmp_path, zeros)[1] == [0]
    assert packed_rows(
        tmp_path, zeros + "<row><c><f>B2+1</f><v>3</v></c></row>", calculation=waiting
    ) == {1: [0], 2: [3]}


def test_texts_are_read_from_shared_inline_and_rich_strings(tmp_path):
    rows = packed_rows(
        tmp_path,
        '<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c>'
        '<c t="inlineStr"><is><t xml:space="preserve"> in </t></is></c>'
        '<c t="inlineStr"><is><r><t>rich </t></r><r><t>in</t></r></is></c><c t="s"><v>2</v></c></row>',
        strings=[
            '<t xml:space="preserve"> a\nb </t>',
            "<r><t>rich </t></r><r><rPr><b/></rPr><t>text</t></r><rPh sb='0' eb='1'><t>no</t></rPh>",
            "",
        ],
    )

    assert rows[1] == [" a\nb ", "rich text", " in ", "rich in", None]


def test_rich_text_of_openpyxl_is_read_as_text(tmp_path):
    rich = CellRichText("Some ", TextBlock(InlineFont(b=True), "bold"), " words")
    path = write_workbook(tmp_path / "a.xlsx", {"A": [[rich]]})

    assert rows_of(worksheets(path)[0])[1] == ["Some bold words"]


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ("a_x000D_\nb", "a\r\nb"),
        ("_x0041_", "A"),
        ("_x005F_x0041_", "_x0041_"),
        ("_x005F_x005F_x005F_x0041_", "_x005F_x0041_"),
        ("x005F_", "x005F_"),
        ("_X0041_", "_X0041_"),
        ("_xD83D__xDE00_", "😀"),
        ("_xD83D_", "_xD83D_"),
        ("_x0000_", "_x0000_"),
        ("#DIV/0!", "#DIV/0!"),
        ("007", "007"),
        ("=1+1", "=1+1"),
    ],
)
def test_escapes_in_texts_are_decoded_once(tmp_path, stored, text):
    rows = packed_rows(
        tmp_path,
        f'<row><c t="s"><v>0</v></c><c t="inlineStr"><is><t>{stored}</t></is></c>'
        f'<c t="str"><f>B1</f><v>{stored}</v></c></row>',
        strings=[stored],
    )

    assert rows[1] == [text] * 3
    assert {type(cell) for cell in rows[1]} == {str}


def test_hidden_rows_and_columns_are_read(tmp_path):
    part = sheet_xml(
        '<row r="1" hidden="1"><c><v>1</v></c><c><v>2</v></c></row>',
        before='<cols><col min="1" max="1" hidden="1"/></cols>',
    )

    assert packed_rows(tmp_path, part) == {1: [1, 2]}


def test_macro_workbook_is_read(tmp_path):
    kind = "application/vnd.ms-excel.sheet.macroEnabled.main+xml"

    assert packed_rows(tmp_path, "<row><c><v>1</v></c></row>", kind=kind) == {1: [1]}


def test_rows_and_cells_without_addresses_are_counted(tmp_path):
    rows = packed_rows(
        tmp_path, '<row><c><v>1</v></c></row><row r="4"><c r="C4"><v>2</v></c><c><v>3</v></c></row>'
    )

    assert rows == {1: [1, None, None, None], 4: [None, None, 2, 3]}


def test_cells_with_only_a_format_do_not_widen_the_sheet(tmp_path):
    rows = '<row r="1"><c r="A1"><v>1</v></c><c r="XFD1" s="1"/></row><row r="9"><c r="A9" s="1"/></row>'
    path = pack(tmp_path / "a.xlsx", workbook_parts(rows, styles=["0"]))

    (worksheet,) = worksheets(path)

    assert (worksheet.n_rows, worksheet.n_columns) == (1, 1)
    assert rows_of(worksheet) == {1: [1]}


@pytest.mark.parametrize("reference", ["A1", "A1:XFD1048576", "B7:C9", "nonsense", ""])
def test_stated_size_of_a_sheet_is_not_trusted(tmp_path, reference):
    part = sheet_xml(
        "<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c></row>",
        before=f'<dimension ref="{reference}"/>',
    )

    assert packed_rows(tmp_path, part) == {1: [1, 2], 2: [3, None]}


def test_chart_sheets_are_left_out(tmp_path):
    workbook = openpyxl.Workbook()
    workbook.active.append([1])
    chart = BarChart()
    chart.add_data(Reference(workbook.active, min_col=1, min_row=1, max_row=1))
    workbook.create_chartsheet("Chart", 0).add_chart(chart)
    workbook.create_sheet("Last").append([2])
    workbook.save(tmp_path / "a.xlsx")

    assert [(s.name, rows_of(s)) for s in worksheets(tmp_path / "a.xlsx")] == [
        ("Sheet", {1: [1]}),
        ("Last", {1: [2]}),
    ]


def test_links_to_other_workbooks_are_not_followed(tmp_path):
    parts = workbook_parts("<row><c><f>[1]A!A1</f><v>3</v></c></row>")
    parts[WORKBOOK_PART] = str(parts[WORKBOOK_PART]).replace(
        "</sheets>",
        '</sheets><externalReferences><externalReference r:id="rId7"/></externalReferences>',
    )

    (worksheet,) = worksheets(pack(tmp_path / "a.xlsx", parts))

    assert rows_of(worksheet) == {1: [3]}


@pytest.mark.parametrize(
    "styles", ["<fills><fill/></fills>", "<fonts><font><b/><x/></font></fonts>"]
)
def test_styles_other_than_number_formats_are_not_read(tmp_path, styles):
    parts = workbook_parts('<row><c s="1"><v>7</v></c></row>', styles=["000"])
    parts[STYLES_PART] = str(parts[STYLES_PART]).replace("<numFmts>", f"{styles}<numFmts>")

    (worksheet,) = worksheets(pack(tmp_path / "a.xlsx", parts))

    assert rows_of(worksheet) == {1: [FormattedNumber(7, "007")]}


def test_elements_after_the_rows_are_not_parsed(tmp_path):
    part = sheet_xml(
        "<row><c><v>1</v></c></row>", tail='<dataValidations count="x"><y/></dataValidations>'
    )

    assert packed_rows(tmp_path, part) == {1: [1]}


def test_workbook_without_strings_and_styles_is_read(tmp_path):
    parts = workbook_parts('<row><c s="7"><v>0.5</v></c></row>')
    del parts[STRINGS_PART], parts[STYLES_PART]
    parts[TYPES_PART] = str(parts[TYPES_PART]).replace(STRINGS_PART, "xl/other.xml")
    parts["xl/other.xml"] = strings_xml()

    (worksheet,) = worksheets(pack(tmp_path / "a.xlsx", parts))

    assert rows_of(worksheet) == {1: [0.5]}


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "windows-1252", "us-ascii"])
def test_parts_in_other_encodings_are_read(tmp_path, encoding):
    text = "cafe" if encoding == "us-ascii" else "café"
    part = sheet_xml(f'<row><c t="inlineStr"><is><t>{text}</t></is></c></row>')
    part = part.replace("UTF-8", encoding)

    assert packed_rows(tmp_path, part.encode(encoding)) == {1: [text]}


# Merged cells


def merged_xml(rows: str, *references: str) -> str:
    ranges = "".join(f'<mergeCell ref="{reference}"/>' for reference in references)
    return sheet_xml(rows, tail=f"<mergeCells>{ranges}</mergeCells>")


def test_merged_cells_have_the_value_of_the_first(tmp_path):
    path = write_workbook(
        tmp_path / "a.xlsx",
        {
            "A": [
                ["title", None, None],
                ["t", "q1", 1],
                [None, None, None],
                [None, "q2", None],
                [None, None, 4],
            ]
        },
        merged=["A!A1:C1", "A!A2:A9", "A!B4:B5"],
    )

    assert rows_of(worksheets(path)[0]) == {
        1: ["title"] * 3,
        2: ["t", "q1", 1],
        3: ["t", None, None],
        4: ["t", "q2", None],
        5: ["t", "q2", 4],
    }


def test_merged_range_without_a_value_hides_its_cells(tmp_path):
    part = merged_xml(
        '<row r="2"><c r="A2"><v>1</v></c></row><row r="4"><c r="A4"><v>2</v></c><c><v>3</v></c></row>',
        "A3:A4",
    )

    assert packed_rows(tmp_path, part) == {2: [1, None], 4: [None, 3]}


def test_merged_rows_that_the_file_leaves_out_are_records(tmp_path):
    part = merged_xml(
        '<row r="1"><c><v>1</v></c></row><row r="4"><c r="B4"><v>2</v></c></row>', "A1:A3"
    )

    assert packed_rows(tmp_path, part) == {1: [1, None], 2: [1, None], 3: [1, None], 4: [None, 2]}


def test_merged_columns_and_rows_are_cut_to_the_used_rectangle(tmp_path):
    part = merged_xml(
        "<row><c><v>1</v></c></row><row><c r='B2'><v>2</v></c></row>", "A1:XFD1", "A2:A1048576"
    )

    assert packed_rows(tmp_path, part) == {1: [1, 1], 2: [None, 2]}


@pytest.mark.parametrize(
    ("references", "message"),
    [
        (["A1:B2", "B2:C3"], "Ratings!B2:C3: is damaged (merged ranges overlap)"),
        (["A1:B2", "A1:B2"], "overlap"),
        (["A1:"], "is no range of cells"),
        (["B2:A1"], "is no range of cells"),
        (["A:B"], "is no range of cells"),
        ([""], "is no range of cells"),
    ],
)
def test_merged_ranges_that_contradict_are_refused(tmp_path, references, message):
    part = merged_xml("<row/><row/><row><c r='C3'><v>1</v></c></row>", *references)

    assert message in packed_error(tmp_path, workbook_parts(part))


def test_merged_ranges_that_are_huge_are_refused(tmp_path, monkeypatch):
    part = merged_xml('<row r="1000000"><c r="B1000000"><v>1</v></c></row>', "A1:B1000000")
    assert "Ratings: has more than 1,000,000 merged cells" in packed_error(
        tmp_path, workbook_parts(part)
    )

    monkeypatch.setattr(xlsx_guard, "MAX_MERGED_RANGES", 2)
    part = merged_xml("<row><c><v>1</v></c></row>", "A1:A2", "B1:B2", "C1:C2")
    assert "more than 2 merged ranges" in packed_error(tmp_path, workbook_parts(part))
