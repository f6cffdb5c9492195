"""Next step of a dataset, by its state and the reader's role."""

import pytest
from django.test import Client

from annotation.models import Dataset, Rater, Rating
from crux_site.datasets import summary as module
from tests.toolbox.agreement_study import Study, make_study
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.responses import text_of_page


@pytest.fixture(scope="module")
def small_world(shared_world) -> Study:
    return shared_world(make_study)


@pytest.fixture
def rosa(cast) -> Client:
    return cast.client("researcher")


def page_of(client: Client, slug: str = "ferry") -> str:
    return text_of_page(client.get(f"/datasets/{slug}/"))


def test_kappa_is_that_of_the_agreement_page(db, small_world, rosa):
    page = page_of(rosa)
    # ann says 1 1 0, 1 0 1 and ben 1 0 0, 1 0 1: 5 of 6 equal. 7 of 12 answers are 1, so by chance
    # 74/144 are, and kappa is (5/6 - 74/144) / (1 - 74/144) = 46/70.
    assert "0.66 Fleiss κ of 2 people, 6 pairs; no interval," in page
    assert "T1, answerable or not: 6 of 6 pairs of reports" in page
    assert "People differ on 1 pair, and nobody has decided. Read disagreements" in page


def test_long_report_is_shown_only_from_the_cache(db, small_world, rosa, monkeypatch):
    monkeypatch.setattr(module, "CHEAP", 0)
    assert "Fleiss κ is not computed yet." in page_of(rosa)
    rosa.get("/datasets/ferry/agreement/")
    assert "0.66 Fleiss κ" in page_of(rosa)
    rating = Rating.objects.filter(rater=small_world.ben, grade=1).first()
    rating.grade = 0
    rating.save(update_fields=["grade"])
    assert "not computed yet" in page_of(rosa)


def test_next_step_before_grades_depends_on_the_role(cast, small_world, rosa):
    Dataset.objects.create(slug="empty", title="Empty")
    bare = make_dataset("bare")
    assert "The dataset has no texts. An owner of the project can import them." in page_of(
        rosa, "empty"
    )
    assert "A coordinator of the project can create a campaign." in page_of(rosa, "bare")
    ada = cast.client("admin")
    assert "The dataset has no texts. Import" in page_of(ada, "empty")
    assert "Nobody has graded a text yet. New campaign" in page_of(ada, "bare")
    make_campaign(bare, cast.worker)
    assert "The first grades are on their way. Open campaign" in page_of(rosa, "bare")


def test_next_step_asks_for_the_missing_side(cast, small_world, rosa):
    Rating.objects.filter(rater=small_world.ben).delete()
    assert "no disagreement waits for a decision. Compare them" in page_of(rosa)
    Rating.objects.filter(rater=small_world.judge).delete()
    assert "One person has graded. Agreement needs a second one" in page_of(rosa)
    Rater.objects.filter(dataset=small_world.dataset).update(kind="model")
    assert "Grades by people show how far to trust them. Label next" in page_of(rosa)


def test_next_step_without_a_judge_depends_on_the_role(cast, small_world, rosa):
    Rating.objects.filter(rater=small_world.judge).delete()
    Rating.objects.filter(rater=small_world.ben).update(grade=1)
    Rating.objects.filter(rater=small_world.ann).update(grade=1)
    assert "Only people have graded. A judge can grade the same pairs. Judge runs" in page_of(rosa)
    assert "the same pairs. New judge run" in page_of(cast.client("admin"))


def test_others_see_nothing_of_it(cast, small_world):
    for account, status in (("worker", 403), ("stranger", 302)):
        assert cast.client(account).get("/datasets/ferry/").status_code == status
