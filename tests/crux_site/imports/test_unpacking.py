"""Archives that cannot be unpacked: an error that names the file, and nothing is stored."""

import io
import random
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from crux_site.imports import uploads
from crux_site.imports.unpacking import UploadError, unpack

LINE = b'{"id": "t-1", "request": "Report on the mill."}\n'
FLAGS, METHOD = 8, 10  # where they are in an entry of an archive's directory


@pytest.fixture(autouse=True)
def staging(tmp_path, monkeypatch):
    monkeypatch.setattr(uploads, "STAGING", tmp_path)
    return tmp_path


def packed(*members, compression=zipfile.ZIP_DEFLATED) -> bytearray:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return bytearray(buffer.getvalue())


def marked(offset: int, value: int) -> bytes:
    """Return an archive with a byte changed in its entry and, 2 bytes earlier, in its header."""
    data = packed(("study/topics.jsonl", LINE))
    directory_start = data.index(b"PK\x01\x02")
    data[directory_start + offset] = value
    data[offset - 2] = value
    return bytes(data)


def broken(compression: int) -> bytes:
    """An archive whose packed bytes are noise."""
    data = packed(("study/topics.jsonl", LINE * 200), compression=compression)
    start = 30 + len("study/topics.jsonl") + 12
    end = data.index(b"PK\x01\x02")
    data[start:end] = random.Random(7).randbytes(end - start)
    return bytes(data)


REFUSED = {
    "no name": (bytes(packed(("~", LINE))).replace(b"~", b"\0"), "holds a file without a name"),
    "encrypted": (marked(FLAGS, 1), "is encrypted"),
    "unknown compression": (marked(METHOD, 97), "is compressed in a way that is not read"),
    "broken deflate": (broken(zipfile.ZIP_DEFLATED), "is damaged"),
    "broken bzip2": (broken(zipfile.ZIP_BZIP2), "is damaged"),
    "broken lzma": (broken(zipfile.ZIP_LZMA), "is damaged"),
    "cut off": (bytes(packed(("topics.jsonl", LINE)))[:-30], "no .zip"),
    "a long name": (
        bytes(packed((f"study/{'n' * 300}.jsonl", LINE))),
        "has a name that is too long",
    ),
    "a long path": (
        bytes(packed((f"{'study/' * 900}topics.jsonl", LINE))),
        "has a name that is too long",
    ),
    "a file as a folder": (
        bytes(packed(("runs", b""), ("runs/a.run", LINE))),
        "needs a name that something else has",
    ),
    "a file as a folder, further up": (
        bytes(packed(("runs", b""), ("runs/x/a.run", LINE))),
        "needs a folder where there is a file",
    ),
    "a folder as a file": (
        bytes(packed(("runs/a.run", LINE), ("runs", b""))),
        "needs a name that something else has",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_damaged_archive_is_named(cast, staging, case):
    data, message = REFUSED[case]
    files = [SimpleUploadedFile("study.zip", data)]
    client = cast.client("admin")
    response = client.post("/import/", {"dataset": "mill", "project": "main", "files": files})
    assert response.status_code == 422
    page = response.content.decode()
    assert message in page
    assert "study.zip" in page
    assert not list(staging.iterdir())


def test_name_that_is_there_twice_is_refused(cast, staging):
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = bytes(packed(("topics.jsonl", LINE), ("topics.jsonl", b"")))
    for files in (
        [SimpleUploadedFile("study.zip", twice)],
        [SimpleUploadedFile("topics.jsonl", LINE), SimpleUploadedFile("topics.jsonl", b"")],
    ):
        response = cast.client("admin").post(
            "/import/", {"dataset": "mill", "project": "main", "files": files}
        )
        assert response.status_code == 422
        assert "topics.jsonl" in response.content.decode()
        assert not list(staging.iterdir())


@pytest.mark.parametrize("believed", [True, False])
def test_unpacked_size_is_limited(tmp_path, settings, believed):
    settings.IMPORT_MAX_MEGABYTES = 2
    data = packed(("topics.jsonl", b" " * 10_000_000))
    assert len(data) < 20_000
    if not believed:  # the archive says that it is small
        size_offset = data.index(b"PK\x01\x02") + 24
        data[size_offset : size_offset + 4] = (1000).to_bytes(4, "little")
    with pytest.raises(UploadError, match=r"larger than 2 MB|damaged"):
        unpack([SimpleUploadedFile("study.zip", bytes(data))], tmp_path)
    assert (tmp_path / "topics.jsonl").stat().st_size <= 2_000_000


def test_too_many_files_are_refused_before_writing(tmp_path, settings):
    settings.IMPORT_MAX_FILES = 3
    members = [(f"documents/{n}", b"{}") for n in range(4)]
    unpack([SimpleUploadedFile("three.zip", bytes(packed(*members[:3])))], tmp_path / "three")
    with pytest.raises(UploadError, match="more than 3 files"):
        unpack([SimpleUploadedFile("four.zip", bytes(packed(*members)))], tmp_path / "four")
    assert not (tmp_path / "four").exists()


def test_any_damage_is_refused_or_harmless(tmp_path):
    """Archives with bytes changed anywhere: no other error, and no file outside the folder."""
    chance = random.Random(11)
    whole = packed(("a/topics.jsonl", LINE), ("../x", LINE), ("/b/c.run", LINE * 9))
    refused = 0
    for number in range(500):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        folder = tmp_path / "in" / str(number)
        try:
            unpack([SimpleUploadedFile("study.zip", bytes(data))], folder)
        except UploadError:
            refused += 1
    assert refused > 150
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
