"""The files that a dataset can be taken away as: what each is, for which tool, its rows, and what writes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from django.db.models import CharField, Count, Q, Value
from django.db.models.functions import Concat

from annotation.formats import long_table, qlabels, qrels, tracks, trec_qrels
from annotation.formats import qac as pairs
from annotation.formats.slots import ANNOTATED
from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text
from annotation.models.rating import raters_of
from annotation.models.standard import ANSWERABLE, GRADED, IMPORTANCE
from crux_site.datasets.export import write
from crux_site.exports.folders import FOLDERS
from crux_site.exports.publication import Stated, counts_of
from evaluation.data.held import COUNTED
from evaluation.data.selection import raters_under
from evaluation.formats.trec_run import ForTrecTools
from evaluation.models import RetrievalRun

NO_PYARROW = "Parquet needs pyarrow, an extra of the site: make env EXTRAS=cluster."
NOTHING_GRADED = "Nothing is graded yet."
Lines = Callable[[], Iterator[str]]


@dataclass(frozen=True)
class Offer:
    """A file: at `name` below the page's address, with `n` of what it has a row for.

    Its lines are sent as they are read; or it is written to a path, whole, before anything is sent: an archive,
    and what a format may turn out not to hold.
    """

    name: str
    n: int
    of: str
    what: str = ""
    lines: Lines | None = None
    write: Callable[[Path, Stated], object] | None = None
    is_stated: bool = False  # asks for a licence and a maker

    def called(self, dataset: Dataset) -> str:
        """What a browser saves it as: imports know a run and a rater by the file's name."""
        _, slash, own = self.name.partition("/")
        return own.replace("/", "-") if slash else f"{dataset.slug}.{self.name}"


