"""datasets/<slug>/contents/: owners rename and remove runs, raters, systems, the dataset."""

import zipfile

import pytest
from django.test import Client

from annotation.formats.writing import ExportError
from annotation.models import (
    Answer,
    Assignment,
    Campaign,
    Citation,
    Dataset,
    LogEntry,
    Membership,
    NuggetSpan,
    Participant,
    Project,
    ProjectEntry,
    Rater,
    Rating,
    SharedLink,
    SubQuestion,
    Text,
    Topic,
    User,
)
from crux_site import removal
from crux_site.datasets.export import export_folder
from crux_site.history import forms
from crux_site.imports.importing import import_dataset
from crux_site.projects.archive import archive_of
from crux_site.projects.shared_pages import normalize_address
from evaluation.certificates.testing import has_seen_results
from evaluation.data.cache import data_version
from evaluation.data.certificates import certificate_state
from evaluation.models import Certificate, LabelSample, RankedText, RetrievalRun, System
from evaluation.sequences.page import SequencePage
from evaluation.sequences.state import state_of
from judging.engine.foreground import fill_lexical
from judging.models import Attempt, Batch, Judge, JudgeRun, JudgeTestReply
from tests.toolbox.certificate_study import make_certificate_study
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.import_study import write
from tests.toolbox.responses import text_of_page
from tests.toolbox.sequence_study import make_sequence_study
from tests.toolbox.users import Cast, make_cast

PAGE = "/datasets/small/contents/"
BM25 = f"{PAGE}system/?name=annotated.bm25"


def make_world(folder) -> Cast:
    """A study from files, that a baseline judge has graded; and another one beside it."""
    cast = make_cast()
    import_dataset(write(folder), "small", title="The small study")
    fill_lexical(Dataset.objects.get(slug="small"))
    make_dataset()
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    return cast


@pytest.fixture(scope="module", autouse=True)
def _world(shared_world, tmp_path_factory):
    return shared_world(lambda: make_world(tmp_path_factory.mktemp("study")))


@pytest.fixture
def cast(_world, db):
    return _world


@pytest.fixture
def owner(cast):
    return cast.client("researcher")


@pytest.fixture
def dataset(cast):
    return Dataset.objects.get(slug="small")


