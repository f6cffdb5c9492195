"""Campaign of chosen pairs: from each source to a draft that asks about them alone."""

import pytest

from annotation.builder.pair_set import MAX_PAIRS, PairSet, PairSetError
from annotation.models import Campaign, ItemQuestion, Rating
from crux_site.pair_campaigns.sources import SOURCES
from evaluation.certificates.testing import judge_test
from evaluation.models import LabelSample, SampleChance
from tests.toolbox.certificate_study import make_certificate_study
from tests.toolbox.judging_runs import a_judge
from tests.toolbox.responses import text_of_page

URL = "/datasets/bay/campaign-of-pairs/"
FORM = {"audience": "link", "dataset": "bay", "raters_per_item": "2"}


@pytest.fixture
def study(db):
    return make_certificate_study()


@pytest.fixture
def admin(cast):
    return cast.client("admin")


def create(client, query, **fields):
    rubric = Rating.objects.first().rubric
    sent = FORM | {"rubric": rubric.pk, "title": "Chosen"} | fields
    return client.post(f"{URL}?{query}", sent)


def asked_pairs(campaign) -> set[tuple[int, int]]:
    questions = ItemQuestion.objects.filter(item__campaign=campaign)
    return set(questions.values_list("item__text", "question"))


def keys(ratings) -> set[tuple[int, int]]:
    return set(ratings.values_list("text", "question"))


def test_disagreements_become_a_draft_of_these_pairs(admin, study):
    query = "of=disagreements&rubric=graded&raters=ann,ben&kind=differ"
    listed = admin.get(f"/datasets/bay/disagreements/?{query}").context["listed"]
    pairs = {listed.key(index) for index in range(len(listed))}
    page = text_of_page(admin.get(f"{URL}?{query}"))
    assert f"{len(pairs)} chosen pairs, because they match the filter" in page
    assert "They are no random draw" in page
    response = create(admin, query)
    campaign = Campaign.objects.get()
    assert response.url == f"/campaigns/{campaign.slug}/edit/review/"
    assert asked_pairs(campaign) == pairs
    assert campaign.selection["is_random"] is False
    review = text_of_page(admin.get(response.url))
    assert f"{len(pairs)} chosen pairs, because they match the filter" in review


def test_step_of_the_texts_keeps_the_pairs(admin, study):
    query = "of=disagreements&rubric=graded&raters=ann,ben&kind=differ"
    create(admin, query)
    campaign = Campaign.objects.get()
    before = asked_pairs(campaign)
    url = f"/campaigns/{campaign.slug}/edit/texts/"
    page = admin.get(url)
    assert "chosen pairs, because" in text_of_page(page)
    assert 'name="kind"' not in page.content.decode()
    sent = {"title": "Renamed", "version": page.context["form"].version}
    response = admin.post(url, sent | {"copies_equal_texts": "True"})
    assert response.status_code == 302, response.content
    campaign.refresh_from_db()
    assert campaign.title == "Renamed"
    assert asked_pairs(campaign) == before


def test_pairs_without_a_grade_of_a_person(admin, study):
    for name in ("ann", "ben", "cat"):
        study.rating(name, 7).delete()
    create(admin, "of=unrated&rubric=graded")
    judged = study.rating("near", 7)
    assert asked_pairs(Campaign.objects.get()) == {(judged.text_id, judged.question_id)}


def test_pairs_that_all_have_a_grade_of_a_person(admin, study):
    page = text_of_page(admin.get(f"{URL}?of=unrated&rubric=graded&topic=pier-1"))
    assert "People have graded all pairs of the topic pier-1 under" in page


def test_failures_of_a_judge(admin, study, failed_judge):
    page = text_of_page(admin.get(f"{URL}?of=failures&judge={failed_judge.rater_id}"))
    assert "1 chosen pair, because the judge tiny-judge gave them no grade" in page
    create(admin, f"of=failures&judge={failed_judge.rater_id}")
    attempt = failed_judge.attempts.get()
    assert asked_pairs(Campaign.objects.get()) == {(attempt.text_id, attempt.question_id)}


@pytest.fixture
def failed_judge(study):
    judge = a_judge()
    run = judge.runs.create(dataset=study.dataset)
    rating = study.rating("near")
    judge.attempts.create(
        text=rating.text,
        question=rating.question,
        batch=run.batches.create(worker="w"),
        state="error",
        failure="server_error",
    )
    return judge


