"""The page that proposes what no passage answers, and leaves it out."""

import re

import pytest

from annotation.models import Membership, Rating, SubQuestion, Text, Topic
from tests.toolbox.responses import markup
from tests.toolbox.scoring_study import make_study

FILTER = "/datasets/ferry/building/filter/"
QUERIES = 31


@pytest.fixture
def study(cast):
    """All passages with a body are graded; q1, q2 and ferry-2's question have no grade of 3."""
    study = make_study()
    names = ("ferry-1:0#1", "ferry-1:10#10", "ferry-1:11#11")
    Rating.objects.filter(text__name__in=names).delete()
    Rating.objects.filter(rater__kind="human").delete()
    Text.objects.filter(name__in=names).delete()
    return study


def test_dataset_that_nobody_judged(cast, dataset):
    response = cast.client("admin").get(FILTER)
    assert response.status_code == 200
    assert "This dataset has no grades of judges yet." in markup(response)
    assert cast.client("admin").post(FILTER).status_code == 422


def test_look_proposes_and_changes_nothing(cast, study):
    page = markup(cast.client("researcher").get(FILTER))
    assert "3 questions proposed" in page
    assert page.count(">filter<") == 3
    assert "Exclude questions" not in page
    assert "Exclude questions" in markup(cast.client("admin").get(FILTER))
    assert not SubQuestion.objects.filter(filtered_eta__isnull=False).exists()


@pytest.mark.parametrize("account", ["admin", "owner"])
def test_admin_or_owner_leaves_them_out_and_a_researcher_does_not(cast, study, account):
    sent = {"judge": "judge", "eta": "3"}
    assert cast.client("researcher").post(FILTER, sent).status_code == 403
    assert cast.client("worker").post(FILTER, sent).status_code == 403
    assert not SubQuestion.objects.filter(filtered_eta=3).exists()
    client = cast.client("admin") if account == "admin" else cast.client("researcher")
    if account == "owner":
        Membership.objects.filter(user=cast.researcher).update(role="owner")
    assert "Exclude questions" in markup(client.get(FILTER))
    response = client.post(FILTER, sent, follow=True)
    assert "Questions filtered: 3." in markup(response)
    assert SubQuestion.objects.filter(filtered_eta=3).count() == 3


def test_of_many_topics_those_with_proposals_come_first_and_queries_do_not_grow(
    cast, study, django_assert_max_num_queries
):
    Topic.objects.bulk_create(
        Topic(dataset=study.dataset, name=f"canal-{n}", request="?", position=9 + n)
        for n in range(40)
    )
    rosa = cast.client("researcher")
    with django_assert_max_num_queries(QUERIES):
        first = markup(rosa.get(FILTER))
    captions = re.findall(r"<caption>\s*<strong>([^<]+)", first)
    assert captions[:3] == ["ferry-1", "ferry-2", "canal-0"]
    assert len(captions) == 20
    assert "1 to 20 of 42" in first
    next_page = re.search(r'rel="next" href="([^"]+)"', first)[1].replace("&amp;", "&")
    assert next_page == "?judge=judge&eta=3&page=2"
    assert (
        re.findall(r"<caption>\s*<strong>([^<]+)", markup(rosa.get(FILTER + next_page)))[0]
        == "canal-18"
    )


def test_filter_is_refused_while_grades_are_missing(cast, study):
    Rating.objects.filter(text__name="ferry-1:2#2").first().delete()
    page = markup(cast.client("admin").get(FILTER))
    assert "1 pair of a passage and a question has no grade" in page
    assert "Exclude questions" not in page
    response = cast.client("admin").post(FILTER, {"judge": "judge", "eta": "3"})
    assert response.status_code == 422
    assert "No grade of judge for 1 pair of a passage and a question" in markup(response)
    assert not SubQuestion.objects.filter(filtered_eta__isnull=False).exists()


def test_proposal_that_changed_since_the_page_was_opened_is_shown_again(cast, study):
    admin = cast.client("admin")
    version = admin.get(FILTER).context["found"].version
    Rating.objects.filter(rater__name="judge").order_by("question").update(grade=5)
    response = admin.post(FILTER, {"judge": "judge", "eta": "3", "version": version})
    assert response.status_code == 422
    assert "No questions were filtered: grades or questions have changed" in markup(response)
    assert not SubQuestion.objects.filter(filtered_eta__isnull=False).exists()
    assert response.context["found"].version != version


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"judge": "ann"}, "There is no judge “ann”"),
        ({"judge": "<script>"}, "There is no judge"),
        ({"eta": "x"}, "There is no eta “x”"),
        ({"eta": "²"}, "There is no eta"),
        ({"eta": "9" * 5_000}, "There is no eta"),
    ],
)
@pytest.mark.parametrize("method", ["get", "post"])
def test_invalid_choice_is_reported(cast, study, method, query, message):
    response = getattr(cast.client("admin"), method)(FILTER, query)
    assert response.status_code == 422
    assert message in markup(response)
    assert "<script>" not in response.content.decode().split("<main")[1]
    assert not SubQuestion.objects.filter(filtered_eta__isnull=False).exists()
