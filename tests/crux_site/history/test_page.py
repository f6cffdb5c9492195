"""datasets/<slug>/history/: events, newest first, and the undo of imports by owners."""

import csv
import io

import pytest
from django.apps import apps
from django.db import models

from annotation.models import (
    Answer,
    Assignment,
    Campaign,
    Citation,
    Dataset,
    Item,
    ItemQuestion,
    Membership,
    NuggetSpan,
    Project,
    ProjectEntry,
    Rater,
    Rating,
    Rubric,
    SubQuestion,
    Text,
    Topic,
)
from building.models import Order, Writer, Writing
from crux_site import removal
from crux_site.history import forms
from crux_site.imports.importing import import_dataset
from evaluation.data.aggregates import make_aggregate
from evaluation.data.ratings import load
from evaluation.data.selection import select
from evaluation.models import RankedText, RetrievalRun
from judging.engine.foreground import fill_lexical
from judging.models import JudgeRun
from tests.toolbox.factories import make_campaign
from tests.toolbox.import_study import study, write
from tests.toolbox.installed_apps import OUR_APPS
from tests.toolbox.responses import text_of_page
from tests.toolbox.users import Cast, make_cast

PAGE = "/datasets/small/history/"
FIRST = ("topics.jsonl", "subquestions.jsonl", "passages.jsonl", "runs/human_eval.bm25.run")


def make_world(folder) -> Cast:
    """Two imports that overlap: the second has all of the first, and the rest of the study."""
    cast, files = make_cast(), study()
    import_dataset(write(folder / "first", {name: files[name] for name in FIRST}), "small")
    import_dataset(write(folder / "second"), "small", by=cast.admin)
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    return cast


@pytest.fixture(scope="module", autouse=True)
def _world(shared_world, tmp_path_factory):
    folder = tmp_path_factory.mktemp("imports")
    return shared_world(lambda: (make_world(folder), folder))


@pytest.fixture
def cast(_world, db):
    return _world[0]


@pytest.fixture
def folder(_world):
    return _world[1]


@pytest.fixture
def owner(cast):
    return cast.client("researcher")


@pytest.fixture
def dataset(cast):
    return Dataset.objects.get(slug="small")


def undo_of(number: int) -> str:
    """The address that undoes the first import, or the second."""
    imports = ProjectEntry.objects.filter(action="imported").order_by("pk")
    return f"{PAGE}{imports[number - 1].pk}/undo/"


def rows() -> dict[str, list]:
    """Return all rows of the collection without keys; references are by name."""
    paths_by_model = {
        Topic: ("name", "request", "position"),
        SubQuestion: ("topic__name", "position", "body", "source_body", "filtered_because"),
        Text: ("kind", "system", "name", "body", "sha256", "topic__name"),
        RetrievalRun: ("name", "tag"),
        RankedText: ("run__name", "topic__name", "rank", "text__name", "score", "file_rank"),
        Rater: ("name", "kind"),
        Rating: (
            "rater__name",
            "rubric__slug",
            "text__name",
            "text__system",
            "question__body",
            "grade",
        ),
        NuggetSpan: ("rating__rater__name", "position", "start", "end", "quote", "source_quote"),
        Citation: ("report__name", "position", "label"),
    }
    return {
        model.__name__: sorted(map(repr, model.objects.order_by().values_list(*paths)))
        for model, paths in paths_by_model.items()
    }


def reasons(answer) -> list[str]:
    return list(map(str, answer.context["found"].reasons))


def test_second_import_is_undone_and_made_again(owner, cast, folder):
    """Counts of the first import by hand.

    Its own: 2 topics, 6 questions, its run of 4, 3 passages with words. Of passages without, it named t-2:0#0
    of its run and the one that nobody has; the second filled t-2:0#0 and made t-2:1#1. Reports: 2 annotated of
    2 contexts and 2 of bm25; 2 references. Runs: one in a file, and the contexts of the annotated reports.
    """
    before, url = rows(), undo_of(2)
    page = owner.get(url)
    assert reasons(page) == []
    counts = page.context["found"].counts
    assert (counts["texts"], counts["retrieval runs"], counts["raters"]) == (1 + 6 + 2, 3, 3)
    assert counts["ratings"] == Rating.objects.count()
    assert "topics" not in counts
    assert owner.post(url).url == PAGE
    n_rows = [
        model.objects.count() for model in (Topic, SubQuestion, RetrievalRun, RankedText, Text)
    ]
    assert n_rows == [2, 6, 1, 4, 5]
    assert (Rating.objects.exists(), NuggetSpan.objects.exists(), Rater.objects.exists()) == (
        (False,) * 3
    )
    assert Text.objects.get(name="t-2:0#0").body is not None  # what was there stays filled
    entry = ProjectEntry.objects.first()
    assert (entry.action, entry.undoes.action) == ("undid the import", "imported")
    assert entry.by == cast.researcher
    second_undo = owner.post(url)
    assert (second_undo.status_code, "is already undone" in text_of_page(second_undo)) == (
        422,
        True,
    )
    import_dataset(folder / "second", "small")
    assert rows() == before


