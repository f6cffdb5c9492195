"""What people said in a dataset that is deleted: the full export of each campaign, kept as a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from annotation.models import Campaign, Project
from annotation.monitoring.export import write_archive


def archive_of(project: Project) -> dict[str, Path]:
    """The files of a project's archive by name."""
    return {path.name: path for path in sorted(_folder(project).glob("*.zip"))}


@contextmanager
def archived(project: Project, campaigns: Iterable[Campaign]) -> Iterator[None]:
    """Inside, the campaigns are in the archive; where what is done there fails, they are taken out."""
    written: list[Path] = []
    try:
        for campaign in campaigns:
            name = f"{campaign.dataset.slug}.{campaign.slug}.{timezone.now():%Y%m%d-%H%M%S}.zip"
            path = _folder(project) / name
            write_archive(campaign, path, anonymous=False)
            written.append(path)
        yield
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise


def _folder(project: Project) -> Path:
    return Path(settings.VAR_DIR) / "archive" / project.slug
