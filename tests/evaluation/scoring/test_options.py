from argparse import ArgumentParser

import pytest

from evaluation.data.selection import SelectionError
from evaluation.scoring.options import ScoringQuery, add_options
from evaluation.scoring.rules import AUTHORS, PAPER
from evaluation.scoring.tokens import WHITESPACE_WORDS
from tests.evaluation.scoring.choosing import choose


def test_defaults(study):
    options = choose(study.dataset)
    assert (options.source.name, options.eta, options.cutoff) == ("judge", 3, "oracle")
    assert (options.ideal, options.rules, options.tokenizer) == (
        "standard",
        PAPER,
        WHITESPACE_WORDS,
    )
    assert list(options.params().values()) == [
        "judge",
        "3",
        "oracle",
        "standard",
        "paper",
        "all",
        "runs",
    ]
    assert choose(study.dataset, source="", eta="", cutoff="", ideal="", rules="") == options
    assert choose(study.dataset, rules="authors").cutoff is None
    assert choose(study.dataset, cutoff="size").cutoff is None


def test_chosen(study):
    options = choose(
        study.dataset,
        source="people:judge",
        eta="5",
        cutoff="20",
        ideal="paper_eq4",
        rules="authors",
    )
    assert (options.eta, options.cutoff, options.ideal, options.rules) == (
        5,
        20,
        "paper_eq4",
        AUTHORS,
    )
    assert choose(study.dataset, **options.params()) == options
    assert choose(study.dataset, cutoff="oracle").cutoff == "oracle"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"source": "eve"}, "There are: judge, strict"),
        ({"eta": "6"}, "There are: 1, 2, 3, 4, 5"),
        ({"eta": "0"}, "There are: 1, 2, 3, 4, 5"),
        ({"cutoff": "0"}, "There are: size, oracle, 10, 20, or another whole number"),
        ({"cutoff": "-1"}, "There are: size, oracle, 10, 20, or another whole number"),
        ({"cutoff": "9" * 5000}, "There are: size, oracle, 10, 20, or another whole number"),
        ({"cutoff": "all"}, "There are: size, oracle, 10, 20, or another whole number"),
        ({"cutoff": "9" * 30}, "There are: size, oracle, 10, 20, or another whole number"),
        ({"ideal": "best"}, "There are: standard, paper_eq4"),
        ({"rules": "ours"}, "There are: paper, authors"),
    ],
)
def test_unknown_choice_is_refused_with_the_choices(study, params, message):
    with pytest.raises(SelectionError, match=message):
        choose(study.dataset, **params)


def test_commands_have_them_by_the_same_names():
    parser = ArgumentParser()
    add_options(parser)
    assert set(vars(parser.parse_args([]))) == set(ScoringQuery.base_fields)
    assert parser.parse_args(["--judge", "ann"]) == parser.parse_args(["--source", "ann"])
