"""Tables of a paper's supplement, from the tables of the result pages.

Those of calibration need judging and evaluation: only the site may import both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

from django.db.models import Exists, OuterRef

from annotation.models import Dataset, Rating
from annotation.models.rating import raters_of
from crux_site.calibration.views import TABLES as CALIBRATION_TABLES
from crux_site.paper_supplement.facts import gather_facts
from crux_site.paper_supplement.methods import methods_section
from crux_site.paper_supplement.references import bibliography
from crux_site.paper_supplement.selections import (
    PairComparison,
    RatedRubric,
    rated_rubrics,
)
from evaluation.agreement.tables import agreement_table
from evaluation.certificates.page import judge_rows
from evaluation.data.certificates import certificates_in_words
from evaluation.data.filter_line import Phrase
from evaluation.data.selection import SelectionError
from evaluation.mixed_model.export import TABLES as MODEL_TABLES
from evaluation.result_tables import ResultTable, Row, Statistic
from evaluation.retrieval.export import tests_table
from evaluation.retrieval.leaderboard import SAME, leaderboard
from evaluation.retrieval.query import AMONG, TITLES
from evaluation.scoring.options import Options
from evaluation.scoring.row_score import REPORTS, RUNS
from evaluation.scoring.rows import is_oracle
from evaluation.scoring.system_values import outcomes
from evaluation.supplement import Supplement, SupplementTable
from judging.models import Attempt


def supplement(dataset: Dataset, options: Options, systems: tuple[str, ...]) -> Supplement:
    """Return the supplement of a dataset; its tests compare these systems, or all.

    No table is computed here: a few queries and the scores tell which ones the dataset has data for.
    """
    rubrics = rated_rubrics(dataset, options)
    tables: dict[str, SupplementTable] = {}
    left_out: dict[str, str] = {}
    for name, kind in RUBRIC_TABLES.items():
        if not rubrics:
            left_out[name] = "no person has rated a text"
        for rubric in rubrics:
            table_name = f"{name}_{rubric.slug}"
            if reason := kind.obstacle(rubric):
                left_out[table_name] = reason
                continue
            judge = rubric.selection.judge
            title = f"{kind.title.format(judge=judge and judge.title)}: {rubric.title}"
            make = partial(kind.make, rubric)
            certificates = certificates_in_words(dataset, rubric.selection.filter_phrases())
            tables[table_name] = SupplementTable(title, make, kind.columns, certificates)
    comparisons = _comparisons(dataset, options, systems)
    for name, comparison in comparisons.items():
        if len(comparison.systems) < 2:
            left_out[name] = f"fewer than two {AMONG[comparison.group]} can be compared"
            continue
        title = f"Pairwise comparison of {AMONG[comparison.group]}: {TITLES[comparison.metric]}"
        make = partial(_pair_tests, comparison)
        source = Phrase(f"grades of {options.source.title}", options.source.judge)
        certificates = certificates_in_words(dataset, [source])
        tables[name] = SupplementTable(title, make, TEST_COLUMNS, certificates)

    if any(dataset.certificates.all()[:1]):
        make = partial(_certificates, dataset)
        tables["certificates"] = SupplementTable("Certificates of judges", make)

    def methods(names: Collection[str], data_hash: str) -> dict[str, str]:
        tested = [comparison for name, comparison in comparisons.items() if f"{name}.csv" in names]
        facts = gather_facts(dataset, options, rubrics, tested, names, data_hash)
        section, cited = methods_section(facts)
        return {"methods.tex": section, "refs.bib": bibliography(cited)}

    return Supplement(dataset, tables, left_out, methods)


@dataclass(frozen=True)
class RubricTable:
    """Table of the ratings of people under a rubric.

    `obstacle` returns the reason why a rubric cannot have it, or "". `title` may name the judge.
    """

    title: str
    make: Callable[[RatedRubric], ResultTable]
    obstacle: Callable[[RatedRubric], str]
    columns: tuple[str, ...] = ()
    """Columns of the LaTeX; all if none is named. CSV has all."""


def _agreement(name: str) -> Callable[[RatedRubric], ResultTable]:
    def make(rubric: RatedRubric) -> ResultTable:
        return agreement_table(name, rubric.agreement, rubric.agreement.judge)

    return make


def _intra_rater(rubric: RatedRubric) -> ResultTable:
    """Return the agreement of people with themselves: pooled, then by rater."""
    raters = set(rubric.repeats.rater.tolist())
    names = raters_of(rubric.selection.dataset)
    by_name = [(name, rater.pk) for name, rater in names.items() if rater.pk in raters]
    rows = [
        (name, agreement.equal, agreement.kappa)
        for name, pk in [("all", None), *sorted(by_name)]
        for agreement in [rubric.repeats.agreement(pk)]
    ]
    weights = "quadratic" if rubric.repeats.weights else "kappa"
    return ResultTable(["rater", Statistic("equal"), Statistic(f"cohen_{weights}")], rows)


def _model(name: str) -> Callable[[RatedRubric], ResultTable]:
    def make(rubric: RatedRubric) -> ResultTable:
        if reason := rubric.model.model.reason:
            raise SelectionError(reason)
        return MODEL_TABLES[name](rubric.model_choice, rubric.model)

    return make


def _calibration(name: str) -> Callable[[RatedRubric], ResultTable]:
    def make(rubric: RatedRubric) -> ResultTable:
        if not rubric.calibration.n_told:
            raise SelectionError("the judge has no probabilities of the texts that people rated")
        return CALIBRATION_TABLES[name](rubric.calibration)

    return make


def _certificates(dataset: Dataset) -> ResultTable:
    """Return the states of the judges' certificates, with the numbers of their tests."""
    rows: list[Row] = []
    for row in judge_rows(dataset):
        certificate = row.state.certificate
        result = certificate.result if certificate else {}
        numbers = [result.get(name) for name in CERTIFICATE_NUMBERS]
        epsilon = certificate.parameters["epsilon"] if certificate else None
        rows.append([row.judge.name, row.rubric.title, str(row.state), epsilon, *numbers])
    return ResultTable(("judge", "rubric", "state", "epsilon", *CERTIFICATE_NUMBERS), rows)


