"""Citation precision and recall on the pages of reports, and what is graded where.

by ann             report a: It rained. 2, 1; It stopped. 0 and a wrong one; It cost. 1; And so on. none
precision          1 of 5 in full; weighted (1 + 0.5 + 0 + 0 + 0.5)/5
recall             1 of 4; weighted (1 + 0 + 0.5 + 0)/4
                   report b: Boats sank. 2; None was hurt. none
precision, recall  1 of 1, 1 of 2
"""

import csv

import pytest

from annotation.models import Campaign, Dataset, Rater, Rating, Text
from judging.engine.foreground import fill_lexical
from judging.engine.judges import BASELINES
from judging.models import Attempt
from tests.building.cited import (
    PAIRS,
    a_rater,
    grade,
    import_citations,
    make_cited,
    pairs_of,
    report,
)
from tests.toolbox.factories import make_campaign
from tests.toolbox.responses import markup

REPORTS = "/datasets/rain/building/reports/"
TAKE = f"{REPORTS}take-citations/"
ANN = (2, 1, 0, 1, 2)
OF_ONE = {"system": "s.one"}


@pytest.fixture
def support(cast):
    support, _ = import_citations(make_cited(), "s.one", "s.two")
    grade(support, a_rater("ann"), *ANN, None)
    return support


def values(page, name: str = "value") -> list:
    return [getattr(one.mean, name) for one in page.context["measured"]]


def test_means_of_a_system_and_each_report(cast, support):
    page = cast.client("researcher").get(REPORTS, OF_ONE)
    assert values(page) == [
        pytest.approx((1 / 5 + 1) / 2),
        pytest.approx((2 / 5 + 1) / 2),
        pytest.approx((1 / 4 + 1 / 2) / 2),
        pytest.approx((1.5 / 4 + 1 / 2) / 2),
    ]
    assert (values(page, "n"), values(page, "missing")) == ([2] * 4, [0] * 4)
    counts = page.context["scored"].counts
    assert list(counts.values()) == [6, 2, 6, 1, 0, 0]
    text = markup(page)
    assert "by the grades of ann in rain-citations; intervals over topics." in text
    assert (
        "Statements 6, without a citation 2; citations 6, of unknown texts 1, without a grade 0"
        in text
    )
    by_name = {report.name: scored for report, scored in page.context["rows"]}
    assert by_name["a"].support.precision.value == 1 / 5
    assert by_name["b"].support.recall.value == 1 / 2


def test_unrated_pair_is_missing(cast, support):
    Rating.objects.get(rater__name="ann", text__name="s.one/a/2:p1").delete()
    page = cast.client("researcher").get(REPORTS, OF_ONE)
    assert values(page) == [1.0, 1.0, 0.5, 0.5]
    assert (values(page, "n"), values(page, "missing")) == ([1] * 4, [1] * 4)
    assert "because 1 of 5 citations lacks a grade" in markup(page)


def test_rater_is_chosen_and_another_is_refused(cast, support):
    judge = a_rater("words", "baseline", support)
    grade(support, judge, None, None, None, None, 0, None)
    client = cast.client("researcher")
    page = client.get(REPORTS, OF_ONE | {"grades": "rain-citations:words"})
    assert values(page)[0] == 0.0
    assert [one.title for one in page.context["graders"]] == [
        "ann in rain-citations",
        "words (baseline) in rain-citations",
    ]
    for address in (REPORTS, "/datasets/rain/building/reports.csv"):
        refused = client.get(address, OF_ONE | {"grades": "rain-citations:<b>"})
        assert refused.status_code == 400
        assert "There are: rain-citations:ann, rain-citations:words." in markup(refused)
    address = f"{REPORTS}{report(Dataset.objects.get(slug='rain')).pk}/"
    assert client.get(address, {"grades": "nobody"}).status_code == 400
    assert values(client.get(REPORTS, {"system": "s.two"})) == [None] * 4


