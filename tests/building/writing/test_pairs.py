"""Parsing of replies with typed questions and with statements."""

import pytest

from building.writing.outputs import Failure, Source
from building.writing.pairs import KINDS, of_kind, parts_of, pick_statement
from building.writing.tasks import TASKS, check_prompt, render
from building.writing.typed_line import PROMPT, TYPES

PASSAGE = "Ottilie Marsh mended the wheel. It turned in May."
PAIR, STATEMENTS = TASKS["pairs"], TASKS["statements"]


def read(reply: str, task=PAIR, finish_reason: str = "stop"):
    return task.read(reply, finish_reason, Source(document=PASSAGE, kind="summary"))


@pytest.mark.parametrize(
    "reply",
    [
        "<q>Who mended the wheel?</q>\n<a>Ottilie Marsh</a>",
        "<think>Hm. <q>No?</q></think>Here:\n<Q>\n1. Who mended\n the wheel?</Q><a> Ottilie  Marsh </a>",
        "<q>Who mended the wheel?</q><a>Ottilie Marsh</a><q>Who mended the wheel?</q><a>She</a>",
    ],
)
def test_question_and_its_answer(reply):
    written = read(reply)
    [product] = written.products
    assert (written.failure, written.missing) == (None, 0)
    assert (product.body, product.flags) == ("Who mended the wheel?\nOttilie Marsh", ())
    assert parts_of(product.body) == ("Who mended the wheel?", "Ottilie Marsh")


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        ("<q>Who mended the wheel?</q>", Failure.NO_TAGS),
        ("<a>Ottilie Marsh</a>", Failure.NO_TAGS),
        ("<q>Who?</q><a>Marsh</a><q>When?</q><a>In May</a>", Failure.TOO_MANY),
        ("<q>Who mended it?</q><a>I cannot answer that.</a>", Failure.REFUSED),
        ("I'm sorry, but I cannot write this.", Failure.REFUSED),
        ("", Failure.EMPTY),
    ],
)
def test_invalid_reply_has_its_failure(reply, failure):
    assert read(reply).failure == failure
    assert not read(reply).products


def test_doubtful_pair_is_flagged():
    [product] = read("<q>What does the passage say of her</q><a>Much.").products
    assert product.flags == (
        "one of its tags is missing",
        "does not end in a question mark",
        "speaks of “the passage”, which nobody sees who is asked",
    )
    assert read("<q>Who mended it?</q><a>Ottilie", finish_reason="length").failure == Failure.CUT


def test_typed_line_of_a_tuned_model_is_parsed():
    [product] = read("<<summary>> Who mended\n the wheel? <a> Ottilie Marsh").products
    assert (product.body, product.flags) == ("Who mended the wheel?\nOttilie Marsh", ())
    [product] = read("<<summary>> Who mended it in the text <a> Marsh").products
    assert len(product.flags) == 2
    wrong_type = read("<<reasoning>> Why? <a> So.")
    assert (wrong_type.failure, wrong_type.products) == (Failure.NO_TAGS, ())
    assert wrong_type.detail == "It wrote a reasoning question, and a summary one was asked for."
    assert read("<<summary>> Who? <a> Ott", finish_reason="length").failure == Failure.CUT
    assert read("<<summary>> Who mended it?").failure == Failure.NO_TAGS


def test_tuned_model_gets_a_typed_line():
    source = Source(document=PASSAGE, kind="summary")
    [message] = render(PAIR, "", PROMPT, source)
    assert message == {"role": "user", "content": f"<<summary>> {PASSAGE}"}
    assert check_prompt(PAIR, PROMPT) == []
    assert tuple(KINDS) == TYPES


def test_statements_with_their_types():
    facts = "".join(f"<f>{n}. Fact {letter}.</f>" for n, letter in enumerate("abcdef", 1))
    reply = f"{facts}<s>- All of it.</s><s>All of it.</s><c>It works.</c>"
    written = read(reply, STATEMENTS)
    assert [product.body for product in written.products] == [
        *(f"fact_single: Fact {letter}." for letter in "abcde"),  # at most five
        "summary: All of it.",
        "reasoning: It works.",
    ]
    bodies = [product.body for product in written.products]
    assert of_kind(bodies, "summary") == ["All of it."]
    assert read("Nothing.", STATEMENTS).failure == Failure.NO_TAGS


def test_statement_is_picked_by_a_hash():
    statements = ["a", "b", "c", "d"]
    picks = [pick_statement(statements, f"passage {n}") for n in range(40)]
    assert set(picks) == set(statements)
    assert picks == [pick_statement(statements, f"passage {n}") for n in range(40)]


def test_prompt_shows_type_and_statement():
    [_, message] = render(PAIR, PAIR.system, PAIR.prompt, Source(document=PASSAGE, kind="summary"))
    assert KINDS["summary"] in message["content"]
    assert "Ask for this" not in message["content"]
    source = Source(document=PASSAGE, kind="reasoning", statement="The mill works.")
    [_, noted] = render(PAIR, PAIR.system, PAIR.prompt, source)
    assert f"{KINDS['reasoning']} Ask for this: The mill works." in noted["content"]
    assert check_prompt(PAIR, "{document} {kind}") == [
        "The prompt does not show the statement that it is made from: it needs {statement}."
    ]
