"""Compilation of LaTeX documents, where a TeX with the package booktabs is installed."""

import shutil
import subprocess
from pathlib import Path

import pytest


def has_latex_file(name: str) -> bool:
    """Return whether the TeX of this machine has a class or package: `booktabs.sty`."""
    if not shutil.which("pdflatex") or not shutil.which("kpsewhich"):
        return False
    lookup = subprocess.run(["kpsewhich", name], capture_output=True, check=False)
    return lookup.returncode == 0


needs_latex = pytest.mark.skipif(
    not has_latex_file("booktabs.sty"),
    reason="NOT COMPILED: there is no pdflatex with booktabs here",
)


def compile_latex(folder: Path, body: str, options: str = "") -> None:
    """Compile a document with this body in a folder. Fails with the end of the log."""
    preamble = r"\usepackage[T1]{fontenc}\usepackage{booktabs,graphicx,longtable}"
    text = f"\\documentclass[{options}]{{article}}{preamble}\\begin{{document}}\n{body}\n\\end{{document}}\n"
    compile_document(folder, text)


def compile_document(folder: Path, text: str) -> str:
    """Compile a whole document beside the files of a folder, and return TeX's log."""
    (folder / "all.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    return (folder / "all.log").read_text(encoding="utf-8", errors="replace")


def compile_bibliography(folder: Path) -> None:
    """Run BibTeX on the document that `compile_document` compiled. Fails with its messages."""
    done = subprocess.run(["bibtex", "all"], cwd=folder, capture_output=True, check=False)
    messages = done.stdout.decode(errors="replace")
    assert done.returncode == 0, messages
    assert "Warning" not in messages, messages
