"""Detection of runs and qrels by content."""

import gzip

import pytest

from annotation.formats.content import Content, content_of, is_called_run, run_name
from annotation.formats.foreign import folder
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import Kind, recognise

RUN = b"q1 Q0 d1 1 9.5 tag\nq1 Q0 d2 2.0 -1e-3 tag\n"
RANKS = b"q1\td1\t1\nq2\td5\t1\nq1\td2\t2\nq1\td3\t3\n"
QRELS = b"q1 0 d1 1\nq1 0 d2 -1\n"


@pytest.mark.parametrize(
    ("data", "content"),
    [
        (RUN, Content.RUN),
        (QRELS, Content.QRELS),
        (b"q1 Q0 d1 1 9.5\nq1 Q0 d2 2 9\n", Content.RUN),
        (RANKS, Content.RANKS),
        (b"q1\td1\t1\t9.5\nq1\td2\t2\t9\nq1\td3\t3\t-1e-3\n", Content.RANKS),
        (b"q1\td1\t1\nq1\td2\t2\nq2\td3\t1\n", Content.OTHER),
        (RANKS + b"q1\td4\t" + b"4" * 400 + b"\n", Content.OTHER),
        (RANKS + b"q1\td4\t" + b"4" * 5000 + b"\n", Content.OTHER),
        (b"#\td1\t1\n#\td2\t2\n#\td3\t3\n", Content.RANKS),
        (b"# made by hand\n" + RUN, Content.RUN),
        (b"q1\td1\t1\nq1\td2\t0\nq1\td3\t2\n", Content.OTHER),
        (b"q1\td1\t2\nq1\td2\t3\nq1\td3\t4\n", Content.OTHER),
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


@pytest.mark.parametrize("form", ["crux", "msmarco", "beir"])
def test_runs_of_ranks_are_recognised_unless_they_are_called_qrels(tmp_path, form):
    (tmp_path / "run.a.tsv").write_bytes(RANKS)
    (tmp_path / "qrels.dev.tsv").write_bytes(RANKS)
    recognised = recognise(tmp_path) if form == "crux" else folder.recognise(tmp_path, form)
    runs = {source.system for source in recognised.of(Kind.RUN)}
    assert runs == {"a"}


@pytest.mark.parametrize("form", ["crux", "msmarco", "beir"])
def test_table_that_is_not_called_a_run_is_none(tmp_path, form):
    (tmp_path / "bm25.run").write_bytes(RUN)
    (tmp_path / "order.tsv").write_bytes(RANKS)
    recognised = recognise(tmp_path) if form == "crux" else folder.recognise(tmp_path, form)
    assert [source.system for source in recognised.of(Kind.RUN)] == ["bm25"]


@pytest.mark.parametrize(
    "name", ["run.a.tsv", "runs/a.tsv", "a.run.tsv", "ranking.tsv", "a-ranked.txt", "rerank.tsv"]
)
def test_names_of_runs(name):
    assert is_called_run(name)
    assert not is_called_run(name.replace("ran", "brand").replace("run", "prune"))


def test_texts_of_runs_and_qrels_are_named(tmp_path):
    (tmp_path / "run.a.tsv").write_bytes(RANKS)
    (tmp_path / "b.txt").write_bytes(RUN.replace(b"d", b"e"))
    (tmp_path / "c.txt").write_bytes(QRELS.replace(b"d", b"f"))
    files = [File(path, path.name) for path in sorted(tmp_path.iterdir())]
    assert Folder(files).named == {"d1", "d2", "d3", "d5", "e1", "e2", "f1", "f2"}


def test_formats_share_one_look_at_the_files(tmp_path, monkeypatch):
    (tmp_path / "notes.md").write_text("Five systems.\n")
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "It grinds."}\n')
    read_paths = []
    monkeypatch.setattr(
        "annotation.formats.foreign.files.begins_value",
        lambda path: read_paths.append(path) or False,
    )
    assert "beir" in folder.formats_of(tmp_path)
    assert len(read_paths) == len(set(read_paths)) > 0