def test_report_shows_the_grade_of_each_citation_and_leads_to_its_pair(cast, support):
    client = cast.client("researcher")
    one = report(Dataset.objects.get(slug="rain"))
    page = client.get(f"{REPORTS}{one.pk}/")
    report_page = page.context["shown"]
    marks = [[mark.grade for mark in statement.marks] for statement in report_page.statements]
    assert marks == [["full", "partial"], ["none", ""], ["partial"], []]
    assert [mark.pair is None for mark in report_page.statements[1].marks] == [False, True]
    pair = report_page.statements[0].marks[1].pair
    address = f"/datasets/rain-citations/pairs/{pair.text}/{pair.question}/?rubric=citation-support"
    assert f"{address}&amp;raters=ann" in page.content.decode()
    pair_page = client.get(address)
    assert pair_page.status_code == 200
    assert "It did rain." in pair_page.content.decode()
    assert "ann" in markup(pair_page)


def test_pair_that_only_a_judge_graded_or_nobody_has_a_page(cast, support):
    rater = Rater.objects.get(name="ann")
    Rater.objects.filter(pk=rater.pk).update(kind="model")
    client = cast.client("researcher")
    two = report(Dataset.objects.get(slug="rain"), system="s.two")
    (statement,) = client.get(f"{REPORTS}{two.pk}/").context["shown"].statements
    (mark,) = statement.marks
    assert (mark.grade, mark.pair.grade) == ("", None)
    address = f"/datasets/rain-citations/pairs/{mark.pair.text}/{mark.pair.question}/"
    assert client.get(address, {"rubric": "citation-support"}).status_code == 200


def test_grades_of_other_words_do_not_count(cast, support):
    rain = Dataset.objects.get(slug="rain")
    p1 = rain.texts.get(name="p1")
    p1.body = "Other words."
    p1.save()
    client = cast.client("researcher")
    page = client.get(REPORTS, OF_ONE)
    assert page.context["scored"].counts["n_changed"] == 3
    assert "3 cited pairs have no grade, because rain-citations does not contain them" in markup(
        page
    )
    report_page = client.get(f"{REPORTS}{report(rain).pk}/")
    assert report_page.context["shown"].support.n_changed == 2
    assert "2 of them are not in rain-citations" in markup(report_page)


def test_same_as_csv(cast, support):
    response = cast.client("researcher").get("/datasets/rain/building/reports.csv", OF_ONE)
    rows = list(csv.DictReader(response.content.decode().splitlines()))
    assert [(row["topic"], row["report"], row["precision"]) for row in rows[:2]] == [
        ("a", "a", "0.2"),
        ("b", "b", "1.0"),
    ]
    assert (rows[2]["report"], rows[2]["recall"], rows[2]["recall_n"]) == ("", "0.375", "2")
    assert [rows[0][name] for name in ("statements", "without_citation", "wrong")] == [
        "4",
        "1",
        "1",
    ]


def test_admin_takes_the_citations_by_a_button(cast):
    make_cited()
    admin = cast.client("admin")
    page = markup(admin.get(REPORTS, OF_ONE))
    assert "Import citations" in page
    assert 'value="rain-citations"' in page
    response = admin.post(TAKE, OF_ONE | {"into": "rain-citations"}, follow=True)
    assert response.redirect_chain == [(f"{REPORTS}?system=s.one", 302)]
    text = markup(response)
    assert "rain-citations: 5 cited pairs of 2 reports, 5 of them new." in text
    assert "The citations of s.one have no grades yet." in text
    assert "Import new citations" in text
    assert pairs_of(Dataset.objects.get(slug="rain-citations")) == PAIRS


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (OF_ONE | {"into": "rain"}, "rain holds the reports themselves"),
        (OF_ONE | {"into": "<b> x"}, "letters, digits, - and _ alone"),
        (OF_ONE, "letters, digits, - and _ alone"),
        ({"into": "new"}, "rain has no reports of “”"),
        ({"system": "<i>", "into": "new"}, "rain has no reports of “&lt;i&gt;”"),
    ],
)
def test_refused_import_is_reported_and_changes_nothing(cast, sent, message):
    make_cited()
    response = cast.client("admin").post(TAKE, sent)
    assert response.status_code == 422
    assert message in markup(response)
    assert Dataset.objects.count() == 1


