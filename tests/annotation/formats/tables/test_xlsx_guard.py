"""Workbooks that are refused: other files, bombs, limits, damaged and mutated copies."""

import io
import os
import random
import subprocess
import sys
import textwrap
import zipfile
from datetime import date
from pathlib import Path

import pytest

from annotation.formats.tables import xlsx_guard
from annotation.formats.tables.cells import CellProblem, TableError
from annotation.formats.tables.xlsx import worksheets
from tests.annotation.formats.tables.workbooks import (
    RELATIONS_PART,
    SHEET_PART,
    STRINGS_PART,
    STYLES_PART,
    TYPES_PART,
    WORKBOOK_PART,
    error_of,
    pack,
    packed_error,
    packed_rows,
    read_all,
    rows_of,
    sheet_xml,
    strings_xml,
    unpack,
    workbook_parts,
    write_workbook,
)

ROOT = Path(__file__).parents[4]
FORMULA = CellProblem.FORMULA
ERROR = CellProblem.ERROR


# Other formats


def ole_file(*names: str) -> bytes:
    entries = b"".join(name.encode("utf-16-le").ljust(128, b"\0") for name in names)
    return bytes.fromhex("d0cf11e0a1b11ae1").ljust(2**20 + 500, b"\0") + entries


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (ole_file("Root Entry", "EncryptedPackage"), "is protected by a password: save it without"),
        (
            ole_file("Root Entry", "Workbook"),
            "is an old Excel file (.xls): save it as .xlsx or CSV",
        ),
        (ole_file("Root Entry", "WordDocument"), "is no spreadsheet: save it as .xlsx or CSV"),
        (b"a,b\n1,2\n", "is no .xlsx file: if it is text, give it the name .csv or .tsv"),
        (b"", "is no .xlsx file"),
        (b"PK\3\4 and no more", "is damaged or not complete"),
    ],
)
def test_other_files_are_refused_by_their_content(tmp_path, content, message):
    path = tmp_path / "a.xlsx"
    path.write_bytes(content)

    assert message in error_of(path)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["mimetype", "content.xml"], "is an OpenDocument file (.ods): save it as .xlsx or CSV"),
        (["[Content_Types].xml", "xl/workbook.bin"], "is an .xlsb file: save it as .xlsx or CSV"),
        (["a.csv"], "is a zip archive without a workbook"),
        ([], "is a zip archive without a workbook"),
    ],
)
def test_other_archives_are_refused_by_their_parts(tmp_path, names, message):
    assert message in packed_error(tmp_path, dict.fromkeys(names, "<a/>"))


def test_word_document_is_refused(tmp_path):
    parts = workbook_parts(kind="application/vnd.openxmlformats-officedocument.wordprocessingml")
    del parts[WORKBOOK_PART]

    assert packed_error(tmp_path, parts) == "holds no workbook: save it as .xlsx or CSV"


def test_strict_workbook_is_refused(tmp_path):
    parts = workbook_parts()
    parts[WORKBOOK_PART] = str(parts[WORKBOOK_PART]).replace(xlsx_guard.MAIN, xlsx_guard.STRICT)

    assert 'is a "Strict Open XML" file' in packed_error(tmp_path, parts)


def test_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        worksheets(tmp_path / "a.xlsx")


# Attacks

BOMB = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 10}">'
        for before, name in zip("abcdefghi", "bcdefghij", strict=True)
    )
    + "]>"
)


@pytest.mark.parametrize(
    "part",
    [
        *(TYPES_PART, WORKBOOK_PART, RELATIONS_PART, STRINGS_PART, STYLES_PART, SHEET_PART),
        *("docProps/core.xml", "xl/drawings/drawing1.xml", "_rels/.rels", "xl/a.vml"),
    ],
)
@pytest.mark.parametrize("declaration", [BOMB, "<!DOCTYPE x>", '<!DOCTYPE x SYSTEM "file:///x">'])
def test_entities_are_refused_in_each_part(tmp_path, part, declaration):
    parts = workbook_parts('<row><c t="inlineStr"><is><t>a</t></is></c></row>')
    content = str(parts.get(part, "<a/>"))
    head, _, body = content.rpartition("?>\n")
    parts[part] = f"{head}{'?>' if head else ''}{declaration}{body}".replace("<t>a<", "<t>&j;<")

    assert "declares XML entities" in packed_error(tmp_path, parts)