def test_undo_that_would_remove_other_rows_than_the_page_shows_is_refused(owner, folder):
    url = undo_of(2)
    version = owner.get(url).context["form"].version
    Rating.objects.filter(pk=Rating.objects.last().pk).remove()
    refused = owner.post(url, {"version": version})
    assert refused.status_code == 422
    assert "the rows have changed since you opened the page" in refused.content.decode()
    before = rows()
    assert before["Rating"]
    version = refused.context["form"].version
    assert owner.post(url, {"version": version}).url == PAGE
    assert rows() != before


def test_first_goes_after_the_second_and_leaves_an_empty_dataset(owner, dataset, folder):
    before, first, second = rows(), undo_of(1), undo_of(2)
    refused = owner.post(first)
    assert refused.status_code == 422
    text = " ".join(reasons(refused))
    assert "The import of " in text
    n = Rating.objects.count()
    assert f"{n} ratings" in text  # all are of its questions
    assert "1 rows that it filled, perhaps of this import" in text  # the words of t-2:0#0
    assert rows() == before
    owner.post(second)
    assert owner.post(first).url == PAGE
    assert not any(rows().values())
    assert Dataset.objects.filter(pk=dataset.pk).exists()
    import_dataset(folder / "first", "small")
    import_dataset(folder / "second", "small")
    assert rows() == before


def test_undo_detaches_earlier_rows(owner, dataset, tmp_path):
    """Passages without a topic get one from a later import, and lose it with its undo."""
    files = study()
    import_dataset(
        write(tmp_path / "a", {"passages.jsonl": files["passages.jsonl"]}), "late", title="Late"
    )
    import_dataset(write(tmp_path / "b", {"topics.jsonl": files["topics.jsonl"]}), "late")
    late = Text.objects.filter(dataset__slug="late", topic__isnull=False)
    assert late.count() == 3
    entry = ProjectEntry.objects.filter(dataset__slug="late").first()
    assert owner.post(f"/datasets/late/history/{entry.pk}/undo/").status_code == 302
    assert (late.count(), Text.objects.filter(dataset__slug="late").count()) == (0, 3)


def test_answers_of_people_block_undo(owner, cast, dataset):
    campaign = make_campaign(dataset, cast.worker)
    item = Item.objects.filter(campaign=campaign).first()
    Answer.objects.create(
        assignment=Assignment.objects.get(item=item),
        question=item.asked.first().question,
        key="00000000-0000-4000-8000-000000000001",
        grade=1,
        spans=[],
        text_sha256=item.text.sha256,
    )
    n = Item.objects.count()
    refused = owner.post(undo_of(2))
    assert refused.status_code == 422
    blockers = reasons(refused)
    assert "Campaign Study of small: 1 answers of people" in blockers
    assert f"Campaign Study of small: {n} texts in use" in blockers
    assert Rating.objects.exists()
    n_questions = ItemQuestion.objects.count()
    blockers = reasons(owner.get(undo_of(1)))
    assert f"Campaign Study of small: {n_questions} questions in use" in blockers


def test_judging_runs_and_aggregates_block_undo(owner, dataset):
    run = fill_lexical(dataset)
    make_aggregate(load(select(dataset, rubric="answerable")), "majority")
    page = owner.get(undo_of(2))
    blockers = reasons(page)
    assert "remove the dataset</a>" in page.content.decode()
    assert any(reason.startswith(f"Judge run {run.pk}: ") for reason in blockers)
    assert any(reason.startswith("Rater majority.answerable: ") for reason in blockers)
    assert any(reason.startswith(f"Rater {run.judge.rater}: ") for reason in blockers)
    JudgeRun.objects.filter(pk=run.pk).update(state="running")
    assert f"Judge run {run.pk}: 0 open parts: end the run first" in reasons(owner.get(undo_of(2)))


def test_ratings_of_people_are_never_the_imports(cast, dataset):
    """A person who rates while files are read gets keys between those of the import."""
    entry = ProjectEntry.objects.filter(action="imported").order_by("pk")[1]
    rating = Rating.objects.filter(rater__dataset=dataset).first()
    wil = Rater.objects.create(user=cast.worker, name="wil", kind="human")
    Rating.objects.filter(pk=rating.pk).update(rater=wil)
    import_rows = removal.rows_of_import(dataset, entry.rows)
    assert rating not in import_rows[Rating]
    assert import_rows[Rating].count() == Rating.objects.count() - 1