def test_access_depends_on_the_role(cast, support):
    csv_file = "/datasets/rain/building/reports.csv?system=s.one"
    for user, status in (("researcher", 200), ("worker", 403), ("stranger", 302)):
        assert cast.client(user).get(csv_file).status_code == status
    admin = cast.client("admin")
    before = Text.objects.count()
    for user, status in (("researcher", 403), ("worker", 403), ("stranger", 302)):
        assert cast.client(user).post(TAKE, OF_ONE | {"into": "new"}).status_code == status
    assert admin.get(TAKE).status_code == 405
    assert admin.post(csv_file).status_code == 405
    assert admin.post(TAKE.replace("rain", "nowhere")).status_code == 404
    assert admin.get(csv_file.replace("rain", "nowhere")).status_code == 404
    assert admin.get(csv_file.replace("s.one", "nobody")).status_code == 400
    assert Text.objects.count() == before
    assert "take-citations" not in cast.client("researcher").get(REPORTS, OF_ONE).content.decode()


def test_people_and_a_judge_agree_on_the_page_that_is_there(cast, support):
    """Grades 2 1 0 1 2 and 2 1 1 1 0 give kappa (3/5 - 9/25)/(16/25).

    Chance agreement is (1 + 2 * 3 + 2)/25.
    """
    grade(support, a_rater("judge", "model", support), 2, 1, 1, 1, 0, None)
    query = {"rubric": "citation-support", "judge": "judge"}
    page = cast.client("researcher").get("/datasets/rain-citations/agreement/", query)
    against = page.context["judged"]
    assert (against.n, against.n_without_judge) == (5, 0)
    assert against.cohen_kappa.value == pytest.approx(0.375)
    assert against.accuracy.value == 4 / 5  # one side of full, or the other
    assert against.matrix.tolist() == [[0, 1, 0], [0, 2, 0], [1, 0, 1]]


@pytest.mark.parametrize("judge", BASELINES)
def test_judge_is_asked_the_cited_pairs_and_no_other(cast, judge):
    support, _ = import_citations(make_cited(), "s.one", "s.two")
    run = fill_lexical(support, slug=judge)
    attempts = Attempt.objects.filter(judge=run.judge).values_list(
        "text__name", "question__topic__name"
    )
    names = [f"{topic}:{text}" for _, text, topic in pairs_of(support) if text != "p3"]
    assert sorted(attempts) == sorted((name, name.partition(":")[0]) for name in names)
    assert (run.n_planned, run.n_without_words) == (5, 1)


def test_baseline_grades_support_by_words_in_common_and_is_called_a_baseline(cast):
    """Content words: p1 has "rained" and "stopped", p2 "rain", none "boats sank"."""
    support, _ = import_citations(make_cited())
    fill_lexical(support, slug="lexical-citation-support")
    ratings = Rating.objects.filter(rubric__slug="citation-support", text__dataset=support)
    graded = ratings.order_by("text").values_list("text__name", "grade")
    assert list(graded) == [
        ("s.one/a/1:p1", 2),
        ("s.one/a/1:p2", 2),
        ("s.one/a/2:p1", 2),
        ("s.one/b/1:p1", 0),
    ]
    page = cast.client("researcher").get(REPORTS, OF_ONE)
    assert "by the grades of lexical-citation-support (baseline) in rain-citations" in markup(page)
    assert (values(page)[0], values(page, "missing")[0]) == (0.0, 1)


def test_campaign_hands_out_the_cited_pairs_and_no_other(cast, support):
    campaign = make_campaign(support, cast.worker, rubric="citation-support", kind="passage")
    items = Campaign.objects.get(pk=campaign.pk).items.order_by("position")
    assigned = [(item.text.name, [str(q.question) for q in item.asked.all()]) for item in items]
    expected = [(f"{topic}:{text}", [statement]) for statement, text, topic in pairs_of(support)]
    assert assigned == [pair for pair in expected if not pair[0].endswith(":p3")]
