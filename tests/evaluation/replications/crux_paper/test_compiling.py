"""Compilation of all files of a paper by pdfLaTeX, in one column and two, under any name."""

from copy import deepcopy
from pathlib import Path

import pytest
from django.conf import settings
from django.db.models import Value
from django.db.models.functions import Concat

from annotation.models import Dataset, Rubric, RubricLevel
from crux_site.imports.importing import import_dataset
from evaluation.replications.crux_paper.bundle import make_all, write_files
from tests.evaluation.replications.crux_paper.material import make_mill
from tests.evaluation.scoring.choosing import choose
from tests.toolbox.latex import compile_bibliography, compile_document, has_latex_file, needs_latex

pytestmark = [pytest.mark.any_database, pytest.mark.soak, needs_latex]  # they draw every figure

NASTY = "_&%#~^\\{}<>\"€ Ωά 中文 😀 [x] -- 'é'"
# Classes of journals are tested only where they are installed.
CLASSES = ["{article}", "[twocolumn]{article}"] + [
    template
    for name, template in {
        "acmart.cls": "[sigconf,nonacm]{acmart}",
        "IEEEtran.cls": "[conference]{IEEEtran}",
    }.items()
    if has_latex_file(name)
]


def make_studies() -> dict[str, Dataset]:
    """Return the demo, and the study of the paper's tables with special signs in all names."""
    mill = make_mill()
    import_dataset(settings.BASE_DIR / "fixtures" / "demo", "coast")
    for rows, field in (
        (mill.texts.filter(kind="report"), "system"),
        (mill.runs.all(), "name"),
        (mill.raters.all(), "name"),
        (Rubric.objects.filter(slug="answerable"), "title"),
        (RubricLevel.objects.filter(rubric__slug="answerable"), "label"),
    ):
        rows.exclude(**{f"{field}__endswith": ".oracle"}).update(
            **{field: Concat(field, Value(NASTY))}
        )
    return {"mill": mill, "coast": Dataset.objects.get(slug="coast")}


@pytest.fixture(scope="module")
def studies(shared_world):
    return shared_world(make_studies)


def compile_all(dataset: Dataset, folder: Path, **options: str) -> str:
    """Compile the example in each class, and return the log of the last one with references."""
    files = make_all(dataset, choose(dataset, **options)).files
    write_files(folder, files)
    text = files["example.tex"].decode()
    for template in CLASSES:
        log = compile_document(folder, text.replace("{article}", template, 1))
        # No line of a text breaks within the names of special signs.
        assert "too wide" not in log or NASTY in options["source"], template
    compile_bibliography(folder)
    compile_document(folder, text)
    return compile_document(folder, text)


@pytest.mark.parametrize(
    ("slug", "source"),
    [("mill", f"judge{NASTY}"), ("coast", "majority")],
    ids=["special signs", "demo"],
)
def test_all_files_compile(db, studies, tmp_path, slug, source):
    log = compile_all(deepcopy(studies[slug]), tmp_path, source=source)
    assert "undefined" not in log  # no reference and no citation
    assert "% U+1F600 GRINNING FACE" in (tmp_path / "methods.tex").read_text() or slug == "coast"


def test_real_study_compiles(real_study, tmp_path):
    log = compile_all(real_study, tmp_path, source="llama33_70b")
    assert "undefined" not in log
    methods = " ".join((tmp_path / "methods.tex").read_text().split())
    # The agreement of docs/papers/crux.md.
    assert "3 people rated 261 pairs of a text and a sub-question" in methods
    assert r"is 0.59 (95\% interval 0.44 to 0.75)" in methods
