"""datasets/<slug>/, the few lines that the list asks for: kappa, how full, what is next, what runs."""

import pytest
from django.test import Client

from annotation.models import Dataset, Rater, Rating
from crux_site.datasets import standing as module
from tests.evaluation.agreement.material import Study, make_study
from tests.evaluation.agreement.test_page import words
from tests.factories import make_campaign, make_dataset

HTMX = {"HX-Request": "true"}


@pytest.fixture(scope="module")
def made(kept) -> Study:
    return kept(make_study)


@pytest.fixture
def rosa(cast) -> Client:
    return cast.client("researcher")


def lines(client: Client, slug: str = "ferry") -> str:
    return words(client.get(f"/datasets/{slug}/", headers=HTMX))


def test_the_lines_are_those_of_the_page(db, made, rosa):
    seen = lines(rosa)
    # ann says 1 1 0, 1 0 1 and ben 1 0 0, 1 0 1: 5 of 6 equal. 7 of 12 answers are 1, so by chance
    # 74/144 are, and kappa is (5/6 - 74/144) / (1 - 74/144) = 46/70.
    assert "κ 0.66" in seen
    assert "n = 6 pairs by 2 raters; T1, answerable or not" in seen
    assert "T1, answerable or not, reports: ann 6 of 6 pairs" in seen
    assert "T2, grades 0 to 5, reports: judge 5 of " in seen
    assert "Next: where they disagree" in seen
    assert "<html" not in rosa.get("/datasets/ferry/", headers=HTMX).content.decode()
    whole = rosa.get("/datasets/ferry/")
    assert "HX-Request" in whole["Vary"]
    assert seen.strip() in words(whole)


def test_a_long_report_is_shown_where_it_is_kept_and_never_made(db, made, rosa, monkeypatch):
    monkeypatch.setattr(module, "CHEAP", 0)
    assert "How far raters agree , which is not computed yet" in lines(rosa)
    rosa.get("/datasets/ferry/agreement/")
    assert "κ 0.66" in lines(rosa)
    rating = Rating.objects.filter(rater=made.ben, grade=1).first()
    rating.grade = 0
    rating.save(update_fields=["grade"])
    assert "which is not computed yet" in lines(rosa)


def test_the_list_asks_for_the_lines_of_each_and_computes_none(db, made, rosa, monkeypatch):
    monkeypatch.setattr(module, "standing", None)
    page = rosa.get("/datasets/").content.decode()
    assert 'hx-get="/datasets/ferry/" hx-trigger="revealed"' in page
    assert 'href="/datasets/ferry/agreement/"' in page  # where no script runs


def test_what_is_next(cast, made, rosa):
    Dataset.objects.create(slug="empty", title="Empty")
    bare = make_dataset("bare")
    assert "Next: texts are to be imported" in lines(rosa, "empty")
    assert "Next: grades, from a campaign, a judge or files" in lines(rosa, "bare")
    campaign = make_campaign(bare, cast.worker)
    assert f"Open campaign: {campaign.title}" in lines(rosa, "bare")
    assert "Next: wait for the first grades" in lines(rosa, "bare")
    Rating.objects.filter(rater=made.judge).delete()
    assert "Next: a judge’s grades: judge runs" in lines(rosa)
    Rater.objects.filter(dataset=made.dataset).update(kind="model")
    assert "Next: people’s grades: what to label next" in lines(rosa)
    assert "κ" not in lines(rosa)


def test_others_see_nothing_of_it(cast, made):
    for who, status in (("worker", 403), ("stranger", 302)):
        assert cast.client(who).get("/datasets/ferry/", headers=HTMX).status_code == status
