"""words/.../restore/: comparison with an earlier wording, its restore, and blockers."""

import pytest

from annotation.models import ProjectEntry, Rater, Rating, Text, Version
from crux_site.versions.restoring import compare
from tests.crux_site.versions.text_edits import make_world, marked, send
from tests.toolbox.factories import REPORT
from tests.toolbox.responses import text_of_page

NEW = f"Corrected. {REPORT}".replace("9 March", "10 March")


@pytest.fixture(scope="module", autouse=True)
def _world(shared_world):
    return shared_world(make_world)


@pytest.fixture
def cast(_world, db):
    return _world


@pytest.fixture
def owner(cast):
    return cast.client("researcher")


@pytest.fixture
def report(cast):
    return Text.objects.filter(kind="report").first()


@pytest.fixture
def url(report):
    return f"/datasets/ferry/text-history/text/{report.pk}/"


def test_page_compares_and_the_button_restores(owner, report, url):
    before = marked(report)
    send(owner, url, NEW)
    send(owner, url, f"{NEW} More.")
    page = owner.get(f"{url}restore/1/")
    html = page.content.decode()
    assert "<del>Corrected. </del>" in html
    assert "<ins>9 </ins>" in html
    assert "2 edits" in text_of_page(page)
    report.refresh_from_db()
    assert owner.post(f"{url}restore/1/", {"seen": report.sha256}).url == url
    report.refresh_from_db()
    assert (report.body, marked(report)) == (REPORT, before)
    assert not Version.objects.exists()
    entries = ProjectEntry.objects.filter(action="restored words").order_by("pk")
    given_up = [entry.detail.partition("; given up: ")[2] for entry in entries]
    assert given_up == [f"{NEW} More.", NEW]


def test_restore_refuses_text_edited_meanwhile(owner, report, url):
    send(owner, url, NEW)
    page = owner.post(f"{url}restore/1/", {"seen": report.sha256})
    assert page.status_code == 409
    assert "Nothing was restored" in text_of_page(page)
    assert Version.objects.count() == 1


def test_grades_of_the_current_words_keep_them(owner, report, url):
    send(owner, url, NEW)
    ben = Rater.objects.create(dataset=report.dataset, name="ben", kind="human")
    rated = Rating.objects.filter(text=report).first()
    Rating.objects.record(
        rater=ben.pk, rubric=rated.rubric_id, text=report.pk, question=rated.question_id, grade=0
    )
    page = owner.get(f"{url}restore/1/")
    assert "Rater ben: 1 grades of the new version of a text" in text_of_page(page)
    assert f"{url}?version=1" in page.content.decode()
    report.refresh_from_db()
    assert owner.post(f"{url}restore/1/", {"seen": report.sha256}).status_code == 422
    assert Version.objects.count() == 1
    assert REPORT[:40] in owner.get(f"{url}?version=1").content.decode().split("<textarea")[1]


def test_restore_permissions_and_missing_versions(cast, owner, report, url):
    send(owner, url, NEW)
    for name, status in (("stranger", 302), ("worker", 403)):
        client = cast.client(name)
        assert client.get(f"{url}restore/1/").status_code == status
        assert client.post(f"{url}restore/1/").status_code == status
    assert owner.get(f"{url}restore/2/").status_code == 404
    assert owner.get("/datasets/ferry/text-history/text/999999/restore/1/").status_code == 404
    assert owner.get(f"/datasets/other/text-history/text/{report.pk}/restore/1/").status_code == 404
    assert owner.put(f"{url}restore/1/").status_code == 405


def test_comparison_has_all_of_both_wordings_and_escapes_them():
    html = compare("a <b> c", "a <i> c & d")
    assert html == "a <del>&lt;b&gt; c</del><ins>&lt;i&gt; c &amp; d</ins>"
    assert compare("same words", "same words") == "same words"
    long = " ".join(map(str, range(3000)))
    replacement = " ".join(map(str, range(5000, 8000)))
    assert compare(long, replacement) == f"<del>{long}</del><ins>{replacement}</ins>"
