"""Further files of the paper: other pages' tables, a methods section, an example document."""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from typing import Protocol

from django.conf import settings

from annotation.models import Dataset
from evaluation.data.selection import SelectionError
from evaluation.replications.crux_paper.parts import PaperParts, text_files
from evaluation.replications.crux_paper.provenance import content_hashes
from evaluation.replications.crux_paper.system_choice import Systems
from evaluation.scoring.options import Options
from evaluation.supplement import Supplement, SupplementFiles, reason_of

EXAMPLE = "example.tex"
DOCUMENTS = ("methods.tex", "refs.bib", EXAMPLE)
"""Files about all others."""


class SupplementModule(Protocol):
    """Interface to the tables of other pages and apps: the module that PAPER_SUPPLEMENT names."""

    def supplement(self, dataset: Dataset, options: Options, systems: Systems) -> Supplement: ...


def supplement_of(dataset: Dataset, options: Options, systems: Systems) -> Supplement:
    """Return the supplement of a dataset; its tables are not computed."""
    module: SupplementModule = import_module(settings.PAPER_SUPPLEMENT)
    return module.supplement(dataset, options, systems)


def supplement_files(supplement: Supplement, result: PaperParts, data_hash: str) -> SupplementFiles:
    """Return all further files by name, and why some are left out."""
    table_files = supplement.table_files()
    names = [name for part in result.parts.values() for name in text_files(part)]
    names += table_files.files
    table_files.files.update(supplement.methods(names, data_hash))
    table_files.files[EXAMPLE] = example(names)
    return table_files


def supplement_file(supplement: Supplement, result: PaperParts, name: str) -> str | None:
    """Return one further file; None if there is none of this name.

    Raises SelectionError, with the reason, for one that is left out.
    """
    stem = name.rpartition(".")[0]
    if name in DOCUMENTS:
        data_hash = content_hashes(supplement.dataset)["sha256"]
        return supplement_files(supplement, result, data_hash).files[name]
    if reason := supplement.left_out.get(stem):
        raise SelectionError(f"{stem} is not made, because {reason}.")
    if stem not in supplement.tables:
        return None
    try:
        table_files = supplement.files_of(stem)
    except SelectionError as error:
        raise SelectionError(f"{stem} is not made, because {reason_of(error)}.") from error
    if reason := table_files.left_out.get(name):
        raise SelectionError(f"{name} is not made, because {reason}.")
    return table_files.files.get(name)


def example(names: Collection[str]) -> str:
    """Return a document that inputs the methods section and all tables and figures."""
    inputs = [name.removesuffix(".tex") for name in names if name.endswith(".tex")]
    lines = (
        "% All files of this folder in one document. To compile it: pdflatex example, bibtex example,",
        "% and twice pdflatex example. Other classes and \\documentclass[twocolumn]{article} do as well.",
        "\\documentclass{article}",
        "\\usepackage[T1]{fontenc}",
        "\\usepackage[utf8]{inputenc}",
        "\\usepackage{booktabs,graphicx,longtable}",
        "\\begin{document}",
        "\\section*{Methods}",
        "\\input{methods}",
        "\\clearpage",
        *(f"\\input{{{name}}}\\clearpage" for name in inputs),
        "\\bibliographystyle{plain}",
        "\\bibliography{refs}",
        "\\end{document}",
    )
    return "\n".join([*lines, ""])