def test_entities_in_another_encoding_are_refused(tmp_path):
    part = sheet_xml("").replace("UTF-8", "utf-16").replace("<worksheet", "<!DOCTYPE x><worksheet")

    assert "declares XML entities" in packed_error(tmp_path, workbook_parts(part.encode("utf-16")))


def test_parts_that_nobody_reads_may_be_damaged(tmp_path):
    parts = workbook_parts("<row><c><v>1</v></c></row>")
    parts |= {"xl/media/a.png": b"\x89PNG\0", "xl/a.xml": b"<a><b></a>", "xl/b.vml": "<br>"}
    parts["xl/media/a.svg"] = "<!DOCTYPE svg><svg/>"

    (worksheet,) = worksheets(pack(tmp_path / "a.xlsx", parts))

    assert rows_of(worksheet) == {1: [1]}


@pytest.mark.parametrize("part", [SHEET_PART, STRINGS_PART, STYLES_PART, "xl/media/a.bin"])
def test_zip_bomb_is_stopped_by_ratio_and_size(tmp_path, monkeypatch, part):
    parts = workbook_parts()
    parts[part] = str(parts.get(part, "")).replace("<sheetData>", "<sheetData>" + " " * 3_000_000)
    if "<sheetData>" not in str(parts[part]):
        parts[part] = (
            " " * 3_000_000 if part.endswith(".bin") else f"{parts[part]}{' ' * 3_000_000}"
        )
    monkeypatch.setattr(xlsx_guard, "RATIO_FROM", 1_000_000)
    assert "unpacks to more than 100 times its size" in packed_error(tmp_path, parts)

    monkeypatch.setattr(xlsx_guard, "MAX_UNPACKED", 1_000_000)
    assert "has more than 1 MB when unpacked" in packed_error(tmp_path, parts)


def test_sizes_that_the_archive_states_are_not_trusted(tmp_path, monkeypatch):
    parts = workbook_parts()
    parts["xl/media/a.bin"] = "a" * 3_000_000
    path = pack(tmp_path / "a.xlsx", parts)
    content = path.read_bytes().replace(
        (3_000_000).to_bytes(4, "little"), (5).to_bytes(4, "little")
    )
    path.write_bytes(content)
    monkeypatch.setattr(xlsx_guard, "MAX_UNPACKED", 1_000_000)

    assert error_of(path)


@pytest.mark.parametrize(
    ("limit", "n", "rows", "message"),
    [
        ("MAX_ROWS", 2, "<row/><row/><row/>", "has more than 2 rows"),
        (
            "MAX_COLUMNS",
            2,
            "<row><c r='C1'><v>1</v></c></row>",
            "Ratings!C1: has more than 2 columns",
        ),
        ("MAX_CELLS", 2, "<row><c/><c/><c/></row>", "has more than 2 cells"),
        ("MAX_AREA", 3, "<row/><row><c r='B2'><v>1</v></c></row>", "has more than 3 places"),
        ("MAX_CELL", 2, "<row><c t='str'><v>abc</v></c></row>", "MB in a cell"),
        ("MAX_CELL", 2, "<row><c t='inlineStr'><is><t>abc</t></is></c></row>", "MB in a cell"),
        ("MAX_CELL", 2, "<row><c t='s'><v>0</v></c></row>", "MB in a cell"),
        ("MAX_ROW", 2, "<row><c><v>12</v></c><c><v>3</v></c></row>", "Ratings!1: has more than"),
        ("MAX_FORMULAS", 1, "<row><c><f>a</f></c><c><f>a</f></c></row>", "more than 1 formulas"),
        ("MAX_STRINGS", 1, "", "different texts"),
        ("MAX_STRING_BYTES", 50, "", "of text"),
        ("MAX_TREE_BYTES", 50, "", "MB in [Content_Types].xml"),
        ("MAX_ELEMENTS", 50, f"<row><c>{'<a/>' * 60}</c></row>", "elements in a row"),
        ("MAX_SHEETS", 0, "", "has more than 0 sheets"),
        ("MAX_PARTS", 3, "", "has more than 3 parts"),
        ("MAX_DEPTH", 20, f"<row><c>{'<a>' * 30}{'</a>' * 30}</c></row>", "elements"),
    ],
)
def test_limits_are_told(tmp_path, monkeypatch, limit, n, rows, message):
    monkeypatch.setattr(xlsx_guard, limit, n)

    assert message in packed_error(tmp_path, workbook_parts(rows, strings=["abc", "d"]))


