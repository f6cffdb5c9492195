r"""Methods section of a paper in LaTeX, which cites entries of refs.bib."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from annotation.decimals import decimals
from annotation.plurals import n_of
from crux_site.calibration.page import GRADE, PROBABILITY
from crux_site.paper_supplement.facts import (
    JudgeFacts,
    JudgeTest,
    MethodsFacts,
    ModelFacts,
    PeopleFacts,
    RepeatFacts,
    RubricFacts,
)
from evaluation.certificates.methods import SOURCE
from evaluation.data.sources import Source
from evaluation.latex import signed
from evaluation.latex_text import code_points, escape
from evaluation.retrieval.query import AMONG
from evaluation.scoring.options import ALL, OF_RUNS, ORACLE, Options
from evaluation.scoring.rules import AUTHORS
from evaluation.stats.estimate import Estimate
from evaluation.stats.randomisation import FLIPS_EXACT_UP_TO


def methods_section(facts: MethodsFacts) -> tuple[str, frozenset[str]]:
    """Return two paragraphs of LaTeX, on data and numbers, and the keys that they cite."""
    section = _Section()
    data = "\n".join(section.data_sentences(facts))
    numbers = "\n".join(section.number_sentences(facts))
    comments = code_points(data + numbers)
    return "\n".join([*comments, data, "", numbers, ""]), frozenset(section.cited)


class _Section:
    """Sentences of a methods section; `cited` collects the keys of their sources."""

    def __init__(self) -> None:
        self.cited: set[str] = set()

    def cite(self, *keys: str) -> str:
        self.cited.update(keys)
        return f"~\\cite{{{','.join(keys)}}}"

    def data_sentences(self, facts: MethodsFacts) -> Iterator[str]:
        counts = [n_of(n, noun, ",") for n, noun in facts.counts]
        contents = f" has {_listed(counts)}" if counts else " is empty"
        yield f"The dataset {_quoted(facts.slug)}{contents}."
        if facts.rubrics:
            noun = "the rubric" if len(facts.rubrics) == 1 else "the rubrics"
            yield f"Grades are given under {noun} {_listed(map(_rubric, facts.rubrics))}."
        for people in facts.people:
            yield from self._people(people)
        has_interval = any(
            estimate is not None and estimate.low is not None
            for people in facts.people
            for estimate in _estimates(people)
        ) or any(test.kappa.low is not None for judge in facts.judges for test in judge.tests)
        for judge in facts.judges:
            yield from self._judge(judge)
        if has_interval:
            yield (
                "Intervals of agreement are 95\\% intervals by the delete-one jackknife over topics "
                f"with Student's $t${self.cite('efron1993')}, cut at the range of the statistic."
            )

    def number_sentences(self, facts: MethodsFacts) -> Iterator[str]:
        if facts.has_runs or facts.has_reports:
            yield from self._scores(facts)
        yield from self._tests(facts)
        for model in facts.models:
            yield from self._model(model)
        yield from self._calibration(facts)
        yield (
            f"All numbers are computed with the CRUX workbench, version {escape(facts.version)}; the "
            f"SHA-256 hash of the data begins with \\texttt{{{facts.data_hash[:12]}}}."
        )

    def _people(self, people: PeopleFacts) -> Iterator[str]:
        persons = "1 person" if people.n_people == 1 else f"{people.n_people:,} people"
        pairs = f"{n_of(people.n_pairs, 'pair', ',')} of a text and a sub-question"
        missing = ""
        if people.n_people > 1:
            n_missing = f"{people.n_missing:,}" if people.n_missing else "none"
            verb = "are" if people.n_missing > 1 else "is"
            missing = f"; {n_missing} of the {people.n_possible:,} possible ratings {verb} missing"
        yield f"Under {_quoted(people.rubric)}, {persons} rated {pairs}{missing}."
        if people.n_adjudicators:
            adjudicators = n_of(people.n_adjudicators, "adjudicator")
            verb = "is" if people.n_adjudicators == 1 else "are"
            yield f"In addition, {adjudicators} decided in sight of other grades and {verb} not counted."
        if people.n_exposed:
            verb = "is" if people.n_exposed == 1 else "are"
            yield (
                f"{n_of(people.n_exposed, 'grade', ',')} given in sight of grades or decisions of others "
                f"{verb} left out."
            )
        if people.kappa is None or people.alpha is None or people.ac1 is None:
            yield "With one person there is no agreement of people to report."
        else:
            yield _sentence(
                f"Fleiss' $\\kappa${self.cite('fleiss1971')} {_value(people.kappa)}",
                f"Krippendorff's $\\alpha$ ({self._metric(people)}){self.cite('krippendorff2019')} "
                f"{_value(people.alpha)}",
                *(
                    [f"Gwet's AC1{self.cite('gwet2008')} {_value(people.ac1)}"]
                    if people.alpha_metric != "masi"
                    else []
                ),
            )
        if people.repeats:
            yield self._repeats(people.repeats)

    def _repeats(self, repeats: RepeatFacts) -> str:
        persons = "1 person" if repeats.n_people == 1 else f"{repeats.n_people:,} people"
        weighted, source = "", "cohen1960"
        if repeats.is_weighted:
            weighted, source = " with quadratic weights", "cohen1968"
        return _sentence(
            f"To measure the agreement of raters with themselves, {persons} graded "
            f"{n_of(repeats.n_pairs, 'pair', ',')} a second time",
            f"the share of equal grades {_value(repeats.equal)}",
            f"Cohen's $\\kappa${weighted}{self.cite(source)} {_value(repeats.kappa)}",
        )

    def _metric(self, people: PeopleFacts) -> str:
        if people.alpha_metric != "masi":
            return people.alpha_metric
        return f"distance of sets: MASI{self.cite('passonneau2006')}"

    def _judge(self, judge: JudgeFacts) -> Iterator[str]:
        noun = "baseline" if judge.is_baseline else "judge"
        graded = (f"{n_of(n, 'pair', ',')} under {_quoted(rubric)}" for rubric, n in judge.graded)
        yield f"The {noun} {_quoted(judge.name)}{_settings(judge)} graded {_listed(graded)}."
        for test in judge.tests:
            yield self._judge_test(test)
        for rubric, state, sentences in judge.certificates:
            yield f"Certificate under {_quoted(rubric)}: {escape(state)}."
            if sentences:
                yield escape(sentences).replace(f" {SOURCE}", self.cite("calderon2025"))
        if not judge.tests:
            yield (
                f"No person rated a pair that {_quoted(judge.name)} graded: the {noun} is not tested "
                "against people."
            )

    def _judge_test(self, test: JudgeTest) -> str:
        weighted = ""
        source = "cohen1960"
        if test.weights == "quadratic":
            weighted, source = " with quadratic weights", "cohen1968"
        elif test.weights == "binary":
            weighted = " of answerable or not"
        eta = f", with $\\eta = {test.eta}$" if test.eta is not None else ""
        answers = "equal grades" if not test.weights else "equal answers (answerable or not)"
        return _sentence(
            f"Against {n_of(test.n, 'rating', ',')} by people of the same pairs under "
            f"{_quoted(test.rubric)}{eta}, its Cohen's $\\kappa${weighted}{self.cite(source)} "
            f"{_value(test.kappa)}",
            f"the share of {answers} {_value(test.accuracy)}",
        )

    def _scores(self, facts: MethodsFacts) -> Iterator[str]:
        options = facts.options
        yield (
            f"Scores are computed from the grades of {_source(options.source)}; in the graded rubric, "
            f"grades from $\\eta = {options.eta}$ on count as answerable."
        )
        rules = (
            "by the rules of its authors' code"
            if options.rules == AUTHORS
            else "by its definitions"
        )
        yield f"Coverage and density are those of CRUX{self.cite('ju2025')}, {rules}."
        if facts.has_runs:
            ideal = (
                "the greedy ideal ranking of all graded passages, as in ndeval"
                if options.ideal == "standard"
                else "the gain of the required subset, as in equation 4 of CRUX"
            )
            yield (
                f"$\\alpha$-nDCG{self.cite('clarke2008')} has $\\alpha = {options.alpha:g}$ and is "
                f"divided by {ideal}."
            )
            yield _depth(options)
        if options.questions:
            yield f"Only the sub-questions that are {escape(options.questions.title)} count."
        yield {
            OF_RUNS: "A topic with something to find counts as 0 for a retrieval run without results.",
            ALL: "A topic with something to find counts as 0 for a system without results.",
        }.get(options.zeros, "A topic is left out of the mean of a system without results for it.")
        yield f"Densities count tokens as {escape(options.tokenizer.name)}."
        if facts.has_rank_correlations:
            yield f"Rank correlations are Kendall's $\\tau_b${self.cite('kendall1945')}."

    def _tests(self, facts: MethodsFacts) -> Iterator[str]:
        if not facts.tests:
            return
        groups = (
            f"{n_of(test.n_pairs, 'pair', ',')} of {test.n_systems:,} {AMONG[test.group]}"
            for test in facts.tests
        )
        yield (
            "Differences of means over topics are tested by two-sided sign-flip permutation tests"
            f"{self.cite('smucker2007')}, for {_listed(groups)}, on the same topics."
        )
        sampled = next((test.sampled for test in facts.tests if test.sampled), None)
        if sampled:
            n, seed = sampled
            flips = f"{n:,} random sign flips and the observed one (seed {seed}){self.cite('phipson2010')}"
            if any(test.is_exact for test in facts.tests):
                yield (
                    f"$p$ is exact where at most {FLIPS_EXACT_UP_TO} topics have a difference, and "
                    f"otherwise from {flips}."
                )
            else:
                yield f"$p$ is from {flips}."
        else:
            yield "$p$ is exact, over all sign flips."
        if any(test.n_pairs > 1 for test in facts.tests):
            yield (
                "For each metric, $p$ is corrected by the method of Holm"
                f"{self.cite('holm1979')} for its number of pairs."
            )

    def _model(self, model: ModelFacts) -> Iterator[str]:
        plural = "random effects" if len(model.random) > 1 else "a random effect"
        random = f"{_listed(model.random)} as {plural}" if model.random else "no random effect"
        n_others = model.n_systems - 1
        yield (
            f"A linear mixed model of the {escape(model.outcome)} under {_quoted(model.rubric)}, with the "
            f"system as a fixed effect and {random}{self.cite('barr2013')}, is fitted by REML and compares "
            f"{n_of(n_others, 'system')} with {_quoted(model.base)} by $t$ tests with as many degrees of "
            f"freedom as topics less one"
            + (
                f", corrected by the method of Holm{self.cite('holm1979')}."
                if n_others > 1
                else "."
            )
        )
        yield (
            "Equivalence is tested by two one-sided tests of the means on each topic"
            f"{self.cite('schuirmann1987')} with a margin of {model.margin:g}."
        )

    def _calibration(self, facts: MethodsFacts) -> Iterator[str]:
        if PROBABILITY in facts.calibrations:
            yield (
                "The calibration of a judge is the expected calibration error"
                f"{self.cite('naeini2015')} of its probabilities in ten bins, plain and debiased"
                f"{self.cite('kumar2019')}, and the Brier score{self.cite('brier1950')}."
            )
        if GRADE in facts.calibrations:
            yield (
                "The calibration of a judge's expected grades is the mean difference from people's "
                "grades in bins of the nearest grade, and the mean squared error."
            )


def _estimates(people: PeopleFacts) -> list[Estimate | None]:
    """Return all estimates of agreement; None where only one person rated."""
    estimates = [people.kappa, people.alpha, people.ac1]
    return [*estimates, *([people.repeats.equal, people.repeats.kappa] if people.repeats else ())]


def _rubric(rubric: RubricFacts) -> str:
    levels = [f"{grade} {_quoted(label)}" for grade, label in rubric.levels]
    sums = "; a grade is the sum of its labels, 0 for none" if rubric.is_multi_label else ""
    return f"{_quoted(rubric.title)} ({_listed(levels)}{sums})"


def _settings(judge: JudgeFacts) -> str:
    """Return the stored settings of a judge in brackets."""
    if not judge.model:
        if judge.is_baseline:
            return ""
        return ", whose model, prompt and temperature are not stored,"
    if judge.is_lexical:
        return f" ({escape(judge.model)}; fingerprint \\texttt{{{judge.fingerprint}}})"
    prompt = f"prompt {_quoted(judge.prompt)}" if judge.prompt else "a prompt without a stored name"
    temperature = (
        "the server's temperature"
        if judge.temperature is None
        else f"temperature {judge.temperature:g}"
    )
    return (
        f" (model {_quoted(judge.model)}, {prompt}, fingerprint of model, prompt and settings "
        f"\\texttt{{{judge.fingerprint}}}, {temperature})"
    )


def _source(source: Source) -> str:
    people = "1 person" if len(source.people) == 1 else f"{len(source.people)} people"
    if source.rater is None:
        return f"the majority of {people}"
    nouns = {"human": "the person", "model": "the judge", "baseline": "the baseline"}
    rater = f"{nouns.get(source.rater.kind, 'the aggregate')} {_quoted(source.rater.name)}"
    if not source.people:
        return rater
    majority = "1 person" if len(source.people) == 1 else f"the majority of {people}"
    return f"{majority} and, where that gives no grade, of {rater}"


def _depth(options: Options) -> str:
    if options.cutoff is None:
        return "All passages of a retrieval run count."
    if options.cutoff == ORACLE:
        return (
            "As many passages of a retrieval run count as the topic's required subset has, and all on a "
            "topic without one."
        )
    if options.cutoff == 1:
        return "The first passage of a retrieval run counts."
    return f"The first {options.cutoff} passages of a retrieval run count."


def _value(estimate: Estimate) -> str:
    """Return a verb and a value with its interval, or the reason why there is none."""
    if estimate.value is None:
        reason = (estimate.reason or "").removeprefix("undefined, because ")
        return f"is undefined, because {escape(reason.rstrip('.'))}"
    number = signed(decimals(estimate.value))
    if estimate.low is None or estimate.high is None:
        reason = f" ({escape(estimate.interval_reason)})" if estimate.interval_reason else ""
        return f"is {number}{reason}"
    low, high = signed(decimals(estimate.low)), signed(decimals(estimate.high))
    return f"is {number} (95\\% interval {low} to {high})"


def _sentence(*clauses: str) -> str:
    return f"{'; '.join(clauses)}."


def _quoted(name: str) -> str:
    return f"``{escape(name)}''"


def _listed(items: Iterable[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last