def test_sample_of_label_next_is_a_random_draw(admin, study):
    text = study.rating("near").text
    sample = LabelSample.objects.create(
        dataset=study.dataset,
        rubric=study.rubric,
        judge=study.raters["near"],
        eta=3,
        size=1,
        seed=1,
    )
    SampleChance.objects.create(sample=sample, text=text, chance=0.5, is_drawn=True)
    page = text_of_page(admin.get(f"{URL}?of=sample&sample={sample.pk}"))
    assert "They are a random draw" in page
    create(admin, f"of=sample&sample={sample.pk}")
    assert {text for text, _ in asked_pairs(Campaign.objects.get())} == {text.pk}


def test_first_certificate_needs_forty_pairs_of_eight_topics(admin, study):
    Rating.objects.filter(rater__kind="human").delete()
    query = f"of=certificate&rubric=graded&judge={study.raters['near'].pk}"
    page = admin.get(f"{URL}?{query}")
    assert "40 chosen pairs, because the certificate of near needs them" in text_of_page(page)
    assert page.context["form"].initial["raters_per_item"] == 3
    create(admin, query)
    assert asked_pairs(Campaign.objects.get()) == keys(
        Rating.objects.filter(rater=study.raters["near"])
    )


def test_certificate_draws_what_two_people_have_not_graded(admin, study):
    for name in ("ann", "ben"):
        Rating.objects.filter(rater=study.raters[name], question__topic__name="bay-3").delete()
    query = f"of=certificate&rubric=graded&judge={study.raters['near'].pk}"
    create(admin, query)
    expected = Rating.objects.filter(rater=study.raters["near"], question__topic__name="bay-3")
    assert asked_pairs(Campaign.objects.get()) == keys(expected)


def test_page_of_a_certificate_leads_to_the_missing_pairs(admin, study):
    Rating.objects.filter(rater__kind="human").delete()
    page = admin.get(study.url("near"))
    assert "No person has graded a pair that near graded" in text_of_page(page)
    link = f"?of=certificate&amp;rubric=graded&amp;judge={study.raters['near'].pk}"
    assert link in page.content.decode()
    response = admin.post(study.url("near"), follow=True)
    assert "Not tested. No person has graded a pair" in text_of_page(response)


def test_failed_certificate_links_to_a_draw_if_labels_are_missing(admin, study):
    certificate = judge_test(
        study.dataset, rubric="graded", judge="near", numbers={"epsilon": 0.0}
    ).store(by=None)
    needed = certificate.result["needed"]
    page = admin.get(study.url("near")).content.decode()
    assert ("Create campaign of these pairs" in page) == bool(needed and needed["n_pairs"])


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("of=nothing", 400),
        ("", 400),
        ("of=disagreements&rubric=nothing", 400),
        ("of=disagreements&kind=nothing", 400),
        ("of=unrated&rubric=nothing", 404),
        ("of=unrated&rubric=graded", 400),  # all pairs have a grade
        ("of=failures&judge=x", 404),
        ("of=failures&judge=999999", 404),
        ("of=sample&sample=999999", 404),
        ("of=certificate&rubric=graded&judge=999999", 404),
        ("of=certificate&rubric=graded&judge=", 404),
    ],
)
def test_unknown_source_or_empty_set_is_refused(admin, study, query, status):
    assert admin.get(f"{URL}?{query}").status_code == status
    assert create(admin, query).status_code == status
    assert not Campaign.objects.exists()


def test_researcher_worker_and_other_methods_are_refused(cast, study):
    query = "of=disagreements&rubric=graded&kind=differ"
    assert cast.client("worker").get(f"{URL}?{query}").status_code == 403
    assert create(cast.client("researcher"), query).status_code == 403
    assert cast.client("admin").put(f"{URL}?{query}").status_code == 405
    page = cast.client("researcher").get("/datasets/bay/disagreements/")
    assert "Create campaign of these pairs" not in page.content.decode()


def test_large_set_is_refused(study):
    rating = study.rating("near")
    pairs = [(rating.text_id, rating.question_id)] * (MAX_PAIRS + 1)
    pair_set = PairSet(study.rubric, pairs, "of a test", is_random=False, title="All")
    with pytest.raises(PairSetError, match="These are 5,001 pairs"):
        pair_set.selection(study.dataset)


def test_sources_are_those_of_the_docs():
    assert set(SOURCES) == {
        *("disagreements", "sample", "sequence", "unrated", "failures", "certificate")
    }


def test_agreement_names_campaigns_of_chosen_pairs(admin, study):
    create(admin, "of=disagreements&rubric=graded&raters=ann,ben&kind=differ")
    Campaign.objects.update(state="open")
    page = text_of_page(admin.get("/datasets/bay/agreement/?rubric=graded"))
    assert "The pairs of Chosen were chosen because they match the filter" in page
    Campaign.objects.update(selection={"kind": "passage"})
    assert "were chosen because" not in text_of_page(admin.get("/datasets/bay/agreement/"))
