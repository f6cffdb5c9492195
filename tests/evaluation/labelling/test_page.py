"""The page Label next: eight topics with a report each, of which people finished three."""

import csv
import io
from copy import deepcopy

import numpy as np
import pytest

from annotation.models import Dataset, Rater, Rating, Text
from annotation.models.rating import Exposure
from evaluation.labelling.data import load_label_data
from evaluation.labelling.page import label_report
from evaluation.labelling.query import label_query
from evaluation.labelling.samples import sample_result
from evaluation.models import LabelSample, SampleChance
from tests.toolbox.concurrent_clients import at_once
from tests.toolbox.labelling_study import make_locks, rate
from tests.toolbox.responses import markup
from tests.toolbox.users import make_cast

LABELLED = [0, 1, 3]


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture(scope="module")
def saved_study(shared_world):
    return shared_world(make_locks)


@pytest.fixture
def locks(db, saved_study):
    return deepcopy(saved_study)


def data_of(dataset):
    return load_label_data(label_query(dataset).selection)


def read(response):
    return list(csv.DictReader(io.StringIO(response.content.decode())))


def test_data_by_hand(locks, django_assert_num_queries):
    selection = label_query(locks).selection
    with django_assert_num_queries(8):
        data = load_label_data(selection)
    nan = np.nan
    # Eta 3: the judge covers 2, 1, 0, 1, 2, 1, 0 of 2; the last report it has not graded throughout.
    np.testing.assert_allclose(data.judge, [1, 0.5, 0, 0.5, 1, 0.5, 0, nan])
    np.testing.assert_allclose(data.human, [1, 1, nan, 0, nan, nan, nan, nan])
    assert data.n_people.tolist() == [1, 1, 0, 1, 0, 0, 0, 0]
    # Cells of both: grades 5 5 5 0, 0 (of the unfinished report), 3 0 with 1 1 1 1, 0, 0 0.
    assert data.n_cells == 7
    overall = 4 / 7
    shares = dict(zip(data.levels, data.shares.tolist(), strict=True))
    assert shares[5] == pytest.approx((3 + 2 * overall) / 5)
    assert shares[0] == pytest.approx((1 + 2 * overall) / 5)
    assert shares[4] == pytest.approx(overall)


def test_copied_grades_of_people_count_for_their_report_and_once_in_the_shares(locks):
    read, copy = Text.objects.get(name="r0"), Text.objects.get(name="r1")
    before = data_of(locks)
    Rating.objects.filter(text=copy, rater__kind=Rater.Kind.HUMAN).update(copied_from=read)
    data = data_of(locks)
    np.testing.assert_allclose(data.human, before.human)
    assert (before.n_cells, data.n_cells) == (7, 5)


def test_exposed_grades_of_people_are_left_out_and_counted(rosa, locks):
    read = Rating.objects.filter(text__name="r1", rater__kind=Rater.Kind.HUMAN)
    n = read.update(exposure=Exposure.RATERS)
    Rating.objects.filter(rater__kind=Rater.Kind.BASELINE).update(exposure=Exposure.RATERS)
    data = data_of(locks)
    assert (np.isnan(data.human[1]), data.n_people[1], data.n_exposed) == (True, 0, n)
    assert data.judge[1] == 0.5
    rosa.post("/datasets/locks/label-next/", {"size": "2"})
    for page in ("label-next", f"label-next/samples/{LabelSample.objects.get().pk}"):
        assert f"{n} grades are left out, because they are not independent" in markup(
            rosa.get(f"/datasets/locks/{page}/")
        )


def test_candidates_are_the_unlabelled_that_the_judge_finished_strongest_first(locks):
    report = label_report(data_of(locks), "", 2)
    assert {candidate.report.name for candidate in report.candidates} == {"r2", "r4", "r5", "r6"}
    gaps = [candidate.gap for candidate in report.candidates]
    assert gaps == sorted(gaps, reverse=True)
    assert sum(candidate.chance for candidate in report.candidates) == pytest.approx(2)
    assert (report.n_labelled, report.n_without_judge) == (3, 1)
    assert [forecast.n for forecast in report.forecasts] == [4]
    assert report.forecasts[0].drawn == pytest.approx(report.forecasts[0].equal)  # all of them


def test_estimate_is_of_people_if_they_finished_all_topics(locks):
    Rating.objects.exclude(text__name__in=["r0", "r1", "r3"]).delete()
    (row,) = label_report(data_of(locks), "", 2).rows
    assert row.both.value is None
    assert "people have finished every topic" in row.both.reason


