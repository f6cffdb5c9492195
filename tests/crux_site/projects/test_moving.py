"""Move of a project to another site by one archive: commands and the page's link."""

import io
import json
import zipfile
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.models import (
    Dataset,
    NuggetSpan,
    Project,
    Rater,
    Rating,
    Rubric,
    RubricLevel,
    Version,
)
from annotation.models.rubric_rules import store_rubric
from crux_site.exports.projects import export_project
from crux_site.imports.importing import DatasetImportError, import_dataset
from crux_site.imports.projects import import_project
from crux_site.versions.text_edits import edit_text
from judging.models import Judge
from tests.toolbox.import_study import contents, fingerprint, write
from tests.toolbox.reimport import empty_site, make_worked, rate, results

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(cast, tmp_path) -> Project:
    """Two datasets with work on them, and an empty one. One judge has graded both."""
    project = Project.objects.create(slug="coast", title="Studies of the coast")
    import_dataset(write(tmp_path / "small"), "small", project=project)
    ferry = make_worked()
    Dataset.objects.filter(pk=ferry.pk).update(project=project)
    Dataset.objects.create(slug="bare", title="Nothing yet", project=project)
    small = Dataset.objects.get(slug="small")
    rubric = Rubric(slug="tone", title="Tone", question="How?", guideline="Listen.", shows=["text"])
    store_rubric(rubric, [RubricLevel(grade=0, label="Cold"), RubricLevel(grade=1, label="Warm")])
    report = small.texts.filter(kind="report").first()
    rate(Rater.objects.get(name="ann", dataset=small), report, 1, 0, rubric="tone")
    rate(Judge.objects.get(rater__name="zeal").rater, report, 3, 1, rubric="graded")
    edit_text(report, f"Corrected. {report.body}", by=cast.researcher, why="a slip", counts=False)
    edit_text(small.topics.first().questions.first(), "What broke?", by=None, why="", counts=True)
    # An edit took the positions of these spans; their words are in the text all the same.
    for span in NuggetSpan.objects.filter(rating__rater__name="amber"):
        span.start, span.end, span.located = None, None, "unlocated"
        span.quote, span.source_quote = "", span.quote
        span.save()
    return project


@pytest.fixture
def ada(cast):
    return cast.client("admin")


def export(tmp_path: Path, name: str = "coast.zip") -> Path:
    call_command("export_project", "coast", "--out", str(tmp_path / name), stdout=StringIO())
    return tmp_path / name


