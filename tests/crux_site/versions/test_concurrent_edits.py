"""Concurrent text edits by two owners: no acknowledged edit is lost, and none is a 500."""

from functools import partial

import pytest

from annotation.models import Membership, NuggetSpan, ProjectEntry, Rater, Rating, Rubric, Version
from annotation.models.corpus import digest
from tests.toolbox.concurrent_clients import rounds
from tests.toolbox.factories import REPORT, make_dataset
from tests.toolbox.users import make_cast

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 4


@pytest.fixture
def world(transactional_db):
    """A project with two owners, and a report that a rater of a file has graded with one span."""
    cast, dataset = make_cast(), make_dataset()
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    return cast, dataset


def graded_report(dataset, number: int):
    report = dataset.texts.filter(kind="report").first()
    report.pk, report.name = None, f"report-{number}"
    report.save(force_insert=True)
    rater, _ = Rater.objects.get_or_create(dataset=dataset, name="ann", kind="human")
    rating = Rating.objects.create(
        rater=rater,
        rubric=Rubric.objects.get(slug="answerable"),
        text=report,
        question=report.topic.questions.first(),
        grade=1,
    )
    start = REPORT.index("9 March")
    NuggetSpan.objects.create(
        rating=rating, position=0, start=start, end=start + 7, quote="9 March"
    )
    return report


def address(report) -> str:
    return f"/datasets/ferry/text-history/text/{report.pk}/"


def edit(client, report, body: str, wording_read: str):
    data = {"body": body, "counts": "yes", "why": "", "seen": digest(wording_read), "change": ""}
    return client.post(address(report), data)


def test_concurrent_supersede_keeps_all_grades(world):
    cast, dataset = world
    reports = []

    def prepare(number):
        reports.append(report := graded_report(dataset, number))
        edit(cast.client("researcher"), report, f"New. {REPORT}", REPORT)
        choose = {"counts": "no", "version": "1", "seen": digest(f"New. {REPORT}")}
        return [
            partial(cast.client(name).post, f"{address(report)}choose/", choose)
            for name in ("researcher", "admin")
        ]

    for outcomes in rounds(ROUNDS, prepare, after_reading=Version):
        assert [outcome.status for outcome in outcomes] == [302, 302]
        version = reports[-1].versions.get()
        assert (version.counts, len(version.set_aside)) == (False, 1)
        assert not Rating.objects.filter(text=reports[-1]).exists()
        choices = ProjectEntry.objects.filter(action__startswith="superseded")
        assert choices.filter(detail__startswith=f"{reports[-1].name},").count() == 1


def test_of_two_edits_the_second_is_shown_the_first_and_changes_nothing(world):
    cast, dataset = world
    reports = []

    def prepare(number):
        reports.append(report := graded_report(dataset, number))
        return [
            partial(edit, cast.client(name), report, f"{prefix} {REPORT}", REPORT)
            for name, prefix in (("researcher", "First."), ("admin", "Second."))
        ]

    for outcomes in rounds(ROUNDS, prepare, after_reading=Version):
        assert sorted(outcome.status for outcome in outcomes) == [302, 409]
        refused = next(outcome.value for outcome in outcomes if outcome.status == 409)
        report = reports[-1]
        report.refresh_from_db()
        page = refused.content.decode()
        assert "First." in page
        assert "Second." in page
        assert report.sha256 in page  # sent again, it replaces these words knowingly
        assert report.versions.get().body == REPORT


def test_edit_leaves_the_new_name_of_the_system_alone(world):
    cast, dataset = world
    reports = []

    def prepare(number):
        reports.append(report := graded_report(dataset, number))
        system = f"system-{number}"
        type(report).objects.filter(pk=report.pk).update(system=system)
        rename = f"/datasets/ferry/contents/system/?name={system}"
        return [
            lambda: edit(cast.client("researcher"), report, f"New. {REPORT}", REPORT),
            lambda: cast.client("admin").post(rename, {"act": "rename", "new": f"{system}-b"}),
        ]

    for outcomes in rounds(ROUNDS, prepare, after_reading=type(dataset.texts.first())):
        assert [outcome.status for outcome in outcomes] == [302, 302]
        report = reports[-1]
        report.refresh_from_db()
        assert report.system.endswith("-b")
        assert report.body == f"New. {REPORT}"


def test_span_that_was_placed_meanwhile_stays_where_it_is(world):
    cast, dataset = world
    reports = []

    def prepare(number):
        reports.append(report := graded_report(dataset, number))
        new = REPORT.replace("9 March", "10 March, not 11 March,")
        edit(cast.client("researcher"), report, new, REPORT)
        span = NuggetSpan.objects.get(rating__text=report)
        place_url = f"/datasets/ferry/text-history/spans/{span.pk}/place/"
        return [
            partial(cast.client(name).post, place_url, {"words": to}, follow=True)
            for name, to in (("researcher", "10 March"), ("admin", "11 March"))
        ]

    for outcomes in rounds(ROUNDS, prepare, after_reading=NuggetSpan):
        pages = [outcome.value.content.decode() for outcome in outcomes]
        assert sum("The span is placed" in page for page in pages) == 1
        assert sum("has already placed this span" in page for page in pages) == 1


def test_edit_of_a_text_that_is_removed_meanwhile_finds_no_page(world):
    cast, dataset = world

    def prepare(number):
        report = graded_report(dataset, number)
        Rating.objects.filter(text=report).delete()
        system = f"system-{number}"
        type(report).objects.filter(pk=report.pk).update(system=system)
        remove = f"/datasets/ferry/contents/system/?name={system}"
        return [
            lambda: edit(cast.client("researcher"), report, f"New. {REPORT}", REPORT),
            lambda: cast.client("admin").post(remove, {"act": "remove"}),
        ]

    for edited, removed in rounds(ROUNDS, prepare, after_reading=type(dataset.texts.first())):
        assert removed.status == 302
        assert edited.status in (302, 404)