def test_elements_before_the_rows_are_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(xlsx_guard, "MAX_ELEMENTS", 50)
    rows = "<row><c><v>1</v></c></row>" * 60
    assert len(packed_rows(tmp_path, sheet_xml(rows, tail="<a/>" * 60))) == 60

    part = sheet_xml(rows, before="<a/>" * 60)
    assert "before the first" in packed_error(tmp_path, workbook_parts(part))


def test_formulas_of_all_sheets_are_limited_together(tmp_path, monkeypatch):
    monkeypatch.setattr(xlsx_guard, "MAX_FORMULAS", 3)
    rows = [["=A2", "=A3"]]
    path = write_workbook(tmp_path / "a.xlsx", {"A": rows, "B": rows})

    assert "more than 3 formulas without a value: open it in a spreadsheet program" in error_of(
        path
    )


def test_tag_without_an_end_is_refused(tmp_path):
    part = sheet_xml(f'<row><c r="{"A" * 30_000_000}"/></row>')
    parts = workbook_parts(part)
    parts["xl/media/a.bin"] = random.Random(1).randbytes(1_000_000)

    assert "a tag is too long" in packed_error(tmp_path, parts)


def run_limited(path: Path, n_megabytes: int) -> str:
    """Read all records in a process with a limit on additional memory."""
    program = textwrap.dedent(
        """
        import resource, sys
        from pathlib import Path
        from annotation.formats.tables.cells import TableError
        from annotation.formats.tables.xlsx import worksheets

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + int(sys.argv[2]) * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        try:
            listed = worksheets(Path(sys.argv[1]))
            print(sum(1 for worksheet in listed for _ in worksheet.records()), "records")
        except TableError as error:
            print(error.location, error)
        """
    )
    command = [sys.executable, "-c", program, str(path), str(n_megabytes)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("XFD1048576", ": Ratings!XFD1048576 has more than 2,000 columns"),
        ("BXX1048576", "2 records"),
    ],
)
def test_two_cells_far_apart_take_little_memory(tmp_path, address, expected):
    rows = f'<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="{address}"><v>2</v></c></row>'
    path = pack(tmp_path / "a.xlsx", workbook_parts(rows))

    assert run_limited(path, 64).startswith(expected)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_equal_cells_in_many_rows_are_streamed(tmp_path):
    rows = f'<row><c t="inlineStr"><is><t>{"many words " * 300}</t></is></c></row>' * 8_000
    path = pack(tmp_path / "a.xlsx", workbook_parts(rows))

    assert len(rows) > 25_000_000
    assert run_limited(path, 15) == "8000 records\n"


# Damage