@pytest.fixture
def var(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    return tmp_path


def rename(client, address: str, new: str):
    return client.post(address, {"act": "rename", "new": new})


def remove(client, address: str, **more: str):
    return client.post(address, {"act": "remove", **more})


def answered(dataset, worker) -> Campaign:
    """A study of the reports, in which somebody has answered one question."""
    campaign = make_campaign(dataset, worker)
    assignment = campaign.participants.get().assignments.first()
    Answer.objects.create(
        assignment=assignment,
        question=assignment.item.asked.first().question,
        key="00000000-0000-4000-8000-000000000001",
        grade=0,
        spans=[],
        text_sha256=assignment.item.text.sha256,
    )
    return campaign


def test_all_that_can_be_renamed_or_removed_is_listed(owner):
    page = owner.get(PAGE)
    text = text_of_page(page)
    for name in ("The small study", "first_stage.lsr", "ann", "bob", "judge", "annotated.oracle"):
        assert name in text, name
    assert "lexical" not in text  # the baseline is no file's


@pytest.mark.parametrize(
    ("kind", "name", "model"),
    [("run", "first_stage.lsr", RetrievalRun), ("rater", "bob", Rater)],
)
def test_runs_and_raters_of_files(owner, dataset, kind, name, model):
    address = f"{PAGE}{kind}/?name={name}"
    for new, message in (
        (name, "already the name"),
        ("", "required"),
        ("x" * 121, "120"),
        ({"run": "human_eval.bm25", "rater": "ann"}[kind], "already"),
    ):
        refused = rename(owner, address, new)
        assert (refused.status_code, message in text_of_page(refused)) == (422, True), new
    assert rename(owner, address, "other").url == PAGE
    assert model.objects.filter(dataset=dataset, name="other").exists()
    entry = ProjectEntry.objects.first()
    assert (entry.action, entry.detail.split(" ", 1)[1].split()[-3:]) == (
        "renamed",
        [f"{name},", "to", "other"],
    )
    address = f"{PAGE}{kind}/?name=other"
    counts = owner.get(address).context["found"].counts
    rows = {
        "run": RankedText.objects.filter(run__name="other"),
        "rater": Rating.objects.filter(rater__name="other"),
    }[kind]
    n, total = rows.count(), rows.model.objects.count()
    assert counts[removal.table_label(rows.model)] == n > 0
    assert remove(owner, address).url == PAGE
    assert rows.model.objects.count() == total - n
    assert not model.objects.filter(dataset=dataset, name="other").exists()
    assert ProjectEntry.objects.first().action == "removed"
    assert owner.get(address).status_code == 404


def test_raters_name_is_one_that_files_can_have(owner):
    refused = rename(owner, f"{PAGE}rater/?name=ann", "ann/e")
    assert "letters, digits" in text_of_page(refused)


def test_rater_whose_labels_a_campaign_expects_stays(owner, cast, dataset):
    ann = dataset.raters.get(name="ann")
    campaign = make_campaign(dataset, cast.worker)
    Campaign.objects.filter(pk=campaign.pk).update(gold_source=ann)
    refused = remove(owner, f"{PAGE}rater/?name=ann")
    assert refused.status_code == 422
    assert "Campaign Study of small: 1 settings with this rater" in text_of_page(refused)
    assert Campaign.objects.get().gold_source == ann


def test_system_is_renamed_with_all_that_is_tied_to_its_name(owner, cast, dataset):
    System.objects.create(dataset=dataset, name="annotated.bm25", settings={"k": 2})
    campaign = make_campaign(dataset, cast.worker)
    chosen = {"kind": "report", "systems": ["annotated.bm25", "annotated.oracle"]}
    Campaign.objects.filter(pk=campaign.pk).update(selection=chosen)
    n = dataset.texts.filter(system="annotated.bm25").count()
    run = rename(owner, f"{PAGE}run/?name=annotated.bm25", "x")
    assert "This run is the context of the reports" in text_of_page(run)
    for new, message in (("bm25", "The beginning annotated."), ("annotated.oracle", "already")):
        assert message in text_of_page(rename(owner, BM25, new))
    version = data_version(dataset)
    assert rename(owner, BM25, "annotated.okapi").url == PAGE
    assert data_version(dataset) != version  # no page of results shows the name of before
    assert dataset.texts.filter(system="annotated.okapi").count() == n == 2
    assert RetrievalRun.objects.filter(dataset=dataset, name="annotated.okapi").exists()
    assert System.objects.get(dataset=dataset).name == "annotated.okapi"
    campaign.refresh_from_db()
    assert campaign.selection["systems"] == ["annotated.okapi", "annotated.oracle"]


@pytest.mark.parametrize("new", ["../../evil", "a/b", "two words"])
def test_run_gets_no_name_that_is_no_file(owner, dataset, new):
    refused = rename(owner, f"{PAGE}run/?name=first_stage.lsr", new)
    assert (refused.status_code, "The name of a run must have" in text_of_page(refused)) == (
        422,
        True,
    )
    assert dataset.runs.filter(name="first_stage.lsr").exists()


def test_stored_run_that_leads_out_of_the_folder_is_not_exported(dataset, tmp_path):
    dataset.runs.filter(name="first_stage.lsr").update(name="../../evil")
    with pytest.raises(ExportError, match="has a /: rename the run first"):
        export_folder(dataset, tmp_path / "a" / "b" / "out")
    assert not list(tmp_path.rglob("evil*"))


@pytest.mark.parametrize("ending", ["", "a/b", "two words", "Ü"])
def test_system_gets_no_name_that_an_import_refuses(owner, ending):
    refused = rename(owner, BM25, f"annotated.{ending}")
    assert refused.status_code == 422
    assert "only letters, digits and . _ + -" in text_of_page(refused)


def test_renamed_system_is_exported_and_imported(owner, dataset, tmp_path):
    assert rename(owner, BM25, "annotated.okapi").status_code == 302
    export_folder(dataset, tmp_path / "out")
    import_dataset(tmp_path / "out", "copy")
    reports = [
        set(Text.objects.filter(dataset__slug=slug, kind="report").values_list("system", "name"))
        for slug in ("small", "copy")
    ]
    assert reports[0] == reports[1]
    assert ("annotated.okapi", "okapi_t-1") in reports[0]


def test_certificate_holds_after_a_person_of_its_test_is_renamed(cast):
    study, admin = make_certificate_study(), cast.client("admin")
    admin.post(study.url("near"))
    certificate = Certificate.objects.get()
    assert str(certificate_state(study.dataset, study.raters["near"].pk)) == "holds"
    assert rename(admin, "/datasets/bay/contents/rater/?name=ann", "zoe").status_code == 302
    assert str(certificate_state(study.dataset, study.raters["near"].pk)) == "holds"
    admin.post(study.url("near"))
    assert not has_seen_results(Certificate.objects.latest("pk"))
    certificate.refresh_from_db()
    assert certificate.parameters["people"] == ["ben", "cat", "zoe"]
    assert {row["name"] for row in certificate.result["people"]} == {"ben", "cat", "zoe"}


def share(cast, dataset, page):
    """Share a page; return the address of the link."""
    address = normalize_address(f"/datasets/small/{page}", dataset, with_words=True)
    options = {"with_words": True, "for_whom": "reviewer"}
    token = SharedLink.objects.make(cast.researcher, dataset, 7, address=address, **options)
    return f"/shared/{token}/"


@pytest.mark.parametrize(
    ("kind", "name", "new", "page"),
    [
        ("rater", "bob", "zoe", "agreement/?raters={}"),
        ("rater", "judge", "grader", "agreement/?rubric=graded&raters=ann&judge={}"),
        ("run", "first_stage.lsr", "first_stage.new", "systems/runs/{}/"),
        ("run", "first_stage.lsr", "first_stage.new", "systems/compare/?a={}"),
        ("system", "annotated.bm25", "annotated.new", "evidence-recall/systems/{}/"),
        ("system", "annotated.bm25", "annotated.new", "disagreements/?system={}"),
    ],
)
def test_shared_links_follow_a_rename(cast, owner, dataset, kind, name, new, page):
    link = share(cast, dataset, page.format(name))
    assert Client().get(link, follow=True).status_code == 200
    assert rename(owner, f"{PAGE}{kind}/?name={name}", new).url == PAGE
    renamed = normalize_address(f"/datasets/small/{page.format(new)}", dataset, with_words=True)
    assert SharedLink.objects.get().address == renamed
    assert Client().get(link, follow=True).status_code == 200


@pytest.mark.parametrize(
    ("name", "page", "renamed"),
    [
        ("graded", "agreement/?rubric=graded&raters=graded", "?rubric=graded&raters=bob"),
        ("forest", "agreement/figure/forest/?raters=forest", "figure/forest/?raters=bob"),
    ],
)
def test_shared_links_keep_what_else_has_the_name(cast, owner, dataset, name, page, renamed):
    dataset.raters.filter(name="bob").update(name=name)
    share(cast, dataset, page)
    rename(owner, f"{PAGE}rater/?name={name}", "bob")
    assert SharedLink.objects.get().address.endswith(renamed)


def test_label_sequence_follows_a_renamed_system(cast):
    study, admin = make_sequence_study(), cast.client("admin")
    order = {"rubric": "graded", "kind": "order", "system": "strong", "other_system": "weak"}
    for plan in ("sequence", "fixed"):
        admin.post("/datasets/tide/sequences/", {**order, "plan": plan})
    for old, new in (("strong", "stark"), ("weak", "faible")):
        address = f"/datasets/tide/contents/system/?name={old}"
        assert rename(admin, address, new).status_code == 302
    newest, _ = study.dataset.label_sequences.all()
    assert newest.question == "stark against faible, margin 0.05"
    order |= {"system": "stark", "other_system": "faible", "target": 0.1, "plan": "sequence"}
    admin.post("/datasets/tide/sequences/", order)
    page = SequencePage(state_of(study.dataset.label_sequences.first()))
    assert page.n_earlier == 2  # which its sentence for a paper states


def test_system_of_a_label_sequence_is_not_removed(cast):
    study, admin = make_sequence_study(), cast.client("admin")
    admin.post("/datasets/tide/sequences/", {"rubric": "graded", "plan": "sequence"})
    sequence = study.dataset.label_sequences.get()
    page = remove(admin, "/datasets/tide/contents/system/?name=strong")
    assert page.status_code == 422
    assert f"Label sequence {sequence.pk}: 48 pairs" in text_of_page(page)
    assert study.dataset.texts.filter(system="strong").exists()
    questions = SubQuestion.objects.filter(topic__name="tide-1")  # as an undone import would
    rows = {Text: study.dataset.texts.none(), SubQuestion: questions}
    assert f"Label sequence {sequence.pk}: 8 pairs" in map(str, removal.Removal(rows).blockers())


def test_system_goes_with_what_files_and_judges_said_of_it(owner, dataset):
    reports = dataset.texts.filter(system="annotated.bm25")
    judge = Judge.objects.get(rater__dataset=dataset)
    pairs = [(report, question) for report in reports for question in report.topic.questions.all()]
    batch = Batch.objects.filter(run__dataset=dataset).first()
    Attempt.objects.filter(text__in=reports).delete()
    for report, question in pairs[:2]:
        Attempt.objects.create(
            judge=judge, text=report, question=question, batch=batch, state="graded", grade=1
        )
    attempt = Attempt.objects.filter(text__in=reports).first()
    JudgeTestReply.objects.create(
        run=batch.run, batch=batch, attempt=attempt, repeat=1, state="graded", grade=2
    )
    n_ratings = Rating.objects.filter(text__in=reports).count()
    total = Rating.objects.count()
    counts = owner.get(BM25).context["found"].counts
    assert counts["replies in tests of judges"] == 1
    assert (counts["texts"], counts["ratings"], counts["replies of judges"]) == (2, n_ratings, 2)
    assert remove(owner, BM25).url == PAGE
    assert Rating.objects.count() == total - n_ratings
    assert not dataset.texts.filter(system="annotated.bm25").exists()
    assert not NuggetSpan.objects.exclude(rating__in=Rating.objects.all()).exists()
    assert RetrievalRun.objects.filter(name="annotated.bm25").exists()  # what was retrieved stays


@pytest.mark.parametrize("kind", ["system", "dataset"])
def test_rows_that_came_since_the_page_was_opened_are_not_removed(owner, dataset, var, kind):
    address = BM25 if kind == "system" else f"{PAGE}dataset/"
    form = owner.get(address).context["form"]
    name = dataset.slug if "name" in form.fields else ""
    report = dataset.texts.filter(system="annotated.bm25").first()
    question = report.topic.questions.first()
    rater = Rater.objects.create(dataset=dataset, name="late", kind="model")
    rubric = Rating.objects.first().rubric
    Rating.objects.add(rater.pk, rubric.pk, [(report.pk, question.pk, 1)])
    refused = remove(owner, address, version=form.version, name=name)
    assert refused.status_code == 422
    assert "the rows have changed since you opened the page" in text_of_page(refused)
    assert dataset.texts.filter(system="annotated.bm25").exists()
    version = refused.context["form"].version
    assert f'name="version" value="{version}"' in refused.content.decode()
    assert remove(owner, address, version=version, name=name).status_code == 302
    assert not dataset.texts.filter(system="annotated.bm25").exists()


def test_answers_of_people_block_removal_of_system(owner, cast, dataset):
    answered(dataset, cast.worker)
    refused = remove(owner, BM25)
    assert refused.status_code == 422
    assert "Campaign Study of small: 2 texts in use" in text_of_page(refused)
    assert dataset.texts.filter(system="annotated.bm25").exists()


def test_dataset_goes_once_its_answers_are_in_the_archive(owner, cast, dataset, var, monkeypatch):
    monkeypatch.setattr(forms, "CONFIRM_ABOVE", 50)
    campaign, address = answered(dataset, cast.worker), f"{PAGE}dataset/"
    LogEntry.record(campaign, cast.admin, "opened")
    first = Assignment.objects.filter(participant__campaign=campaign).first()
    Assignment.objects.create(
        participant=first.participant, item=first.item, repeats=first, position=99
    )
    refused = remove(owner, address, name="small")
    assert "Campaign Study of small: 1 people: close it first" in text_of_page(refused)
    Campaign.objects.update(state="closed")
    JudgeRun.objects.filter(dataset=dataset).update(state="running")
    assert "end the run first" in text_of_page(remove(owner, address, name="small"))
    JudgeRun.objects.update(state="finished")
    assert "Enter small" in text_of_page(remove(owner, address, name="The small study"))
    assert (Answer.objects.count(), list(var.iterdir())) == (1, [])
    other_dataset_rows = removal.rows_of(Dataset.objects.get(slug="ferry"))

    assert remove(owner, address, name="small").url == "/projects/main/"

    assert not Dataset.objects.filter(slug="small").exists()
    for model, other_rows in other_dataset_rows.items():
        of_the_site = model is Rater  # the worker's own
        assert model._base_manager.count() == other_rows.count() + of_the_site, model
    project = Project.objects.get()
    [(name, path)] = archive_of(project).items()
    assert name.startswith("small.small-answerable.2")
    with zipfile.ZipFile(path) as archive:
        assert "small-answerable/answers.csv" in archive.namelist()
        answers = archive.read("small-answerable/answers.csv")
    assert answers.count(b"\n") == 2  # a header, and an answer
    entry = ProjectEntry.objects.first()
    assert (entry.action, entry.dataset) == ("deleted the dataset", None)
    assert name in text_of_page(owner.get("/projects/main/"))
    assert Rater.objects.filter(user=cast.worker).exists()
    assert User.objects.filter(username="wil").exists()
    assert not Participant.objects.exists()


def test_failed_archive_removes_nothing(owner, cast, dataset, var):
    answered(dataset, cast.worker)
    Campaign.objects.update(state="closed")
    (var / "archive").write_text("a file in the way of the folder")
    before = Rating.objects.count()
    refused = remove(owner, f"{PAGE}dataset/")
    assert (refused.status_code, "archive" in text_of_page(refused)) == (422, True)
    assert (Rating.objects.count(), Answer.objects.count()) == (before, 1)


def test_dataset_has_another_title(owner, dataset):
    assert rename(owner, f"{PAGE}dataset/", "Ferries").url == PAGE
    dataset.refresh_from_db()
    assert dataset.title == "Ferries"


def test_permissions_and_missing_entities(cast, owner):
    for account, status in (
        ("admin", 200),
        ("researcher", 200),
        ("worker", 403),
        ("stranger", 302),
    ):
        for address in (PAGE, BM25):
            assert cast.client(account).get(address).status_code == status
    for wrong in ("system/?name=nobody", "system/", "text/?name=x", "run/?name=\x01"):
        assert owner.get(f"{PAGE}{wrong}").status_code == 404, wrong
        assert owner.post(f"{PAGE}{wrong}").status_code == 404, wrong
    assert owner.post(PAGE).status_code == 405
    assert owner.put(BM25).status_code == 405
    assert owner.post(BM25).status_code == 422  # neither is asked for
    Membership.objects.filter(user=cast.researcher).update(role="coordinator")
    rosa = cast.client("researcher")
    assert [rosa.get(BM25).status_code, remove(rosa, BM25).status_code] == [403, 403]
    assert (Topic.objects.count(), SubQuestion.objects.count()) == (3, 10)
    assert (LabelSample.objects.count(), Citation.objects.count()) == (0, 0)
