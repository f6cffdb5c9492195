"""Sentences of a methods section for one and for many, and for undefined values."""

import re
from dataclasses import replace

import pytest

from crux_site.paper_supplement.facts import (
    ComparisonFacts,
    JudgeFacts,
    JudgeTest,
    MethodsFacts,
    ModelFacts,
    PeopleFacts,
    RepeatFacts,
    RubricFacts,
)
from crux_site.paper_supplement.methods import methods_section
from crux_site.paper_supplement.references import ENTRIES, bibliography
from evaluation.data.columns import JUDGE, Column
from evaluation.data.sources import Source
from evaluation.scoring.options import Options
from evaluation.scoring.rules import AUTHORS
from evaluation.stats.estimate import Estimate

T1, T2 = "T1, answerable or not", "T2, grades 0 to 5"
KAPPA = Estimate(0.594, None, 261, low=0.437, high=0.751)
RATER = Column(1, "llama_70b", "model", JUDGE)
PERSON = Column(2, "ann", "human", 0)
SCORE = JudgeTest(T2, 112, 3, "quadratic", KAPPA, Estimate(0.64, None, 112))
EMPTY = MethodsFacts(
    slug="mill",
    counts=(),
    rubrics=(),
    people=(),
    judges=(),
    options=Options(Source("llama_70b", "rater", RATER)),
    has_runs=False,
    has_reports=False,
    has_rank_correlations=False,
    tests=(),
    models=(),
    calibrations=(),
    version="1.2.3",
    data_hash="0123456789abcdef",
)


def section(**facts) -> str:
    text, cited = methods_section(replace(EMPTY, **facts))
    keys = {key for keys in re.findall(r"\\cite\{([^}]*)\}", text) for key in keys.split(",")}
    assert keys == cited
    assert cited <= ENTRIES.keys()
    return " ".join(text.split())


def people(**facts) -> PeopleFacts:
    agreement = {"kappa": KAPPA, "alpha": KAPPA, "alpha_metric": "nominal", "ac1": KAPPA}
    return PeopleFacts(
        **{"rubric": T1, "n_people": 3, "n_adjudicators": 0, "n_pairs": 261}
        | {"n_missing": 0, "n_possible": 783}
        | agreement
        | facts
    )


def test_dataset_without_anything_has_a_sentence():
    assert section() == (
        "The dataset ``mill'' is empty. All numbers are computed with the CRUX workbench, version 1.2.3; "
        r"the SHA-256 hash of the data begins with \texttt{0123456789ab}."
    )


@pytest.mark.parametrize(
    ("counts", "contents"),
    [
        ([(1, "topic")], "has 1 topic."),
        ([(1, "topic"), (2000, "passage")], "has 1 topic and 2,000 passages."),
        (
            [(2, "topic"), (1, "report"), (3, "retrieval run")],
            "has 2 topics, 1 report and 3 retrieval runs.",
        ),
    ],
)
def test_contents_are_counted(counts, contents):
    assert f"The dataset ``mill'' {contents}" in section(counts=counts)


def test_rubrics_have_their_levels():
    rubric = RubricFacts("50%", [(0, "no"), (1, "yes")])
    assert r"under the rubric ``50\%'' (0 ``no'' and 1 ``yes'')." in section(rubrics=[rubric])
    both = section(rubrics=[rubric, RubricFacts("B", [(0, "a"), (1, "b"), (2, "c")])])
    assert "under the rubrics ``50" in both
    assert "and ``B'' (0 ``a'', 1 ``b'' and 2 ``c'')." in both


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({}, "3 people rated 261 pairs of a text and a sub-question; none of the 783 possible ratings is"),
        ({"n_missing": 1}, "; 1 of the 783 possible ratings is missing."),
        ({"n_missing": 12}, "; 12 of the 783 possible ratings are missing."),
        ({"n_people": 1, "n_pairs": 1, "kappa": None}, "1 person rated 1 pair of a text and a sub-question."),
        ({"n_people": 1, "kappa": None}, "With one person there is no agreement of people to report."),
        ({"n_adjudicators": 1}, "1 adjudicator decided in sight of other grades and is not counted."),
        ({"n_exposed": 1}, "1 grade given in sight of grades or decisions of others is left out."),
        ({"n_exposed": 4}, "4 grades given in sight of grades or decisions of others are left out."),
        ({"n_adjudicators": 2}, "2 adjudicators decided in sight of other grades and are not counted."),
        ({}, r"Fleiss' $\kappa$~\cite{fleiss1971} is 0.59 (95\% interval 0.44 to 0.75); "),
        (
            {"kappa": Estimate(None, "undefined, because all ratings are in one category", 3)},
            r"Fleiss' $\kappa$~\cite{fleiss1971} is undefined, because all ratings are in one category; ",
        ),
        (
            {"ac1": Estimate(-0.5, None, 3, interval_reason="no interval, because there is one topic")},
            r"AC1~\cite{gwet2008} is $-$0.50 (no interval, because there is one topic).",
        ),
    ],
)  # fmt: skip
def test_people_and_their_agreement(facts, sentence):
    assert sentence in section(people=[people(**facts)])


