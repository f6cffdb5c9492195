"""--format beir: a corpus, queries, qrels with a header."""

import gzip
import json

import pytest

from annotation.models import Rating, Rubric, SubQuestion, Text, Topic
from crux_site.imports.importing import import_dataset
from evaluation.models import RankedText
from tests.toolbox.foreign_files import left_out, read, refused, with_line, write
from tests.toolbox.import_study import fingerprint

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels/test.tsv"
HEADER = "query-id\tcorpus-id\tscore"
BEIR = {
    CORPUS: [
        {"_id": "d1", "title": "The mill", "text": "It grinds.", "metadata": {"url": "x"}},
        {"_id": "d2", "title": "", "text": "Ottilie Marsh mended the wheel."},
        {"_id": "d3", "text": "Unasked."},
    ],
    QUERIES: [
        {"_id": "q1", "text": "Who mended the wheel?"},
        {"_id": "q2", "text": "Is it there?"},
    ],
    QRELS: [HEADER, "q1\td1\t0", "q1\td2\t2", "q1\td9\t-1"],
}


@pytest.mark.parametrize("header", ["query-id\tcorpus-id\tqrel", "qid\tdocid\trelevance"])
def test_header_of_qrels_is_skipped_whatever_its_names(tmp_path, header):
    read(write(tmp_path, BEIR | {QRELS: [header, *BEIR[QRELS][1:]]}), "beir")
    assert list(Rating.objects.values_list("text__name", flat=True)) == ["d1", "d2"]


def test_passages_topics_and_grades(tmp_path):
    summary = read(write(tmp_path, BEIR), "beir")
    assert dict(Text.objects.values_list("name", "body")) == {
        "d1": "The mill\nIt grinds.",
        "d2": "Ottilie Marsh mended the wheel.",
        "d3": "Unasked.",
    }
    assert list(Topic.objects.values_list("name", "request")) == [
        ("q1", "Who mended the wheel?"),
        ("q2", "Is it there?"),
    ]
    # q2 has no grades, so it is asked nothing.
    assert list(SubQuestion.objects.values_list("topic__name", "body")) == [
        ("q1", "Who mended the wheel?")
    ]
    ratings = Rating.objects.order_by("pk").values_list(
        "rater__name", "rater__kind", "rubric__slug", "text__name", "grade"
    )
    assert list(ratings) == [
        ("qrels", "human", "qrels-2", "d1", 0),
        ("qrels", "human", "qrels-2", "d2", 2),
    ]
    rubric = Rubric.objects.get(slug="qrels-2")
    assert (rubric.eta, rubric.grades()) == (1, [0, 1, 2])
    assert summary.mapped["-1, unjudged: no row"] == 1
    assert [(file.name, file.read) for file in summary.files] == [
        (QUERIES, 2),
        (CORPUS, 3),
        (QRELS, 4),
    ]


def test_text_that_qrels_alone_name_has_no_words(tmp_path):
    read(write(tmp_path, with_line(BEIR, QRELS, 4, "q1\td9\t1")), "beir")
    assert Text.objects.get(name="d9").body is None


def test_all_qrels_of_a_folder_have_one_rubric(tmp_path):
    files = {**BEIR, "qrels/train.tsv": [HEADER, "q2\td1\t3"]}
    read(write(tmp_path, files), "beir")
    assert set(Rating.objects.values_list("rubric__slug", flat=True)) == {"qrels-3"}


def test_packed_files_and_a_dry_run(tmp_path):
    files = {f"{name}.gz": lines for name, lines in BEIR.items()}
    folder = write(tmp_path, files)
    before = fingerprint()
    summary = import_dataset(folder, "other", form="beir", dry_run=True)
    assert (summary.created["passages"], summary.created["ratings"]) == (3, 2)
    assert fingerprint() == before
    read(folder, "beir")
    assert Text.objects.count() == 3


def test_run_beside_it_is_read_as_one_of_ours(tmp_path):
    files = {**BEIR, "runs/bm25.run": ["q1 Q0 d2 1 9.5 bm25"], "notes.md": ["Notes."]}
    summary = read(write(tmp_path, files), "beir")
    assert summary.created["retrieval runs"] == 1
    assert [str(file.name) for file in summary.left_out] == ["notes.md"]


@pytest.mark.parametrize(
    ("name", "number", "line", "message"),
    [
        (CORPUS, 2, {"_id": "d2", "title": ""}, "corpus.jsonl:2: text: is missing"),
        (CORPUS, 2, {"title": "", "text": "x"}, "corpus.jsonl:2: _id: is missing"),
        (CORPUS, 2, {"_id": 7.5, "text": "x"}, "corpus.jsonl:2: _id: Input should be a valid string"),
        (CORPUS, 2, {"_id": "d 2", "text": "x"}, "corpus.jsonl:2: _id: must have 1 to 250"),
        (CORPUS, 2, '{"_id": "d2", ', "corpus.jsonl:2: broken JSON"),
        (CORPUS, 3, {"_id": "d1", "text": "y"}, "corpus.jsonl:3: text: d1 has other words on line 1"),
        (QUERIES, 2, {"_id": "q1", "text": "y"}, "queries.jsonl:2: text: topic q1 is there already"),
        (QRELS, 2, "q1 d1 0", "qrels/test.tsv:2: expected 3 columns (topic text grade), not 1"),
        (QRELS, 2, "q1\td1\tyes", "qrels/test.tsv:2: grade: Input should be a valid integer"),
        (QRELS, 2, "q9\td1\t1", "qrels/test.tsv:2: topic: topic 'q9' is not in the dataset"),
        (QRELS, 3, "q1\td1\t1", "qrels/test.tsv:3: grade: an earlier line grades d1 otherwise"),
        (QRELS, 2, "q1\td1\t-3", "qrels/test.tsv:2: grade: -3 is no grade of the rubric qrels-2"),
    ],
)  # fmt: skip
def test_unsound_row_is_left_out_and_named(tmp_path, name, number, line, message):
    assert left_out(write(tmp_path, with_line(BEIR, name, number, line)), "beir")[0].startswith(
        message
    )


