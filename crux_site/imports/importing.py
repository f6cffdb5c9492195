"""Import of a dataset: each app reads its own files, in the order of their dependencies."""

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path

from django.db import DataError, IntegrityError, OperationalError, connection, transaction
from django.db.models import Model

from annotation.formats import (
    cited,
    copied_grades,
    documents,
    exposures,
    grades,
    history_reading,
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
from annotation.formats.foreign import folder
from annotation.formats.layout import (
    NO_FILE,
    Kind,
    NoFileError,
    RecognisedFiles,
    Source,
    printable,
    recognise,
)
from annotation.formats.left_out_rows import Repeated
from annotation.formats.run_order import RunOrder
from annotation.formats.summary import Conversion, DatasetImportError, ImportSummary, Problem
from annotation.formats.target import LeftOutUnits, Progress, Target, check_dataset
from annotation.formats.text_edits import TextEditPolicy, TextEdits
from annotation.models import (
    Dataset,
    NuggetSpan,
    Project,
    ProjectEntry,
    Rater,
    Rating,
    SubQuestion,
    Text,
    Topic,
    User,
    Version,
)
from annotation.models.rubric import forget_grades
from annotation.text.versions import TextEditError
from building.formats import origins, writers, written
from crux_site.database_errors import is_disk_full
from crux_site.history.import_undo import ADDED
from crux_site.history.origins import origins_of_import
from crux_site.imports.replacement import check_replacement, remove_replaced
from crux_site.removal import keys_since, last_keys
from crux_site.sqlite.copies import on_database_copy
from crux_site.versions.text_edits import edit_text, recheck_edits
from evaluation.formats import contexts, notes, systems, trec_run, values
from evaluation.models import RankedText, RetrievalRun
from judging.formats import judges

__all__ = ["DatasetImportError", "ImportSummary", "import_dataset"]

Reader = Callable[[Target, Source], None]

# Each line depends on those above it. Files of one line are read together before their errors are
# reported; the lines below are not begun, for they would repeat the same errors.
_STAGES: tuple[tuple[Reader, tuple[Kind, ...]], ...] = (
    (rubrics.read, (Kind.RUBRICS,)),
    (judges.read, (Kind.RATERS,)),
    (raters.read, (Kind.RATERS,)),
    (topics.read, (Kind.TOPICS,)),
    (subquestions.read, (Kind.SUBQUESTIONS,)),
    (subquestions.append, (Kind.ADDED_QUESTIONS,)),
    (documents.read, (Kind.WHOLE_DOCUMENTS, Kind.REFERENCES)),
    (passages.read, (Kind.PASSAGES, Kind.DOCUMENTS)),
    (reports.read, (Kind.REPORTS_ANNOTATED,)),
    (reports.read, (Kind.REPORTS_ALL,)),
    (cited.read, (Kind.CITED,)),
    (systems.read, (Kind.SYSTEMS,)),
    (values.read, (Kind.VALUES,)),
    (trec_run.read, (Kind.RUN,)),
    (contexts.read, (Kind.REPORTS_ANNOTATED, Kind.REPORTS_ALL)),
    (qlabels.read, (Kind.QLABELS,)),
    (qrels.read, (Kind.QRELS,)),
    # After the final labels: earlier ones only add to them.
    (qlabels.read, (Kind.HISTORY_QLABELS,)),
    (qrels.read, (Kind.HISTORY_QRELS,)),
    (judgements.read, (Kind.JUDGEMENTS, Kind.REFERENCE)),
    (ratings.read, (Kind.RATINGS,)),
    (grades.read, (Kind.GRADES,)),
    (copied_grades.read, (Kind.COPIED_GRADES,)),
    (exposures.read, (Kind.EXPOSURES,)),
    (origins.read, (Kind.ORIGINS,)),
    (writers.read, (Kind.WRITERS,)),
    (written.read, (Kind.WRITTEN,)),
    (history_reading.read, (Kind.TEXT_HISTORY,)),
    (notes.read, (Kind.NOTES,)),
)
_USUAL_THRESHOLDS = gc.get_threshold()  # of the process: two threads may import at a time
CRUX = "crux"
FORMATS = (CRUX, *folder.FORMATS)


def import_dataset(
    path: Path | str,
    dataset_slug: str,
    *,
    title: str = "",
    project: Project | None = None,
    by: User | None = None,
    dry_run: bool = False,
    with_history: bool = False,
    form: str = CRUX,
    lenient: bool = False,
    new_words: str = TextEditPolicy.REFUSE,
    replaces: str = "",
    run_order: str = RunOrder.AUTO,
    repeated: str = Repeated.LEAVE_OUT,
    progress: Progress | None = None,
    convert: Callable[[Dataset, ImportSummary], RecognisedFiles] | None = None,
    mapping: Mapping[str, object] | None = None,
    added: str = "",
) -> ImportSummary:
    """Read a folder, or one file, into a dataset: all of it or nothing.

    It is in the authors' formats, or in the other format that `form`, one of FORMATS, names. Of files in other
    formats the sound rows are read, and the summary's `left_out_rows` list the others; `repeated`, a
    Repeated, says what becomes of a pair that one person graded otherwise a second time in an annotation tool.
    `lenient` keeps
    and counts what files of CRUD-RAG have that fits not: other formats have none of it. `new_words`, a Choice,
    says what becomes of other words under the name of a text or a question that is there. What `replaces`
    names, by kind and name as `system:bm25`, goes first, and must come back under its name. `run_order`, a
    RunOrder, says how a run is read whose lines are not in the order of their scores.

    A dataset of this slug is made if there is none, in `project` (stored with it if it is new) or, without one,
    in the main one; `by` is
    whose act the project's log calls it. What is there already stays as it is, but for those words, so that
    reading the same files again changes nothing. A dry run does the same work and takes it back,
    and nobody waits for it: on SQLite it works at a copy. `progress` is called with a file's name
    and the lines read of it so far. `convert` gives the files instead of `path`, beside what the dataset has,
    as tables do by their `mapping`, which the log keeps. `added` is the name of what a form adds, for the log.

    Raises DatasetImportError, whose `problems` say file, line, field and what was expected.
    """
    began = time.monotonic()
    check_dataset(dataset_slug, title)
    files = RecognisedFiles()  # tables are converted beside what the dataset has
    if convert:
        pass
    elif form == CRUX:
        files = _recognised(Path(path), dataset_slug, with_history=with_history)
    else:
        files = folder.recognise(Path(path), form, lenient=lenient, run_order=RunOrder(run_order))
    summary = ImportSummary(dataset_slug, dry_run=dry_run, left_out=files.left_out)
    options = RunOrder(run_order), Repeated(repeated)
    left_out: LeftOutUnits = {}
    is_whole = False
    try:
        with on_database_copy() if dry_run else nullcontext(), _rare_garbage_collection():
            while not is_whole:
                summary = ImportSummary(dataset_slug, dry_run=dry_run, left_out=files.left_out)
                with suppress(_PartialImportError), transaction.atomic():
                    dataset = _dataset(dataset_slug, title, project, summary)
                    replaced = remove_replaced(dataset, replaces, summary) if replaces else None
                    before = last_keys(dataset)
                    if convert:
                        files = convert(dataset, summary)
                    text_edits = _new_words(TextEditPolicy(new_words), summary, by)
                    target = Target(dataset, summary, text_edits, progress, *options, left_out)
                    _read(target, files)
                    _recheck_text_edits(dataset, summary, before)
                    if replaced:
                        check_replacement(replaced, summary)
                    if summary.changed:
                        if not added:
                            _analyze_tables()
                        _log_import(target, by, before, mapping, added)
                    summary.totals = _totals(dataset)
                    if dry_run:
                        transaction.set_rollback(True)
                    is_whole = True
                if not is_whole:
                    forget_grades()  # of rubrics that were created and rolled back
    except (DataError, IntegrityError, OperationalError) as error:
        message = _refusal(error)
        summary.errors = [Problem(Path(path).name, 0, "", message)]
        raise DatasetImportError(summary.errors, summary) from error
    finally:
        if dry_run:
            forget_grades()
    summary.seconds = time.monotonic() - began
    return summary


def _refusal(error: Exception) -> str:
    """Return the message for an error of the database, with what to do."""
    if is_disk_full(error):
        return "the disk of the database is full: free space on it, and import again"
    return f"the database refused: {error}; if somebody else imports now, try again"


def _recognised(path: Path, dataset_slug: str, *, with_history: bool) -> RecognisedFiles:
    """Return the files of our own formats.

    Raises DatasetImportError where there are none, or only runs and the dataset has no topic that they
    could rank texts for; it names another format that fits.
    """
    try:
        files = recognise(path, with_history=with_history)
    except NoFileError as error:
        names = folder.formats_of(path)
        if not names:
            raise
        raise _of_other_format(path, NO_FILE, names) from error
    are_runs = all(source.kind is Kind.RUN for source in files.sources)
    has_topics = Topic.objects.filter(dataset__slug=dataset_slug)
    if are_runs and files.left_out and not has_topics.exists():
        names = folder.formats_of(path)
        if names:
            raise _of_other_format(path, "only runs can be read", names)
    return files


def _of_other_format(path: Path, reason: str, names: list[str]) -> DatasetImportError:
    message = f"{reason} as a CRUX folder. It looks like {' or '.join(names)}: choose this format"
    return DatasetImportError([Problem(printable(path.name), 0, "", message)])


class _PartialImportError(Exception):
    """Import that stored rows of a unit that is left out; it is repeated without it."""


@contextmanager
def _rare_garbage_collection() -> Iterator[None]:
    """Run the garbage collector rarely inside: an import creates many rows, none in cycles.

    Looking for cycles every few hundred rows, as Python does, takes a quarter of an import.
    """
    gc.set_threshold(100_000, *_USUAL_THRESHOLDS[1:])
    try:
        yield
    finally:
        gc.set_threshold(*_USUAL_THRESHOLDS)


def _dataset(slug: str, title: str, project: Project | None, summary: ImportSummary) -> Dataset:
    if project and project.pk is None:
        defaults = {"title": project.title}
        project, _ = Project.objects.get_or_create(slug=project.slug, defaults=defaults)
    defaults = {"title": title or slug} | ({"project": project} if project else {})
    dataset, created = Dataset.objects.get_or_create(slug=slug, defaults=defaults)
    if project and dataset.project_id != project.pk:
        problem = Problem("", 0, "dataset", f"{slug} is taken, and not in {project.slug}")
        raise DatasetImportError([problem], summary)
    if created:
        summary.created["datasets"] += 1
    elif title and dataset.title != title:
        summary.mapped[Conversion.TITLE_KEPT] += 1
    return Dataset.objects.lock(dataset.pk)


def _read(target: Target, files: RecognisedFiles) -> None:
    """Read the files.

    Raises _PartialImportError where a unit was left out after rows of it were stored: the next
    import leaves it out from the beginning.
    """
    n_kinds = Counter(source.name for source in files.sources if source.leaves_out)
    target.compound_files = frozenset(name for name, n in n_kinds.items() if n > 1)
    try:
        _read_stages(target, files)
    except DatasetImportError:
        if not target.is_partial:
            raise
    if target.is_partial:
        raise _PartialImportError
    raters.restore_dates(target)
    copied_grades.store_sources(target)
    exposures.store_exposures(target)
    # Drop counters that stayed at 0.
    for counter in (target.summary.created, target.summary.mapped):
        for name in [name for name, n in counter.items() if not n]:
            del counter[name]


def _read_stages(target: Target, files: RecognisedFiles) -> None:
    for read, kinds in _STAGES:
        for source in files.of(*kinds):
            read(target, source)
            target.read_files.add(source.name)
        target.refuse_unsound_files()
        target.stop_if_wrong()
    target.refuse_unsound_tools()
    target.stop_if_wrong()


def _new_words(choice: TextEditPolicy, summary: ImportSummary, by: User | None) -> TextEdits:
    return TextEdits(
        choice,
        summary,
        partial(edit_text, by=by, counts=choice is TextEditPolicy.COUNT, is_from_file=True),
    )


def _recheck_text_edits(
    dataset: Dataset, summary: ImportSummary, before: Mapping[type[Model], int]
) -> None:
    """Raise DatasetImportError if rows created meanwhile depend on an edited text."""
    if not summary.new_words.n:
        return
    try:
        recheck_edits(dataset, before[Version])
    except TextEditError as refused:
        summary.errors = [Problem(dataset.slug, 0, "", str(refused))]
        raise DatasetImportError(summary.errors, summary) from refused


def _log_import(
    target: Target,
    by: User | None,
    before: Mapping[type[Model], int],
    mapping: Mapping[str, object] | None,
    added: str,
) -> None:
    """Log the import in its project, with the keys of the new rows: an undo deletes these.

    The mapping of tables is kept with it, so that a later import of the same columns can take it.
    """
    dataset, summary = target.dataset, target.summary
    counts = [f"{n} {label}" for label, n in summary.created.items() if label != "datasets"]
    if filled := sum(file.filled for file in summary.files):
        counts.append(f"{filled} filled that were there")
    origins = origins_of_import(target.named_models, before)
    filled += sum(group.n for group in origins)
    rows = keys_since(before) | {"filled": filled}
    if origins:
        rows["origins"] = [group.as_json() for group in origins]
    if target.adopted:
        rows["judges"] = sorted(target.adopted)
    if mapping:
        rows["mapping"] = mapping
    action, detail = (ADDED, added) if added else ("imported", ", ".join(counts))
    if summary.replaced:
        action, detail = "replaced", f"{summary.replaced}; brought: {detail}"
    ProjectEntry.record(dataset.project, by, action, detail, dataset, rows=rows)


def _analyze_tables() -> None:
    """Update the planner statistics of PostgreSQL (ANALYZE).

    With the old statistics it plans for the few rows that were there before: counting the raters of the
    study takes thirty seconds, and an export of 100,000 ratings four times as long.
    """
    if connection.vendor == "postgresql":
        models = (Text, SubQuestion, Rating, NuggetSpan, RankedText)
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {', '.join(model._meta.db_table for model in models)}")


def _totals(dataset: Dataset) -> dict[str, int]:
    """Return the numbers of rows of the dataset by label."""
    questions = SubQuestion.objects.filter(topic__dataset=dataset)
    passages = dataset.texts.filter(kind=Text.Kind.PASSAGE)
    ratings = Rating.objects.of_dataset(dataset)
    rated = ratings.order_by().values("rater").distinct()
    return {
        "topics": dataset.topics.count(),
        "sub-questions": questions.count(),
        "sub-questions, filtered": questions.exclude(filtered_because="").count(),
        "documents": dataset.documents.count(),
        "passages": passages.count(),
        "passages without their words": passages.filter(body=None).count(),
        "reports": dataset.texts.filter(kind=Text.Kind.REPORT).count(),
        "reference summaries": dataset.texts.filter(kind=Text.Kind.REFERENCE).count(),
        "retrieval runs": RetrievalRun.objects.filter(dataset=dataset).count(),
        "human raters": rated.filter(rater__kind=Rater.Kind.HUMAN).count(),
        "judges": rated.filter(rater__kind__in=[Rater.Kind.MODEL, Rater.Kind.BASELINE]).count(),
        "ratings": ratings.count(),
    }
