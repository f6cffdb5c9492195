"""Detection of runs and qrels by content."""

import gzip

import pytest

from annotation.formats.content import Content, content_of, run_name
from annotation.formats.foreign import folder
from annotation.formats.layout import Kind, recognise

RUN = b"q1 Q0 d1 1 9.5 tag\nq1 Q0 d2 2.0 -1e-3 tag\n"
QRELS = b"q1 0 d1 1\nq1 0 d2 -1\n"


@pytest.mark.parametrize(
    ("data", "content"),
    [
        (RUN, Content.RUN),
        (QRELS, Content.QRELS),
        (b"7\tmill in 1990\n", Content.OTHER),
        (b"7 who mended it in May\n", Content.OTHER),
        (RUN + QRELS, Content.OTHER),
        (b"", Content.OTHER),
        (b"\xff\x00", Content.OTHER),
    ],
)
def test_content_kind_needs_all_first_lines_to_match(tmp_path, data, content):
    (tmp_path / "a").write_bytes(data)
    assert content_of(tmp_path / "a") is content
    (tmp_path / "a.gz").write_bytes(gzip.compress(data))
    assert content_of(tmp_path / "a.gz") is content


def test_broken_archive_and_a_missing_file_are_of_no_kind(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(RUN)[:20])
    assert content_of(tmp_path / "a.gz") is Content.OTHER
    assert content_of(tmp_path / "b") is Content.OTHER


def test_run_name_drops_prefix_and_endings():
    names = ("run.bm25.txt", "bm25.res", "bm25.run.gz", "run.bm25-v1.2", "run.", "bm25")
    assert list(map(run_name, names)) == ["bm25", "bm25", "bm25", "bm25-v1.2", "run.", "bm25"]


@pytest.mark.parametrize("form", ["crux", "trec-rag", "beir"])
def test_runs_of_any_name_are_recognised(tmp_path, form):
    for name in ("run.a.txt", "b.res", "c.trec", "d"):
        (tmp_path / name).write_bytes(RUN)
    (tmp_path / "e.run.gz").write_bytes(gzip.compress(RUN))
    (tmp_path / "notes.txt").write_text("Five systems were run.\n")
    recognised = recognise(tmp_path) if form == "crux" else folder.recognise(tmp_path, form)
    assert sorted(source.system for source in recognised.of(Kind.RUN)) == list("abcde")
    assert [skipped.name for skipped in recognised.left_out] == ["notes.txt"]


def test_qrels_of_any_name_are_recognised(tmp_path):
    (tmp_path / "judged.txt").write_bytes(QRELS)
    (source,) = folder.recognise(tmp_path, "beir").of(Kind.GRADES)
    assert source.translation
    assert source.translation.columns == ("topic", "iteration", "text", "grade")
