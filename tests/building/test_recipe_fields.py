"""Recipe fields: conversion to lines, and which of both a submitted form means."""

import pytest

from building.retrieval.recipe import parse_recipe
from building.runs.recipes import BOTH, NotInFieldsError, data_of, of_line, recipe_state
from building.steps import KINDS
from building.steps.options import ChoiceOption, Option

OFFERS = {"judge": ["j"], "server": ["gpu"], "run": ["lsr"]}


def example_value(option: Option) -> str:
    """Some words that the option can be."""
    if option.of:
        return OFFERS[option.of][0]
    if isinstance(option, ChoiceOption):
        return option.choices[-1]
    return option.default or "7"


def line_of(name: str, *, full: bool) -> str:
    """A line with a step, all its options given or none, where it can stand."""
    kind = KINDS[name]
    options = sorted(f"{option.key}={example_value(option)}" for option in kind.options if full)
    inside = [*(("bm25 % 10", "run(name=lsr) % 5") if kind.joins else ()), *options]
    step = f"{name}({', '.join(inside)})" if inside else name
    return f"bm25 % 100 > {step} % 9" if kind.reorders else f"{step} % 9"


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("name", KINDS)
def test_step_round_trips_from_line_to_fields(name, full):
    line = line_of(name, full=full)
    state = of_line(line, OFFERS)
    assert state.fields is not None
    assert state.fields.line == state.line == line
    assert (state.wrong_fields, state.problem, state.note) == ([], "", "")


def test_long_recipe_goes_to_fields_and_back():
    line = (
        "fuse(bm25(b=0.3) % 10, embed(model=a b, server=gpu), by=minmax) % 50 > rerank(model=m, server=gpu) "
        "> mmr(lambda=0.50, vectors=/a/b) > xquad > by_ratings(judge=j) > by_ratings(eta=4, judge=j) % 3"
    )
    state = of_line(line, OFFERS)
    assert state.fields
    assert state.fields.line == line
    assert len(state.fields.shown) == 8


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("fuse(bm25, bm25, run(name=lsr))", "fuse fuses 3 rankings, but the fields allow two"),
        ("fuse(bm25 > xquad, bm25)", "“bm25 > xquad” has several steps within fuse"),
        ("fuse(fuse(bm25, bm25), bm25)", "has several steps within fuse"),
        ("bm25" + " > xquad" * 6, "6 steps follow the first, but the fields allow 5"),
        ("embed(model=a\tb)", "has characters that a field cannot contain"),
    ],
)
def test_inexpressible_recipe_stays_a_line(line, message):
    with pytest.raises(NotInFieldsError) as reason:
        data_of(parse_recipe(line))
    assert message in str(reason.value)
    state = of_line(line, OFFERS)
    assert (state.fields, state.line, state.problem) == (None, line, "")
    assert message in state.note


def sent(line, was=None, **fields):
    """A form that shows the fields of `was`, of which some were changed, and a line."""
    was = line if was is None else was
    changed = {name.replace("_", "-"): value for name, value in fields.items()}
    return recipe_state(
        {"recipe": line, "was": was, **data_of(parse_recipe(was)), **changed}, OFFERS
    )


def test_of_line_and_fields_that_counts_which_was_changed():
    assert sent("bm25 % 10").line == "bm25 % 10"
    assert sent("bm25 % 10", first_cut="20").line == "bm25 % 20"
    assert sent("bm25 % 30", was="bm25 % 10").line == "bm25 % 30"
    assert sent("", was="bm25 % 10").line == "bm25 % 10"
    both = sent("bm25 % 30", was="bm25 % 10", first_cut="20")
    assert (both.line, both.problem) == ("bm25 % 30", BOTH)
    assert both.fields
    assert both.fields.line == both.was == "bm25 % 30"
    assert sent("bm25 % 20", was="bm25 % 10", first_cut="20").problem == ""


def test_step_that_is_chosen_anew_has_its_own_fields():
    state = sent("bm25(b=0.3) % 10", first_step="embed", then1_step="xquad")
    assert state.line == "embed % 10 > xquad"
    assert sent("bm25 > xquad > mmr", then1_step="").line == "bm25 > mmr"
    assert sent("fuse(bm25, required(judge=j)) % 3 > xquad", second_step="").line == "bm25 > xquad"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"first-bm25-b": "2"}, "First ranking, b: bm25: b is a number from 0 to 1, not “2”."),
        ({"first-cut": "0"}, "First ranking, Texts kept for each topic: "),
        ({"first-cut": "x"}, "First ranking, Texts kept for each topic: "),
        ({"first-step": "xquad"}, "First ranking, step: "),
        ({"first-step": ""}, "First ranking, step: "),
        ({"first-bm25-background": "a,b"}, "background: Commas and brackets are not allowed."),
        ({"then1-step": "by_ratings", "then1-by_ratings-judge": "k"}, "There is no judge “k”."),
        ({"then1-step": "by_ratings", "then1-by_ratings-aggregate": "x"}, "aggregate: Select"),
    ],
)
def test_invalid_field_is_reported_and_the_line_stays(fields, message):
    state = recipe_state({"recipe": "bm25", "was": "bm25", "first-step": "bm25", **fields}, OFFERS)
    assert (state.line, state.recipe) == ("bm25", None)
    assert any(message in problem for problem in state.wrong_fields), state.wrong_fields


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bm25 %", "expected a whole number from 1"),
        ("bm25(k2=1)", "bm25 has no option “k2”"),
        ("bm25(b=2)", "b is a number from 0 to 1"),
        ("xquad", "needs a ranking before it"),
    ],
)
def test_line_that_is_wrong_leaves_the_fields(line, message):
    state = sent(line, was="bm25 % 10")
    assert (state.line, state.was) == (line, "bm25 % 10")
    assert message in state.problem
    assert state.fields
    assert state.fields.line == "bm25 % 10"


def test_unknown_name_of_a_line_stays_in_its_field():
    state = of_line("run(name=gone)", OFFERS)
    assert state.line == "run(name=gone)"
    assert state.fields
    assert "There is no run “gone”. There are: lsr." in state.wrong_fields[0]
    assert '<option value="gone" selected>' in str(state.fields.first["run-name"])
