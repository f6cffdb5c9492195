"""Visibility of a judge: in the projects where it runs, or site-wide."""

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from annotation.models import ApiToken, Dataset, Membership, Project, User
from annotation.participation.assigning import rater_of
from judging.models import Judge
from tests.toolbox.factories import make_dataset
from tests.toolbox.judging_runs import a_run

NAME = "tiny-judge"


@pytest.fixture
def rex(cast) -> User:
    """A researcher of another project, which has a dataset."""
    second_project = Project.objects.create(slug="other", title="Another group")
    rex = User.objects.create_user("rex", role="researcher")
    Membership.objects.create(project=second_project, user=rex, role="owner")
    make_dataset("harbour")
    Dataset.objects.filter(slug="harbour").update(project=second_project)
    return rex


@pytest.fixture
def theirs(rex, client):
    client.force_login(rex)
    return client


def api_of(user: User) -> APIClient:
    key = ApiToken.objects.make(user, f"program {ApiToken.objects.count()}")
    return APIClient(HTTP_AUTHORIZATION=f"Token {key}")


def addresses(judge: Judge) -> list[str]:
    """Return all URLs that name a judge by its key."""
    return [
        f"/judges/{judge.pk}/",
        f"/judges/{judge.pk}/parser/",
        f"/judges/{judge.pk}/attempts.csv",
        f"/judges/{judge.pk}/attempts.jsonl",
        f"/judges/compare/?a={judge.pk}&b={judge.pk}",
        f"/judges/compare.csv?a={judge.pk}&b={judge.pk}",
    ]


def names_it(client, judge: Judge, of_dataset: str = "harbour") -> bool:
    """Return whether lists and pages name the judge; all of them agree."""
    pages = [client.get(address) for address in ("/judges/", "/judges/compare/")]
    mentions = {NAME in page.content.decode() for page in pages}
    mentions |= {client.get(f"/judges/{judge.pk}/").status_code == 200}
    dataset = Dataset.objects.get(slug=of_dataset)
    text, question = dataset.texts.first(), dataset.topics.get().questions.first()
    empty = client.get(f"/replies/{judge.rater_id}/{text.pk}/{question.pk}/")
    mentions |= {NAME in empty.content.decode()}
    assert len(mentions) == 1
    return mentions.pop()


def test_judge_without_a_run_is_admins_alone(cast, rex, theirs, judge, dataset):
    assert (names_it(theirs, judge), names_it(cast.client("researcher"), judge, "ferry")) == (
        False,
        False,
    )
    for address in addresses(judge):
        assert theirs.get(address).status_code == 404, address
    assert names_it(cast.client("admin"), judge)


def test_run_makes_a_judge_visible_in_its_project_alone(cast, rex, theirs, judge, dataset):
    a_run(judge, dataset)
    assert names_it(cast.client("researcher"), judge, "ferry")
    assert not names_it(theirs, judge)
    for address in addresses(judge):
        assert theirs.get(address).status_code == 404, address
    a_run(judge, Dataset.objects.get(slug="harbour"))
    assert names_it(theirs, judge)
    page = theirs.get(f"/judges/{judge.pk}/").content.decode()
    assert ("/datasets/harbour/" in page, "/datasets/ferry/" in page) == (True, False)


def test_judge_goes_with_a_dataset_that_moves(cast, rex, theirs, judge, dataset):
    a_run(judge, dataset)
    Dataset.objects.filter(pk=dataset.pk).update(project=Project.objects.get(slug="other"))
    assert names_it(theirs, judge, "ferry")
    assert cast.client("researcher").get(f"/judges/{judge.pk}/").status_code == 404


def test_api_tells_members_alone_of_a_judge(cast, rex, judge, dataset):
    a_run(judge, dataset)
    for user, count, status in ((rex, 0, 404), (cast.researcher, 1, 200), (cast.admin, 1, 200)):
        api = api_of(user)
        assert api.get("/api/v1/judges/").json()["count"] == count
        one = api.get(f"/api/v1/judges/{judge.fingerprint}/")
        assert one.status_code == status
        runs = api.get(f"/api/v1/judge-runs/?judge={NAME}").json()["count"]
        assert runs == count
    assert one.json()["is_site_wide"] is False