NO_VALUE = Estimate(None, "undefined, because fewer than 5 pairs were graded twice", 3)
REPEATS = RepeatFacts(4, 1240, is_weighted=False, equal=KAPPA, kappa=NO_VALUE)


@pytest.mark.parametrize(
    ("repeats", "sentence"),
    [
        (
            REPEATS,
            "To measure the agreement of raters with themselves, 4 people graded 1,240 pairs a second time; "
            r"the share of equal grades is 0.59 (95\% interval 0.44 to 0.75); "
            r"Cohen's $\kappa$~\cite{cohen1960} is undefined, because fewer than 5 pairs were graded twice.",
        ),
        (
            replace(REPEATS, n_people=1, n_pairs=1, is_weighted=True),
            "1 person graded 1 pair a second time; ",
        ),
        (
            replace(REPEATS, is_weighted=True, kappa=KAPPA),
            r"Cohen's $\kappa$ with quadratic weights~\cite{cohen1968} is 0.59 (95\% interval",
        ),
    ],
)
def test_agreement_of_raters_with_themselves(repeats, sentence):
    assert sentence in section(people=[people(repeats=repeats)])
    one_person = people(n_people=1, kappa=None, alpha=None, ac1=None, repeats=repeats)
    text = section(people=[one_person])
    assert sentence in text
    assert "jackknife over topics" in text
    assert "themselves" not in section(people=[people()])


def test_intervals_are_explained_if_there_are_any():
    assert "jackknife over topics" in section(people=[people()])
    no_interval = Estimate(0.5, None, 3)
    text = section(people=[people(kappa=no_interval, alpha=no_interval, ac1=no_interval)])
    assert "jackknife" not in text
    assert "cite{efron1993}" not in text


def test_judge_has_its_stored_settings():
    judge = JudgeFacts(
        "llama_70b",
        is_baseline=False,
        graded=[(T2, 1234), (T1, 1)],
        tests=[SCORE],
        model="meta-llama/Llama_3",
        prompt="question-first",
        fingerprint="12ab34cd",
        temperature=0.0,
    )
    text = section(judges=[judge])
    assert (
        r"The judge ``llama\_70b'' (model ``meta-llama/Llama\_3'', prompt ``question-first'', fingerprint of "
        r"model, prompt and settings \texttt{12ab34cd}, temperature 0) graded 1,234 pairs under "
        "``T2, grades 0 to 5'' and 1 pair under ``T1, answerable or not''."
    ) in text
    assert (
        r"Against 112 ratings by people of the same pairs under ``T2, grades 0 to 5'', with $\eta = 3$, its "
        r"Cohen's $\kappa$ with quadratic weights~\cite{cohen1968} is 0.59 (95\% interval 0.44 to 0.75); the "
        "share of equal answers (answerable or not) is 0.64."
    ) in text
    assert "not tested" not in text
    assert "the server's temperature" in section(judges=[replace(judge, temperature=None)])
    assert "a prompt without a stored name" in section(judges=[replace(judge, prompt="")])


def test_judge_without_pairs_of_people_is_not_tested():
    judge = JudgeFacts("llama_70b", is_baseline=False, graded=[(T2, 1)])
    text = section(judges=[judge])
    assert (
        "``llama\\_70b'', whose model, prompt and temperature are not stored, graded 1 pair" in text
    )
    assert (
        "No person rated a pair that ``llama\\_70b'' graded: the judge is not tested against"
        in text
    )


