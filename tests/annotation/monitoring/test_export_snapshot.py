"""Exports of a campaign have one state of the database while somebody works on it."""

import zipfile

import pytest
from django.core.management import call_command

from annotation.models import LogEntry
from annotation.monitoring import export
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.threads import in_threads

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("name", ["folder", "archive.zip"])
def test_entry_during_an_export_is_not_in_its_log(cast, tmp_path, monkeypatch, name):
    campaign = make_campaign(make_dataset(), cast.worker)
    LogEntry.record(campaign, cast.admin, "paused", "before")
    files = export.files

    def files_and_entry(*args, **options):
        in_threads(
            lambda text: LogEntry.record(campaign, cast.admin, "closed", text), ["meanwhile"]
        )
        yield from files(*args, **options)

    monkeypatch.setattr(export, "files", files_and_entry)
    call_command("export_campaign", campaign.slug, str(tmp_path / name))
    if name == "folder":
        log = (tmp_path / name / "log.csv").read_text(encoding="utf-8")
    else:
        with zipfile.ZipFile(tmp_path / name) as zipped:
            log = zipped.read(f"{campaign.slug}/log.csv").decode()
    assert ("before" in log, "meanwhile" in log) == (True, False)
