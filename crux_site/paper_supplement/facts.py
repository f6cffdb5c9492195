"""Facts of a methods section: data, people, judges, scores and tests."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Count

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text
from annotation.models.rating import raters_of
from annotation.models.rubric import grade_of_label
from annotation.program_version import program_versions
from crux_site.paper_supplement.selections import PairComparison, RatedRubric
from evaluation.agreement.judge import AgainstJudge
from evaluation.agreement.judges import judge_scores
from evaluation.certificates.methods import methods_sentences
from evaluation.certificates.page import judge_rows
from evaluation.data.repeats import RepeatedGrades
from evaluation.data.selection import Selection
from evaluation.matrix.rubric_matrix import used_rubrics
from evaluation.scoring.options import Options
from evaluation.stats.estimate import Estimate
from evaluation.stats.mixed_model import RATER, TEXT, TOPIC
from judging.models import Judge


@dataclass(frozen=True)
class RubricFacts:
    """Rubric with ratings: title, and its levels with their labels, ascending.

    Grades of a multi-label rubric are sums of those of its labels.
    """

    title: str
    levels: Sequence[tuple[int, str]]
    is_multi_label: bool = False


@dataclass(frozen=True)
class RepeatFacts:
    """Pairs that people graded twice, and their agreement with themselves."""

    n_people: int
    n_pairs: int
    is_weighted: bool
    equal: Estimate
    kappa: Estimate


@dataclass(frozen=True)
class PeopleFacts:
    """Ratings of people under a rubric, and their agreement; without it, if one person rated."""

    rubric: str
    n_people: int
    n_adjudicators: int
    n_pairs: int
    n_missing: int
    n_possible: int
    n_exposed: int = 0
    """Grades left out because the person had seen grades of others or decisions."""
    kappa: Estimate | None = None
    alpha: Estimate | None = None
    alpha_metric: str = ""
    ac1: Estimate | None = None
    repeats: RepeatFacts | None = None
    """None if nobody has graded a pair twice."""


@dataclass(frozen=True)
class JudgeTest:
    """Judge against the ratings of people under a rubric, `eta` None where it changes nothing."""

    rubric: str
    n: int
    eta: int | None
    weights: str
    """Weights of kappa: quadratic, binary (at eta) or none."""
    kappa: Estimate
    accuracy: Estimate


@dataclass(frozen=True)
class JudgeFacts:
    """Model or baseline, as it is stored; `graded` has its numbers of pairs by rubric.

    `model` is empty where it is not stored, `temperature` None where it is not sent.
    """

    name: str
    is_baseline: bool
    graded: Sequence[tuple[str, int]]
    tests: Sequence[JudgeTest] = ()
    model: str = ""
    prompt: str = ""
    fingerprint: str = ""
    temperature: float | None = None
    is_lexical: bool = False
    certificates: Sequence[tuple[str, str, str]] = ()
    """Of each rubric: title, state, and sentences of the test; the last are empty without one."""


@dataclass(frozen=True)
class ComparisonFacts:
    """Pairwise tests of one group of systems; `sampled` has the number of flips and the seed."""

    group: str
    n_systems: int
    n_pairs: int
    is_exact: bool
    sampled: tuple[int, int] | None


@dataclass(frozen=True)
class ModelFacts:
    """Mixed model of the systems under a rubric."""

    rubric: str
    outcome: str
    n_systems: int
    base: str
    random: Sequence[str]
    """Random effects whose variance was estimated."""
    margin: float


@dataclass(frozen=True)
class MethodsFacts:
    """All that a methods section states. `counts` has nouns in the singular."""

    slug: str
    counts: Sequence[tuple[int, str]]
    rubrics: Sequence[RubricFacts]
    people: Sequence[PeopleFacts]
    judges: Sequence[JudgeFacts]
    options: Options
    has_runs: bool
    has_reports: bool
    has_rank_correlations: bool
    tests: Sequence[ComparisonFacts]
    models: Sequence[ModelFacts]
    calibrations: Collection[str]
    """Curves of the calibration: by probability, by grade."""
    version: str
    data_hash: str


def gather_facts(
    dataset: Dataset,
    options: Options,
    rubrics: Sequence[RatedRubric],
    comparisons: Collection[PairComparison],
    names: Collection[str],
    data_hash: str,
) -> MethodsFacts:
    """Return the facts of a dataset. `names` are those of all other files."""
    texts = dict(dataset.texts.order_by().values_list("kind").annotate(n=Count("pk")))
    n_runs = dataset.runs.count()
    counts = [
        (dataset.topics.count(), "topic"),
        (SubQuestion.objects.filter(topic__dataset=dataset).count(), "sub-question"),
        *((texts.get(kind.value, 0), noun) for kind, noun in TEXT_NOUNS.items()),
        (n_runs, "retrieval run"),
    ]
    modelled = [rubric for rubric in rubrics if f"mixed_model_{rubric.slug}.csv" in names]
    calibrated = [rubric for rubric in rubrics if f"calibration_{rubric.slug}.csv" in names]
    return MethodsFacts(
        slug=dataset.slug,
        counts=[(n, noun) for n, noun in counts if n],
        rubrics=[_rubric(rubric) for rubric in used_rubrics(dataset)],
        people=[_people(rubric) for rubric in rubrics],
        judges=list(_judges(dataset, [rubric.selection for rubric in rubrics])),
        options=options,
        has_runs=bool(n_runs),
        has_reports=Text.Kind.REPORT in texts,
        has_rank_correlations=bool({"table3.csv", "figure5.csv"} & set(names)),
        tests=list(_tests(comparisons)),
        models=[_model(rubric) for rubric in modelled],
        calibrations={curve for rubric in calibrated for curve in rubric.calibration.curves},
        version=program_versions("en")["version"],
        data_hash=data_hash,
    )


TEXT_NOUNS = {
    Text.Kind.PASSAGE: "passage",
    Text.Kind.REPORT: "report",
    Text.Kind.REFERENCE: "reference text",
}


def _rubric(rubric: Rubric) -> RubricFacts:
    levels = list(rubric.levels.order_by("grade").values_list("grade", "label"))
    if rubric.is_multi_label:
        levels = [(grade_of_label(number), label) for number, label in levels]
    return RubricFacts(rubric.title, levels, rubric.is_multi_label)


def _people(rubric: RatedRubric) -> PeopleFacts:
    report, selection = rubric.agreement, rubric.selection
    facts = PeopleFacts(
        rubric=selection.rubric.title,
        n_people=len(selection.raters),
        n_adjudicators=sum(
            rater.is_adjudicator and rater not in selection.raters for rater in selection.everyone
        ),
        n_pairs=report.n_items,
        n_missing=report.n_missing,
        n_possible=report.n_cells,
        n_exposed=report.n_exposed,
        repeats=_repeats(rubric.repeats) if len(rubric.repeats.rater) else None,
    )
    if len(selection.raters) < 2:
        return facts
    return replace(
        facts,
        kappa=report.all.kappa,
        alpha=report.alpha,
        alpha_metric=report.alpha_metric,
        ac1=report.all.ac1,
    )


def _repeats(repeats: RepeatedGrades) -> RepeatFacts:
    agreement = repeats.agreement()
    return RepeatFacts(
        n_people=len(set(repeats.rater.tolist())),
        n_pairs=len(repeats.rater),
        is_weighted=repeats.weights is not None,
        equal=agreement.equal,
        kappa=agreement.kappa,
    )


def _judges(dataset: Dataset, selections: Sequence[Selection]) -> Iterator[JudgeFacts]:
    kinds = (Rater.Kind.MODEL, Rater.Kind.BASELINE)
    titles = {rubric.pk: rubric.title for rubric in used_rubrics(dataset)}
    graded: dict[int, list[tuple[str, int]]] = {}
    rated = Rating.objects.of_dataset(dataset).filter(rater__kind__in=kinds).order_by()
    for rater, rubric, n in rated.values_list("rater", "rubric").annotate(n=Count("pk")):
        graded.setdefault(rater, []).append((titles[rubric], n))
    tests: dict[int, list[JudgeTest]] = {}
    for selection in selections:
        for column, scores in judge_scores(selection):
            if scores.n:
                tests.setdefault(column.pk, []).append(_judge_test(selection, scores))
    judges = {
        judge.rater_id: judge
        for judge in Judge.objects.filter(rater__in=graded).select_related("rubric", "rater")
    }
    certificates: dict[int, list[tuple[str, str, str]]] = {}
    for row in judge_rows(dataset):
        tested = row.state.certificate
        sentences = " ".join(methods_sentences(tested)) if tested else ""
        facts = (row.rubric.title, str(row.state), sentences)
        certificates.setdefault(row.judge.pk, []).append(facts)
    for name, rater in sorted(raters_of(dataset).items()):
        if rater.pk in graded:
            facts_of_judge = _judge(
                name, rater, judges.get(rater.pk), sorted(graded[rater.pk]), tests
            )
            yield replace(facts_of_judge, certificates=certificates.get(rater.pk, ()))


def _judge(
    name: str,
    rater: Rater,
    judge: Judge | None,
    graded: Sequence[tuple[str, int]],
    tests: Mapping[int, Sequence[JudgeTest]],
) -> JudgeFacts:
    facts = JudgeFacts(
        name=name,
        is_baseline=rater.kind == Rater.Kind.BASELINE,
        graded=graded,
        tests=tests.get(rater.pk, ()),
    )
    if judge is None:
        return facts
    temperature = judge.spec.sampling.sent.get("temperature")
    return replace(
        facts,
        model=judge.model,
        prompt=judge.prompt_name,
        fingerprint=judge.short,
        temperature=float(temperature) if isinstance(temperature, int | float) else None,
        is_lexical=judge.backend == Judge.Backend.LEXICAL,
    )


def _judge_test(selection: Selection, scores: AgainstJudge) -> JudgeTest:
    measures = scores.measures
    if "cohen_quadratic" in measures and len(scores.levels) > 2:
        weights, kappa = "quadratic", scores.cohen_quadratic
    elif "cohen_binary" in measures:
        weights, kappa = "binary", scores.cohen_binary
    else:
        weights, kappa = "", scores.cohen_kappa
    return JudgeTest(
        rubric=selection.rubric.title,
        n=scores.n,
        eta=scores.eta if scores.depends_on_eta else None,
        weights=weights,
        kappa=kappa,
        accuracy=scores.accuracy,
    )


def _tests(comparisons: Collection[PairComparison]) -> Iterator[ComparisonFacts]:
    by_group: dict[str, list[PairComparison]] = {}
    for comparison in comparisons:
        by_group.setdefault(comparison.group, []).append(comparison)
    for group, of_group in by_group.items():
        tables = [comparison.tests for comparison in of_group]
        flips = [test.flip for tests in tables for test in tests if test.flip.p is not None]
        sampled = {(flip.n_arrangements - 1, flip.seed) for flip in flips if flip.seed is not None}
        systems = {name for test in tables[0] for name in (test.first, test.second)}
        yield ComparisonFacts(
            group=group,
            n_systems=len(systems),
            n_pairs=len(tables[0]),
            is_exact=any(flip.exact for flip in flips),
            sampled=next(iter(sampled), None),
        )


RANDOM_EFFECTS = {
    TOPIC: "the topic",
    RATER: "the rater",
    TEXT: "the interaction of system and topic",
}


def _model(rubric: RatedRubric) -> ModelFacts:
    choice, components = rubric.model_choice, rubric.model.model.components
    return ModelFacts(
        rubric=rubric.title,
        outcome=choice.labels["outcome"],
        n_systems=len(choice.system_values.names),
        base=choice.base,
        random=[
            label for name, label in RANDOM_EFFECTS.items() if components.get(name) is not None
        ],
        margin=choice.margin,
    )