def test_three_estimates(locks):
    (row,) = label_report(data_of(locks), "", 2).rows
    assert (row.people.value, row.people.n, row.people.missing) == (pytest.approx(2 / 3), 3, 5)
    assert (row.judge.value, row.judge.n) == (pytest.approx(3.5 / 7), 7)
    assert row.both.value is not None
    assert row.both.n == 3


def test_page_says_what_it_rests_on(rosa, locks):
    page = markup(rosa.get("/datasets/locks/label-next/?size=2"))
    assert "words (baseline) alone" in page
    assert "4 reports to choose from" in page
    assert "1 more cannot be chosen, because the judge has not graded every question" in page
    assert "from 7 pairs graded by both" in page
    assert "Draw sample (2)" in page


def test_sample_keeps_its_chances_and_its_estimate_waits_for_its_labels(rosa, locks):
    response = rosa.post("/datasets/locks/label-next/", {"size": "2"}, follow=True)
    sample = LabelSample.objects.get()
    assert response.redirect_chain[-1][0] == f"/datasets/locks/label-next/samples/{sample.pk}/"
    chances = SampleChance.objects.filter(sample=sample)
    assert chances.count() == 4
    assert sum(chances.values_list("chance", flat=True)) == pytest.approx(2)
    sampled = list(chances.filter(is_drawn=True))
    assert len(sampled) == sample.size == 2
    page = markup(response)
    assert "0 of 2" in page
    assert "2 of the 2 drawn reports are not labelled yet" in page
    for chance in sampled:
        label(chance.text)
    page = markup(rosa.get(f"/datasets/locks/label-next/samples/{sample.pk}/"))
    assert 'id="dataset-pages"' in page
    assert "2 of 2" in page
    # By hand: judge + (human - judge)/chance for the drawn, people's own where they came first.
    judge = data_of(locks).judge
    values = dict(enumerate(judge.tolist()))
    values |= {0: 1.0, 1: 1.0, 3: 0.0}
    for chance in sampled:
        number = int(chance.text.name[1:])
        values[number] = judge[number] + (1 - judge[number]) / chance.chance
    del values[7]
    assert f"{np.mean(list(values.values())):.2f}" in page


def test_second_press_draws_no_second_sample(rosa, locks):
    first, second = (rosa.post("/datasets/locks/label-next/", {"size": "2"}) for _ in range(2))
    assert first.url == second.url
    assert LabelSample.objects.count() == 1
    rosa.post("/datasets/locks/label-next/", {"size": "1"})
    assert LabelSample.objects.count() == 2
    label(SampleChance.objects.filter(is_drawn=True).first().text)
    rosa.post("/datasets/locks/label-next/", {"size": "2"})
    assert LabelSample.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_presses_at_once_draw_one_sample():
    make_locks()
    rosa = make_cast().client("researcher")
    presses = [lambda: rosa.post("/datasets/locks/label-next/", {"size": "2"})] * 2
    outcomes = at_once(*presses, after_reading=LabelSample)
    assert [outcome.status for outcome in outcomes] == [302, 302]
    assert LabelSample.objects.count() == 1


def label(text, grade=1):
    """Save ann's grades of a report, to all questions that are not filtered."""
    ann = Rater.objects.get(name="ann")
    for question in text.topic.questions.filter(filtered_because=""):
        Rating.objects.filter(rater=ann, text=text, question=question).delete()
        rate(ann, "answerable", text, question, grade)


def draw_sample(rosa, size):
    rosa.post("/datasets/locks/label-next/", {"size": str(size)})
    sample = LabelSample.objects.first()
    return sample, [
        chance.text for chance in sample.chances.filter(is_drawn=True).select_related("text")
    ]


def test_until_a_sample_is_labelled_throughout_its_labels_change_no_estimate(rosa, locks):
    (before,) = label_report(data_of(locks), "", 2).rows
    _, (first, second) = draw_sample(rosa, 2)
    label(first)
    (row,) = label_report(data_of(locks), "", 2).rows
    assert (row.people, row.n_left_out) == (before.people, 1)
    assert row.both.value == before.both.value
    page = markup(rosa.get("/datasets/locks/label-next/"))
    assert "1 labelled report of a sample is left out until the whole sample is labelled" in page
    label(second)
    (row,) = label_report(data_of(locks), "", 2).rows
    assert (row.n_left_out, row.both.n) == (0, 5)