def test_baseline_is_called_one():
    baseline = JudgeFacts(
        "lexical",
        is_baseline=True,
        graded=[(T2, 5)],
        tests=[replace(SCORE, n=1, eta=None, weights="")],
    )
    text = section(judges=[baseline])
    assert "The baseline ``lexical'' graded 5 pairs" in text
    assert (
        "Against 1 rating by people of the same pairs under ``T2, grades 0 to 5'', its Cohen's"
        in text
    )
    assert "the share of equal grades is 0.64" in text
    fitted = replace(baseline, model="terms", fingerprint="12ab34cd", is_lexical=True)
    assert r"``lexical'' (terms; fingerprint \texttt{12ab34cd}) graded" in section(judges=[fitted])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, r"from the grades of the judge ``llama\_70b''; in the graded rubric, grades from $\eta = 3$ on"),
        ({"source": Source("m", "majority", None, (PERSON, PERSON))}, "the majority of 2 people;"),
        (
            {"source": Source("p", "people over", RATER, (PERSON, PERSON))},
            r"the majority of 2 people and, where that gives no grade, of the judge ``llama\_70b'';",
        ),
        ({"source": Source("ann", "rater", PERSON)}, "the person ``ann'';"),
        ({"cutoff": None}, "All passages of a retrieval run count."),
        ({"cutoff": 1}, "The first passage of a retrieval run counts."),
        ({"cutoff": 20}, "The first 20 passages of a retrieval run count."),
        ({"cutoff": "oracle"}, "As many passages of a retrieval run count as the topic's required subset has"),
        ({"ideal": "paper_eq4"}, "as in equation 4 of CRUX."),
        ({}, "as in ndeval."),
        ({"rules": AUTHORS}, "by the rules of its authors' code."),
        ({"zeros": "none"}, "A topic is left out of the mean of a system without results for it."),
        ({"zeros": "all"}, "A topic with something to find counts as 0 for a system without results."),
    ],
)  # fmt: skip
def test_scoring_options(options, sentence):
    assert sentence in section(options=replace(EMPTY.options, **options), has_runs=True)


def test_reports_alone_have_no_depth():
    text = section(has_reports=True)
    assert "Coverage and density" in text
    assert "nDCG" not in text
    assert "retrieval run count" not in text


def test_single_pair_needs_no_correction():
    text = section(tests=[ComparisonFacts("runs", 2, 1, True, None)])
    assert "for 1 pair of 2 retrieval runs, on the same topics." in text
    assert "$p$ is exact, over all sign flips." in text
    assert "Holm" not in text


def test_sampled_tests_name_their_number_and_seed():
    groups = [
        ComparisonFacts("runs", 5, 10, True, (9_999, 0)),
        ComparisonFacts("reports", 3, 3, False, None),
    ]
    text = section(tests=groups)
    assert "for 10 pairs of 5 retrieval runs and 3 pairs of 3 systems with reports" in text
    assert "and otherwise from 9,999 random sign flips and the observed one (seed 0)" in text
    assert r"by the method of Holm~\cite{holm1979} for its number of pairs." in text
    assert "$p$ is from 9,999 random" in section(
        tests=[ComparisonFacts("runs", 5, 10, False, (9_999, 0))]
    )


@pytest.mark.parametrize(
    ("n_systems", "random", "clauses"),
    [
        (2, ["the topic"], ["the topic as a random effect", "compares 1 system with", "less one."]),
        (
            3,
            ["the topic", "the rater"],
            ["the topic and the rater as random effects", "compares 2 systems with", "Holm"],
        ),
        (3, [], ["fixed effect and no random effect"]),
    ],
)
def test_mixed_model(n_systems, random, clauses):
    text = section(models=[ModelFacts(T1, "coverage", n_systems, "bm25", random, 0.05)])
    assert all(clause in text for clause in clauses)
    assert "with a margin of 0.05." in text


def test_calibration_has_a_sentence_for_each_curve():
    assert "Brier score" in section(calibrations=["probability"])
    assert "Brier" not in section(calibrations=["grade"])


def test_bibliography_has_the_cited_entries():
    text = bibliography({"holm1979", "ju2025"})
    assert re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE) == ["holm1979", "ju2025"]
    for key, entry in ENTRIES.items():
        assert re.match(rf"@\w+\{{{key},\n", entry)
        assert entry.count("{") == entry.count("}")
        assert {"author", "title", "year"} <= set(re.findall(r"^  (\w+) = ", entry, re.MULTILINE))
