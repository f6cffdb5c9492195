"""Round trip of any reply through a file, and validation of rows."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judging.grading.pairs import Pair, Reply, State
from judging.llm.completion import storable
from judging.llm.errors import Failure
from judging.offline.job import FORMAT, About
from judging.offline.parquet import (
    PairRow,
    read_pairs,
    read_results,
    reply_of,
    write_pairs,
    write_results,
)

GRADES = (0, 1, 2, 3, 4, 5)
ABOUT = About(FORMAT, "ferry", 7, "tiny-judge", "f" * 64)
texts = st.text(st.characters(), max_size=30)  # lone surrogates and NUL among them
stored_texts = texts.map(storable)
chances = st.one_of(st.none(), st.floats(0, 1))
numbers = st.integers(0, 2**31 - 1)


@st.composite
def replies(draw):
    is_graded = draw(st.booleans())
    state = draw(st.sampled_from([state for state in State if state is not State.GRADED]))
    return Reply(
        Pair(
            draw(numbers), draw(numbers), draw(stored_texts), draw(stored_texts), draw(stored_texts)
        ),
        State.GRADED if is_graded else state,
        grade=draw(st.sampled_from(GRADES)) if is_graded else None,
        failure=None if is_graded else draw(st.sampled_from(list(Failure))),
        raw=draw(texts),
        detail=draw(texts),
        prompt_hash=draw(st.text("0123456789abcdef", max_size=16)),
        probabilities=draw(st.one_of(st.none(), st.tuples(*[chances] * len(GRADES)))),
        expected_grade=draw(st.one_of(st.none(), st.floats(0, 5))),
        label_mass=draw(chances),
        prompt_tokens=draw(numbers),
        completion_tokens=draw(numbers),
        evidence=tuple(draw(st.lists(texts, max_size=3))),
    )


@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(replies(), min_size=1, max_size=5))
def test_replies_and_pairs_survive_their_way_through_a_file(tmp_path, originals):
    rows = [PairRow(number, "a" * 64, reply.pair) for number, reply in enumerate(originals)]
    write_pairs(tmp_path / "pairs-00001.parquet", ABOUT, rows)
    assert read_pairs(tmp_path / "pairs-00001.parquet") == (ABOUT, rows)
    path = tmp_path / "results-00001.parquet"
    write_results(path, ABOUT, zip(rows, originals, strict=True))
    about, read = read_results(path)
    assert about == ABOUT
    for reply, row, pair_row in zip(originals, read, rows, strict=True):
        read_back = reply_of(row, pair_row.pair, GRADES)
        for name in Reply.__dataclass_fields__:
            before = getattr(reply, name)
            if name in ("raw", "detail"):
                before = storable(before)
            elif name == "evidence":
                before = tuple(map(storable, before))
            assert getattr(read_back, name) == before
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_empty_file_holds_no_rows(tmp_path):
    write_results(tmp_path / "results-00001.parquet", ABOUT, [])
    assert read_results(tmp_path / "results-00001.parquet") == (ABOUT, [])