def test_chance_of_a_single_drawn_report_is_not_that_of_all(rosa, locks):
    sample, (text,) = draw_sample(rosa, 1)
    assert len(set(sample.chances.values_list("chance", flat=True))) > 1
    label(text)
    Rating.objects.filter(rater__name="ann").exclude(text=text).delete()
    (row,) = label_report(data_of(locks), "", 1).rows
    assert "different probabilities" in row.people.reason


def test_after_a_sample_both_is_weighed_by_its_chances_and_people_alone_is_not_shown(rosa, locks):
    sample, texts = draw_sample(rosa, 2)
    for text in texts:
        label(text)
    (row,) = label_report(data_of(locks), "", 2).rows
    assert row.people.value is None
    assert "different probabilities" in row.people.reason
    estimate = sample_result(sample, load_label_data(label_query(locks).selection)).estimate
    assert estimate.missing == 1  # the judge has not graded the last report throughout
    assert row.both == estimate
    page = markup(rosa.get("/datasets/locks/label-next/"))
    assert f'href="/datasets/locks/label-next/samples/{sample.pk}/">the sample of 2 reports' in page
    assert (
        "1 report that the sample could not contain, or that the judge has not graded completely, is left"
        in page
    )
    (line,) = read(rosa.get("/datasets/locks/label-next/estimates.csv"))
    assert (line["sample"], float(line["both"])) == (str(sample.pk), estimate.value)


def test_labels_that_no_sample_asked_for_are_in_no_estimate_after_one(rosa, locks):
    sample, texts = draw_sample(rosa, 2)
    for text in texts:
        label(text)
    (weighed,) = label_report(data_of(locks), "", 2).rows
    label(sample.chances.filter(is_drawn=False).first().text)
    (row,) = label_report(data_of(locks), "", 2).rows
    assert (row.both, row.n_left_out) == (weighed.both, 1)
    page = markup(rosa.get("/datasets/locks/label-next/"))
    assert "1 labelled outside the sample is left out, because its probability is unknown" in page


def test_after_a_sample_with_equal_chances_people_alone_is_shown(rosa, locks):
    Rating.objects.filter(rater__name="ann").delete()
    rate(Rater.objects.get(name="words"), "graded", *of_last(locks), 5)
    _, texts = draw_sample(rosa, 4)
    for text in texts:
        label(text)
    (row,) = label_report(data_of(locks), "", 2).rows
    assert (row.people.value, row.people.n, row.people.missing) == (1, 4, 4)
    assert row.both.n == 4


def of_last(dataset):
    """The only cell that the judge has not graded."""
    text = Text.objects.get(dataset=dataset, name="r7")
    return text, text.topic.questions.get(position=1)


def test_sample_of_one_system_gives_no_estimate_of_others(rosa, locks):
    Text.objects.filter(name__in=["r4", "r5", "r6"]).update(system="two")
    rosa.post("/datasets/locks/label-next/", {"size": "1", "system": "two"})
    label(LabelSample.objects.get().chances.get(is_drawn=True).text)
    first, second, both = label_report(data_of(locks), "", 2).rows
    assert (first.sample, both.sample) == (None, None)
    assert second.sample.system == "two"
    assert (first.n_left_out, second.n_left_out, both.n_left_out) == (0, 0, 1)
    assert second.both.interval_reason.endswith("fewer than two topics have a label")


def test_labels_outside_the_sample_are_counted_and_left_out(rosa, locks):
    rosa.post("/datasets/locks/label-next/", {"size": "1"})
    sample = LabelSample.objects.get()
    label(SampleChance.objects.filter(sample=sample, is_drawn=False).first().text)
    page = markup(rosa.get(f"/datasets/locks/label-next/samples/{sample.pk}/"))
    assert "1 report outside the sample was labelled since" in page


