"""Hostile uploads and forms of the columns page: never stored in part."""

import io
import os
import random
import zipfile

import openpyxl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import Dataset, Rubric
from tests.crux_site.imports.tables.columns_page import (
    GRADES,
    columns_page,
    fields,
    table,
    upload,
)
from tests.crux_site.imports.tables.mutations import mutated

N = int(os.environ.get("TABLE_MUTATIONS", "15"))  # TABLE_MUTATIONS=1000 for a long run
VALUES = (
    *("", "?", "+", "grade", "topic.id", "ignore", "value", "no.such.role", "1-5", "0-99999999999"),
    *("9" * 400, "-1", "1e999", "NaN", "\x00", "\ud800", "é" * 5000, "<script>", "graded", "main"),
    *("../../etc/passwd", "0,1", "a,b", "1-1", "5-1", "tab", "utf-16", "base64", "idna", "\n", "'"),
    *("٣", "²", "1, 2", "999999", "0", ";", "{}", "[[[[", "null"),
)
NAMES = (
    *("t99999-c0-role", "t0-c99999-role", "t-1-c-1-role", "t0-c0-no", "t0-constant-nothing"),
    *("t0-constant-levels", "rubric--eta", "rubric-score-word0", "rubric-none-levels", "layout"),
    *("t0-read", "t1-header", "duplicates", "action", "earlier", "preset", "t0-c5-rater"),
    *("t0-c5-question.number", "t0-records", "t0-missing", "t0-c5-split", "constant-system"),
)
ACTIONS = ("apply", "preview", "download", "use", "nothing", "")
OKAY = {200, 302, 400, 404, 422}  # 400: characters that no form of the site may have


def workbook() -> bytes:
    book = openpyxl.Workbook()
    for row in GRADES.decode().splitlines():
        book.active.append(row.split(","))
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def packed(**files: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "."), data)
    return content.getvalue()


def follow(client, response):
    """Open the page that a response leads to, and those that it leads to in turn."""
    for _ in range(4):
        assert response.status_code in OKAY
        if response.status_code != 302:
            return response
        response = client.get(response.url)
    raise AssertionError("redirects without an end")


def test_mutated_forms_are_answered(cast):
    random_ = random.Random("forms")
    client = cast.client("admin")
    statuses = set()
    url = upload(client, table()).url
    rubrics = set(Rubric.objects.values_list("slug", flat=True))
    for number in range(N):
        if number % 10 == 0:
            url = upload(client, table()).url
        form = fields(columns_page(client, url))
        for _ in range(random_.randint(1, 2)):
            name = random_.choice((*form, *NAMES))
            if random_.randrange(5):
                form[name] = random_.choice(VALUES)
            else:
                form.pop(name, None)
        form.setdefault("action", random_.choice(ACTIONS))
        data = {name: value.encode(errors="replace").decode() for name, value in form.items()}
        response = client.post(url, data)
        statuses.add(response.status_code)
        follow(client, response)
    assert {302, 422} <= statuses
    assert not Dataset.objects.exists()
    assert set(Rubric.objects.values_list("slug", flat=True)) == rubrics


@pytest.mark.parametrize("name", ["grades.csv", "grades.xlsx", "grades.json", "grades.zip"])
def test_mutated_files_are_answered(cast, staging, name):
    random_ = random.Random(name)
    client = cast.client("admin")
    json_rows = b'[{"question": "Why?", "passage": "It is so.", "rater": "anna", "grade": 4}]'
    content = {
        "grades.csv": GRADES,
        "grades.xlsx": workbook(),
        "grades.json": json_rows,
        "grades.zip": packed(grades__csv=GRADES, more__json=json_rows),
    }[name]
    for _ in range(N):
        response = upload(client, table(mutated(content, random_), name))
        assert response.status_code in (302, 422)
        if response.status_code == 302:
            page = follow(client, response)
            assert page.status_code in (200, 422)
            if page.status_code == 200 and 'value="preview"' in page.content.decode():
                form = fields(page.content.decode()) | {"action": "preview"}
                follow(client, client.post(response.url, form))
    assert not Dataset.objects.exists()


def sheet_bomb() -> bytes:
    """Return a workbook whose sheet unpacks to a thousand times its size."""
    row = b'<row><c t="inlineStr"><is><t>x</t></is></c></row>'
    worksheet = b"<worksheet><sheetData>" + row * 1_500_000 + b"</sheetData></worksheet>"
    source = zipfile.ZipFile(io.BytesIO(workbook()))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for item in source.namelist():
            is_workbook = item.startswith("xl/worksheets/sheet")
            archive.writestr(item, worksheet if is_workbook else source.read(item))
    return content.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bomb.xlsx", sheet_bomb),
        ("bomb.zip", lambda: packed(a__csv=b"0" * 60_000_000)),
        ("bombs.zip", lambda: packed(**{f"{n}.csv": b"a,b\n1,2\n" for n in range(300)})),
        ("outside.zip", lambda: packed(**{"../../../outside.csv": GRADES})),
    ],
)
def test_archive_bomb_is_refused_and_leaves_nothing(cast, staging, settings, name, content):
    settings.IMPORT_MAX_MEGABYTES = 50
    settings.IMPORT_MAX_FILES = 200
    response = upload(cast.client("admin"), table(content(), name))
    assert response.status_code == 422
    assert not list(staging.iterdir())
    assert not (staging.parent / "outside.csv").exists()
    assert not Dataset.objects.exists()


@pytest.mark.parametrize(
    "mapping",
    [
        b'{"tables": [{"columns": {"score": "grade"}, "header": 1e999}]}',
        b'{"tables": [{"columns": {"score": "grade"}, "header": []}]}',
        b'{"tables": [{"columns": {"score": "grade"}, "delimiter": ";;"}]}',
        b'{"tables": [{"columns": {"score": "grade"}, "encoding": "hex"}]}',
        b'{"tables": [{"columns": {"score": "grade"}, "quote": "\\n"}]}',
        b'{"tables": [{"columns": {"score": {"role": "grade", "rater": [1]}}}]}',
        b'{"tables": [{"columns": {"score": "grade"}}], "rubrics": {"r": {"levels": []}}}',
        b'{"tables": [{"columns": {"score": "grade"}}], "rubrics": {"r": {"levels": [1, 1]}}}',
        b'{"tables": [{"columns": {"score": "grade"}, "file": "[", "sheet": "x"}]}',
        b'{"tables": [' * 5000,
        b'{"tables": null}',
        b'{"version": {"a": 1}}',
        b"\xed\xa0\x80",
    ],
)
def test_hostile_mapping_is_answered(cast, mapping):
    client = cast.client("admin")
    url = upload(client, table()).url
    file = SimpleUploadedFile("mapping.json", mapping)
    response = client.post(url, {"action": "use", "mapping": file})
    page = follow(client, response)
    if response.status_code == 302:
        form = fields(page.content.decode()) | {"action": "preview"}
        follow(client, client.post(url, form))
    assert not Dataset.objects.exists()
