"""Replacement of a run, a file rater or a system by files of the same name."""

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.models import (
    Dataset,
    Membership,
    Project,
    ProjectEntry,
    Rater,
    Rating,
    Rubric,
    User,
)
from crux_site.history import forms
from crux_site.history.import_undo import undo
from crux_site.imports import uploads
from crux_site.imports.importing import DatasetImportError, import_dataset
from evaluation.data.cache import data_version
from evaluation.models import RankedText, RetrievalRun
from judging.engine.foreground import fill_lexical
from judging.models import Attempt, Batch, Judge
from tests.crux_site.imports.import_runs import run_import as command
from tests.toolbox.factories import make_campaign
from tests.toolbox.import_previews import import_previewed
from tests.toolbox.import_study import (
    BODILESS,
    CONTEXTS,
    TOPICS,
    fingerprint,
    judged,
    line,
    report,
    t1,
    write,
)
from tests.toolbox.responses import text_of_page
from tests.toolbox.users import Cast, make_cast

PAGE = "/datasets/small/contents/"
BM25 = f"{PAGE}system/replace/?name=annotated.bm25"
# The reports of both systems: those of bm25 in other words.
REPORTS = [
    report(context, topic, annotated=True)
    | ({"response": f"Anew: {topic}."} if context == "bm25" else {})
    for context in CONTEXTS
    for topic in TOPICS
]
RUN = [
    f"t-1 Q0 {name} {rank} {1 / rank} again" for rank, name in enumerate(["t-1:0#1", BODILESS], 1)
]
JUDGED = [judged("t-2", "t-2:0#0", [1, 2, 3])]
FILES = {
    "system:annotated.bm25": ("reports_annotated.jsonl", REPORTS),
    "run:first_stage.lsr": ("runs/first_stage.lsr.run", RUN),
    "rater:judge": ("judgements/judge.judgements.jsonl", JUDGED),
}


def make_world(folder) -> Cast:
    """A study from files, with two replies and two grades of a judge on the bm25 reports."""
    cast = make_cast()
    import_dataset(write(folder), "small", title="The small study")
    dataset = Dataset.objects.get()
    fill_lexical(dataset)
    report = dataset.texts.filter(system="annotated.bm25").order_by("pk")[0]
    judge = Judge.objects.get(rater__dataset=dataset)
    batch = Batch.objects.filter(run__dataset=dataset).first()
    Attempt.objects.filter(text__system="annotated.bm25").delete()
    Rating.objects.filter(text__system="annotated.bm25", rater__judge=judge).remove()
    for question in report.topic.questions.all()[:2]:
        Attempt.objects.create(
            judge=judge, text=report, question=question, batch=batch, state="graded", grade=1
        )
        rubric = Rubric.objects.get(slug="graded")
        Rating.objects.create(
            rater=judge.rater, text=report, question=question, rubric=rubric, grade=3
        )
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    return cast


@pytest.fixture(scope="module", autouse=True)
def _world(shared_world, tmp_path_factory):
    return shared_world(lambda: make_world(tmp_path_factory.mktemp("study")))


@pytest.fixture
def cast(_world, db):
    return _world


@pytest.fixture
def dataset(cast):
    return Dataset.objects.get(slug="small")


@pytest.fixture
def owner(cast, tmp_path, monkeypatch):
    """Client of an owner; uploads are read in this process, synchronously."""
    monkeypatch.setattr(uploads, "STAGING", tmp_path / "uploads")
    monkeypatch.setattr(uploads.Upload, "start", uploads.Upload.read)
    return cast.client("researcher")


def replaced(folder, entity: str, **files):
    return import_dataset(write(folder, files or dict([FILES[entity]])), "small", replaces=entity)


def refusals(folder, entity: str, files) -> str:
    """Return the errors of a refused import, which changes nothing."""
    before = fingerprint()
    with pytest.raises(DatasetImportError) as failed:
        import_dataset(write(folder, files), "small", replaces=entity)
    assert fingerprint() == before
    return str(failed.value)


