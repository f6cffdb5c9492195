"""Reproducible drawing of figures as SVG, PNG and PDF: the same figure, the same bytes."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from evaluation.replications.crux_paper.parts import Kind

DPI = 300
COLUMN = 3.35  # inches: a column of a two-column page
PAGE = 6.95  # inches: both columns

INK = "#17211e"
QUIET = "#6b7773"
RULE = "#d3dcd8"

# Overrides any matplotlibrc of the machine. The fonts are those bundled with matplotlib.
STYLE: dict[Any, Any] = {
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.labelsize": 7,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 7,
    "figure.dpi": DPI,
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "hatch.linewidth": 0.4,
    "pdf.fonttype": 42,  # outlines that may be searched; publishers refuse bitmaps and Type 3
    "savefig.dpi": DPI,
    "svg.fonttype": "path",  # the same letters on a machine without the font
    "svg.hashsalt": "crux",  # the names of clip paths are random otherwise
    "text.color": INK,
    "text.parse_math": False,  # a name with two dollar signs is a name
    "xtick.color": QUIET,
    "xtick.labelcolor": INK,
    "xtick.labelsize": 6.5,
    "xtick.major.size": 2,
    "xtick.major.width": 0.6,
    "ytick.color": QUIET,
    "ytick.labelcolor": INK,
    "ytick.labelsize": 6.5,
    "ytick.major.size": 2,
    "ytick.major.width": 0.6,
}

# The settings of matplotlib belong to the whole process; a server draws in several threads.
_settings_lock = threading.Lock()


# Metadata on time and software that matplotlib would write into a file.
OMITTED_METADATA: dict[Kind, tuple[str, ...]] = {
    "svg": ("Date", "Creator"),
    "png": ("Software",),
    "pdf": ("CreationDate", "Creator", "Producer"),
}


def draw(paint: Callable[[Figure], None], kind: Kind) -> bytes:
    """Paint a new figure with `paint`, and return it as the bytes of a file.

    The figure is one of its own, without pyplot, and drawn once: a second time its layout could
    settle elsewhere. The file holds no date and no version.
    """
    with _settings_lock, mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        paint(figure)
        file = io.BytesIO()
        figure.savefig(file, format=kind, metadata=dict.fromkeys(OMITTED_METADATA[kind]))
        return file.getvalue()
