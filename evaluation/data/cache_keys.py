"""Keys of cached results: each begins with a CacheKey, so that no two results share one."""

from __future__ import annotations

from enum import StrEnum, unique
from typing import TypeAlias


@unique
class CacheKey(StrEnum):
    """Name of a cached result. One function computes the results of a name."""

    # Results by the version of a dataset's data, see evaluation/data/cache.py.
    AGREEMENT = "agreement"
    BY_QUESTION_TYPE = "recall by question type"
    CALIBRATION = "calibration"
    CERTIFICATE_CHANGES = "changes since a certificate"
    CRUD_RAG_GRID = "grid of CRUD-RAG"
    FILTERED_QUESTIONS = "questions to filter by a judge's grades"
    GENERATION_MEASURES = "measures of a system's reports"
    JUDGE_AGAINST_PEOPLE = "a judge against people"
    JUDGE_RANKING = "ranking of judges"
    LEADERBOARD = "scores of retrieval systems"
    LENGTH_BIAS = "length bias of a judge"
    MIXED_MODEL = "mixed model"
    NUGGET_SCORES = "nugget scores"
    PAIR_TEST = "tests of two systems"
    PAIR_TESTS = "tests of all pairs of systems"
    PAPER_DRAWING = "drawing of the paper's figure"
    PAPER_PARTS = "tables and figures of the paper"
    PASSAGES_HASH = "hash of the passages"
    POOLS_BY_PEOPLE = "pools by people's grades"
    POWER_MODEL = "variances for a power analysis"
    RANKINGS_BY_SOURCE = "rankings of systems by two sources of grades"
    RANK_CORRELATIONS = "rank correlations of metrics"
    RELEVANCE_SCORES = "scores by grades of relevance"
    RELEVANCE_TESTS = "tests by grades of relevance"
    REL_RECALL = "recall of retrieved evidence"
    RUNS_ON_SAME_TOPICS = "runs on the same topics"
    SCORES = "scores of systems"

    # Lists and counts until the next write to the database, see SHARED_CACHE.
    CERTIFICATE_STATES = "states of certificates"
    CONSTRUCTION_STEPS = "steps of a collection's construction"
    CONTENT_VERSION = "version of the data without ratings"
    DATA_VERSION = "version of the data"
    DATASET_OVERVIEW = "overview of a dataset"
    DATASET_RUNS = "retrieval runs of a dataset"
    DISAGREEMENTS_OF_READER = "pairs on which people differ in the datasets of a reader"
    LABEL_PLANS = "plans of labels"
    NAVIGATION = "links of a section that a dataset has data for"
    EXPORTED_ROW_COUNTS = "row counts of a publication"
    EXPORTED_RUNS = "retrieval runs with rankings"
    RATED_SAME_TEXTS = "judges that rated the same texts"
    RATERS_BY_RUBRIC = "raters under each rubric"
    RATERS_OF_REPORTS = "raters of reports"
    RATING_GROUPS = "ratings by rubric and kind of text"
    RUNS_BY_TOPICS = "retrieval runs by number of topics"
    SYSTEMS_OF_REPORTS = "systems with reports on topics"
    SYSTEM_SETTINGS = "settings of systems"
    SYSTEMS_WITH_BODIES = "systems with a report whose body is stored"
    USED_RUBRICS = "rubrics with ratings"


Key: TypeAlias = tuple[CacheKey, *tuple[object, ...]]
"""Key of a cached result: its name, and everything that it depends on beside the data."""
