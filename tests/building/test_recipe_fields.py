"""A recipe as fields: what each step's say, and which of line and fields counts where both came back."""

import pytest

from building.retrieval.recipe import parsed
from building.runs.recipes import BOTH, NotInFields, data_of, described, of_line
from building.steps import KINDS
from building.steps.options import OneWord, Option

OFFERS = {"judge": ["j"], "server": ["gpu"], "run": ["lsr"]}


def words_of(option: Option) -> str:
    """Some words that the option can be."""
    if option.of:
        return OFFERS[option.of][0]
    if isinstance(option, OneWord):
        return option.known[-1]
    return option.default or "7"


def line_of(name: str, *, full: bool) -> str:
    """A line with a step, all its options given or none, where it can stand."""
    kind = KINDS[name]
    said = sorted(f"{option.key}={words_of(option)}" for option in kind.options if full)
    inside = [*(("bm25 % 10", "run(name=lsr) % 5") if kind.joins else ()), *said]
    step = f"{name}({', '.join(inside)})" if inside else name
    return f"bm25 % 100 > {step} % 9" if kind.reorders else f"{step} % 9"


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("name", KINDS)
def test_each_step_goes_from_its_line_to_fields_and_back(name, full):
    line = line_of(name, full=full)
    told = of_line(line, OFFERS)
    assert told.fields is not None
    assert told.fields.line == told.line == line
    assert (told.wrong_fields, told.problem, told.note) == ([], "", "")


def test_a_long_recipe_goes_to_fields_and_back():
    line = (
        "fuse(bm25(b=0.3) % 10, embed(model=a b, server=gpu), by=minmax) % 50 > rerank(model=m, server=gpu) "
        "> mmr(lambda=0.50, vectors=/a/b) > xquad > by_ratings(judge=j) > by_ratings(eta=4, judge=j) % 3"
    )
    told = of_line(line, OFFERS)
    assert told.fields
    assert told.fields.line == line
    assert len(told.fields.shown) == 8


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("fuse(bm25, bm25, run(name=lsr))", "fuse joins 3 rankings here, and the fields two"),
        ("fuse(bm25 > xquad, bm25)", "“bm25 > xquad” has steps of its own within fuse"),
        ("fuse(fuse(bm25, bm25), bm25)", "has steps of its own within fuse"),
        ("bm25" + " > xquad" * 6, "6 steps follow the first, and the fields have room for 5"),
        ("embed(model=a\tb)", "has signs that a field cannot hold"),
    ],
)
def test_what_fields_cannot_say_is_said_by_the_line(line, says):
    with pytest.raises(NotInFields) as reason:
        data_of(parsed(line))
    assert says in str(reason.value)
    told = of_line(line, OFFERS)
    assert (told.fields, told.line, told.problem) == (None, line, "")
    assert says in told.note


def sent(line, was=None, **fields):
    """A form that shows the fields of `was`, of which some were changed, and a line."""
    was = line if was is None else was
    changed = {name.replace("_", "-"): words for name, words in fields.items()}
    return described({"recipe": line, "was": was, **data_of(parsed(was)), **changed}, OFFERS)


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


def test_a_step_that_is_chosen_anew_has_its_own_fields():
    told = sent("bm25(b=0.3) % 10", first_step="embed", then1_step="xquad")
    assert told.line == "embed % 10 > xquad"
    assert sent("bm25 > xquad > mmr", then1_step="").line == "bm25 > mmr"
    assert sent("fuse(bm25, required(judge=j)) % 3 > xquad", second_step="").line == "bm25 > xquad"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"first-bm25-b": "2"}, "First ranking, b: bm25: b is a number from 0 to 1, not “2”."),
        ({"first-cut": "0"}, "First ranking, Texts kept of a topic: "),
        ({"first-cut": "x"}, "First ranking, Texts kept of a topic: "),
        ({"first-step": "xquad"}, "First ranking, step: "),
        ({"first-step": ""}, "First ranking, step: "),
        ({"first-bm25-background": "a,b"}, "background: A comma or a bracket would end it."),
        ({"then1-step": "by_ratings", "then1-by_ratings-judge": "k"}, "There is no judge “k”."),
        ({"then1-step": "by_ratings", "then1-by_ratings-aggregate": "x"}, "aggregate: Select"),
    ],
)
def test_what_is_wrong_with_a_field_is_said_and_the_line_stays(fields, says):
    told = described({"recipe": "bm25", "was": "bm25", "first-step": "bm25", **fields}, OFFERS)
    assert (told.line, told.recipe) == ("bm25", None)
    assert any(says in problem for problem in told.wrong_fields), told.wrong_fields


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("bm25 %", "there comes a whole number from 1"),
        ("bm25(k2=1)", "bm25 has no option “k2”"),
        ("bm25(b=2)", "b is a number from 0 to 1"),
        ("xquad", "needs a ranking before it"),
    ],
)
def test_a_line_that_is_wrong_leaves_the_fields(line, says):
    told = sent(line, was="bm25 % 10")
    assert (told.line, told.was) == (line, "bm25 % 10")
    assert says in told.problem
    assert told.fields
    assert told.fields.line == "bm25 % 10"


def test_what_a_line_names_and_there_is_not_stays_in_its_field():
    told = of_line("run(name=gone)", OFFERS)
    assert told.line == "run(name=gone)"
    assert told.fields
    assert "There is no run “gone”. There are: lsr." in told.wrong_fields[0]
    assert '<option value="gone" selected>' in str(told.fields.first["run-name"])
