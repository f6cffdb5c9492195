"""--format msmarco, miracl and hf: passages from several kinds of files, some selected."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotation.models import Rating, SubQuestion, Text, Topic
from annotation.text.versions import edit_wording
from evaluation.models import RankedText
from tests.toolbox.commands import run_without_packages
from tests.toolbox.foreign_files import left_out, read, refused, with_line, write

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


def bodies(kind=Text.Kind.PASSAGE):
    return dict(Text.objects.filter(kind=kind).values_list("name", "body"))


def test_passages_of_our_own_may_be_packed(tmp_path):
    files = {"passages.jsonl.gz": [{"id": "d1", "contents": "It grinds."}]}
    read(write(tmp_path, files), "crux")
    assert bodies() == {"d1": "It grinds."}


MSMARCO = {
    "collection.tsv": ["0\tIt grinds.", "1\tMarsh mended it,\tthey say."],
    "queries.dev.tsv": ["7\twho mended it"],
    "qrels.dev.tsv": ["7\t0\t1\t1"],
}


def test_first_version_of_ms_marco(tmp_path):
    read(write(tmp_path, MSMARCO), "msmarco")
    assert bodies() == {"0": "It grinds.", "1": "Marsh mended it,\tthey say."}
    assert list(Topic.objects.values_list("name", "request")) == [("7", "who mended it")]
    assert list(Rating.objects.values_list("text__name", "rubric__slug", "grade")) == [
        ("1", "qrels-1", 1)
    ]


def test_names_of_columns_in_the_first_line_are_no_row(tmp_path):
    files = {
        "collection.tsv": ["pid\tpassage", "0\tIt grinds."],
        "queries.tsv": ["query_id\tquery", "7\twho mended it"],
        "qrels.tsv": ["qid\titer\tdocid\trel", "7\t0\t0\t1"],
    }
    read(write(tmp_path, files), "msmarco")
    assert bodies() == {"0": "It grinds."}
    assert list(Topic.objects.values_list("name", "request")) == [("7", "who mended it")]
    assert Rating.objects.count() == 1
    assert not left_out(tmp_path, "msmarco")


@pytest.mark.parametrize("form", ["msmarco", "trec-rag", "miracl"])
@pytest.mark.parametrize("name", ["msmarco-test2019-queries.tsv", "topics.dl21.txt"])
def test_topics_of_tracks_are_found_by_their_names(tmp_path, form, name):
    read(write(tmp_path, {name: ["7\twho mended it"], "2019qrels-pass.txt": ["7 Q0 1 2"]}), form)
    assert list(Topic.objects.values_list("name", "request")) == [("7", "who mended it")]
    assert list(Rating.objects.values_list("text__name", "grade")) == [("1", 2)]


@pytest.mark.parametrize("counts", [True, False])
def test_qrels_find_the_request_that_got_other_words(tmp_path, counts):
    read(write(tmp_path, MSMARCO), "msmarco")
    question = SubQuestion.objects.select_related("topic__dataset").get()
    edit_wording(question, "Who mended it?", by=None, reason="", counts=counts)
    if counts:
        assert not read(tmp_path, "msmarco").changed
    else:
        [message] = refused(tmp_path, "msmarco")
        assert message.startswith(
            "qrels.dev.tsv:1: topic: 7: this is an earlier wording of a question"
        )
    assert SubQuestion.objects.get().body == "Who mended it?"


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("collection.tsv", "0", "collection.tsv:1: expected 2 columns (id text), not 1"),
        ("collection.tsv", "0 1\tx", "collection.tsv:1: id: must have 1 to 250"),
        ("collection.tsv", "1\tx", "collection.tsv:2: text: 1 has other words on line 1"),
    ],
)
def test_unsound_line_of_ms_marco(tmp_path, name, line, message):
    assert left_out(write(tmp_path, with_line(MSMARCO, name, 1, line)), "msmarco")[0].startswith(
        message
    )


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("qrels.dev.tsv", "7 1 1", "qrels.dev.tsv:1: expected 4 columns"),
        ("queries.dev.tsv", "", "queries.dev.tsv: is empty"),
    ],
)
def test_file_of_ms_marco_without_a_sound_line_is_refused(tmp_path, name, line, message):
    assert refused(write(tmp_path, with_line(MSMARCO, name, 1, line)), "msmarco")[0].startswith(
        message
    )


def segment(name, **more):
    return {"docid": name, "title": "Mill", "headings": "H", "segment": f"Words of {name}.", **more}


def test_only_segments_that_a_run_or_qrels_name(tmp_path):
    files = {
        "msmarco_v2.1_00.jsonl.gz": [
            segment(f"d_0#{n}", start_char=0, end_char=9) for n in range(9)
        ],
        "topics.tsv": ["7\twho mended it"],
        "bm25.run": ["7 Q0 d_0#3 1 9.0 bm25"],
        "qrels.txt": ["7 0 d_0#5 2"],
    }
    read(write(tmp_path, files), "msmarco")
    assert bodies() == {"d_0#3": "Mill\nWords of d_0#3.", "d_0#5": "Mill\nWords of d_0#5."}
    assert RankedText.objects.get().run.name == "bm25"


def test_segments_of_which_nothing_says_which_are_meant(tmp_path):
    messages = refused(write(tmp_path, {"s.jsonl": [segment("d")]}), "msmarco")
    assert messages == [
        "s.jsonl: segments are read only if a run or qrels in the same folder name them"
    ]


MIRACL = {
    "docs-0.jsonl.gz": [
        {"docid": "1#0", "title": "طاحونة", "text": "تدور العجلة."},
        {"docid": "1#1", "title": "طاحونة", "text": "أصلحتها."},
    ],
    "topics.miracl-ar-dev.tsv": ["9\tمن أصلح العجلة؟"],
    "qrels.miracl-ar-dev.tsv": ["9\tQ0\t1#1\t1", "9\tQ0\t1#0\t0"],
}


def test_miracl(tmp_path):
    read(write(tmp_path, MIRACL), "miracl")
    assert bodies()["1#1"] == "طاحونة\nأصلحتها."
    assert Topic.objects.get().request == "من أصلح العجلة؟"
    assert sorted(Rating.objects.values_list("text__name", "grade")) == [("1#0", 0), ("1#1", 1)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"docid": "1#1", "title": "x"}, "docs-0.jsonl.gz:2: text: is missing"),
        ({"docid": "1 1", "text": "x"}, "docs-0.jsonl.gz:2: docid: must have 1 to 250"),
        ({"docid": "1#0", "text": "x"}, "docs-0.jsonl.gz:2: text: 1#0 has other words on line 1"),
    ],
)
def test_unsound_line_of_miracl(tmp_path, line, message):
    folder = write(tmp_path, with_line(MIRACL, "docs-0.jsonl.gz", 2, line))
    assert left_out(folder, "miracl")[0].startswith(message)


CORPUS = [{"doc_id": "d1", "contents": "It grinds."}, {"doc_id": "d2", "contents": "Marsh did."}]
QUESTIONS = [
    {
        "qid": "q1",
        "query": "Who mended it?",
        "retrieval_gt": [["d2", "d1"], ["d2"]],
        "generation_gt": ["", "Marsh.", "Ottilie Marsh."],
    },
    {"qid": "q2", "query": "When?", "retrieval_gt": [[]], "generation_gt": []},
]


def parquet(folder, corpus=CORPUS, questions=QUESTIONS):
    pq.write_table(pa.Table.from_pylist(corpus), folder / "corpus.parquet")
    pq.write_table(pa.Table.from_pylist(questions), folder / "qa.parquet")
    return folder


@pytest.mark.parametrize("as_parquet", [True, False])
def test_questions_with_their_passages_and_answers(tmp_path, as_parquet):
    if as_parquet:
        parquet(tmp_path)
    else:
        write(tmp_path, {"corpus.jsonl": CORPUS, "qa.jsonl": QUESTIONS})
    read(tmp_path, "hf")
    assert bodies() == {"d1": "It grinds.", "d2": "Marsh did."}
    assert bodies(Text.Kind.REFERENCE) == {"q1:report": "Marsh."}
    ratings = Rating.objects.values_list("rater__name", "rubric__slug", "text__name", "grade")
    assert sorted(ratings) == [
        ("retrieval_gt", "qrels-1", "d1", 1),
        ("retrieval_gt", "qrels-1", "d2", 1),
    ]
    assert list(Topic.objects.values_list("name", flat=True)) == ["q1", "q2"]


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        (
            [CORPUS[0], {"doc_id": "d2", "contents": None}],
            "corpus.parquet:2: contents: Input should",
        ),
        (
            [CORPUS[0], {"doc_id": "d 1", "contents": "x"}],
            "corpus.parquet:2: doc_id: must have 1 to 250",
        ),
        (
            [CORPUS[0], {"doc_id": "d1", "contents": "y"}],
            "corpus.parquet:2: contents: d1 has other",
        ),
    ],
)
def test_unsound_row_of_a_table(tmp_path, corpus, message):
    assert left_out(parquet(tmp_path, corpus), "hf")[0].startswith(message)


def test_table_without_a_sound_row_is_refused(tmp_path):
    folder = parquet(tmp_path, [{"doc_id": 1, "contents": "x"}])
    message = "corpus.parquet:1: doc_id: Input should be a valid str"
    assert refused(folder, "hf")[0].startswith(message)


def test_broken_parquet_file(tmp_path):
    parquet(tmp_path)
    path = tmp_path / "corpus.parquet"
    path.write_bytes(path.read_bytes()[:-4])
    assert refused(tmp_path, "hf")[0].startswith("corpus.parquet: cannot be read")


@pytest.mark.soak
def test_extra_that_parquet_needs_is_named_by_the_command(tmp_path):
    command = f"manage.py import_dataset {parquet(tmp_path)} --format hf --dataset other"
    done = run_without_packages("pyarrow", command, tmp_path)
    message = (
        "corpus.parquet: needs pyarrow, an extra: make env EXTRAS=cluster\nNothing was imported."
    )
    assert (done.returncode, done.stderr.strip()) == (1, message)
