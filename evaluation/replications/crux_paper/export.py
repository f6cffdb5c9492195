"""Files of the page, as `manage.py tables` writes them: single, or all as a .zip."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

from evaluation.data.cache import cached
from evaluation.data.cache_keys import CacheKey
from evaluation.replications.crux_paper.parts import (
    Figure,
    Kind,
    PaperParts,
    Part,
    cached_parts,
    text_files,
)
from evaluation.replications.crux_paper.query import PaperQuery
from evaluation.replications.crux_paper.supplement import supplement_file, supplement_of
from evaluation.supplement import Supplement

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
    "bib": "application/x-bibtex; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
    "zip": "application/zip",
}
CANNOT_DRAW = "Drawing figures needs matplotlib, an extra: make env EXTRAS=figures."


def can_draw() -> bool:
    """Return whether Matplotlib is installed."""
    return find_spec("matplotlib") is not None


def parts_of(choice: PaperQuery) -> PaperParts:
    """Return the tables and figures of one state of the page."""
    return cached_parts(choice.dataset, choice.options, choice.systems)


def supplement_of_choice(choice: PaperQuery) -> Supplement:
    """Return the further tables of one state of the page, not computed."""
    return supplement_of(choice.dataset, choice.options, choice.systems)


def further_file(choice: PaperQuery, result: PaperParts, name: str) -> str | None:
    """Return a file of the supplement; None if there is none of this name.

    Raises SelectionError, with the reason, for one that is left out.
    """
    return supplement_file(supplement_of_choice(choice), result, name)


def files_of(choice: PaperQuery, part: Part) -> dict[str, Callable[[], str | bytes]]:
    """Return a maker for each file of a table or figure, by name.

    Drawings are left out on a site without Matplotlib.
    """
    makers: dict[str, Callable[[], str | bytes]] = {}
    if isinstance(part, Figure) and can_draw():
        makers |= {
            name: partial(_render_figure, choice, part, kind)
            for name, kind in part.drawings.items()
        }
    return makers | text_files(part, intervals=choice.intervals)


def svg_of(choice: PaperQuery, figure: Figure) -> bytes:
    """Return the drawing as SVG, cached until the data change.

    Each visit of the page shows it.
    """
    key = (CacheKey.PAPER_DRAWING, figure.label, choice.options, choice.systems)
    return cached(choice.dataset, key, lambda: _draw(figure, "svg"))


def no_file(result: PaperParts, name: str) -> str:
    """Return the reason why there is no file of this name, as a sentence."""
    for label, reason in result.left_out.items():
        if name.startswith(label):
            return f"{label} is not made, because {reason}."
    if any(isinstance(part, Figure) and name in part.drawings for part in result.parts.values()):
        return CANNOT_DRAW
    return f"There is no file “{name}” of these tables and figures."


def zipped(choice: PaperQuery) -> bytes:
    """Return a .zip of all files that the command writes with these options and systems.

    Its folder has the dataset's name.
    """
    from evaluation.replications.crux_paper.bundle import archive, make_all  # noqa: PLC0415 - of the extra figures

    bundle = make_all(
        choice.dataset,
        choice.options,
        intervals=choice.intervals,
        systems=choice.systems,
        result=parts_of(choice),
    )
    return archive(bundle.files, choice.dataset.slug)


def _render_figure(choice: PaperQuery, figure: Figure, kind: Kind) -> bytes:
    return svg_of(choice, figure) if kind == "svg" else _draw(figure, kind)


def _draw(figure: Figure, kind: Kind) -> bytes:
    from evaluation.replications.crux_paper.painting import draw_figure  # noqa: PLC0415 - of the extra figures

    return draw_figure(figure.data, kind)
