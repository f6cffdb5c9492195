"""Label sequences: plans, the stored order, and results as people grade it."""

import csv
import io
import re
from decimal import Decimal

import pytest
from django.urls import reverse

from annotation.models import Campaign, Dataset, ItemQuestion, Rating
from annotation.row_versions import VERSION
from evaluation.models import LabelSequence
from evaluation.sequences.page import SequencePage
from evaluation.sequences.state import state_of
from tests.toolbox.responses import text_of_page
from tests.toolbox.sequence_study import make_sequence_study

URL = "/datasets/tide/sequences/"
ORDER = {"kind": "order", "system": "strong", "other_system": "weak"}
FORM = {"audience": "link", "dataset": "tide", "raters_per_item": "1", "title": "Chosen"}
VERSION_FIELD = re.compile(rf'name="{VERSION}"\s+value="([^"]+)"')


@pytest.fixture
def study(db):
    return make_sequence_study()


@pytest.fixture
def admin(cast):
    return cast.client("admin")


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def start(client, plan="sequence", **params):
    response = client.post(URL, {"rubric": "graded", "plan": plan} | params)
    assert response.status_code == 302, text_of_page(response)
    return LabelSequence.objects.first()


def pairs_of(sequence, n=None):
    return [(pair[0], pair[1]) for _, pairs in sequence.units[:n] for pair in pairs]


def test_both_plans_are_priced(rosa, study):
    page = rosa.get(URL, {"rubric": "graded", "target": "0.15"})
    plans = page.context["plans"]
    assert (plans.n_units, plans.n_pairs, plans.n_observed) == (96, 96, 0)
    assert plans.fixed.need.median < plans.sequence.need.median <= 96
    content = text_of_page(page)
    assert "an error rate of 0.15 is assumed" in content
    assert "not known" in content  # without a paid campaign


def test_errors_so_far_replace_the_stated_rate(rosa, study):
    study.label(list(study.truth)[:40])
    plans = rosa.get(URL, {"rubric": "graded", "error_rate": "0.5"}).context["plans"]
    assert plans.n_observed == 40
    assert plans.error_rate < 0.3


def test_plan_leads_to_an_open_campaign_in_three_acts(admin, study):
    response = admin.post(URL, {"rubric": "graded", "plan": "sequence", "people": "2"})
    sequence = LabelSequence.objects.get()
    assert response.url == (f"/datasets/tide/campaign-of-pairs/?of=sequence&sequence={sequence.pk}")
    page = admin.get(response.url)
    assert "They are a random draw" in text_of_page(page)
    assert page.context["form"].initial["raters_per_item"] == 2
    review = admin.post(response.url, FORM | {"rubric": study.rubric.pk}).url
    campaign = Campaign.objects.get()
    item_questions = ItemQuestion.objects.filter(item__campaign=campaign)
    expected = pairs_of(sequence, sequence.n_planned)
    assert set(item_questions.values_list("item__text", "question")) == set(expected)
    version = VERSION_FIELD.search(admin.get(review).content.decode())[1]
    admin.post(f"/campaigns/{campaign.slug}/edit/open/", {VERSION: version})
    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.OPEN


@pytest.mark.database
def test_order_is_decided_and_stays(rosa, study):
    sequence = start(rosa, **ORDER)
    assert state_of(sequence).verdict == "open"
    study.label(pairs_of(sequence))
    state = state_of(sequence)
    assert state.verdict == "strong above weak"
    assert state.stopped_at <= state.n_units == 12
    page = text_of_page(rosa.get(sequence.get_absolute_url()))
    assert "Strong above weak" in page
    assert "which holds however often one looks" in page
    assert "of these 12 topics" in page


@pytest.mark.database
def test_mean_counts_units_in_their_order_alone(rosa, study):
    sequence = start(rosa, target="0.2", people="2")
    pairs = pairs_of(sequence)
    study.label(pairs[:3], n_people=2)
    study.label(pairs[4:9], n_people=2)
    assert state_of(sequence).n_complete == 3
    study.label(pairs[3:4], n_people=1)
    assert state_of(sequence).n_complete == 3  # one of two people
    person = study.people[1]
    Rating.objects.create(
        rater=person,
        rubric=study.rubric,
        text_id=pairs[3][0],
        question_id=pairs[3][1],
        grade=0,
    )
    assert state_of(sequence).n_complete == 9