CERTIFICATE_NUMBERS = ("n_pairs", "n_topics", "winning_rate", "advantage")


def _pair_tests(comparison: PairComparison) -> ResultTable:
    if all(test.difference.value is None for test in comparison.tests):
        raise SelectionError("no two of them have a value on the same topic")
    return tests_table(comparison.tests, comparison.metric)


def _lacks_people(rubric: RatedRubric) -> str:
    if len(rubric.selection.raters) < 2:
        return f"only one person has rated under {rubric.title}"
    return ""


def _lacks_repeats(rubric: RatedRubric) -> str:
    if len(rubric.repeats.rater):
        return ""
    return f"nobody has graded a text twice under {rubric.title} in a campaign with repeats"


def _lacks_judge(rubric: RatedRubric) -> str:
    if rubric.selection.judge is None:
        return f"no judge has graded the texts that people rated under {rubric.title}"
    return ""


def _lacks_etas(rubric: RatedRubric) -> str:
    selection = rubric.selection
    sizes = {len(selection.levels), len(selection.judge_rubric.grades())}
    has_etas = selection.etas and sizes != {2}
    return _lacks_judge(rubric) or ("" if has_etas else "eta does not change how grades are read")


def _lacks_systems(rubric: RatedRubric) -> str:
    selection = rubric.selection
    try:
        outcomes(selection)
    except SelectionError:
        return f"a system has no value under {rubric.title}"
    raters = [rater.pk for rater in selection.raters]
    # A join would read all ratings, and a count all texts, to find a few systems.
    ratings = Rating.objects.filter(
        text=OuterRef("pk"), rubric=selection.rubric, rater__in=raters
    ).order_by()
    texts = selection.dataset.texts.exclude(system="").filter(Exists(ratings)).order_by()
    systems, topics = set(), set()
    for system, topic in texts.values_list("system", "topic_id").iterator(chunk_size=100):
        systems.add(system)
        topics.add(topic)
        if len(systems) > 1 and len(topics - {None}) > 2:
            return ""
    if len(systems) < 2:
        return "people have rated texts of fewer than two systems"
    return "people have rated texts on fewer than three topics"


