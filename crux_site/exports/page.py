"""Export files of a dataset: description, target tool, number of rows, and writer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from django.db.models import Count

from annotation.formats import long_table, qlabels, qrels, tracks, trec_qrels
from annotation.formats import qac as pairs
from annotation.formats.slots import ANNOTATED
from annotation.models import Dataset, Rater, Rubric, SubQuestion, Text
from annotation.models.rating import raters_of
from annotation.models.standard import ANSWERABLE, GRADED, IMPORTANCE
from annotation.plurals import n_of
from crux_site.datasets.export import write
from crux_site.exports.folders import FOLDERS
from crux_site.exports.publication import PublicationMetadata, counts_of
from evaluation.data.cache_keys import CacheKey
from evaluation.data.corpus import KINDS, load_corpus
from evaluation.data.number_lists import distinct, pair_keys, rating_lists, split_pairs
from evaluation.data.process_cache import SHARED_CACHE
from evaluation.data.ratings import ratings_of
from evaluation.data.selection import raters_under
from evaluation.formats.trec_run import ForTrecTools
from evaluation.models import RetrievalRun

NO_PYARROW = "Parquet needs pyarrow, an extra of the site: make env EXTRAS=cluster."
NOTHING_GRADED = "There are no grades yet."
Lines = Callable[[], Iterator[str]]


@dataclass(frozen=True)
class ExportFile:
    """Export file at `name` below the page's address; it has `n` rows, of what `of` says.

    `lines` are streamed as they are read. `write` completes a file before anything is sent: for archives,
    and for formats that may turn out not to hold the data.
    """

    name: str
    n: int
    of: str
    description: str = ""
    lines: Lines | None = None
    write: Callable[[Path, PublicationMetadata], object] | None = None
    needs_metadata: bool = False  # asks for a licence and a maker

    def download_name(self, dataset: Dataset) -> str:
        """Return the file name of the download: imports recognize runs and raters by it."""
        _, slash, file_name = self.name.partition("/")
        return file_name.replace("/", "-") if slash else f"{dataset.slug}.{self.name}"


@dataclass(frozen=True)
class Section:
    """Group of export files, and the reasons why others are unavailable, by name."""

    title: str
    about: str
    offers: Sequence[ExportFile] = ()
    lacks: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RatingGroup:
    """Ratings of one rater under one rubric, of texts of one kind and system.

    `n_pairs` counts pairs of a topic and a text, `n_of_subtopics` grades of anything but the whole request.
    """

    rater: Rater
    name: str
    rubric: Rubric
    kind: str
    system: str
    n_pairs: int
    n_of_subtopics: int


def sections(dataset: Dataset, *, for_team: bool = True) -> list[Section]:
    """Return all sections; people outside the team get no folder, as it has the team's notes.

    The number of queries does not depend on the dataset.
    """
    counts = counts_of(dataset)
    graded = rating_groups(dataset)
    n_ratings = counts["ratings"]
    return [
        _folders(dataset, counts, for_team=for_team),
        _table(dataset, n_ratings),
        _labels(dataset, graded),
        _runs(dataset),
        *_qrels(dataset, graded),
        _tracks(dataset, counts["topics"]),
        _pairs(dataset),
    ]


def files_by_name(
    dataset: Dataset, *, for_team: bool = True
) -> tuple[dict[str, ExportFile], dict[str, str]]:
    """Return the files by name, and the reasons for those that are unavailable."""
    all_sections = sections(dataset, for_team=for_team)
    lacks = {name: reason for section in all_sections for name, reason in section.lacks.items()}
    return {offer.name: offer for section in all_sections for offer in section.offers}, lacks


def rating_groups(dataset: Dataset) -> list[RatingGroup]:
    """Return the ratings of a dataset in groups, cached until the next write."""
    return SHARED_CACHE.until_db_write(
        (CacheKey.RATING_GROUPS, dataset.pk), lambda: _counted(dataset)
    )


def _counted(dataset: Dataset) -> list[RatingGroup]:
    names = {rater.pk: (rater, name) for name, rater in raters_of(dataset).items()}
    rubrics = Rubric.objects.in_bulk()
    corpus = load_corpus(dataset)
    writers = list(zip(corpus.kind.tolist(), corpus.systems, strict=True))
    groups = sorted(set(writers))
    indices = {writer: index for index, writer in enumerate(groups)}
    group_of = np.array([indices[writer] for writer in writers], np.int64)
    questions = np.array(
        sorted(
            (question.pk, topic, not question.is_whole)
            for topic, of_topic in corpus.questions.items()
            for question in of_topic
        ),
        np.int64,
    ).reshape(-1, 3)
    result = []
    for rated in rating_lists(ratings_of(dataset, names), ("pair",)):
        index = np.searchsorted(questions[:, 0], rated.columns["question"])
        text, topic, is_of_subtopic = rated.columns["text"], *questions[index, 1:].T
        pair_text, _ = split_pairs(distinct(pair_keys(text, topic)))
        n_pairs = np.bincount(group_of[corpus.at(pair_text)], minlength=len(groups))
        n_of_subtopics = np.bincount(
            group_of[corpus.at(text)], is_of_subtopic, minlength=len(groups)
        )
        rater_rubric = *names[rated.rater], rubrics[rated.rubric]
        result += [
            RatingGroup(*rater_rubric, KINDS[kind], system, int(n), int(n_graded))
            for (kind, system), n, n_graded in zip(groups, n_pairs, n_of_subtopics, strict=True)
            if n
        ]
    return sorted(
        result, key=lambda group: (group.rubric.slug, group.name, group.kind, group.system)
    )


_ARCHIVES = (
    (
        "folder.zip",
        "crux",
        "Format of this program (the CRUX authors’ format with further files), for another site. "
        "For data that it lacks, see below.",
    ),
    (
        "publication.zip",
        "publication",
        "The same with metadata.json, a datasheet in Croissant JSON-LD, for archives such as Zenodo.",
    ),
    (
        "hugging-face.zip",
        "hugging-face",
        "Texts, questions, ratings and spans as Parquet, with a dataset card, for the Hugging Face Hub.",
    ),
)


def _folders(dataset: Dataset, counts: dict[str, int], *, for_team: bool) -> Section:
    offers = [
        ExportFile(
            name,
            counts["ratings"],
            "ratings",
            description,
            write=partial(_folder, dataset, form),
            needs_metadata=form != "crux",
        )
        for name, form, description in _ARCHIVES
        if for_team or form != "crux"
    ]
    lacks = {}
    if not has_pyarrow():
        lacks[offers.pop().name] = NO_PYARROW
    return Section("The whole dataset", "Each archive contains a folder.", offers, lacks)


def _checked(lines: Lines) -> Callable[[Path, PublicationMetadata], object]:
    """Return a writer of lines that may break off with an ExportError."""
    return lambda out, _: write(out, lines())


def _folder(dataset: Dataset, form: str, out: Path, metadata: PublicationMetadata) -> None:
    FOLDERS[form](dataset, out, metadata)


def has_pyarrow() -> bool:
    """Return True if Parquet can be written."""
    return find_spec("pyarrow") is not None


def _table(dataset: Dataset, n: int) -> Section:
    about = (
        "One row for each grade, with the hash of its text and all marked spans, for pandas, "
        "R or a spreadsheet."
    )
    names = ("ratings.csv", "ratings.jsonl", "ratings.parquet")
    if not n:
        return Section("Ratings and spans", about, (), dict.fromkeys(names, NOTHING_GRADED))
    offers = [
        ExportFile("ratings.csv", n, "ratings", "CSV", partial(long_table.csv_lines, dataset)),
        ExportFile(
            "ratings.jsonl", n, "ratings", "JSON lines", partial(long_table.jsonl_lines, dataset)
        ),
    ]
    if not has_pyarrow():
        return Section("Ratings and spans", about, offers, {names[2]: NO_PYARROW})
    offers.append(ExportFile(names[2], n, "ratings", "Parquet", write=partial(_parquet, dataset)))
    return Section("Ratings and spans", about, offers)


def _parquet(dataset: Dataset, out: Path, metadata: PublicationMetadata) -> None:
    from crux_site.exports.parquet import write_long_table  # noqa: PLC0415 - pyarrow

    write_long_table(dataset, out)


def _labels(dataset: Dataset, graded: list[RatingGroup]) -> Section:
    """Return the label files of people; labels of other texts are in the folder alone."""
    n_of: Counter[tuple[Rater, str, str]] = Counter()
    for group in graded:
        if group.rater.kind == Rater.Kind.HUMAN and (task := _task(group)):
            n_of[group.rater, group.name, task] += group.n_pairs
    offers = []
    for (rater, name, task), n in n_of.items():
        description, of, lines = _TASKS[task]
        file_name = f"labels/{name}.{task}-labels.jsonl"
        checked = _checked(partial(lines, dataset, rater))
        offers.append(ExportFile(file_name, n, of, f"{description} by {name}", write=checked))
    about = (
        "Labels of a person in the JSON lines of CRUX. The authors call these files qlabels "
        "(T1) and qrels (T2); TREC tools cannot read them."
    )
    lacks = (
        {}
        if offers
        else {"labels": "There are no labels of people for passages or annotated reports."}
    )
    return Section("Labels of CRUX", about, offers, lacks)


_TASKS: dict[str, tuple[str, str, Callable[[Dataset, Rater], Iterator[str]]]] = {
    "t1": ("T1: which questions annotated reports answer,", "reports", qlabels.lines),
    "t2": ("T2: grades of passages", "passages", qrels.lines),
}


def _task(graded: RatingGroup) -> str:
    if graded.rubric.slug == GRADED.slug and graded.kind == Text.Kind.PASSAGE:
        return "t2"
    is_usual = graded.kind == Text.Kind.REPORT and graded.system.startswith(ANNOTATED)
    return "t1" if graded.rubric.slug == ANSWERABLE.slug and is_usual else ""


def _runs(dataset: Dataset) -> Section:
    ranked = RetrievalRun.objects.filter(dataset=dataset).annotate(n=Count("ranked"))
    runs = SHARED_CACHE.until_db_write(
        (CacheKey.EXPORTED_RUNS, dataset.pk), lambda: list(ranked.filter(n__gt=0).order_by("name"))
    )
    about = (
        "TREC run files, for trec_eval and ir_measures. Both sort by score: if the scores of "
        "a topic do not fall with each rank, the file has 1/rank instead."
    )
    if not runs:
        return Section("Retrieval runs", about, (), {"runs.zip": "There is no retrieval run."})
    archive = ExportFile(
        "runs.zip",
        sum(run.n for run in runs),
        "ranked texts",
        f"{'All ' * (len(runs) > 1)}{n_of(len(runs), 'run')}",
        write=partial(_write_runs, runs),
    )
    run_files = [
        ExportFile(
            f"runs/{run.name}.run",
            run.n,
            "ranked texts",
            run.name,
            write=_checked(ForTrecTools(run).lines),
        )
        for run in runs
    ]
    return Section("Retrieval runs", about, [archive, *run_files])


def _write_runs(runs: Sequence[RetrievalRun], out: Path, metadata: PublicationMetadata) -> None:
    for run in runs:
        write(out / f"{run.name.replace('/', '-')}.run", ForTrecTools(run).lines())


_KINDS = (
    (
        "Graded qrels",
        "Topic, 0, passage and its highest grade for a question of the topic: for trec_eval, ir_measures.",
        "qrels",
        trec_qrels.graded,
    ),
    (
        "Diversity qrels",
        "Topic, subtopic (number of the sub-question, from 1), passage and grade, for ndeval, "
        "which counts all grades above 0, and ir_measures, where rel is the threshold.",
        "diversity.qrels",
        trec_qrels.diversity,
    ),
)


def _qrels(dataset: Dataset, graded: list[RatingGroup]) -> Iterator[Section]:
    """Yield sections of qrels, of passages graded under a rubric with an eta."""
    passages = [
        group for group in graded if group.kind == Text.Kind.PASSAGE and group.rubric.has_threshold
    ]
    reason = "There are no grades of passages under a rubric with an eta."
    for title, about, ending, lines in _KINDS:
        is_graded = lines is trec_qrels.graded
        offers = [
            ExportFile(
                f"qrels/{group.name}.{group.rubric.slug}.{ending}",
                n,
                "passages" if is_graded else "grades",
                f"{group.name}, {group.rubric.title}: relevant from {group.rubric.eta} on",
                write=_checked(partial(lines, dataset, group.rater, group.rubric.slug)),
            )
            for group in passages
            if (n := group.n_pairs if is_graded else group.n_of_subtopics)
        ]
        yield Section(title, about, offers, {} if offers else {ending: reason})


def _tracks(dataset: Dataset, n_topics: int) -> Section:
    about = "Formats of TREC tracks, in JSON lines. Answers need the name of a team: use export_dataset."
    names = ("trec-rag-topics.jsonl", "ragtime-requests.jsonl", "nuggets.jsonl")
    if not n_topics:
        return Section("Topics and nuggets", about, (), dict.fromkeys(names, "There is no topic."))
    offers = [
        ExportFile(
            names[0], n_topics, "topics", "Topics of TREC RAG 2025", partial(tracks.topics, dataset)
        ),
        ExportFile(
            names[1], n_topics, "topics", "Requests of RAGTIME", partial(tracks.requests, dataset)
        ),
    ]
    questions = SubQuestion.objects.filter(topic__dataset=dataset, filtered_because="")
    n_with_questions = questions.aggregate(n=Count("topic", distinct=True))["n"]
    if not n_with_questions:
        reason = "There are no questions that are not filtered."
        return Section("Topics and nuggets", about, offers, {names[2]: reason})
    weighers = raters_under(dataset, IMPORTANCE.slug)
    weigher = Rater.objects.filter(pk=weighers[0].pk).first() if weighers else None
    weighed = f"importance by {weighers[0].name}" if weighers else "without importance"
    lines = partial(tracks.nuggets, dataset, weigher)
    offers.append(
        ExportFile(
            names[2], n_with_questions, "topics", f"Sub-questions as nuggets, {weighed}", lines
        )
    )
    return Section("Topics and nuggets", about, offers)


def _pairs(dataset: Dataset) -> Section:
    n = pairs.n_pairs(dataset)
    about = "Questions with context and answer, in JSON lines, for topics with one question."
    if not n:
        reason = "No topic has exactly one question and a passage with its text."
        return Section(
            "Pairs", about, (), dict.fromkeys(("pairs.qac.jsonl", "pairs.t5.jsonl"), reason)
        )
    qac = partial(pairs.PAIRS["qac"], dataset)
    t5 = partial(pairs.PAIRS["t5"], dataset)
    return Section(
        "Pairs",
        about,
        [
            ExportFile("pairs.qac.jsonl", n, "pairs", "Format of docling-sdg", qac),
            ExportFile("pairs.t5.jsonl", n, "pairs at most", "Training data for a small T5", t5),
        ],
    )