def test_exposed_grades_are_left_out(rosa, study):
    sequence = start(rosa)
    study.label(pairs_of(sequence, 5))
    Rating.objects.filter(rater=study.people[0], text_id=pairs_of(sequence)[1][0]).update(
        exposure=1
    )
    assert state_of(sequence).n_complete <= 1


def test_mean_reaches_its_half_width(rosa, study):
    sequence = start(rosa, target="0.2")
    study.label(pairs_of(sequence))
    state = state_of(sequence)
    assert state.verdict == "half-width reached"
    assert state.stopped_at < 96
    assert state.next_pairs(set()) == []
    mean = sum(study.truth.values()) / 96
    assert state.estimate.low <= mean <= state.estimate.high
    page = SequencePage(state)
    assert page.chart is not None
    assert sum(step.is_stop for step in page.thinned_intervals) == 1


def test_complete_order_gives_the_exact_mean(rosa, study):
    sequence = start(rosa, target="0.005")
    study.label(pairs_of(sequence))
    state = state_of(sequence)
    mean = sum(study.truth.values()) / 96
    assert state.estimate.value == pytest.approx(mean)
    assert (state.estimate.low, state.estimate.high) == pytest.approx((mean, mean))


def test_equal_systems_end_as_futile(rosa, study):
    study.truth.update(dict.fromkeys(study.truth, True))
    sequence = start(rosa, **ORDER)
    study.label(pairs_of(sequence))
    assert state_of(sequence).verdict == "futile: the difference is smaller than 0.05"


def test_fixed_draw_is_looked_at_once(rosa, study):
    sequence = start(rosa, "fixed", target="0.15")
    pairs = pairs_of(sequence, sequence.n_planned)
    study.label(pairs[:-1])
    assert state_of(sequence).estimate.value is None
    assert list(SequencePage(state_of(sequence)).intervals()) == []
    study.truth[pairs[-1]] = not study.truth[pairs[0]]  # or no error might differ
    study.label(pairs[-1:])
    state = state_of(sequence)
    assert state.estimate.n == sequence.n_planned
    assert "finite population" in text_of_page(rosa.get(sequence.get_absolute_url()))


@pytest.mark.database
def test_second_press_returns_the_same_sequence(rosa, study):
    first, second = start(rosa, **ORDER), start(rosa, **ORDER)
    assert first == second
    assert LabelSequence.objects.count() == 1
    assert start(rosa, **ORDER, target="0.1") != first
    page = text_of_page(rosa.get(LabelSequence.objects.first().get_absolute_url()))
    assert "It was sequence 2 about this" in page


def test_files_have_all_looks(rosa, study):
    sequence = start(rosa, target="0.3")
    study.label(pairs_of(sequence, 40))
    url = reverse("label_sequence_table", args=["tide", sequence.pk]).removesuffix(".csv")
    rows = list(csv.DictReader(io.StringIO(rosa.get(f"{url}.csv").content.decode())))
    assert len(rows) == 40
    assert rows[0]["pairs"] == "1"
    assert len(rosa.get(f"{url}.json").json()) == 40
    assert b"\\begin{tab" in rosa.get(f"{url}.tex").content