def _lacks_probabilities(rubric: RatedRubric) -> str:
    judge = rubric.selection.judge
    if judge is None:
        return _lacks_judge(rubric)
    attempts = Attempt.objects.filter(
        judge__rater=judge.pk,
        text__dataset=rubric.selection.dataset,
        counts=True,
        expected_grade__isnull=False,
    )
    return "" if attempts.exists() else f"{judge.title} has no stored probabilities"


OF_PAIRS = ("a", "b", "cohen_kappa", "cohen_quadratic", "percent_agreement", "prevalence")
OF_JUDGE = (
    *("part", "name", "n", "accuracy", "cohen_binary", "cohen_kappa", "cohen_quadratic"),
    *("f1_answerable", "macro_f1"),
)
BY_ETA = (
    *("eta", "n", "precision_answerable", "recall_answerable", "f1_answerable", "accuracy"),
    "cohen_binary",
)
OF_MODEL = ("system", "base", "mean", "difference", "p", "p_holm", "says")
TEST_COLUMNS = ("first", "second", "difference", "p", "p_holm")

# By the beginning of their file names, which end with the rubric. A further table is a line here.
RUBRIC_TABLES = {
    "agreement": RubricTable("Agreement of people", _agreement("measures"), _lacks_people),
    "agreement_systems": RubricTable("Agreement by system", _agreement("systems"), _lacks_people),
    "agreement_topics": RubricTable("Agreement by topic", _agreement("topics"), _lacks_people),
    "agreement_pairs": RubricTable(
        "Agreement of pairs of raters", _agreement("pairs"), _lacks_people, OF_PAIRS
    ),
    "intra_rater": RubricTable("Agreement of people with themselves", _intra_rater, _lacks_repeats),
    "judge": RubricTable("{judge} against people", _agreement("judge"), _lacks_judge, OF_JUDGE),
    "judge_eta": RubricTable(
        "{judge} against people by eta", _agreement("sweep"), _lacks_etas, BY_ETA
    ),
    "mixed_model": RubricTable(
        "Mixed model of systems", _model("contrasts"), _lacks_systems, OF_MODEL
    ),
    "variances": RubricTable(
        "Variance components of the mixed model", _model("components"), _lacks_systems
    ),
    "calibration": RubricTable(
        "Calibration of {judge}", _calibration("statistics"), _lacks_probabilities
    ),
    "calibration_curve": RubricTable(
        "Calibration curve of {judge}", _calibration("points"), _lacks_probabilities
    ),
}
TESTED_METRICS = {RUNS: ("coverage", "alpha_ndcg", "density"), REPORTS: ("coverage", "density")}


def _comparisons(
    dataset: Dataset, options: Options, systems: tuple[str, ...]
) -> dict[str, PairComparison]:
    """Return the comparisons of systems by file name; those of an oracle are left out."""
    board = leaderboard(dataset, options)
    comparisons = {}
    for group, metrics in TESTED_METRICS.items():
        rows = [
            row
            for row in board.compared(group, SAME)
            if not is_oracle(row.row.system) and (not systems or row.row.system in systems)
        ]
        for metric in metrics:
            scored = tuple(row for row in rows if row.means[metric].value is not None)
            name = f"tests_{group}_{metric}"
            comparisons[name] = PairComparison(dataset, options, group, metric, scored)
    return comparisons