@pytest.mark.parametrize("name", ["/xl/evil.xml", "../evil.xml", "..\\evil.xml", "\\evil.xml"])
def test_names_that_lead_out_of_the_archive_are_refused(tmp_path, name):
    parts = workbook_parts() | {name: "<a/>"}

    assert "leads out of the archive" in packed_error(tmp_path, parts)
    assert [path.name for path in tmp_path.iterdir()] == ["a.xlsx"]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (TYPES_PART, "without a workbook"),
        (WORKBOOK_PART, "holds no workbook"),
        (RELATIONS_PART, "workbook.xml.rels is missing"),
        (STRINGS_PART, "sharedStrings.xml is missing"),
        (SHEET_PART, "sheet1.xml is missing"),
    ],
)
def test_missing_parts_are_named(tmp_path, part, message):
    parts = workbook_parts('<row><c t="s"><v>0</v></c></row>', strings=["a"])
    del parts[part]

    assert message in packed_error(tmp_path, parts)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ('<row r="2"/><row r="2"/>', "row 2 is not in its order"),
        ('<row r="2"/><row r="1"/>', "row 1 is not in its order"),
        ('<row r="x"/>', "'x' is no row"),
        ('<row r="0"/>', "'0' is no row"),
        ('<row r="1"><c r="A2"/></row>', "'A2' is no cell of row 1"),
        ('<row r="1"><c r="1A"/></row>', "is no cell of row 1"),
        (
            '<row r="1"><c r="B1"/><c r="A1"/></row>',
            "Ratings!A1: is damaged (cells are not in their",
        ),
        ('<row r="1"><c r="B1"/><c r="B1"/></row>', "Ratings!B1: is damaged"),
        ('<row><c r="ZZZ1"/></row>', "row 1 is longer than any sheet"),
        ('<row><c t="s"><v>1</v></c></row>', "Ratings!A1: is damaged (there is no text '1')"),
        ('<row><c t="s"><v>-1</v></c></row>', "there is no text '-1'"),
        ("<row><c><v>1</v><v>2</v></c></row>", "a cell has two values"),
        ("<row><c><v>seven</v></c></row>", "Ratings: is damaged"),
        (
            '<row><c t="d"><v>today</v></c></row>',
            "Ratings: is damaged (Invalid datetime value today)",
        ),
        ('<row><c t="b"><v>maybe</v></c></row>', "Ratings: is damaged"),
        (f"<row><c><v>{'9' * 5000}</v></c></row>", "Ratings: is damaged"),
        ("<row><c></row>", "Ratings: is damaged (XML: mismatched tag"),
        ("<row>&nbsp;</row>", "Ratings: is damaged (XML: undefined entity"),
        ("<x><row/></x>", "a row stands outside of the data"),
        ("</sheetData><row/><sheetData>", "a row stands outside of the data"),
        ("</sheetData><sheetData>", "it has its data twice"),
    ],
)
def test_damaged_sheets_are_refused_with_their_location(tmp_path, rows, message):
    assert message in packed_error(tmp_path, workbook_parts(sheet_xml(rows), strings=["a"]))


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("<worksheet/>", "a sheet is no worksheet"),
        (strings_xml(), "a sheet is no worksheet"),
        (sheet_xml("").replace("sheetData", "data"), "it has no data"),
        (sheet_xml("").replace("UTF-8", "x-none"), "encoding"),
        (
            sheet_xml("<row><c t='str'><v>\xe9</v></c></row>").encode("latin-1"),
            "XML: not well-formed",
        ),
        (b"", "XML: no element found"),
    ],
)
def test_parts_that_are_no_worksheet_are_refused(tmp_path, part, message):
    parts = workbook_parts() | {SHEET_PART: part}

    assert message in packed_error(tmp_path, parts)


@pytest.mark.parametrize(
    ("part", "old", "new", "message"),
    [
        (
            WORKBOOK_PART,
            "</sheets>",
            '<sheet name="B" sheetId="2" r:id="rId1"/></sheets>',
            "the same",
        ),
        (WORKBOOK_PART, "Ratings", "R" * 300, "in no part"),
        (WORKBOOK_PART, "rId1", "rId9", "rId9"),
        (WORKBOOK_PART, 'sheetId="1"', 'sheetId="one"', "is damaged"),
        (WORKBOOK_PART, 'r:id="rId1"', "", "in no part"),
        (RELATIONS_PART, "/worksheet", "/chartsheet", "has no worksheet"),
        (RELATIONS_PART, "/worksheet", "/other", "a sheet of it is a 'other'"),
        (RELATIONS_PART, "worksheets/sheet1", "../../a", "is missing"),
        (RELATIONS_PART, 'Target="', 'TargetMode="External" Target="http://x/', "in no part"),
        (STYLES_PART, 'numFmtId="0"', 'numFmtId="x"', "is damaged"),
    ],
)
def test_workbooks_that_contradict_are_refused(tmp_path, part, old, new, message):
    parts = workbook_parts()
    assert old in str(parts[part])
    parts[part] = str(parts[part]).replace(old, new)

    assert message in packed_error(tmp_path, parts)


