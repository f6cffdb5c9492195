"""Recognition of the files of a folder in another format, or else in our own layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from annotation.formats import layout
from annotation.formats.foreign import (
    alce,
    argilla,
    beir,
    crud,
    diversity,
    hf,
    label_studio,
    miracl,
    msmarco,
    nuggets,
    potato,
    qac,
    ragtime,
    reranker,
    trec_rag,
    trec_topics,
    umbrela,
    web_annotation,
)
from annotation.formats.foreign.files import File
from annotation.formats.foreign.qrels import Folder
from annotation.formats.layout import RecognisedFiles, Source, printable
from annotation.formats.run_order import RunOrder
from annotation.formats.summary import DatasetImportError, Problem, SkippedFile

Sources = Callable[[File, Folder], Iterator[Source]]
FORMATS: dict[str, Sources] = {
    "beir": beir.sources,
    "msmarco": msmarco.sources,
    "miracl": miracl.sources,
    "trec-rag": trec_rag.sources,
    "ragtime": ragtime.sources,
    "nuggets": nuggets.sources,
    "hf": hf.sources,
    "alce": alce.sources,
    "reranker-requests": reranker.sources,
    "qac": qac.sources,
    "crud": crud.sources,
    "trec-diversity": diversity.sources,
    "label-studio": label_studio.sources,
    "potato": potato.sources,
    "argilla": argilla.sources,
    "web-annotation": web_annotation.sources,
}


# Formats whose other files are TREC runs and qrels.
_WITH_TOPICS = tuple(
    FORMATS[name]
    for name in ("beir", "msmarco", "miracl", "trec-rag", "ragtime", "nuggets", "trec-diversity")
)


_OF_ANY_JSON = ("crud", "label-studio", "potato", "argilla", "web-annotation")


def recognise(
    path: Path, name: str, *, lenient: bool = False, run_order: RunOrder = RunOrder.AUTO
) -> RecognisedFiles:
    """Return the files that a format or our own layout can read, of a folder or one file.

    Raises DatasetImportError where there are none, or one is ambiguous.
    """
    try:
        recognised = _sort_files(Folder(_files(path), lenient, run_order), FORMATS[name])
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise DatasetImportError([Problem(printable(str(path)), 0, "", message)]) from error
    if not any(
        source.translation or source.kind is layout.Kind.RUN for source in recognised.sources
    ):
        message = f"no file of the format {name} (docs/files.md says how its files are called)"
        raise DatasetImportError([Problem(printable(path.name), 0, "", message)])
    return recognised


def formats_of(path: Path) -> list[str]:
    """Return the formats that read most files of a folder or file, without those of any JSON."""
    n_of: dict[str, int] = {}
    try:
        files = Folder(_files(path))
    except OSError:
        return []
    for name, of_format in FORMATS.items():
        if name in _OF_ANY_JSON:
            continue
        try:
            sources = _sort_files(files, of_format).sources
        except (DatasetImportError, OSError):
            continue
        n_of[name] = len({source.name for source in sources if source.translation})
    maximum = max(n_of.values(), default=0)
    return [name for name, n in n_of.items() if n == maximum > 0]


def _files(path: Path) -> list[File]:
    if path.is_file():
        return [File(path, path.name)]
    root = layout.inner(path)
    paths = sorted(file for file in root.rglob("*") if file.is_file())
    names = [(file, file.relative_to(root).as_posix()) for file in paths]
    return [File(file, name) for file, name in names if not f"/{name}".count("/.")]


def _of_ours(file: File) -> Source | None:
    """Return the source of a file in our own formats, by its name or else by its content."""
    return layout.by_name(file.path, file.name) or layout.by_content(file.path, file.name)


def _sort_files(folder: Folder, of_format: Sources) -> RecognisedFiles:
    recognised = RecognisedFiles()
    for file in folder.files:
        by_content = (
            [*trec_topics.sources(file), *umbrela.sources(file)]
            if of_format in _WITH_TOPICS
            else []
        )
        sources = by_content or list(of_format(file, folder))
        if not sources and (our_source := _of_ours(file)):
            sources = [our_source]
        recognised.sources += sources
        if not sources:
            recognised.left_out.append(SkippedFile(printable(file.name), 1, "not of this format"))
    # Secondary sources come last, so that the order of topics is that of a file of topics.
    recognised.sources.sort(key=lambda source: source.again)
    return recognised
