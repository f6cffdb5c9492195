"""Lengths of a byte, the files of an index, and BM25 worked out by hand."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from building.analysis.lucene_en import terms
from building.analysis.norms import rounded
from building.retrieval.bm25 import Background, Bm25, TermStatisticsError, add, best, contenders
from building.retrieval.index import VERSION, BrokenIndexError, Index, build

TEXTS = [
    (11, "The ferry sank near the harbour."),  # ferri sank near harbour
    (12, "Ferry, ferry: a ferry!"),  # ferri three times
    (13, "the of and"),  # no term
    (14, "A harbour without ships"),  # harbour without ship
    (15, "Ferry, ferry: a ferry!"),
]


@pytest.fixture
def index(tmp_path):
    build(tmp_path / "index", TEXTS, "corpus")
    return Index(tmp_path / "index")


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        *((0, 0), (1, 1), (23, 23), (39, 39), (40, 40), (41, 40), (42, 42), (55, 54), (56, 56)),
        *((59, 56), (60, 60), (87, 84), (88, 88), (95, 88), (1_000, 984), (2**31 - 1, 2013265944)),
    ],
)
def test_lengths_are_rounded_down_to_what_a_byte_holds(length: int, expected: int) -> None:
    assert rounded([length]).tolist() == [expected]


def test_there_are_256_lengths() -> None:
    exact = np.arange(0, 200_000)
    stored = rounded(exact)
    assert (stored <= exact).all()
    assert (np.diff(stored) >= 0).all()
    assert rounded(stored).tolist() == stored.tolist()
    assert len(set(stored.tolist())) < 256


def test_index_holds_what_it_was_given(index) -> None:
    meta = index.meta
    assert (meta.n_texts, meta.n_empty, meta.n_tokens, meta.n_terms) == (4, 1, 4 + 3 + 3 + 3, 6)
    assert index.keys.tolist() == [11, 12, 14, 15]
    assert index.lengths.tolist() == [4, 3, 3, 3]
    assert [part.tolist() for part in index.postings("ferri")] == [[0, 1, 3], [1, 3, 3]]
    assert [part.tolist() for part in index.postings("harbour")] == [[0, 2], [1, 1]]
    for nothing in ("ferry", "a", "zz", "", "ferrii"):
        assert [part.tolist() for part in index.postings(nothing)] == [[], []]


def test_scores_by_hand(index) -> None:
    # N = 4, avg = 13 / 4; ferri stands in 3 texts, harbour in 2.
    def weight(tf: int, length: int) -> float:
        return tf / (tf + 0.9 * (1 - 0.4 + 0.4 * length / (13 / 4)))

    ferri, harbour = math.log(1 + 1.5 / 3.5), math.log(1 + 2.5 / 2.5)
    ranked = Bm25(index).ranked("ferries in the harbour", 10)
    expected = [
        ferri * weight(1, 4) + harbour * weight(1, 4),
        harbour * weight(1, 3),
        ferri * weight(3, 3),
    ]
    assert ranked.rows.tolist() == [0, 2, 1, 3]  # two alike, in the order of the index
    assert ranked.scores.tolist() == [round(score, 4) for score in [*expected, expected[-1]]]


def test_term_that_stands_there_very_often_is_counted_exactly(tmp_path) -> None:
    texts = [(1, "zebra " * 254), (2, "zebra " * 255), (3, "zebra " * 300), (4, "zebra " * 70_000)]
    build(tmp_path / "often", texts, "corpus")
    index = Index(tmp_path / "often")
    counted = [254, 255, 300, 65_535]
    assert index.postings("zebra")[1].tolist() == counted
    assert (index.kinds >> 8).tolist() == [254, 255, 255, 255]
    mean, lengths = (254 + 255 + 300 + 70_000) / 4, rounded([254, 255, 300, 70_000]).tolist()
    expected = [
        tf / (tf + 0.9 * (1 - 0.4 + 0.4 * length / mean))
        for tf, length in zip(counted, lengths, strict=True)
    ]
    assert Bm25(index).weights(index.where("zebra")).tolist() == expected


def test_index_is_the_same_whatever_was_kept_of_what_was_seen(tmp_path, monkeypatch) -> None:
    texts = [(number, f"{body}\nFerry\tharbour wi-fi") for number, (_, body) in enumerate(TEXTS)]
    build(tmp_path / "kept", texts, "corpus")
    monkeypatch.setattr("building.retrieval.term_counts.PIECES", 2)
    monkeypatch.setattr("building.retrieval.term_counts.BLOCK", 3)
    build(tmp_path / "forgotten", texts, "corpus")
    for file in (tmp_path / "kept").iterdir():
        assert (tmp_path / "forgotten" / file.name).read_bytes() == file.read_bytes()
    index = Index(tmp_path / "kept")
    for term in ("ferri", "fi", "ship"):
        counts = [terms(body).count(term) for _, body in texts]
        assert [part.tolist() for part in index.postings(term)] == [
            [row for row, n in enumerate(counts) if n],
            [n for n in counts if n],
        ]


@given(
    st.lists(st.sampled_from([0.0, 0.00004, 0.5, 0.50004, 0.5001, 1.25, 7.0]), max_size=400),
    st.integers(1, 8),
)
def test_best_are_among_the_contenders(values: list[float], k: int) -> None:
    scores = np.array(values)
    ranked = best(scores, contenders(scores, k), k)
    expected = sorted(
        ((-round(score, 4), row) for row, score in enumerate(values) if score > 0),
    )[:k]
    assert ranked.rows.tolist() == [row for _, row in expected]
    assert ranked.scores.tolist() == [-score for score, _ in expected]


def test_weights_are_added_to_the_scores_that_are_there() -> None:
    scores, rows = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 1, 3], dtype=np.int32)
    rows.flags.writeable = False  # as in a file
    add(scores, rows[1:], np.array([0.5, 0.25]), 2.0)
    add(scores, rows[:0], np.array([]), 2.0)
    assert scores.tolist() == [1.0, 3.0, 3.0, 4.5]


@pytest.mark.parametrize("row", [-1, 3, 2**31 - 1])
def test_damaged_index_that_names_other_texts_adds_nothing(row) -> None:
    scores = np.zeros(3)
    with pytest.raises(BrokenIndexError, match="build it again"):
        add(scores, np.array([0, row], dtype=np.int32), np.ones(2), 1.0)
    assert not scores.any()


def test_term_lookup_finds_all_of_many_terms(tmp_path) -> None:
    # More than are kept in memory by their first, and some before, between and behind them.
    tokens = [f"word{n:04d}x" for n in range(0, 400, 2)]
    build(tmp_path / "many", [(n, token) for n, token in enumerate(tokens)], "corpus")
    large_index = Index(tmp_path / "many")
    assert [large_index.postings(token)[0].tolist() for token in tokens] == [
        [n] for n in range(len(tokens))
    ]
    absent = [f"word{n:04d}x" for n in range(1, 400, 2)] + [
        "a",
        "word",
        "word0000",
        "ord0000x",
        "zz",
    ]
    assert all(large_index.where(token) == slice(0, 0) for token in absent)


def test_word_of_the_query_counts_as_often_as_it_stands_there(index) -> None:
    bm25 = Bm25(index)
    once, twice = bm25.ranked("harbour", 10), bm25.ranked("harbour harbours", 10)
    assert twice.scores.tolist() == pytest.approx([2 * score for score in once.scores], abs=2e-4)


def test_of_equal_texts_the_first_stay_where_the_ranking_is_cut(index) -> None:
    assert Bm25(index).ranked("ferry", 1).rows.tolist() == [1]
    assert Bm25(index).ranked("ferry", 2).rows.tolist() == [1, 3]
    assert Bm25(index).ranked("nothing of it, the", 5).rows.tolist() == []


def test_terms_have_their_share_of_the_score(index) -> None:
    bm25 = Bm25(index)
    ranked = bm25.ranked("the ferry harbour ship", 10)
    for row, score in zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True):
        shares = bm25.shares("the ferry harbour ship", row)
        assert math.fsum(share for _, share in shares) == pytest.approx(score, abs=1e-4)
    assert [term for term, _ in bm25.shares("the ferry harbour ship", 2)] == ["ship", "harbour"]


def test_background_stands_for_the_corpus_that_is_not_here(index, tmp_path) -> None:
    file = tmp_path / "background.json"
    file.write_text(json.dumps({"N": 100, "avgdl": 6.5, "df": {"ferri": 9}}))
    bm25 = Bm25(index, k1=1.2, b=0.75, background=Background.read(file))
    ranked = bm25.ranked("ferry harbour", 10)
    assert ranked.unknown == ("harbour",)
    ferri = math.log(1 + 91.5 / 9.5) * 3 / (3 + 1.2 * (0.25 + 0.75 * 3 / 6.5))
    assert ranked.scores[ranked.rows.tolist().index(1)] == pytest.approx(ferri, abs=1e-4)
    assert bm25.ranked("ferry", 10).unknown == ()


@pytest.mark.parametrize(
    "content",
    [
        *(
            "",
            "[]",
            "{",
            '{"N": 3}',
            '{"N": "x", "avgdl": 1, "df": {}}',
            '{"N": 3, "avgdl": 1, "df": []}',
        ),
        *('{"N": 0, "avgdl": 1, "df": {}}', '{"N": 3, "avgdl": 0, "df": {}}'),
        *('{"N": 3, "avgdl": 1, "df": {"a": 0}}', '{"N": 3, "avgdl": 1, "df": {"a": NaN}}'),
    ],
)
def test_background_that_is_none_is_named(tmp_path, content: str) -> None:
    file = tmp_path / "background.json"
    file.write_text(content)
    with pytest.raises(TermStatisticsError, match=r"background\.json"):
        Background.read(file)
    with pytest.raises(TermStatisticsError, match="cannot be read"):
        Background.read(tmp_path / "none.json")


def test_folder_is_an_index_when_it_is_whole(tmp_path, index) -> None:
    folder = tmp_path / "index"
    with pytest.raises(BrokenIndexError, match="holds no whole index"):
        Index(tmp_path / "nothing")
    (folder / "tf.npy").write_bytes(b"x")
    with pytest.raises(BrokenIndexError, match="Build it again"):
        Index(folder)
    build(folder, TEXTS, "corpus")
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps(meta | {"version": VERSION + 1}))
    with pytest.raises(BrokenIndexError, match="another version"):
        Index(folder)


def test_interrupted_build_leaves_the_index_unchanged(tmp_path, index) -> None:
    def torn():
        yield from TEXTS[:2]
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        build(tmp_path / "index", torn(), "other")
    assert Index(tmp_path / "index").meta.corpus == "corpus"
    with pytest.raises(OSError, match="full"):
        build(tmp_path / "new", torn(), "other")
    assert not (tmp_path / "new").exists()


def test_texts_without_any_term_make_an_empty_index(tmp_path) -> None:
    build(tmp_path / "empty", [(1, "the"), (2, "")], "corpus")
    empty = Index(tmp_path / "empty")
    assert (empty.meta.n_texts, empty.meta.n_empty) == (0, 2)
    assert Bm25(empty).ranked("ferry", 5).rows.tolist() == []