@dataclass(frozen=True)
class Section:
    """Files of one kind, and of those that cannot be had by name, why not."""

    title: str
    about: str
    offers: Sequence[Offer] = ()
    lacks: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Graded:
    """What a rater graded under a rubric, of texts of a kind and a system.

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
    """All that can be offered; to others than the team no folder, which has its notes.

    The number of queries does not depend on the dataset.
    """
    counts = counts_of(dataset)
    graded = _graded(dataset)
    n_ratings = counts["ratings"]
    return [
        _whole(dataset, counts, for_team=for_team),
        _table(dataset, n_ratings),
        _labels(dataset, graded),
        _runs(dataset),
        *_qrels(dataset, graded),
        _tracks(dataset, counts["topics"]),
        _pairs(dataset),
    ]


def offered(dataset: Dataset, *, for_team: bool = True) -> tuple[dict[str, Offer], dict[str, str]]:
    """The files by their names, and why those that are lacking are."""
    every = sections(dataset, for_team=for_team)
    lacks = {name: why for section in every for name, why in section.lacks.items()}
    return {offer.name: offer for section in every for offer in section.offers}, lacks


def _graded(dataset: Dataset) -> list[Graded]:
    return COUNTED.while_unwritten(("graded", dataset.pk), lambda: _counted(dataset))


def _counted(dataset: Dataset) -> list[Graded]:
    names = {rater.pk: (rater, name) for name, rater in raters_of(dataset).items()}
    rubrics = Rubric.objects.in_bulk()
    whole = Q(question__filtered_because=SubQuestion.WHOLE)
    pair = Concat("question__topic_id", Value(" "), "text_id", output_field=CharField())
    rows = (
        Rating.objects.of_dataset(dataset)
        .order_by()
        .values_list("rater_id", "rubric_id", "text__kind", "text__system")
        .annotate(n_pairs=Count(pair, distinct=True), n_of_subtopics=Count("pk", filter=~whole))
    )
    found = [Graded(*names[rater], rubrics[rubric], *values) for rater, rubric, *values in rows]
    return sorted(found, key=lambda each: (each.rubric.slug, each.name, each.kind, each.system))


_ARCHIVES = (
    (
        "folder.zip",
        "crux",
        "Our own format, the authors’ with some files more, for another site. Not carried: see below.",
    ),
    (
        "publication.zip",
        "publication",
        "The same with metadata.json, a datasheet in Croissant’s JSON-LD: for archives such as Zenodo.",
    ),
    (
        "hugging-face.zip",
        "hugging-face",
        "Texts, questions, ratings and spans as Parquet, with a card: for the hub of Hugging Face.",
    ),
)


def _whole(dataset: Dataset, counts: dict[str, int], *, for_team: bool) -> Section:
    offers = [
        Offer(
            name,
            counts["ratings"],
            "ratings",
            what,
            write=partial(_folder, dataset, form),
            is_stated=form != "crux",
        )
        for name, form, what in _ARCHIVES
        if for_team or form != "crux"
    ]
    lacks = {}
    if not _has_pyarrow():
        lacks[offers.pop().name] = NO_PYARROW
    return Section("The whole dataset", "Archives of a folder each.", offers, lacks)


def _checked(lines: Lines) -> Callable[[Path, Stated], object]:
    """What writes lines that may break off with an ExportError."""
    return lambda out, _: write(out, lines())


def _folder(dataset: Dataset, form: str, out: Path, stated: Stated) -> None:
    FOLDERS[form](dataset, out, stated)


def _has_pyarrow() -> bool:
    return find_spec("pyarrow") is not None


def _table(dataset: Dataset, n: int) -> Section:
    about = "One row a grade, with the hash of its text and all marked spans: for pandas, R or a spreadsheet."
    names = ("ratings.csv", "ratings.jsonl", "ratings.parquet")
    if not n:
        return Section("Ratings and spans", about, (), dict.fromkeys(names, NOTHING_GRADED))
    offers = [
        Offer("ratings.csv", n, "ratings", "CSV", partial(long_table.csv_lines, dataset)),
        Offer(
            "ratings.jsonl", n, "ratings", "JSON lines", partial(long_table.jsonl_lines, dataset)
        ),
    ]
    if not _has_pyarrow():
        return Section("Ratings and spans", about, offers, {names[2]: NO_PYARROW})
    offers.append(Offer(names[2], n, "ratings", "Parquet", write=partial(_parquet, dataset)))
    return Section("Ratings and spans", about, offers)


def _parquet(dataset: Dataset, out: Path, stated: Stated) -> None:
    from crux_site.exports.parquet import write_long_table  # noqa: PLC0415 - pyarrow

    write_long_table(dataset, out)


def _labels(dataset: Dataset, graded: list[Graded]) -> Section:
    """Of people: the usual files of the folder. Those of other texts are there alone."""
    n_of: Counter[tuple[Rater, str, str]] = Counter()
    for each in graded:
        if each.rater.kind == Rater.Kind.HUMAN and (task := _task(each)):
            n_of[each.rater, each.name, task] += each.n_pairs
    offers = []
    for (rater, name, task), n in n_of.items():
        what, of, lines = _TASKS[task]
        called = f"labels/{name}.{task}-labels.jsonl"
        checked = _checked(partial(lines, dataset, rater))
        offers.append(Offer(called, n, of, f"{what} by {name}", write=checked))
    about = (
        "Labels of a person in JSON lines, as CRUX has them. The authors call such files qlabels (T1) and "
        "qrels (T2); no tool of TREC reads them."
    )
    lacks = {} if offers else {"labels": "No person has labelled passages or annotated reports."}
    return Section("Labels of CRUX", about, offers, lacks)


_TASKS: dict[str, tuple[str, str, Callable[[Dataset, Rater], Iterator[str]]]] = {
    "t1": ("T1: which questions annotated reports answer,", "reports", qlabels.lines),
    "t2": ("T2: grades of passages", "passages", qrels.lines),
}


def _task(graded: Graded) -> str:
    if graded.rubric.slug == GRADED.slug and graded.kind == Text.Kind.PASSAGE:
        return "t2"
    is_usual = graded.kind == Text.Kind.REPORT and graded.system.startswith(ANNOTATED)
    return "t1" if graded.rubric.slug == ANSWERABLE.slug and is_usual else ""


def _runs(dataset: Dataset) -> Section:
    ranked = RetrievalRun.objects.filter(dataset=dataset).annotate(n=Count("ranked"))
    runs = COUNTED.while_unwritten(
        ("ranked texts", dataset.pk), lambda: list(ranked.filter(n__gt=0).order_by("name"))
    )
    about = (
        "TREC run files, for trec_eval and ir_measures. Both sort by score: where the scores of a topic do not "
        "fall with every rank, 1/rank is written for it."
    )
    if not runs:
        return Section("Retrieval runs", about, (), {"runs.zip": "There is no retrieval run."})
    all_of_them = Offer(
        "runs.zip",
        sum(run.n for run in runs),
        "ranked texts",
        f"All {len(runs)} runs",
        write=partial(_write_runs, runs),
    )
    each = [
        Offer(
            f"runs/{run.name}.run",
            run.n,
            "ranked texts",
            run.name,
            write=_checked(ForTrecTools(run).lines),
        )
        for run in runs
    ]
    return Section("Retrieval runs", about, [all_of_them, *each])


def _write_runs(runs: Sequence[RetrievalRun], out: Path, stated: Stated) -> None:
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
        "Topic, subtopic, passage and grade, a subtopic being a sub-question by its number from 1: for ndeval, "
        "which counts all grades above 0, and ir_measures, where rel says from which on.",
        "diversity.qrels",
        trec_qrels.diversity,
    ),
)


def _qrels(dataset: Dataset, graded: list[Graded]) -> Iterator[Section]:
    """Where a grade says that a passage is relevant: of rubrics with an eta."""
    passages = [
        each for each in graded if each.kind == Text.Kind.PASSAGE and each.rubric.has_threshold
    ]
    why = "Nobody has graded passages under a rubric whose eta says which are relevant."
    for title, about, ending, lines in _KINDS:
        is_graded = lines is trec_qrels.graded
        offers = [
            Offer(
                f"qrels/{each.name}.{each.rubric.slug}.{ending}",
                n,
                "passages" if is_graded else "grades",
                f"{each.name}, {each.rubric.title}: relevant from {each.rubric.eta} on",
                write=_checked(partial(lines, dataset, each.rater, each.rubric.slug)),
            )
            for each in passages
            if (n := each.n_pairs if is_graded else each.n_of_subtopics)
        ]
        yield Section(title, about, offers, {} if offers else {ending: why})


def _tracks(dataset: Dataset, n_topics: int) -> Section:
    about = (
        "What tracks of TREC read, in JSON lines. Answers need a team: export_dataset writes them."
    )
    names = ("trec-rag-topics.jsonl", "ragtime-requests.jsonl", "nuggets.jsonl")
    if not n_topics:
        return Section("Topics and nuggets", about, (), dict.fromkeys(names, "There is no topic."))
    offers = [
        Offer(
            names[0], n_topics, "topics", "Topics of TREC RAG 2025", partial(tracks.topics, dataset)
        ),
        Offer(
            names[1], n_topics, "topics", "Requests of RAGTIME", partial(tracks.requests, dataset)
        ),
    ]
    asked = SubQuestion.objects.filter(topic__dataset=dataset, filtered_because="")
    n_asked = asked.aggregate(n=Count("topic", distinct=True))["n"]
    if not n_asked:
        why = "Every question is filtered, or there is none."
        return Section("Topics and nuggets", about, offers, {names[2]: why})
    weighers = raters_under(dataset, IMPORTANCE.slug)
    weigher = Rater.objects.filter(pk=weighers[0].pk).first() if weighers else None
    weighed = f"weighed by {weighers[0].name}" if weighers else "which nobody weighed"
    lines = partial(tracks.nuggets, dataset, weigher)
    offers.append(Offer(names[2], n_asked, "topics", f"Sub-questions as nuggets, {weighed}", lines))
    return Section("Topics and nuggets", about, offers)


def _pairs(dataset: Dataset) -> Section:
    n = pairs.n_pairs(dataset)
    about = "A question with its context and answer, in JSON lines, of topics with one question."
    if not n:
        why = "No topic has one question alone, and a passage with its words."
        return Section(
            "Pairs", about, (), dict.fromkeys(("pairs.qac.jsonl", "pairs.t5.jsonl"), why)
        )
    qac = partial(pairs.PAIRS["qac"], dataset)
    t5 = partial(pairs.PAIRS["t5"], dataset)
    return Section(
        "Pairs",
        about,
        [
            Offer("pairs.qac.jsonl", n, "pairs", "As docling-sdg has them", qac),
            Offer("pairs.t5.jsonl", n, "pairs at most", "To train a small T5 on", t5),
        ],
    )
