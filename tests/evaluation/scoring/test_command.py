"""manage.py score, on the small study and on the real one."""

import json
from functools import partial
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from evaluation.scoring.score import as_json, score
from tests.evaluation.scoring.choosing import choose
from tests.toolbox.real_study import FOLDER
from tests.toolbox.scoring_study import make_reference, make_study

near = partial(pytest.approx, abs=1e-4)


def output(*arguments: str) -> str:
    out = StringIO()
    call_command("score", *arguments, stdout=out)
    return out.getvalue()


def as_object(*arguments: str) -> dict | list:
    return json.loads(output(*arguments, "--json"))


@pytest.fixture
def study(db):
    return make_study()


def test_single_run_is_printed(study):
    # The numbers are worked out in tests/evaluation/scoring/test_score.py.
    run = as_object("ferry", "--run", "dense", "--judge", "judge")
    # Z* has three passages, dense two: beyond its end the ideal goes on, and gains at rank 3.
    assert run["topics"]["ferry-1"]["alpha_ndcg"] == near((1 + 0.6309) / (1 + 0.6309 + 0.5))
    assert run["topics"]["ferry-1"]["ndcg"] == near(0.6309 / (1 + 0.6309 + 0.5))
    run = as_object("ferry", "--run", "dense", "--judge", "judge", "--cutoff", "size")
    assert (run["run"], run["judge"], run["eta"]) == ("dense", "judge", 3)
    assert (run["kind"], run["cutoff"], run["ideal"]) == ("run", "size", "standard")
    assert (run["rules"], run["tokenizer"]) == ("paper", "whitespace words")
    assert list(run["topics"]) == ["ferry-1", "ferry-2"]
    topic = run["topics"]["ferry-1"]
    assert topic.pop("ndcg") == near(0.3869)
    assert topic == {
        "n_passages": 2,
        "n_answerable": 3,
        "n_covered": 2,
        "n_unrated": 0,
        "n_unrated_cells": 0,
        "n_without_words": 0,
        "coverage": pytest.approx(2 / 3),
        "alpha_ndcg": pytest.approx(1),
        "alpha_ndcg_ndeval": near(0.3869),
        "density": None,
        "recall": 0.25,
        "average_precision": 0.125,
        "tokens": 14,
        "required_tokens": None,
        "required_subset": ["ferry-1:0#0", "ferry-1:0#1", "ferry-1:10#10"],
        "reasons": {
            "density": "undefined, because words of the required subset are not there",
        },
    }
    assert run["topics"]["ferry-2"]["coverage"] is None
    assert "no answerable" in run["topics"]["ferry-2"]["reasons"]["coverage"]
    assert run["mean"]["coverage"] == {
        "value": pytest.approx(2 / 3),
        "n": 1,
        "missing": 1,
        "ci95": None,
        "reason": "no interval, because there are fewer than two topics",
    }
    assert run["mean"]["recall"]["ci95"] == [0, 1]  # of two topics: all that a recall can be
    assert run["mean"]["density"]["value"] is None
    assert run["mean"]["density"]["reason"]


def test_options(study):
    run = as_object(
        *("ferry", "--run", "dense", "--judge", "judge", "--rules", "authors"),
        *("--eta", "4", "--cutoff", "1", "--ideal", "paper_eq4"),
    )
    assert [run[key] for key in ("rules", "eta", "cutoff", "ideal")] == [
        "authors",
        4,
        1,
        "paper_eq4",
    ]
    # The first passage is of no topic: rated 0 throughout.
    topic = run["topics"]["ferry-1"]
    assert (topic["n_passages"], topic["coverage"], topic["alpha_ndcg"]) == (1, 0, 0)


def test_all(study):
    make_reference(study)
    runs = as_object("ferry", "--all", "--judge", "people:judge")
    assert [run["run"] for run in runs] == [
        "reports/annotated.oracle",
        "bounds/references",
        "bounds/required-subset",
        "annotated.bm25",
        "dense",
        "reports/annotated.bm25",
    ]
    assert {run["judge"] for run in runs} == {"people:judge"}
    # Scored with the same words by the functions that the pages call.
    scores = score(study.dataset, choose(study.dataset, source="people:judge"))
    assert json.loads(json.dumps([as_json(scores, row) for row in scores.rows])) == runs


