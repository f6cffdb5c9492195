"""Export of a project as one archive: a folder for each dataset, and project.json."""

from __future__ import annotations

import json
from pathlib import Path

from annotation.db_version import snapshot
from annotation.formats.writing import ExportError
from annotation.models import Project
from crux_site.datasets.export import ExportSummary, export_folder, write

PROJECT_FILE = "project.json"
FORMAT = 1  # of project.json; to be raised when older sites cannot read it any more


def export_project(project: Project, out: Path) -> dict[str, ExportSummary]:
    """Write each dataset of a project as a folder, and project.json; all have one state.

    Returns the summaries by dataset.

    Raises ExportError for a project without datasets, and if the folder holds anything already.
    """
    with snapshot():
        return _export_project(project, out)


def _export_project(project: Project, out: Path) -> dict[str, ExportSummary]:
    datasets = list(project.datasets.order_by("slug"))
    if not datasets:
        raise ExportError(f"{project.slug} has no datasets")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ExportError(f"{out} is there already and not an empty folder")
    summaries = {dataset.slug: export_folder(dataset, out / dataset.slug) for dataset in datasets}
    about = {
        "format": FORMAT,
        "project": {"slug": project.slug, "title": project.title},
        "datasets": [
            {
                "slug": dataset.slug,
                "title": dataset.title,
                "files": len(summaries[dataset.slug].files),
            }
            for dataset in datasets
        ],
    }
    text = json.dumps(about, ensure_ascii=False, indent=2) + "\n"
    write(out / PROJECT_FILE, text.splitlines(keepends=True))
    return summaries
