"""Family of a judge's model: by its name, or by hand on the page of the judge."""

import pytest
from django.db import IntegrityError, transaction

from annotation.models import Membership
from judging.engine.foreground import fill_lexical
from judging.models import Judge
from tests.toolbox.judging_runs import a_judge
from tests.toolbox.responses import text_of_page

pytestmark = pytest.mark.django_db
NAME = "family_override"


@pytest.fixture
def judge() -> Judge:
    return a_judge(model="meta-llama/Llama-3.3-70B-Instruct")


@pytest.fixture
def url(judge) -> str:
    return f"/judges/{judge.pk}/"


def family_of(judge) -> str:
    return Judge.objects.get(pk=judge.pk).family


def test_family_is_told_by_the_name_of_the_model(cast, judge, url):
    assert judge.family == "llama"
    page = text_of_page(cast.client("admin").get(url))
    assert "Family llama, by the name of the model" in page
    assert "set by hand" not in page


def test_family_by_hand_has_its_author_and_time_and_no_effect_on_the_judge(cast, judge, url):
    admin = cast.client("admin")
    response = admin.post(url, {NAME: " Qwen "}, follow=True)
    assert response.redirect_chain == [(url, 302)]
    page = text_of_page(response)
    assert "The family of tiny-judge is saved." in page
    assert "Family qwen, by hand" in page
    assert "Family set by hand by ada on" in page
    stored = Judge.objects.get(pk=judge.pk)
    assert (stored.family, stored.family_set_by) == ("qwen", cast.admin)
    assert stored.family_set is not None
    assert stored.fingerprint == stored.spec.fingerprint == judge.fingerprint


def test_family_by_hand_can_be_removed(cast, judge, url):
    admin = cast.client("admin")
    admin.post(url, {NAME: "qwen"})
    assert family_of(judge) == "qwen"
    page = text_of_page(admin.post(url, {NAME: ""}, follow=True))
    assert family_of(judge) == "llama"
    assert "Family by hand removed by ada on" in page


def test_author_whose_account_is_deleted_is_named_as_deleted(cast, judge, url):
    admin = cast.client("admin")
    admin.post(url, {NAME: "qwen"})
    Judge.objects.filter(pk=judge.pk).update(family_set_by=None)
    assert "by a deleted account on" in text_of_page(admin.get(url))


@pytest.mark.parametrize("family", ["a/b", "x" * 61, "<b>", "a\x00b", "a\nb"])
def test_unsound_family_is_refused_beside_the_form(cast, judge, url, family):
    response = cast.client("admin").post(url, {NAME: family})
    assert response.status_code == 422
    assert 'id="id_family_override_error"' in response.content.decode()
    assert "Family llama, by the name of the model" in text_of_page(response)
    assert family_of(judge) == "llama"


def test_researcher_who_owns_no_project_of_the_judge_may_not(cast, judge, url):
    Judge.objects.filter(pk=judge.pk).update(is_site_wide=True)
    rosa = cast.client("researcher")
    assert NAME not in rosa.get(url).content.decode()
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    assert rosa.post(url, {NAME: "qwen"}).status_code == 403
    assert family_of(judge) == "llama"


def test_owner_sets_the_family_of_a_judge_of_the_project(cast, judge, url):
    membership = Membership.objects.get(user=cast.researcher)
    judge.projects.add(membership.project)
    Membership.objects.filter(pk=membership.pk).update(role="owner")
    assert cast.client("researcher").post(url, {NAME: "qwen"}).status_code == 302
    assert family_of(judge) == "qwen"


def test_judge_of_another_project_is_not_found(cast, judge, url):
    assert cast.client("researcher").post(url, {NAME: "qwen"}).status_code == 404
    assert cast.client("worker").post(url, {NAME: "qwen"}).status_code == 403
    assert cast.client("stranger").post(url, {NAME: "qwen"})["Location"].startswith("/login/")
    assert cast.client("admin").post("/judges/999999/", {NAME: "qwen"}).status_code == 404
    assert cast.client("admin").put(url, {NAME: "qwen"}).status_code == 405
    assert family_of(judge) == "llama"


def test_baseline_has_no_family(cast, dataset):
    fill_lexical(dataset)
    baseline = Judge.objects.get()
    assert baseline.family == ""
    url = f"/judges/{baseline.pk}/"
    admin = cast.client("admin")
    page = admin.get(url)
    assert "Family" not in text_of_page(page)
    assert NAME not in page.content.decode()
    assert admin.post(url, {NAME: "qwen"}).status_code == 404


def test_family_by_hand_without_its_time_cannot_be_stored(judge):
    with pytest.raises(IntegrityError), transaction.atomic():
        Judge.objects.filter(pk=judge.pk).update(family_override="qwen")
