"""The files of the page: those that `manage.py tables` writes, one by one or all as a .zip."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

from evaluation.data.cache import cached
from evaluation.paper.params import PaperChoice
from evaluation.paper.parts import Figure, Kind, Made, Part, kept_parts, texts

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
    "zip": "application/zip",
}
CANNOT_DRAW = "Drawing figures needs matplotlib, an extra: make env EXTRAS=figures."


def can_draw() -> bool:
    """Whether Matplotlib is installed."""
    return find_spec("matplotlib") is not None


def parts_of(choice: PaperChoice) -> Made:
    """The tables and figures of one state of the page."""
    return kept_parts(choice.dataset, choice.options, choice.systems)


def files_of(choice: PaperChoice, part: Part) -> dict[str, Callable[[], str | bytes]]:
    """What makes each file of a table or figure, by name; no drawings on a site without Matplotlib."""
    made: dict[str, Callable[[], str | bytes]] = {}
    if isinstance(part, Figure) and can_draw():
        made |= {name: partial(_drawn, choice, part, kind) for name, kind in part.drawings.items()}
    return made | texts(part, intervals=choice.intervals)


def svg_of(choice: PaperChoice, figure: Figure) -> bytes:
    """The drawing, kept until the data change: each visit of the page shows it."""
    key = ("paper drawing", figure.label, choice.options, choice.systems)
    return cached(choice.dataset, key, lambda: _draw(figure, "svg"))


def no_file(made: Made, name: str) -> str:
    """Why there is no file of this name, in a sentence."""
    for label, why in made.left_out.items():
        if name.startswith(label):
            return f"{label} is not made, because {why}."
    if any(isinstance(part, Figure) and name in part.drawings for part in made.parts.values()):
        return CANNOT_DRAW
    return f"There is no file “{name}” of these tables and figures."


def zipped(choice: PaperChoice) -> bytes:
    """All files of the command with these options and systems, in a folder of the dataset's name."""
    from evaluation.paper.bundle import archive, make_all  # noqa: PLC0415 - of the extra figures

    bundle = make_all(
        choice.dataset,
        choice.options,
        intervals=choice.intervals,
        systems=choice.systems,
        made=parts_of(choice),
    )
    return archive(bundle.files, choice.dataset.slug)


def _drawn(choice: PaperChoice, figure: Figure, kind: Kind) -> bytes:
    return svg_of(choice, figure) if kind == "svg" else _draw(figure, kind)


def _draw(figure: Figure, kind: Kind) -> bytes:
    from evaluation.paper.painting import drawn  # noqa: PLC0415 - of the extra figures

    return drawn(figure.data, kind)