def test_failed_archive_leaves_no_file(tmp_path, project, monkeypatch):
    def fail(*_files):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("crux_site.exports.folders.shutil.copyfileobj", fail)
        with pytest.raises(CommandError, match="No space left"):
            export(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["small"]  # what the project came from
    assert zipfile.is_zipfile(export(tmp_path))


def history() -> list[tuple]:
    """All versions with the number of grades that each superseded."""
    return [
        (
            *(
                str(version.entity),
                version.number,
                version.body,
                version.why,
                version.counts,
                version.n_ratings,
            ),
            *(version.replaced, version.changed_by),
            *(len(version.set_aside), len(version.had.get("spans", ()))),
        )
        for version in Version.objects.order_by("body")
    ]


def test_moved_project_has_the_same_results(ada, project, tmp_path):
    datasets = ("ferry", "small")
    before = {slug: results(ada, Dataset.objects.get(slug=slug)) for slug in datasets}
    spans = NuggetSpan.objects.values_list("start", "quote", "located")
    before_spans = sorted(spans, key=str)
    before_history = history()
    archive = export(tmp_path)
    empty_site()
    Project.objects.get(slug="coast").delete()
    call_command("import_project", str(archive), stdout=StringIO())
    moved = Project.objects.get(slug="coast")
    assert moved.title == "Studies of the coast"
    assert list(moved.datasets.values_list("slug", "title")) == [
        ("bare", "Nothing yet"),
        ("ferry", "The ferry study"),
        ("small", "small"),
    ]
    for slug in datasets:
        new_results = results(ada, Dataset.objects.get(slug=slug))
        for name in new_results:
            assert new_results[name] == before[slug][name], (slug, name)
    assert sorted(spans.all(), key=str) == before_spans
    assert history() == before_history
    assert Judge.objects.count() == 2
    judge = Judge.objects.get(rater__name="zeal")
    superseded = Version.objects.exclude(set_aside=[]).get().set_aside
    assert judge.rater.pk in {row["rater"] for row in superseded}
    assert Rating.objects.filter(rater=judge.rater).count() == 3
    assert Rubric.objects.get(slug="tone").levels.count() == 2  # only superseded grades use it
    assert export(tmp_path, "again.zip").read_bytes() == archive.read_bytes()


def test_import_of_the_same_project_again_changes_nothing(project, tmp_path):
    archive = export(tmp_path)
    before = fingerprint()
    import_project(archive)
    assert fingerprint() == before


def test_dry_run_reports_and_changes_nothing(project, tmp_path):
    archive = export(tmp_path)
    empty_site()
    before = fingerprint()
    out = StringIO()
    call_command("import_project", str(archive), "--dry-run", stdout=out)
    assert "ferry" in out.getvalue()
    assert fingerprint() == before


def test_project_gets_another_name_and_an_owner(cast, project, tmp_path):
    archive = export(tmp_path)
    empty_site()
    import_project(archive, slug="shore", by=cast.researcher)
    moved = Project.objects.get(slug="shore")
    assert moved.datasets.count() == 3
    assert moved.memberships.get().user == cast.researcher
    assert moved.memberships.get().role == "owner"


def test_dataset_of_another_project_is_refused_and_nothing_changes(project, tmp_path):
    archive = export(tmp_path)
    before = fingerprint()
    with pytest.raises(DatasetImportError, match="ferry is taken"):
        import_project(archive, slug="other")
    assert fingerprint() == before


def test_broken_line_in_the_last_dataset_is_named_and_nothing_changes(project, tmp_path):
    export_project(project, tmp_path / "out")
    empty_site()
    path = tmp_path / "out" / "small" / "topics.jsonl"
    path.write_text(path.read_text() + "{\n")
    before = fingerprint()
    with pytest.raises(DatasetImportError) as raised:
        import_project(tmp_path / "out")
    problem = raised.value.problems[0]
    assert (problem.file, problem.line) == ("small/topics.jsonl", 3)
    assert fingerprint() == before


def _cut(about: dict) -> None:
    del about["project"]


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        (_cut, "project", "Field required"),
        (lambda about: about.update(format=2), "format", "less than or equal to 1"),
        (lambda about: about.update(datasets=[]), "datasets", "at least 1"),
        (lambda about: about["datasets"][1].update(slug="../x"), "datasets.1.slug", "pattern"),
        (
            lambda about: about["datasets"][1].update(slug="gone"),
            "datasets.1.files",
            "0 files, not",
        ),
        (lambda about: about["datasets"][1].update(files=2), "datasets.1.files", "not whole"),
        (lambda about: about["project"].update(title=7), "project.title", "valid string"),
    ],
)
def test_broken_project_file_is_refused(project, tmp_path, change, field, message):
    export_project(project, tmp_path / "out")
    path = tmp_path / "out" / "project.json"
    about = json.loads(path.read_text())
    change(about)
    path.write_text(json.dumps(about))
    before = fingerprint()
    with pytest.raises(DatasetImportError) as raised:
        import_project(tmp_path / "out")
    problem = raised.value.problems[0]
    assert (problem.file, problem.field) == ("project.json", field)
    assert message in problem.message
    assert fingerprint() == before


@pytest.mark.parametrize("content", [b"no archive", b""])
def test_file_that_is_no_archive_is_refused(tmp_path, content):
    path = tmp_path / "coast.zip"
    path.write_bytes(content)
    with pytest.raises(DatasetImportError, match="no archive"):
        import_project(path)


def test_missing_archive_is_named(tmp_path):
    with pytest.raises(DatasetImportError, match=r"nowhere\.zip.*there is no such file"):
        import_project(tmp_path / "nowhere.zip")


def test_archive_of_a_dataset_is_refused(tmp_path):
    path = tmp_path / "folder.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ferry/topics.jsonl", "")
    with pytest.raises(DatasetImportError, match="no exported project"):
        import_project(path)


def test_export_does_not_overwrite(project, tmp_path):
    export(tmp_path)
    with pytest.raises(CommandError, match="already"):
        export(tmp_path)


def test_export_of_a_project_that_is_not_there(tmp_path):
    with pytest.raises(CommandError, match="no project"):
        export(tmp_path)


def test_owner_downloads_the_archive(cast, project, tmp_path):
    url = reverse("project_export", args=["coast"])
    project.memberships.create(user=cast.researcher, role="owner")
    page = cast.client("researcher").get(project.get_absolute_url())
    assert url in page.content.decode()
    response = cast.client("researcher").get(url)
    assert response.status_code == 200
    assert response["Content-Disposition"] == 'attachment; filename="coast.project.zip"'
    with zipfile.ZipFile(io.BytesIO(response.getvalue())) as archive:
        archive.extractall(tmp_path / "out")
    export_project(project, tmp_path / "expected")
    assert contents(tmp_path / "out" / "coast") == contents(tmp_path / "expected")


def test_only_owners_download_it(cast, project):
    url = reverse("project_export", args=["coast"])
    assert cast.client("researcher").get(url).status_code == 404
    project.memberships.create(user=cast.researcher, role="coordinator")
    assert cast.client("researcher").get(url).status_code == 403
    assert cast.client("worker").get(url).status_code == 403
    assert cast.client("stranger").get(url).status_code == 302
    assert cast.client("admin").post(url).status_code == 405


def test_project_without_datasets_is_not_exported(ada):
    Project.objects.create(slug="coast", title="Coast")
    response = ada.get(reverse("project_export", args=["coast"]))
    assert response.status_code == 422
    assert "has no datasets" in response.content.decode()
