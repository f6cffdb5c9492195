"""Extractive baseline: parseable and deterministic replies."""

import json
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from building.writing import extractive
from building.writing.outputs import Failure, Source
from building.writing.sentences import n_words
from building.writing.tasks import TASKS, ParsedReply
from tests.toolbox.document_texts import DOCUMENT, sample_text
from tests.toolbox.real_study import FOLDER, IS_AVAILABLE, MISSING
from tests.toolbox.text_strategies import any_text


def reply(name: str, source: Source) -> str:
    return extractive.write(name, TASKS[name].whole(source))


def written(name: str, source: Source) -> ParsedReply:
    return TASKS[name].read(reply(name, source), "stop", source)


def test_passages_are_the_document_in_pieces():
    result = written("passages", Source(document=DOCUMENT))
    first, second = (product.body for product in result.products)
    assert (result.failure, first, second) == (None, *(part for part in DOCUMENT.split("\n\n")))


@pytest.mark.parametrize(
    ("lengths", "pieces"),
    [
        # What is too short begins with the end of the one before it, or goes on into the next.
        ([10, 35, 35], [45, 70]),
        ([39, 41], [80, 41]),
        ([30], [30]),
        ([79], [79]),  # a short document is one passage
        ([60, 60, 60, 60, 60, 60, 60, 60, 60], [180, 180, 180]),
        ([500], [300, 200]),  # without any sentence end it is cut after 60 words
        ([50] * 40, [400, 400, 400]),  # of a long document not all has room
    ],
)
def test_lengths_of_passages(lengths, pieces):
    starts = [sum(lengths[:index]) for index in range(len(lengths))]
    document = " ".join(
        sample_text(length, start).replace(". ", ", ")
        for length, start in zip(lengths, starts, strict=True)
    )
    result = written("passages", Source(document=document))
    assert result.failure is None
    assert [n_words(product.body) for product in result.products] == pieces


def test_request_names_what_comes_most_often_and_copies_nothing():
    (request,) = written("request", Source(document=DOCUMENT)).products
    assert request.body.startswith("Write a report on ferry, Aurora and March. It shall say ")


def test_questions_are_distinct_and_new():
    first = [
        product.body for product in written("questions", Source(document=DOCUMENT, n=4)).products
    ]
    assert first == [
        "What is said about ferry and Aurora?",
        "What is said about three and hundred?",
        "What is said about Ida and Vold?",
        "What is said about ferry and Sand?",
    ]
    more = written("questions", Source(document=DOCUMENT, n=20, existing=tuple(first)))
    assert (more.failure, len(more.products)) == (None, 20)
    assert not {product.body for product in more.products} & set(first)


def test_of_few_words_there_are_few_questions():
    result = written("questions", Source(document="Ferries sink.", n=5))
    assert [product.body for product in result.products] == [
        "What is said about Ferries and sink?",
        "What is said about Ferries?",
        "What is said about sink?",
    ]
    assert (result.failure, result.missing) == (Failure.TOO_FEW, 2)


def test_report_takes_turns_and_cites():
    passages = (
        ("a", "The ferry lost its gear off the island of Tern [3]. A tug came."),
        ("b", "Water was in the oil of the ferry, said the inspectors\n\nThe ferry lost its gear off the "
              "island of Tern. Nobody was hurt."),
        ("c", ""),
    )  # fmt: skip
    result = written("report", Source(request="r", passages=passages, words=24))
    (report,) = result.products
    assert report.body == (
        "The ferry lost its gear off the island of Tern. "
        "Water was in the oil of the ferry, said the inspectors. A tug came."
    )
    assert [statement.labels for statement in report.citations] == [("1",), ("2",), ("1",)]