def upload(client, address: str, files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, rows in files.items():
            archive.writestr(name, "".join(map(line, rows)))
    packed = SimpleUploadedFile("new.zip", buffer.getvalue())
    return client.post(address, {"files": [packed]})


def test_reports_are_replaced_once_somebody_has_looked(owner, dataset, monkeypatch):
    assert f'href="{BM25}"' in owner.get(f"{PAGE}system/?name=annotated.bm25").content.decode()
    assert "Replace the system annotated.bm25" in text_of_page(owner.get(BM25))
    before, version = fingerprint(), data_version(dataset)
    preview_url = upload(owner, BM25, dict([FILES["system:annotated.bm25"]])).url
    page = text_of_page(owner.get(preview_url))
    # Two reports with three grades of ann and two of a judge: none of these comes.
    for row in ("texts 2 2", "ratings 5 0", "replies of judges 2 0"):
        assert row in page, row
    assert fingerprint() == before

    monkeypatch.setattr(forms, "CONFIRM_ABOVE", 5)
    for name in ("", "annotated.bm25"):
        refused = owner.post(preview_url, {"name": name})
        assert (refused.status_code, "Name of the dataset" in text_of_page(refused)) == (422, True)
    assert fingerprint() == before
    assert import_previewed(owner, preview_url, name="small").url == preview_url

    assert "The import into small is done" in text_of_page(owner.get(preview_url))
    reports = dataset.texts.filter(system="annotated.bm25")
    assert {text.body for text in reports} == {"Anew: t-1.", "Anew: t-2."}
    assert not Rating.objects.filter(text__in=reports).exists()
    assert Rating.objects.filter(text__system="annotated.oracle").exists()
    assert data_version(dataset) != version
    entry = dataset.log.first()
    assert (dataset.log.count(), entry.action, entry.by.username) == (2, "replaced", "rosa")
    assert entry.detail.startswith("the system annotated.bm25: 2 replies of judges")
    assert entry.detail.endswith("; brought: 2 reports")


def test_run_is_replaced_by_a_command(dataset, tmp_path):
    entity = "run:first_stage.lsr"
    folder = write(tmp_path, dict([FILES[entity]]))
    ranked = RankedText.objects.filter(run__name="first_stage.lsr").order_by("rank")
    arguments = (folder, "--dataset", "small", "--replace", entity)
    _, preview, _ = command(*arguments, "--dry-run")
    assert "the retrieval run first_stage.lsr gone come" in " ".join(preview.split())
    assert "ranked texts 6 2 retrieval runs 1 1" in " ".join(preview.split())
    assert ranked.count() == 6
    assert command(*arguments)[0] == 0
    assert [row.text.name for row in ranked] == ["t-1:0#1", BODILESS]
    assert RetrievalRun.objects.get(name="first_stage.lsr").tag == "again"
    prefix = "the retrieval run first_stage.lsr: 6 ranked texts, 1 retrieval runs; brought: "
    assert dataset.log.first().detail.startswith(prefix)
    status, _, err = command(folder, "--dataset", "small", "--replace", "bm25")
    assert (status, "'bm25': small has none such to replace (run:NAME" in err) == (1, True)


def test_model_of_a_file_is_replaced_and_that_can_be_undone(cast, dataset, tmp_path):
    summary = replaced(tmp_path, "rater:judge")
    assert summary.as_dict()["replaced"] == {
        "name": "the rater judge",
        "counts": [("ratings", 10, 3), ("raters", 1, 1)],
    }
    judge = dataset.raters.get(name="judge")
    assert judge.kind == Rater.Kind.MODEL
    assert sorted(judge.ratings.values_list("grade", flat=True)) == [1, 2, 3]
    assert undo(dataset.log.first(), dataset, cast.researcher).reasons == []
    assert not dataset.raters.filter(name="judge").exists()


def test_grades_or_campaign_block_replacement(owner, cast, dataset, tmp_path):
    entity = "system:annotated.bm25"
    text = dataset.texts.filter(system="annotated.bm25").first()
    wil = Rater.objects.create(user=cast.worker, name="wil", kind=Rater.Kind.HUMAN)
    Rating.objects.create(
        rater=wil,
        text=text,
        question=text.topic.questions.first(),
        rubric=Rubric.objects.get(slug="graded"),
        grade=0,
    )
    files = dict([FILES[entity]])
    message = refusals(tmp_path, entity, files)
    assert message == "the system annotated.bm25: it cannot go: Rater wil: 1 ratings"
    Rating.objects.filter(rater=wil).remove()
    make_campaign(dataset, cast.other_worker)
    assert "Campaign Study of small: 2 texts in use" in refusals(tmp_path, entity, files)
    preview = owner.get(upload(owner, BM25, files).url)
    assert (preview.status_code, "2 texts in use" in text_of_page(preview)) == (422, True)


@pytest.mark.parametrize(
    ("entity", "files", "message"),
    [
        ("system:annotated.bm25", {"reports_annotated.jsonl": REPORTS[:2]}, "bring no texts"),
        (
            "system:annotated.bm25",
            {"systems.jsonl": [{"system": "annotated.bm25", "settings": {"k": 2}}]},
            "bring no texts",
        ),
        ("run:first_stage.lsr", {"runs/other.run": RUN}, "bring no ranked texts"),
        ("rater:judge", {"judgements/other.judgements.jsonl": JUDGED}, "bring no ratings"),
        ("rater:judge", {"raters.jsonl": [{"name": "judge", "kind": "model"}]}, "no ratings"),
        ("rater:lexical", {"topics.jsonl": []}, "none such"),  # of the site
        ("dataset:small", {"topics.jsonl": []}, "none such"),
        # The reports are read, and the labels that come after them are not.
        (
            "system:annotated.bm25",
            {
                "reports_annotated.jsonl": REPORTS,
                "annotations/ann.qlabels.jsonl": [t1("bm25", "t-1", [0, 7, 0])],
            },
            "ann.qlabels.jsonl:1",
        ),
    ],
)
def test_failed_replacement_changes_nothing(cast, tmp_path, entity, files, message):
    assert message in refusals(tmp_path, entity, files)


def test_replacement_permissions_and_missing_entities(owner, cast):
    other_project = Project.objects.create(slug="other", title="Another group")
    rex = User.objects.create_user("rex", role="researcher")
    Membership.objects.create(project=other_project, user=rex, role="owner")
    theirs = cast.client("stranger")
    theirs.force_login(rex)
    files = dict([FILES["system:annotated.bm25"]])
    for client, status in ((theirs, 404), (cast.client("worker"), 403)):
        assert client.get(BM25).status_code == status
        assert upload(client, BM25, files).status_code == status
    for wrong in ("dataset/replace/", "text/replace/?name=x", "run/replace/?name=no"):
        assert owner.get(f"{PAGE}{wrong}").status_code == 404, wrong
        assert upload(owner, f"{PAGE}{wrong}", files).status_code == 404, wrong
    assert (owner.put(BM25).status_code, owner.post(BM25).status_code) == (405, 422)
    bad = owner.post(BM25, {"files": [SimpleUploadedFile("a.zip", b"no archive")]})
    assert (bad.status_code, "cannot be read" in text_of_page(bad)) == (422, True)
    preview_url = upload(owner, BM25, files).url
    Membership.objects.filter(user=cast.researcher).update(role="coordinator")
    assert owner.get(BM25).status_code == 403
    assert owner.post(preview_url).status_code == 404
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    assert ProjectEntry.objects.count() == 1
    assert not Dataset.objects.get().texts.filter(body__startswith="Anew").exists()
