"""Export a dataset as the folder that an import reads, and single files of it."""

import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from django.db.models import Count, Q

from annotation.db_version import snapshot
from annotation.formats import (
    cited,
    copied_grades,
    documents,
    exposures,
    history,
    judgements,
    passages,
    qlabels,
    qrels,
    raters,
    ratings,
    reports,
    rubrics,
    subquestions,
    topics,
)
from annotation.formats.layout import UNFINISHED
from annotation.formats.slots import ANNOTATED, HUMAN_EVAL, REFERENCE, USUAL
from annotation.formats.writing import ExportError
from annotation.models import Dataset, Rater, Rating, Text
from annotation.models.rating import raters_of
from annotation.models.standard import ANSWERABLE, GRADED
from building.formats import origins, writers, written
from evaluation.formats import contexts, notes, trec_run, values
from evaluation.formats import systems as system_files
from judging.formats import judges

NOTES = "notes.jsonl"
File = tuple[str, Iterator[str]]
Labels = Callable[[Dataset, Rater, str], Iterator[str]]


@dataclass
class ExportSummary:
    """The lines of each file that was written, and what the formats have no room for."""

    files: dict[str, int] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        width = max((len(str(n)) for n in self.files.values()), default=0)
        lines = [f"{n:>{width}}  {name}" for name, n in self.files.items()]
        if self.left_out:
            lines.append("\nLeft out, for these formats have no room for it (see --format long):")
            lines += [f"  {n}  {reason}" for reason, n in sorted(self.left_out.items())]
        return "\n".join(lines)


def export_folder(dataset: Dataset, out: Path, *, is_public: bool = False) -> ExportSummary:
    """Write the dataset as a folder for `import_dataset`; files without lines are skipped.

    What is public has no notes on pairs: they are the team's own.

    Read into an empty database and exported again, it gives the same bytes; read into the same
    database, it changes nothing. Campaigns and accounts are not part of it. All files have one state of
    the database: an edit between two files would bring grades of one wording with another.

    Raises ExportError if the folder holds anything already.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ExportError(f"{out} is there already and not an empty folder")
    out.mkdir(parents=True, exist_ok=True)
    summary = ExportSummary()
    with snapshot(), _unfinished(out):
        for name, lines in files_of(dataset, summary.left_out):
            if is_public and name == NOTES:
                continue
            if n := write(out / name, lines):
                summary.files[name] = n
    return summary


@contextmanager
def _unfinished(out: Path) -> Iterator[None]:
    """Mark a folder, which was empty, as unfinished in the body; empty it if that fails."""
    marker = out / UNFINISHED
    try:
        marker.touch()
        yield
        marker.unlink()
    except BaseException:
        for path in out.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        raise


def write(path: Path, lines: Iterable[str]) -> int:
    """Write a file, its folders made; how many lines. A file without lines is not made."""
    n = 0
    lines = iter(lines)
    first = next(lines, None)
    if first is None:
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")  # so that nobody takes half a file for a whole one
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            for line in chain([first], lines):
                file.write(line)
                n += 1
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return n


def files_of(dataset: Dataset, left_out: Counter[str]) -> Iterator[File]:
    """The names of the files of a dataset's folder and their lines, in the order of an import."""
    systems = _systems(dataset)
    all_contexts = contexts.contexts_of(dataset)
    yield "rubrics.jsonl", rubrics.lines(dataset)
    rater_ids = [rater.pk for rater in history.known_raters(dataset).values()]
    yield "raters.jsonl", raters.lines(dataset, judges.definitions(rater_ids))
    yield "topics.jsonl", topics.lines(dataset)
    yield "subquestions.jsonl", subquestions.lines(dataset)
    yield "documents.jsonl", documents.lines(dataset)
    yield "references.jsonl", documents.references(dataset, systems)
    yield "passages.jsonl", passages.lines(dataset, referenced=False)
    yield "passages_referenced.jsonl", passages.lines(dataset, referenced=True)
    yield "reports_annotated.jsonl", reports.annotated(dataset, all_contexts)
    for system in systems:
        if system.startswith(HUMAN_EVAL):
            name = f"reports_all.{system.removeprefix(HUMAN_EVAL)}.jsonl"
            yield name, reports.of_system(dataset, system, all_contexts)
    yield "reports_cited.jsonl", cited.lines(dataset, _other_systems(dataset, left_out))
    yield "systems.jsonl", system_files.lines(dataset)
    yield "values.jsonl", values.lines(dataset)
    runs = contexts.runs_of(dataset)
    for run in runs:
        # Stored before such names were refused: the file would lie outside the folder.
        if "/" in run.name:
            raise ExportError(f"the name of the run {run.name} has a /: rename the run first")
        yield f"runs/{run.name}.run", trec_run.lines(run)
    remaining: dict[int, Q] = {}
    for name, rater in sorted(raters_of(dataset).items()):
        if in_none := (yield from _labels(dataset, name, rater, systems, left_out)):
            remaining[rater.pk] = in_none
    if remaining:
        yield "ratings.jsonl", ratings.lines(dataset, remaining)
    yield "copied_grades.jsonl", copied_grades.lines(dataset)
    yield "exposures.jsonl", exposures.lines(dataset)
    yield "origins.jsonl", origins.lines(dataset, runs, left_out)
    yield "writers.jsonl", writers.lines(dataset)
    yield "written.jsonl", written.lines(dataset, left_out)
    yield "text_history.jsonl", history.lines(dataset)
    yield NOTES, notes.lines(dataset)