def test_of_many_rows_the_name_is_typed(owner, monkeypatch):
    monkeypatch.setattr(forms, "CONFIRM_ABOVE", 10)
    url, n = undo_of(2), Rating.objects.count()
    for name, message in (("", "required"), ("Small", "Enter small"), ("small ", "")):
        answer = owner.post(url, {"name": name})
        if message:
            assert (answer.status_code, message in text_of_page(answer)) == (422, True), name
            assert Rating.objects.count() == n
        else:
            assert answer.url == PAGE


def test_history_permissions(cast, dataset):
    for account, status in (
        ("admin", 200),
        ("researcher", 200),
        ("worker", 403),
        ("stranger", 302),
    ):
        client = cast.client(account)
        assert [client.get(url).status_code for url in (PAGE, "/datasets/small/history.csv")] == (
            [status] * 2
        )
        assert client.get(undo_of(2)).status_code == status
    Membership.objects.filter(user=cast.researcher).update(role="coordinator")
    rosa = cast.client("researcher")
    assert "Take back" not in text_of_page(rosa.get(PAGE))
    assert (rosa.get(undo_of(2)).status_code, rosa.post(undo_of(2)).status_code) == (403, 403)
    assert rosa.post(PAGE).status_code == 405
    ada = cast.client("admin")
    moved = ProjectEntry.record(dataset.project, cast.admin, "moved here", "", dataset)
    for pk in (0, moved.pk):  # no entry, and one that is no import
        assert ada.get(f"{PAGE}{pk}/undo/").status_code == 404
    assert ada.put(undo_of(2)).status_code == 405


def test_history_tells_of_files_campaigns_and_models(owner, cast, dataset):
    campaign = make_campaign(dataset, cast.worker)
    campaign.log.create(action="closed", by=cast.admin)
    campaign.log.create(action="exported", by=cast.admin)  # told on the campaign's own page
    run = fill_lexical(dataset)
    table = csv.DictReader(io.StringIO(owner.get("/datasets/small/history.csv").content.decode()))
    events = [(row["what"], row["by"]) for row in table]
    assert events == [
        ("created a judge run", ""),
        ("closed a campaign", "ada"),
        ("created a campaign", ""),
        ("imported", "ada"),
        ("imported", ""),
    ]
    page = owner.get(PAGE)
    assert f'href="{run.get_absolute_url()}"' in page.content.decode()
    assert text_of_page(page).count("Undo") >= 2
    assert PAGE in owner.get("/datasets/small/").content.decode()
    assert PAGE in owner.get("/projects/main/").content.decode()
    for n in range(60):
        ProjectEntry.record(dataset.project, None, f"act {n}", "", dataset)
    assert "act 5:" not in text_of_page(owner.get(f"{PAGE}?page=2"))
    assert "act 5" in text_of_page(owner.get(f"{PAGE}?page=2"))


def test_dataset_tables_are_listed_in_order(db):
    """A missing table would block the deletion of a dataset, or lose rows to an undo."""
    ours = [
        m
        for app in OUR_APPS
        for m in apps.get_app_config(app).get_models(include_auto_created=True)
    ]
    reached = {Dataset}
    while more := {
        model
        for model in ours
        if model not in reached
        and any(
            isinstance(field, models.ForeignKey) and field.related_model in reached
            for field in model._meta.concrete_fields
        )
    }:
        reached |= more
    exempt = {Dataset, ProjectEntry, Project}
    assert reached - exempt == set(removal.TABLES)
    order = list(removal.TABLES)
    for position, model in enumerate(order):
        for field in model._meta.concrete_fields:
            if isinstance(field, models.ForeignKey) and field.related_model in order:
                assert position < order.index(field.related_model) or field.null, field
    assert Rubric not in reached
    assert Campaign in reached


def test_generation_tasks_block_undo(owner, dataset):
    """Generation tasks name texts by keys in their inputs, which no database checks."""
    late = dataset.texts.get(name="t-2:1#1")
    run = Writing.objects.create(writer=Writer.objects.create(task="report"), dataset=dataset)
    topic = dataset.topics.get(name="t-2")
    for number, inputs in enumerate(
        ({"passages": [late.pk]}, {"passage": late.pk}, {"passages": []}), 1
    ):
        Order.objects.create(
            run=run, writer=run.writer, topic=topic, number=number, inputs=inputs, sample=number
        )
    blockers = reasons(owner.get(undo_of(2)))
    assert f"Generation run {run.pk}: 2 tasks with its texts" in blockers
    assert (
        f"Generation run {run.pk}: 3 open parts: end the run first" in blockers
    )  # it is being planned
    assert f"Generation run {run.pk}: 3 tasks" in reasons(owner.get(undo_of(1)))  # of its topic
