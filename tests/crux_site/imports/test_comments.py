"""Comments, blank lines and a byte order mark above the first line of a file."""

import json

import pytest

from annotation.formats.foreign import streamed
from annotation.models import Dataset, Rating, Text, Topic
from crux_site.imports.importing import import_dataset
from evaluation.models import RankedText
from tests.crux_site.imports.import_runs import import_problems

pytestmark = pytest.mark.django_db

TOPICS = '{"id": "1", "request": "Why?"}\n'
HEADS = ["\n\n", "\ufeff\n", "# made by hand\n", "//made\n\n## 2026\n", "\ufeff# made\n"]


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("name", ["topics.jsonl", "mine.jsonl"])
def test_comments_above_json_lines_are_skipped(tmp_path, head, name):
    (tmp_path / name).write_text(head + TOPICS)
    summary = import_dataset(tmp_path, "study")
    assert [topic.request for topic in Topic.objects.all()] == ["Why?"]
    assert summary.file(name).read == 1


def test_comment_below_the_first_line_is_an_error_with_its_line(tmp_path):
    (tmp_path / "topics.jsonl").write_text(f"# made\n{TOPICS}# the end\n")
    (problem,) = import_problems(tmp_path)
    assert (problem.file, problem.line) == ("topics.jsonl", 3)
    assert not Dataset.objects.exists()


@pytest.mark.parametrize("head", ["\n\n", "# made by hand\n", "// made\n#\n", "\ufeff# made\n"])
def test_comments_above_columns_are_skipped(tmp_path, head):
    (tmp_path / "queries.jsonl").write_text('{"_id": "1", "text": "Why?"}\n')
    (tmp_path / "qrels").mkdir()
    text = f"{head}query-id\tcorpus-id\tscore\n1\td1\t1\n"
    (tmp_path / "qrels" / "test.tsv").write_text(text)
    (tmp_path / "bm25.txt").write_text(f"{head}1 Q0 d1 1 9.5 tag\n")
    summary = import_dataset(tmp_path, "study", form="beir")
    assert Rating.objects.get().grade == 1
    assert RankedText.objects.get().text.name == "d1"
    assert not summary.left_out_rows


def test_topic_that_begins_with_a_hash_is_no_comment(tmp_path):
    (tmp_path / "topics.jsonl").write_text('{"id": "#1", "request": "Why?"}\n')
    (tmp_path / "bm25.run").write_text("#1 Q0 d1 1 9.5 tag\n")
    import_dataset(tmp_path, "study")
    assert RankedText.objects.get().topic.name == "#1"


@pytest.mark.parametrize("head", HEADS)
def test_comments_above_a_list_are_skipped(tmp_path, head):
    path = tmp_path / "items.json"
    path.write_text(head + json.dumps([{"a": 1}], indent=1))
    ((line, item),) = streamed.items(path, ())
    assert (line, item) == (head.count("\n") + 2, {"a": 1})
    path.write_text(head + '{"a": 1}')
    assert streamed.first_name(path) == "a"


@pytest.mark.parametrize("text", ["# made", "//", "# made\n\n", "/ made\n[]"])
def test_file_of_comments_alone_is_refused_with_its_line(tmp_path, text):
    path = tmp_path / "items.json"
    path.write_text(text)
    with pytest.raises(streamed.InvalidFileError, match="expected a JSON object or a list"):
        list(streamed.items(path, ()))


def test_passage_that_is_called_as_a_comment_begins_is_read(tmp_path):
    (tmp_path / "collection.tsv").write_text("# made by hand\n#\tIt grinds.\n")
    (tmp_path / "queries.tsv").write_text("1\tWhy?\n")
    summary = import_dataset(tmp_path, "study", form="msmarco")
    assert Text.objects.get().name == "#"
    assert summary.mapped == {"comments above the first line of a file: not read": 1}


def test_long_comment_is_not_kept_in_memory(tmp_path):
    path = tmp_path / "items.json"
    path.write_text("#" * 2_000_000 + '\n[{"a": 1}]')
    assert list(streamed.items(path, ())) == [(2, {"a": 1})]
    with path.open() as file:
        text = streamed._Text(file)
        text.skip_comments()
        assert len(text._buffer) < 200_000