BAD = {
    "kind": ({"kind": "spread"}, "question"),
    "target": ({"target": "3"}, "from 0.005 to 0.5"),
    "no number": ({"target": "wide"}, "from 0.005 to 0.5"),
    "people": ({"people": "99"}, "from 1 to 10"),
    "rate": ({"error_rate": "2"}, "from 0 to 1"),
    "system": ({"system": "nobody"}, "system"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_choice_is_refused_and_stores_nothing(name, rosa, study):
    params, message = BAD[name]
    for response in (
        rosa.get(URL, {"rubric": "graded"} | params),
        rosa.post(URL, {"rubric": "graded", "plan": "sequence"} | params),
    ):
        assert response.status_code == 400
        assert message in text_of_page(response)
    assert not LabelSequence.objects.exists()


@pytest.mark.parametrize("systems", [{}, {"system": "strong"}, {**ORDER, "other_system": "strong"}])
def test_order_needs_two_systems(systems, rosa, study):
    params = {"rubric": "graded", "plan": "sequence"} | systems | {"kind": "order"}
    response = rosa.get(URL, params)
    assert response.status_code == 200
    assert "Choose two different systems" in text_of_page(response)
    assert rosa.post(URL, params).status_code == 400
    assert not LabelSequence.objects.exists()


def test_post_without_a_plan_stores_nothing(rosa, study):
    for params in ({}, {"plan": "guess"}):
        assert rosa.post(URL, {"rubric": "graded"} | params).status_code == 400
    assert not LabelSequence.objects.exists()


def test_dataset_without_a_judge_is_told_so(rosa, study):
    Rating.objects.filter(rater=study.judge).delete()
    study.label(study.truth)
    assert "No judge has graded" in text_of_page(rosa.get(URL, {"rubric": "graded"}))
    assert rosa.post(URL, {"rubric": "graded", "plan": "fixed"}).status_code == 400


def test_roles_methods_and_missing_sequences(rosa, cast, study):
    sequence = start(rosa)
    Dataset.objects.create(slug="other", title="Other")
    page = sequence.get_absolute_url()
    assert rosa.post(page).status_code == 405
    assert rosa.put(URL).status_code == 405
    assert rosa.get(f"{URL}999/").status_code == 404
    assert rosa.get(f"/datasets/other/sequences/{sequence.pk}/").status_code == 404
    assert rosa.get(f"/datasets/other/sequences/{sequence.pk}.csv").status_code == 404
    worker = cast.client("worker")
    for url in (URL, page, f"{URL}{sequence.pk}.csv"):
        assert worker.get(url).status_code == 403
    assert worker.post(URL, {"plan": "sequence"}).status_code == 403


def test_campaign_of_another_datasets_sequence_is_not_found(admin, study):
    sequence = start(admin)
    Dataset.objects.create(slug="other", title="Other")
    query = f"?of=sequence&sequence={sequence.pk}"
    assert admin.get(f"/datasets/other/campaign-of-pairs/{query}").status_code == 404
    assert admin.get("/datasets/tide/campaign-of-pairs/?of=sequence&sequence=x").status_code == 404


def test_label_next_links_to_plans(rosa, study):
    page = rosa.get("/datasets/tide/label-next/?rubric=graded").content.decode()
    assert "Halve the interval of" in page
    assert "/datasets/tide/sequences/?" in page
    assert "Compare plans" in page


def test_equal_values_give_no_interval_for_other_topics(rosa, study):
    study.truth.update(dict.fromkeys(study.truth, True))
    sequence = start(rosa, target="0.3")
    study.label(pairs_of(sequence, 30))
    elsewhere = state_of(sequence).for_other_topics
    assert (elsewhere.value, elsewhere.low) == (1, None)
    assert "the same on every unit" in text_of_page(rosa.get(sequence.get_absolute_url()))


def test_interval_stays_within_what_is_possible(rosa, study):
    study.truth.update(dict.fromkeys(study.truth, True))
    sequence = start(rosa, target="0.1", system="strong")
    study.label(pairs_of(sequence))
    intervals = list(SequencePage(state_of(sequence)).intervals())
    assert max(step.estimate.high for step in intervals) <= 1
    assert state_of(sequence).estimate.high == 1


def test_price_is_that_of_the_newest_paid_campaign(rosa, study):
    campaign = Campaign.objects.create(
        dataset=study.dataset,
        rubric=study.rubric,
        slug="paid",
        title="Paid",
        state=Campaign.State.CLOSED,
        items_per_part=2,
        minutes_per_part=10,
        pay_per_part=3,
    )
    text, question = next(iter(study.truth))
    item = campaign.items.create(text_id=text, position=0)
    item.asked.create(question_id=question, position=0)
    plan = rosa.get(URL, {"rubric": "graded", "people": "2"}).context["plans"].sequence
    assert plan.n_grades == 2 * plan.n_pairs
    assert plan.price.minutes == plan.n_grades * 5  # parts of two items with a pair each
    assert plan.price.pay == plan.n_grades * Decimal("1.50")