def test_empty_file(tmp_path):
    assert refused(write(tmp_path, {**BEIR, CORPUS: []}), "beir") == ["corpus.jsonl: is empty"]


def test_packed_file_that_was_cut(tmp_path):
    write(tmp_path, {name: lines for name, lines in BEIR.items() if name != CORPUS})
    whole = gzip.compress(b'{"_id": "d1", "text": "x"}\n' * 9)
    (tmp_path / "corpus.jsonl.gz").write_bytes(whole[:-9])
    assert (
        "corpus.jsonl.gz:9: cannot be read: Compressed file ended" in refused(tmp_path, "beir")[0]
    )
    (tmp_path / "corpus.jsonl.gz").write_bytes(b"no gzip")
    assert "corpus.jsonl.gz: cannot be read: Not a gzipped file" in refused(tmp_path, "beir")[0]


def test_grades_of_a_topic_with_sub_questions_are_of_the_whole_request(tmp_path):
    """The whole request is a filtered question more, which no coverage counts."""
    files = {**BEIR, "subquestions.jsonl": [{"id": "q1", "subquestions": ["Who?", "When?"]}]}
    read(write(tmp_path, files), "beir")
    whole = SubQuestion.objects.get(topic__name="q1", position=2)
    assert (whole.body, whole.filtered_because) == (whole.topic.request, SubQuestion.WHOLE)
    assert Rating.objects.filter(question__topic__name="q1").exclude(question=whole).count() == 0


def test_folder_of_something_else(tmp_path):
    folder = write(tmp_path, {"notes.txt": ["x"]})
    assert "no file of the format beir" in refused(folder, "beir")[0]
    assert "cannot be read" in refused(tmp_path / "away", "beir")[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("runs/bm25.json", {"q1": {"d1": 0.3}}),
        ("results.json", {"NDCG": {"NDCG@1": 0.3}}),
        ("config.json", {"bm25": {"k1": 0.9, "b": 0.4}}),
        ("test.json", {"q1": {"d1": 1}}),
        ("queries_stats.json", {"n": 3, "mean": 4.5}),
        ("corpus_info.json", {"text": "about", "n": 2}),
        ("docs.json", {"text": "about", "n": 2}),
        ("metadata.json", {"id": "beir", "title": "A collection"}),
    ],
)
@pytest.mark.parametrize("form", ["beir", "trec-rag"])
def test_other_json_is_left_out(tmp_path, name, value, form):
    files = BEIR if form == "beir" else {"topics.jsonl": [{"id": "q1", "request": "Why?"}]}
    if form != "beir":
        files["bm25.run"] = ["q1 Q0 d1 1 9.5 bm25"]
    summary = read(write(tmp_path, files | {name: [json.dumps(value)]}), form)
    assert [skipped.name for skipped in summary.left_out] == [name]


@pytest.mark.parametrize("form", ["msmarco", "miracl"])
def test_collection_in_a_folder_called_runs(tmp_path, form):
    files = {
        "queries.dev.tsv": ["1\tWho mended the wheel?"],
        "qrels.dev.tsv": ["1\t0\td1\t1"],
    }
    files |= {"collection.tsv": ["d1\tIt grinds."]} if form == "msmarco" else {}
    read(write(tmp_path / "runs", files), form)
    assert Topic.objects.get().request == "Who mended the wheel?"
    assert Rating.objects.get().grade == 1
    assert not RankedText.objects.exists()


def test_collection_with_a_run_is_refused_with_its_format(tmp_path):
    files = {
        "queries.dev.tsv": ["1\tWho mended the wheel?"],
        "collection.tsv": ["d1\tIt grinds."],
        "run.a.tsv": ["1\td1\t1", "1\td2\t2", "1\td3\t3"],
    }
    (message,) = refused(write(tmp_path, files), "crux")
    assert "only runs can be read as a CRUX folder. It looks like msmarco" in message
    assert message.endswith("It looks like msmarco: choose this format")


def test_collection_that_is_no_crux_folder_is_refused_with_its_format(tmp_path):
    (message,) = refused(write(tmp_path, BEIR), "crux")
    assert "no file that can be read as a CRUX folder. It looks like beir" in message
    assert message.endswith("It looks like beir: choose this format")


def test_folder_of_no_format_is_refused_with_the_names_of_files(tmp_path):
    (message,) = refused(write(tmp_path, {"notes.md": ["Five systems."]}), "crux")
    assert "topics.jsonl" in message


def test_first_line_of_a_run_without_its_tag_is_left_out_with_its_topic(tmp_path):
    run = ["q1 Q0 d1 1 9.5", "q2 Q0 d1 1 9.5 bm25", "q2 Q0 d2 2 9 bm25"]
    (row,) = left_out(write(tmp_path, BEIR | {"bm25.run": run}), "beir")
    assert "bm25.run:1" in row
    assert "expected 6 columns as in most lines, not 5" in row
    assert [ranked.topic.name for ranked in RankedText.objects.all()] == ["q2", "q2"]
