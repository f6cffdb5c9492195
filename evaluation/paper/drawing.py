"""Figures as files: SVG, PNG and PDF that are the same bytes whenever the same figure is drawn."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from evaluation.paper.parts import Kind

DPI = 300
COLUMN = 3.35  # inches: a column of a two-column page
PAGE = 6.95  # inches: both columns

INK = "#17211e"
QUIET = "#6b7773"
RULE = "#d3dcd8"

# Whatever a matplotlibrc on this machine says. The fonts are those that matplotlib brings along.
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
    "svg.hashsalt": "crux",  # the names of clip paths are otherwise drawn by chance
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
_settings = threading.Lock()


# What matplotlib would write into a file about when and by what it was made.
UNSAID: dict[Kind, tuple[str, ...]] = {
    "svg": ("Date", "Creator"),
    "png": ("Software",),
    "pdf": ("CreationDate", "Creator", "Producer"),
}


def draw(paint: Callable[[Figure], None], kind: Kind) -> bytes:
    """What `paint` draws on an empty figure, as the bytes of a file.

    The figure is one of its own, without pyplot, and drawn once: a second time its layout could
    settle elsewhere. The file holds no date and no version.
    """
    with _settings, mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        paint(figure)
        file = io.BytesIO()
        figure.savefig(file, format=kind, metadata=dict.fromkeys(UNSAID[kind]))
        return file.getvalue()