def test_report_keeps_to_the_most_words():
    source = Source(request="r", passages=(("a", DOCUMENT),), words=300, max_words=40)
    (report,) = written("report", source).products
    assert n_words(report.body) <= 40
    assert "cut" not in " ".join(report.flags)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("direct", Source(request="Report on the ferry.")),
        ("report", Source(request="Report on the ferry.")),
        ("report", Source(request="r", passages=(("a", " … "),))),
        *(
            (name, Source(document=document))
            for name in ("passages", "questions")
            for document in ("", "…!")
        ),
        ("request", Source(document="It was not.")),
    ],
)
def test_baseline_refuses_an_empty_source(name, source):
    result = written(name, source)
    assert (result.products, result.failure) == ((), Failure.REFUSED)
    assert result.detail.startswith("The writer refused: “I cannot write ")


@example(document="\ufe0f", passages=["™"], n=1)  # signs that are no words, or become some
@given(document=any_text, passages=st.lists(any_text, max_size=3), n=st.integers(1, 5))
def test_any_source_gives_the_same_reply_twice_and_never_lacks_a_tag(document, passages, n):
    named_passages = tuple((str(index), body) for index, body in enumerate(passages))
    source = Source("r", document, named_passages, n=n, words=50)
    for name in TASKS:
        result = written(name, source)
        assert reply(name, source) == reply(name, source)
        assert result.failure is not Failure.NO_TAGS
        flags = [flag for product in result.products for flag in product.flags]
        assert "one of its tags is missing" not in flags


@pytest.mark.skipif(not IS_AVAILABLE, reason=MISSING)
def test_documents_and_passages_of_the_study():
    """Real documents, alone and joined, and reports from contexts of published ones."""
    files = sorted((FOLDER / "raw" / "documents_sample").iterdir())
    pieces = [json.loads(file.read_text())["contents"] for file in files]
    assert pieces
    for document in [*pieces, *(" ".join(two) for two in pairwise(pieces)), " ".join(pieces)]:
        for name in ("passages", "request", "questions"):
            result = written(name, Source(document=document))
            assert (result.failure, result.detail) == (None, ""), document
    with (FOLDER / "passages.jsonl").open() as file:
        bodies = {row["id"]: row["contents"] for row in map(json.loads, file)}
    with (FOLDER / "reports_all.bm25.jsonl").open() as file:
        for row in map(json.loads, file):
            passages = tuple((name, bodies[name]) for name in row["docids"] if name in bodies)
            result = written("report", Source(row["topic"], passages=passages))
            assert (result.failure is None) == bool(passages)


@pytest.mark.skipif(not IS_AVAILABLE, reason=MISSING)
def test_published_reports_are_read():
    """Published reports without citations; most end in notes, and ten repeat themselves."""
    looping = noted = n = 0
    for run in ("bm25", "oracle", "dr_rankfirst"):
        with (FOLDER / f"reports_all.{run}.jsonl").open() as file:
            for row in map(json.loads, file):
                source = Source(row["topic"], passages=tuple((name, "") for name in row["docids"]))
                result = TASKS["report"].read(row["response"], "stop", source)
                assert result.failure in (None, Failure.LOOPS)
                n += 1
                looping += result.failure is Failure.LOOPS
                for product in result.products:
                    assert "cites none of its passages" in product.flags
                    noted += "holds notes or references of the writer's own" in product.flags
    assert (n, looping, noted) == (90, 10, 59)


def test_types_have_different_pairs_if_possible():
    replies = [
        reply("pairs", Source(document="Ottilie Marsh mended the tide wheel.", kind=kind))
        for kind in ("fact_single", "summary", "reasoning")
    ]
    for line, name in zip(replies, ("Ottilie", "mended", "tide"), strict=True):
        question = f"<q>What is said about Marsh and {name}?</q>"
        assert line == f"{question}\n<a>Ottilie Marsh mended the tide wheel.</a>"
    assert reply("pairs", Source(document="Rain.", kind="reasoning")) == reply(
        "pairs", Source(document="Rain.", kind="summary")
    )