def _systems(dataset: Dataset) -> list[str]:
    """The systems whose reports have a place among the authors' files."""
    return [
        system for system in _all_systems(dataset) if system.startswith((ANNOTATED, HUMAN_EVAL))
    ]


def _other_systems(dataset: Dataset, left_out: Counter[str]) -> list[str]:
    """Return all other systems; reports without words or topic are counted as left out."""
    names = [
        system for system in _all_systems(dataset) if not system.startswith((ANNOTATED, HUMAN_EVAL))
    ]
    lacking = dataset.texts.filter(kind=Text.Kind.REPORT, system__in=names)
    lacking = lacking.filter(Q(body=None) | Q(topic=None)).order_by()
    for system, n in lacking.values_list("system").annotate(Count("pk")):
        left_out[f"reports of {system} without words, or of no topic"] += n
    return names


def _all_systems(dataset: Dataset) -> list[str]:
    reports = dataset.texts.filter(kind=Text.Kind.REPORT).order_by("system")
    return list(reports.values_list("system", flat=True).distinct())


def _labels(
    dataset: Dataset, name: str, rater: Rater, systems: list[str], left_out: Counter[str]
) -> Generator[File, None, Q]:
    """Yield the files of one rater; return a filter for the ratings that are in none.

    There is a file for each task and each kind of text or system.
    """
    rated = (
        Rating.objects.filter(rater=rater, text__dataset=dataset)
        .order_by()
        .values_list("rubric__slug", "text__kind", "text__system")
        .annotate(Count("pk"))
    )
    files: dict[str, tuple[Labels, str]] = {}
    remaining: dict[tuple[str, str], list[str]] = defaultdict(list)  # systems by rubric and kind
    for rubric, kind, system, n in rated:
        spec = _label_file(rater, rubric, kind, system)
        if rater.kind == Rater.Kind.AGGREGATE:
            # Derived from other raters: `manage.py aggregate` recomputes it.
            left_out[f"grades under {rubric} by the aggregate {name}"] += n
        elif spec is None or (kind == Text.Kind.REPORT and system not in systems):
            remaining[rubric, kind].append(system)
        else:
            file, labels, slot = spec
            files[file.format(name)] = (labels, slot)
    for file, (labels, slot) in sorted(files.items()):
        yield file, labels(dataset, rater, slot)
    in_none = Q()
    for (rubric, kind), of_systems in remaining.items():
        in_none |= Q(rubric__slug=rubric, text__kind=kind, text__system__in=of_systems)
    return in_none


def _label_file(
    rater: Rater, rubric: str, kind: str, system: str
) -> tuple[str, Labels, str] | None:
    """Return the file pattern, writer and slot for such ratings; None if they have no file."""
    human = rater.kind == Rater.Kind.HUMAN
    slot = {Text.Kind.REFERENCE: REFERENCE, Text.Kind.PASSAGE: USUAL}.get(Text.Kind(kind), system)
    if human and rubric == ANSWERABLE.slug and kind != Text.Kind.PASSAGE:
        slot = USUAL if slot.startswith(ANNOTATED) else slot
        return f"annotations/{_name_pattern(slot)}.qlabels.jsonl", qlabels.lines, slot
    if human and rubric == GRADED.slug:
        return f"annotations/{_name_pattern(slot)}.qrels.jsonl", qrels.lines, slot
    if not human and rubric == GRADED.slug and slot == REFERENCE:
        return "judgements/{}.reference.jsonl", judgements.lines, slot
    if not human and rubric == GRADED.slug:
        return f"judgements/{_name_pattern(slot)}.judgements.jsonl", judgements.lines, slot
    return None


def _name_pattern(slot: str) -> str:
    return f"{{}}.{slot}" if slot else "{}"