def test_tables_as_csv_equal_the_report(rosa, locks):
    report = label_report(data_of(locks), "", 2)
    rows = read(rosa.get("/datasets/locks/label-next/candidates.csv?size=2"))
    assert [row["report"] for row in rows] == [
        candidate.report.name for candidate in report.candidates
    ]
    assert float(rows[0]["probability"]) == report.candidates[0].chance
    shares = read(rosa.get("/datasets/locks/label-next/shares.csv"))
    assert [int(row["judge_grade"]) for row in shares] == [0, 1, 2, 3, 4, 5]
    (row,) = read(rosa.get("/datasets/locks/label-next/estimates.csv"))
    assert float(row["people"]) == report.rows[0].people.value
    assert read(rosa.get("/datasets/locks/label-next/forecast.csv"))[0]["labelled"] == "4"
    rosa.post("/datasets/locks/label-next/", {"size": "2"})
    sample = LabelSample.objects.get()
    sampled = read(rosa.get(f"/datasets/locks/label-next/samples/{sample.pk}.csv"))
    assert len(sampled) == 2
    assert float(sampled[0]["probability"]) > 0


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("judge=nobody", "There is no judge with grades of reports"),
        ("system=other", "There is no system"),
        ("eta=9", "There is no eta"),
        ("size=0", "whole number from 1"),
        ("size=%C2%B2", "whole number from 1"),
        ("size=0000000019999999", "whole number from 1"),
        (f"size=000000001{'9' * 5000}", "whole number from 1"),
        ("rubric=none", "There is no rubric"),
    ],
)
def test_invalid_parameter_is_refused(rosa, locks, query, message):
    response = rosa.get(f"/datasets/locks/label-next/?{query}")
    assert response.status_code == 400
    assert message in response.content.decode()
    assert 'href="/datasets/locks/label-next/"' in response.content.decode()  # the way out
    response = rosa.get(f"/datasets/locks/label-next/estimates.csv?{query}")
    assert response.status_code == 400
    assert 'class="button" href="/datasets/locks/"' in response.content.decode()


def test_sample_of_no_candidates_is_not_drawn(rosa, locks):
    unlabelled = Text.objects.exclude(name__in=[f"r{number}" for number in LABELLED])
    Rating.objects.filter(text__in=unlabelled).delete()
    unlabelled.delete()
    page = markup(rosa.get("/datasets/locks/label-next/"))
    assert "are labelled." in page
    response = rosa.post("/datasets/locks/label-next/", {}, follow=True)
    assert "No sample was drawn" in response.content.decode()
    assert not LabelSample.objects.exists()


def test_without_a_judge_of_reports_the_page_says_what_to_do(rosa, locks):
    Rating.objects.filter(rater__name="words").delete()
    page = markup(rosa.get("/datasets/locks/label-next/"))
    assert "No judge has graded the reports" in page


def test_before_anybody_has_labelled_all_chances_are_equal(rosa, locks):
    Rating.objects.filter(rater__name="ann").delete()
    page = markup(rosa.get("/datasets/locks/label-next/?size=7"))
    assert "all probabilities are equal" in page
    assert "Undefined, because" in page


@pytest.mark.parametrize(
    "path",
    [
        "label-next/",
        "label-next/estimates.csv",
        "label-next/samples/1/",
        "label-next/samples/1.csv",
    ],
)
def test_pages_are_for_researchers(cast, locks, path):
    assert cast.client("worker").get(f"/datasets/locks/{path}").status_code == 403
    assert cast.client("stranger").get(f"/datasets/locks/{path}").status_code == 302


def test_old_address_of_a_sample_leads_to_it(rosa, locks):
    sample, _ = draw_sample(rosa, 1)
    response = rosa.get(f"/datasets/locks/label-next/draws/{sample.pk}/")
    assert response["Location"] == f"/datasets/locks/label-next/samples/{sample.pk}/"
    response = rosa.get(f"/datasets/locks/label-next/draws/{sample.pk}.csv")
    assert response["Location"] == f"/datasets/locks/label-next/samples/{sample.pk}.csv"


@pytest.mark.parametrize(
    "path", ["label-next/samples/99/", "label-next/samples/99.csv", "label-next/nothing.csv"]
)
def test_missing_page_is_404(rosa, locks, path):
    assert rosa.get(f"/datasets/locks/{path}").status_code == 404
    assert rosa.get(f"/datasets/none/{path}").status_code == 404


def test_sample_of_another_dataset_is_404(rosa, locks):
    rosa.post("/datasets/locks/label-next/", {"size": "1"})
    Dataset.objects.create(slug="other", title="Other")
    sample = LabelSample.objects.get()
    assert rosa.get(f"/datasets/other/label-next/samples/{sample.pk}/").status_code == 404


def test_only_the_page_takes_a_post(rosa, locks):
    assert rosa.put("/datasets/locks/label-next/").status_code == 405
    assert rosa.post("/datasets/locks/label-next/estimates.csv").status_code == 405
