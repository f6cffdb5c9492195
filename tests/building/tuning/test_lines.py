"""Training lines: read whole, or refused with file, line and field. No torch is needed."""

import json

import pytest
from django.core.management import CommandError, call_command

from building.tuning.errors import TuningError
from building.tuning.lines import read, split_lines
from building.tuning.options import Options, differences
from tests.toolbox.training_lines import LINES, as_file

GOOD = json.dumps(LINES[0])
SECOND = {"input": "<<summary>> A mill burnt.", "output": "<<summary>> What burnt? <a> A mill."}


def changed(**fields):
    return json.dumps({**SECOND, **fields})


def line_without(name):
    return json.dumps({key: value for key, value in SECOND.items() if key != name})


def test_lines_are_read_with_their_contexts(tmp_path):
    path = as_file(tmp_path, LINES)
    lines = read(path)
    assert [line.number for line in lines.all] == [1, 2, 3, 4, 5, 6]
    assert lines.contexts == [
        "The heron of Malvik eats grey eels.",
        "The mill of Ostra burnt in winter.",
    ]
    assert len(lines.sha256) == 64
    # A mark of the byte order and blank lines are no lines.
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode() + b"\r\n\n")
    assert [(line.number, line.input) for line in read(path).all] == [(1, LINES[0]["input"])]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "column 1: is not JSON"),
        ("[1]", "column 1: is not an object"),
        ("\udcff", "column 1: is not UTF-8"),
        (changed(model="x"), "model: is none of input, output"),
        (line_without("input"), "input: is missing"),
        (line_without("output"), "output: is missing"),
        (changed(output=3), "output: is no words"),
        (changed(output=None), "output: is no words"),
        (changed(input="\ud800"), "input: holds half of a surrogate pair"),
        (changed(input="A mill burnt."), "input: does not begin with <<fact_single>>"),
        (changed(input="<<plot>> A mill."), "input: begins with <<plot>>"),
        (changed(output="<<summary>> What burnt?"), "output: has 0 times <a>"),
        (changed(output="<<reasoning>> Why? <a> So."), "output: is of the type reasoning"),
        (GOOD, "output: is that of line 1, and so is the input"),
    ],
)
def test_broken_line_is_named_and_nothing_is_made(line, message, tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_bytes(f"{GOOD}\n{line}\n".encode(errors="surrogateescape"))
    with pytest.raises(CommandError) as refused:
        call_command("finetune", str(path), model="any", out=tmp_path / "out")
    assert str(refused.value).startswith(f"lines.jsonl, line 2, {message}")
    assert not (tmp_path / "out").exists()


def test_of_many_problems_the_first_are_told(tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_text("{\n" * 12)
    with pytest.raises(TuningError) as refused:
        read(path)
    assert str(refused.value).count("is not JSON") == 10
    assert str(refused.value).endswith("And 2 more.")


def test_file_without_lines_and_one_that_is_not_there(tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_text("\n")
    for file, message in ((path, "lines.jsonl has no lines."), (tmp_path / "none", "No such file")):
        with pytest.raises(CommandError, match=message):
            call_command("finetune", str(file), model="any", out=tmp_path / "out")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("rank", 0, "rank is 0: it is 1 at least"),
        ("max_output", -1, "max_output is -1"),
        ("learning_rate", 0.0, "learning_rate is 0.0: it is above 0, up to 1"),
        ("learning_rate", float("nan"), "learning_rate is nan"),
        ("held_out", 1.0, "held_out is 1.0: it is a share from 0 to below 1"),
        ("seed", -1, "seed is -1"),
        ("checkpoint_every", 0, "checkpoint_every is 1 at least"),
    ],
)
def test_options_with_which_nothing_can_be_trained(option, value, message, tmp_path):
    path = as_file(tmp_path, LINES)
    with pytest.raises(CommandError) as refused:
        call_command("finetune", str(path), model="any", out=tmp_path / "out", **{option: value})
    assert str(refused.value).startswith(message)


def test_context_is_on_one_side_of_the_split(tmp_path):
    lines = read(as_file(tmp_path, many_lines(10))).all
    train, test = split_lines(lines, 0.2, seed=1)
    assert (len(train), len(test)) == (24, 6)
    assert not {line.context for line in train} & {line.context for line in test}
    # Who is held out is not a matter of the order, but of the seed.
    reversed_test = split_lines(lines[::-1], 0.2, seed=1)[1]
    assert {line.context for line in reversed_test} == {line.context for line in test}
    other_tests = [
        {line.context for line in split_lines(lines, 0.2, seed)[1]} for seed in range(2, 6)
    ]
    assert any(contexts != {line.context for line in test} for contexts in other_tests)


def test_share_is_at_least_one_context_and_leaves_one(tmp_path):
    lines = read(as_file(tmp_path, many_lines(3))).all
    sizes = [len(split_lines(lines, share, 0)[1]) // 3 for share in (0.0, 0.01, 0.5, 0.99)]
    assert sizes == [0, 1, 2, 2]
    assert split_lines(lines[:3], 0.5, 0) == (list(lines[:3]), [])


def many_lines(n):
    """Three lines of each of `n` contexts."""
    return [
        {name: text.replace("Malvik", f"Malvik {number}") for name, text in line.items()}
        for number in range(n)
        for line in LINES[:3]
    ]


def test_differences_of_two_recipes_are_listed():
    stored = {"options": Options().as_json(), "device": "cpu", "marks": {"<a>": "x"}}
    requested = {"options": Options(rank=16).as_json(), "device": "cpu", "marks": {}}
    assert differences(stored, requested) == [
        "marks.<a>: x there, None asked for",
        "options.alpha: 16 there, 32 asked for",
        "options.rank: 8 there, 16 asked for",
    ]
