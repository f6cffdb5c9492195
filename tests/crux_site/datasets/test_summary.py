"""datasets/<slug>/, summary for the list: kappa, rating coverage, next step, running work."""

import pytest
from django.test import Client

from annotation.models import Dataset, Rater, Rating
from crux_site.datasets import summary as module
from tests.toolbox.agreement_study import Study, make_study
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.responses import text_of_page

HTMX = {"HX-Request": "true"}


@pytest.fixture(scope="module")
def small_world(shared_world) -> Study:
    return shared_world(make_study)


@pytest.fixture
def rosa(cast) -> Client:
    return cast.client("researcher")


def lines(client: Client, slug: str = "ferry") -> str:
    return text_of_page(client.get(f"/datasets/{slug}/", headers=HTMX))


def test_lines_are_those_of_the_page(db, small_world, rosa):
    text = lines(rosa)
    # ann says 1 1 0, 1 0 1 and ben 1 0 0, 1 0 1: 5 of 6 equal. 7 of 12 answers are 1, so by chance
    # 74/144 are, and kappa is (5/6 - 74/144) / (1 - 74/144) = 46/70.
    assert "κ 0.66" in text
    assert "n = 6 pairs by 2 raters; T1, answerable or not" in text
    assert "T1, answerable or not, reports: ann 6 of 6 pairs" in text
    assert "T2, grades 0 to 5, reports: judge 5 of " in text
    assert "Next: read the disagreements" in text
    assert "<html" not in rosa.get("/datasets/ferry/", headers=HTMX).content.decode()
    whole = rosa.get("/datasets/ferry/")
    assert "HX-Request" in whole["Vary"]
    assert text.strip() in text_of_page(whole)


def test_long_report_is_shown_where_it_is_kept_and_never_made(db, small_world, rosa, monkeypatch):
    monkeypatch.setattr(module, "CHEAP", 0)
    assert "Agreement of raters , not computed yet" in lines(rosa)
    rosa.get("/datasets/ferry/agreement/")
    assert "κ 0.66" in lines(rosa)
    rating = Rating.objects.filter(rater=small_world.ben, grade=1).first()
    rating.grade = 0
    rating.save(update_fields=["grade"])
    assert "not computed yet" in lines(rosa)


def test_list_asks_for_the_lines_of_each_and_computes_none(db, small_world, rosa, monkeypatch):
    monkeypatch.setattr(module, "dataset_summary", None)
    page = rosa.get("/datasets/").content.decode()
    assert 'hx-get="/datasets/ferry/" hx-trigger="revealed"' in page
    assert 'href="/datasets/ferry/agreement/"' in page  # where no script runs


def test_next_step_by_state(cast, small_world, rosa):
    Dataset.objects.create(slug="empty", title="Empty")
    bare = make_dataset("bare")
    assert "Next: add texts, from a file or by hand" in lines(rosa, "empty")
    assert "Next: get grades from a campaign, a judge or files" in lines(rosa, "bare")
    campaign = make_campaign(bare, cast.worker)
    assert f"Open campaign: {campaign.title}" in lines(rosa, "bare")
    assert "Next: wait for the first grades" in lines(rosa, "bare")
    Rating.objects.filter(rater=small_world.judge).delete()
    assert "Next: get grades by a judge: Judge runs" in lines(rosa)
    Rater.objects.filter(dataset=small_world.dataset).update(kind="model")
    assert "Next: get grades by people: Label next" in lines(rosa)
    assert "κ" not in lines(rosa)


def test_others_see_nothing_of_it(cast, small_world):
    for account, status in (("worker", 403), ("stranger", 302)):
        assert cast.client(account).get("/datasets/ferry/", headers=HTMX).status_code == status
