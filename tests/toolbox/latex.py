"""Compilation of LaTeX documents, where a TeX with the package booktabs is installed."""

import shutil
import subprocess
from pathlib import Path

import pytest


def _has_booktabs() -> bool:
    if not shutil.which("pdflatex") or not shutil.which("kpsewhich"):
        return False
    lookup = subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True, check=False)
    return lookup.returncode == 0


needs_latex = pytest.mark.skipif(
    not _has_booktabs(), reason="NOT COMPILED: there is no pdflatex with booktabs here"
)


def compile_latex(folder: Path, body: str, options: str = "") -> None:
    """Compile a document with this body in a folder. Fails with the end of the log."""
    preamble = r"\usepackage[T1]{fontenc}\usepackage{booktabs,longtable}"
    text = f"\\documentclass[{options}]{{article}}{preamble}\\begin{{document}}\n{body}\n\\end{{document}}\n"
    (folder / "all.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