def test_admin_opens_a_judge_to_every_researcher_and_closes_it(cast, rex, theirs, judge, dataset):
    admin, address = cast.client("admin"), f"/judges/{judge.pk}/visibility/"
    assert "Open to every researcher" in admin.get(f"/judges/{judge.pk}/").content.decode()
    for client, status in ((theirs, 403), (cast.client("worker"), 403)):
        assert client.post(address, {"everybody": "1"}).status_code == status
    assert admin.get(address).status_code == 405
    assert admin.post("/judges/0/visibility/").status_code == 404
    assert not names_it(theirs, judge)
    assert admin.post(address, {"everybody": "1"}).url == f"/judges/{judge.pk}/"
    assert names_it(theirs, judge)
    assert api_of(rex).get("/api/v1/judges/").json()["results"][0]["is_site_wide"] is True
    assert "Restrict to its projects" in admin.get(f"/judges/{judge.pk}/").content.decode()
    assert "visibility" not in theirs.get(f"/judges/{judge.pk}/").content.decode()
    admin.post(address)
    assert not names_it(theirs, judge)


@pytest.mark.parametrize("is_site_wide", [True, False])
def test_new_judge_is_site_wide_only_by_choice(cast, dataset, is_site_wide):
    sent = {
        "slug": "new-judge",
        "rubric": "graded",
        "prompt": "Grade this: {text} {question}",
        "parser": "integer-1",
        "backend": "openai",
        "model": "tiny",
        "temperature": "0",
        "top_p": "1",
        "max_tokens": "1",
    }
    sent |= {"is_site_wide": "on"} if is_site_wide else {}
    admin = cast.client("admin")
    reply_study = admin.post("/judges/new/", sent | {"look": "1"})
    assert reply_study.context["form"]["is_site_wide"].value() is is_site_wide
    assert admin.post("/judges/new/", sent | {"save": "1"}).status_code == 302
    created = Judge.objects.get()
    assert created.is_site_wide is is_site_wide
    copied = admin.get(f"/judges/new/?from={created.pk}")
    assert not copied.context["form"]["is_site_wide"].value()


def test_visibility_is_no_part_of_the_fingerprint(judge):
    before = Judge.objects.get().spec.fingerprint
    Judge.objects.update(is_site_wide=True)
    assert Judge.objects.get().spec.fingerprint == before


def test_name_of_a_site_rater_is_told_where_it_rated_alone(cast, rex, theirs, dataset):
    """The page of a reply takes the key of any rater: those of other projects are not there."""
    rater = rater_of(cast.worker)
    harbour = Dataset.objects.get(slug="harbour")
    text, question = harbour.texts.first(), harbour.topics.get().questions.first()
    answer = theirs.get(f"/replies/{rater.pk}/{text.pk}/{question.pk}/")
    assert (answer.status_code, rater.name in answer.content.decode()) == (404, False)


def test_baseline_of_a_dataset_stays_with_its_project(cast, rex, theirs, dataset):
    call_command("judge", "ferry", verbosity=0)
    baseline = Judge.objects.get()
    assert cast.client("researcher").get(f"/judges/{baseline.pk}/").status_code == 200
    assert theirs.get(f"/judges/{baseline.pk}/").status_code == 404


def test_judge_of_a_dataset_is_one_for_a_member_of_a_project_with_many(cast, judge, dataset):
    judge.rater.dataset = dataset
    judge.rater.save(update_fields=["dataset"])
    Judge.objects.update(is_site_wide=True)
    client = cast.client("researcher")
    assert dataset.project.memberships.count() == 1
    for name in ("one", "two", "three"):
        user = User.objects.create_user(name, role="researcher")
        Membership.objects.create(project=dataset.project, user=user)
    assert client.get(f"/judges/{judge.pk}/").status_code == 200
    assert Judge.objects.visible_to(cast.researcher).count() == 1
