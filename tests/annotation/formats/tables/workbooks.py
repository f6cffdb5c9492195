"""Workbooks (.xlsx) for tests: written by openpyxl or packed from XML parts."""

import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import openpyxl
import pytest

from annotation.formats.tables.cells import TableError
from annotation.formats.tables.xlsx import Worksheet, worksheets

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
SHEET_PART = "xl/worksheets/sheet1.xml"
STRINGS_PART = "xl/sharedStrings.xml"
STYLES_PART = "xl/styles.xml"
WORKBOOK_PART = "xl/workbook.xml"
RELATIONS_PART = "xl/_rels/workbook.xml.rels"
TYPES_PART = "[Content_Types].xml"


def write_workbook(
    path: Path,
    sheets: Mapping[str, Iterable[Sequence[object]]],
    *,
    formats: Mapping[str, str] | None = None,
    merged: Iterable[str] = (),
    hidden: Iterable[str] = (),
) -> Path:
    """Write sheets from their rows.

    `formats` gives number formats and `merged` ranges, by address with the sheet: `Ratings!A2:A4`.
    """
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for name, rows in sheets.items():
        worksheet = workbook.create_sheet(name)
        for row in rows:
            worksheet.append(list(row))
        worksheet.sheet_state = "hidden" if name in hidden else "visible"
    for address, number_format in (formats or {}).items():
        name, _, cell = address.rpartition("!")
        workbook[name][cell].number_format = number_format
    for address in merged:
        name, _, cells = address.rpartition("!")
        workbook[name].merge_cells(cells)
    workbook.save(path)
    return path


def sheet_xml(rows: str, before: str = "", tail: str = "") -> str:
    """Return the part of a worksheet around its rows."""
    return (
        f'{_HEAD}<worksheet xmlns="{MAIN}">{before}<sheetData>{rows}</sheetData>{tail}</worksheet>'
    )


def strings_xml(*texts: str) -> str:
    """Return the table of shared strings; a text may have markup of its own (`<r>...`)."""
    items = (text if text.startswith("<") else f"<t>{text}</t>" for text in texts)
    return f'{_HEAD}<sst xmlns="{MAIN}">{"".join(f"<si>{item}</si>" for item in items)}</sst>'


def styles_xml(*formats: str | int) -> str:
    """Return styles of cells: General, then one for each format (text or number)."""
    ids = [f if isinstance(f, int) else 200 + i for i, f in enumerate(formats)]
    codes = "".join(
        f'<numFmt numFmtId="{number}" formatCode="{code.replace(chr(34), "&quot;")}"/>'
        for number, code in zip(ids, formats, strict=True)
        if isinstance(code, str)
    )
    cells = "".join(f'<xf numFmtId="{n}" applyNumberFormat="1"/>' for n in ids)
    return (
        f'{_HEAD}<styleSheet xmlns="{MAIN}"><numFmts>{codes}</numFmts><fonts><font/></fonts>'
        "<fills><fill/></fills><borders><border/></borders><cellStyleXfs><xf/></cellStyleXfs>"
        f'<cellXfs><xf numFmtId="0"/>{cells}</cellXfs></styleSheet>'
    )


def workbook_parts(
    rows: str | bytes = "",
    *,
    strings: Sequence[str] = (),
    styles: Sequence[str | int] = (),
    calculation: str = "",
    kind: str = f"{_TYPE}.sheet.main+xml",
) -> dict[str, str | bytes]:
    """Return the parts of a workbook with a sheet Ratings, of rows or its whole part."""
    is_part = isinstance(rows, bytes) or rows.startswith(("<?xml", "<!", "<worksheet"))
    overrides = {
        WORKBOOK_PART: kind,
        SHEET_PART: f"{_TYPE}.worksheet+xml",
        STRINGS_PART: f"{_TYPE}.sharedStrings+xml",
        STYLES_PART: f"{_TYPE}.styles+xml",
    }
    types = "".join(
        f'<Override PartName="/{name}" ContentType="{kind}"/>' for name, kind in overrides.items()
    )
    return {
        TYPES_PART: f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">{types}</Types>',
        "_rels/.rels": f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship '
        f'Id="rId1" Type="{OFFICE}/officeDocument" Target="{WORKBOOK_PART}"/></Relationships>',
        WORKBOOK_PART: f'{_HEAD}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        f'<sheet name="Ratings" sheetId="1" r:id="rId1"/></sheets>{calculation}</workbook>',
        RELATIONS_PART: f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship '
        f'Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        STRINGS_PART: strings_xml(*strings),
        STYLES_PART: styles_xml(*styles),
        SHEET_PART: rows if is_part else sheet_xml(str(rows)),
    }


def pack(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    """Pack parts as a workbook."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def unpack(path: Path) -> dict[str, str | bytes]:
    """Return the parts of a workbook, to change and pack them again."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rows_of(worksheet: Worksheet) -> dict[int, list]:
    return dict(worksheet.records())


def packed_rows(tmp_path: Path, rows: str | bytes, **options) -> dict[int, list]:
    """Return the records of a workbook with one sheet, packed from XML."""
    (worksheet,) = worksheets(pack(tmp_path / "a.xlsx", workbook_parts(rows, **options)))
    return rows_of(worksheet)


def read_all(path: Path) -> None:
    for worksheet in worksheets(path):
        for _, cells in worksheet.records():
            assert len(cells) == worksheet.n_columns


def error_of(path: Path) -> str:
    """Return the error with which a workbook is refused, with its location."""
    with pytest.raises(TableError) as caught:
        read_all(path)
    return f"{caught.value.location}: {caught.value}".removeprefix(": ")


def packed_error(tmp_path: Path, parts: dict[str, str | bytes]) -> str:
    return error_of(pack(tmp_path / "a.xlsx", parts))