def test_two_parts_of_one_name_are_refused(tmp_path):
    path = pack(tmp_path / "a.xlsx", workbook_parts())
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(SHEET_PART, sheet_xml(""))

    assert "two parts of one name" in error_of(path)


def test_encrypted_part_is_refused(tmp_path):
    path = pack(tmp_path / "a.xlsx", workbook_parts())
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        content[content.index(signature) + offset] |= 1
    path.write_bytes(content)

    assert error_of(path) == "is protected by a password: save it without"


def test_truncated_files_are_refused(tmp_path):
    path = write_workbook(tmp_path / "a.xlsx", {"A": [["a", 1]]})
    content = path.read_bytes()
    for share in range(1, 20):
        path.write_bytes(content[: len(content) * share // 20])
        assert "is damaged or not complete" in error_of(path)


def sample_workbooks(folder: Path) -> list[Path]:
    rows = [["id", "grade", "when", "sum"]]
    rows += [[i, f"text {i} _x000D_", date(2026, 3, 2), "=A2+1"] for i in range(20)]
    formats = {f"A!A{i}": "00000" for i in range(2, 9)}
    first = write_workbook(
        folder / "1.xlsx",
        {"A": rows, "B": [[True, None, 0.5]]},
        formats=formats,
        merged=["A!A2:B4"],
    )
    second = workbook_parts(
        "".join(
            f'<row r="{i}"><c r="A{i}" t="s"><v>{i % 3}</v></c><c r="B{i}" s="1"><f>A1</f><v>{i}</v></c>'
            f'<c t="inlineStr"><is><t>x</t></is></c><c t="e"><v>#N/A</v></c></row>'
            for i in range(1, 30)
        ),
        strings=["a", "<r><t>b</t></r>", "_x0041_"],
        styles=["0.0%", 58, "[h]:mm"],
    )
    return [first, pack(folder / "2.xlsx", second)]


def flip_bytes(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        index = rng.randrange(len(changed))
        if rng.random() < 0.3:
            changed[index] = rng.randrange(256)
        elif rng.random() < 0.5:
            del changed[index : index + rng.randrange(1, 9)]
        else:
            changed[index] = rng.choice(b'<>/"=&;:0123456789AZaz \0')
        if not changed:
            break
    return bytes(changed)


def mutated_copies(path: Path, n: int, rng: random.Random) -> list[bytes]:
    """Copies with damage: a third in the archive itself, the others within a part."""
    parts = unpack(path)
    copies = []
    for i in range(n):
        if i % 3 == 0:
            copies.append(flip_bytes(path.read_bytes(), rng))
            continue
        name = rng.choice(sorted(parts))
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as archive:
            for part, content in parts.items():
                data = bytes(content)
                archive.writestr(part, flip_bytes(data, rng) if part == name else data)
        copies.append(target.getvalue())
    return copies


@pytest.mark.filterwarnings("ignore::UserWarning:openpyxl")
def test_mutated_copies_are_read_or_refused(tmp_path):
    rng = random.Random(20261126)
    n_read = n_refused = 0
    for sample in sample_workbooks(tmp_path):
        for copy in mutated_copies(sample, 150, rng):
            path = tmp_path / "copy.xlsx"
            path.write_bytes(copy)
            try:
                read_all(path)
                n_read += 1
            except TableError:
                n_refused += 1
    assert n_read + n_refused == 300
    assert n_read > 30
    assert n_refused > 30