def test_table_for_people(study):
    printed = output("ferry", "--run", "annotated.bm25", "--judge", "judge")
    assert "ferry: grades of judge, eta 3, runs as long as Z* (cut-off oracle)" in printed
    printed = output("ferry", "--run", "annotated.bm25", "--judge", "judge", "--cutoff", "size")
    assert "ferry: grades of judge, eta 3, all of each context" in printed
    assert "rules of the paper, alpha-nDCG standard; density in whitespace words" in printed
    assert "2 of 3 questions covered by 4 texts, unknown tokens; 3 cells unrated" in printed
    assert "undefined, because the words of 1 of its 4 texts are not there" in printed
    assert "alpha-nDCG without gains of other topics' passages, as ndeval: 0." in printed
    printed_all = output("ferry", "--all", "--judge", "judge", "--cutoff", "10")
    assert "cut-off 10" in printed_all
    assert "coverage: 1 topic without a value" in printed_all
    assert "95%, from" in printed_all
    # dense ranks 2 and 1 passages, annotated.bm25 4 of one topic.
    lines = {line.split()[0]: line for line in printed_all.splitlines() if line and line[0] != " "}
    assert (lines["dense"].split()[-1], lines["annotated.bm25"].split()[-1]) == ("1.5", "4.0")
    assert (
        "|Z| differs on 1 of 1 topics. On these topics its mean is 2 for dense and 4 for annotated.bm25"
        in printed_all
    )
    assert "Choose --cutoff." in printed_all
    assert "Reference bound #2, oracle result, is left out" in printed_all


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "--all", "--judge=judge"], "no dataset “nowhere”. There are: ferry"),
        (["ferry", "--run=eve", "--judge=judge"], "“eve”. There are: reports/annotated.oracle, b"),
        (["ferry", "--all", "--judge=eve"], "“eve”. There are: judge, strict, ann, ben, cay, maj"),
        (["ferry", "--all", "--judge=judge", "--eta=6"], "There are: 1, 2, 3, 4, 5"),
        (["ferry", "--all", "--judge=judge", "--eta=x"], "There are: 1, 2, 3, 4, 5"),
        (["ferry", "--all", "--judge=judge", "--cutoff=0"], "There are: size, oracle, 10, 20"),
        (["ferry", "--all", "--judge=judge", "--ideal=x"], "There are: standard, paper_eq4"),
        (["ferry", "--all", "--judge=judge", "--rules=x"], "There are: paper, authors"),
        (["ferry", "--all", "--judge=judge", "--tokenizer=x"], "There are: words, or a JSON"),
        (["ferry", "--judge=judge"], "one of the arguments --run --all is required"),
        (["ferry", "--all", "--run=dense", "--judge=judge"], "not allowed with"),
    ],
)
def test_unknown_choice_is_refused_with_the_choices(study, arguments, message):
    with pytest.raises(CommandError) as caught:
        output(*arguments)
    assert message in str(caught.value)


def test_real_study_gives_the_expected_values(real_study, django_assert_max_num_queries):
    expected = json.loads((FOLDER / "expected_values.json").read_text())["expected"]
    references = expected["reference_summary_coverage_crux_prejudge"]
    n = 0
    # Only the first-stage runs are longer than 10 passages: they stand in the file as @10.
    arguments = ("crux-duc04", "--all", "--cutoff=10", "--rules=authors")
    for judge in ("llama33_70b", "crux_prejudge"):
        values = expected[f"retrieval_{judge}"]
        for eta in (3, 5):
            rows = {r["run"]: r for r in as_object(*arguments, f"--judge={judge}", f"--eta={eta}")}
            for name in values["per_topic"]:
                n += _check_run(rows[name.removesuffix("@10")], values, name, eta)
            if judge == "crux_prejudge":
                _check_references(rows["bounds/references"], references[f"eta{eta}"])
    assert n == 2 * (6 * 30 + 6 + 18)
    options = choose(real_study, source="llama33_70b", rules="authors")
    with django_assert_max_num_queries(11):
        score(real_study, options)


def _check_run(run: dict, values: dict, name: str, eta: int) -> int:
    """Check one run at one eta; return the number of topics."""
    names = {
        "n_passages": "n_passages",
        "n_answerable": "n_answerable",
        "n_covered": "n_covered",
        "n_unrated": "n_unrated_same_topic",
        "n_without_words": "n_missing_text",
        "coverage": "cov",
        "alpha_ndcg": "alpha_ndcg",
        "density": "den",
        "tokens": "tokens",
        "required_tokens": "tokens_oracle",
    }
    topics = {topic: by_eta[f"eta{eta}"] for topic, by_eta in values["per_topic"][name].items()}
    for topic, expected in topics.items():
        ours = run["topics"][topic]
        assert {key: ours[key] for key in names} == near(
            {key: expected[theirs] for key, theirs in names.items()}
        ), (name, topic, eta)
        assert len(ours["required_subset"]) == expected["n_oracle"]
        if "required_subset" in values:
            assert ours["required_subset"] == values["required_subset"][f"eta{eta}"][topic]
    mean, theirs = run["mean"], values["mean"][f"{name}|eta{eta}"]
    assert [mean[key]["value"] for key in ("coverage", "density", "alpha_ndcg")] == near(
        [theirs["mean_cov"], theirs["mean_den"], theirs["mean_alpha_ndcg"]]
    )
    assert mean["coverage"]["n"] == theirs["n_defined"]
    unrated = sum(run["topics"][topic]["n_unrated"] for topic in topics)
    assert unrated == theirs["n_unrated_same_topic"]
    return len(topics)


def _check_references(references: dict, values: dict) -> None:
    assert len(values) == 18
    for topic, expected in values.items():
        ours = references["topics"][topic]
        assert [ours["coverage"], ours["n_covered"], ours["n_answerable"]] == near(
            [expected["cov"], expected["n_covered"], expected["n_answerable"]]
        ), topic
