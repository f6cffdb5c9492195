"""Exports have one state of the database while somebody works on the dataset."""

from io import StringIO

import pytest
from django.core.management import call_command

from annotation.models import Campaign, Dataset, Project, Text
from crux_site.datasets import export
from crux_site.imports.projects import import_project
from crux_site.versions.text_edits import edit_text
from tests.toolbox.import_study import contents
from tests.toolbox.reimport import empty_site, make_worked
from tests.toolbox.threads import in_threads

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def worked():
    project = Project.objects.create(slug="coast", title="Studies of the coast")
    dataset = make_worked()
    Dataset.objects.filter(pk=dataset.pk).update(project=project)
    dataset.campaigns.update(state=Campaign.State.CLOSED)
    return dataset


def edit_after_reports(monkeypatch, dataset):
    """Let somebody edit a report as soon as the file of the reports is written."""
    report = dataset.texts.filter(kind=Text.Kind.REPORT).first()
    edit = {"by": None, "why": "a slip", "counts": False}
    write_file = export.write

    def write_and_edit(path, lines):
        n = write_file(path, lines)
        if path.name == "reports_annotated.jsonl":
            in_threads(lambda body: edit_text(report, body, **edit), ["Corrected."])
        return n

    monkeypatch.setattr(export, "write", write_and_edit)


def export_project(path):
    call_command("export_project", "coast", "--out", str(path), stdout=StringIO())


def test_project_export_during_an_edit_can_be_imported(monkeypatch, tmp_path, worked):
    export_project(tmp_path / "before")
    with monkeypatch.context() as patch:
        edit_after_reports(patch, worked)
        export_project(tmp_path / "during")
    assert worked.versions.count() == 1
    assert contents(tmp_path / "during") == contents(tmp_path / "before")
    empty_site()
    import_project(tmp_path / "during")
