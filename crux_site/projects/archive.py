"""Archive of deleted datasets: the full export of each campaign, as a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from annotation.models import Campaign, Project
from annotation.monitoring.export import write_archive


def archive_of(project: Project) -> dict[str, Path]:
    """Return the archive files of a project by name."""
    return {path.name: path for path in sorted(_folder(project).glob("*.zip"))}


@contextmanager
def archive_campaigns(project: Project, campaigns: Iterable[Campaign]) -> Iterator[None]:
    """Archive the campaigns around the body; if the body fails, delete the files again."""
    paths: list[Path] = []
    try:
        for campaign in campaigns:
            name = f"{campaign.dataset.slug}.{campaign.slug}.{timezone.now():%Y%m%d-%H%M%S}.zip"
            path = _folder(project) / name
            write_archive(campaign, path, anonymous=False)
            paths.append(path)
        yield
    except BaseException:
        for path in paths:
            path.unlink(missing_ok=True)
        raise


def _folder(project: Project) -> Path:
    return Path(settings.VAR_DIR) / "archive" / project.slug
