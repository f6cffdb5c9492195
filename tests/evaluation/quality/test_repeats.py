"""Agreement of raters with themselves on Quality and in the supplement of a paper."""

import csv

import pytest

from annotation.adjudication.decisions import rater_answers
from annotation.decimals import decimals
from annotation.models import Campaign
from annotation.monitoring import actions
from annotation.participation import assigning
from crux_site.paper_supplement.selections import RatedRubric
from crux_site.paper_supplement.tables import RUBRIC_TABLES, supplement
from evaluation.data.repeats import repeated_grades
from evaluation.data.selection import select
from evaluation.latex import signed
from evaluation.quality.page import quality_report
from tests.evaluation.scoring.choosing import choose
from tests.toolbox.assignment_pool import answer, make_pool, newcomer, work_through
from tests.toolbox.responses import text_of_page


@pytest.fixture
def graded(db) -> Campaign:
    """Campaign of ann and bob, who graded twelve texts each, and six of them twice.

    All grades are 0 but one second grade of ann. ann then edits the first grade of this text to the second.
    """
    campaign = make_pool(texts=12, items_per_part=6, repeat_percent=50, repeat_after=3)
    for name in ("ann", "bob"):
        person = newcomer(campaign, name)
        while part := assigning.begin_part(person):
            work_through(part)
    repeat = campaign.participants.get(rater__name="ann").assignments.exclude(repeats=None).first()
    answer(repeat, grade=1)
    answer(repeat.repeats, grade=1)
    return campaign


def test_pages_have_the_agreement_and_count_repeats_nowhere_else(graded, cast):
    admin = cast.client("admin")
    response = admin.get(f"/campaigns/{graded.slug}/quality/")
    report = response.context["report"]
    ann, bob = report.profiles
    assert (ann.intra_rater.equal.value, ann.intra_rater.equal.n) == (pytest.approx(5 / 6), 6)
    assert bob.intra_rater.kappa.reason == "undefined, because all ratings are in one category"
    assert report.intra_rater.equal.value == pytest.approx(11 / 12)
    assert (ann.answers.study, ann.items.study, ann.pace.per_item.missing) == (12, 12, 12)
    assert report.fleiss.n == 12
    assert not ann.copies
    page = text_of_page(response)
    assert "over 12 pairs of a text and a question graded twice: equal grades 0.92" in page
    assert "Equal to self" in page
    of_rater = text_of_page(admin.get(f"/campaigns/{graded.slug}/quality/raters/ann/"))
    assert "(n = 6 pairs graded twice)" in of_rater
    item = graded.items.first()
    readers = admin.get(f"/campaigns/{graded.slug}/quality/items/{item.pk}/").context["report"]
    assert len(readers.readers) == 2
    pair = item, item.asked.first().question
    assert [voice.grade for voice in rater_answers(*pair)] == [0, 0]
    person = graded.participants.get(rater__name="ann")
    of_person = text_of_page(admin.get(f"/campaigns/{graded.slug}/participants/{person.pk}/"))
    assert of_person.count("study, repeat") == 6
    lines = admin.get(f"/campaigns/{graded.slug}/quality.csv").content.decode().splitlines()
    row = next(csv.DictReader(lines))
    assert (row["equal_to_self_n"], row["kappa_with_self_why_not"]) == ("6", "")


def test_excluded_work_is_left_out(graded, cast):
    actions.exclude_work(graded.participants.get(rater__name="bob"), cast.admin)
    assert quality_report(graded).intra_rater.equal.n == 6


def test_second_grade_before_the_first_is_left_out(db):
    campaign = make_pool(texts=6, items_per_part=6, repeat_percent=50, repeat_after=3)
    part = assigning.begin_part(newcomer(campaign, "ann"))
    repeats = list(part.assignments.exclude(repeats=None))
    answer(repeats[0])
    for repeat in repeats:
        answer(repeat.repeats)
    answer(repeats[0])
    answer(repeats[1])
    answer(repeats[2], grade=None)
    assert len(repeated_grades([campaign], campaign.rubric).rater) == 1


def test_campaign_without_repeats_has_no_column(db, cast):
    campaign = make_pool()
    newcomer(campaign, "ann")
    response = cast.client("admin").get(f"/campaigns/{campaign.slug}/quality/")
    assert "themselves" not in text_of_page(response)


def methods_text(dataset) -> str:
    """Return methods.tex of a dataset with all other tables."""
    options = choose(dataset, source="ann")
    paper = supplement(dataset, options, ())
    return " ".join(paper.methods([], "0" * 64)["methods.tex"].split())


def test_supplement_has_a_table_of_campaigns_with_repeats(graded):
    table = RUBRIC_TABLES["intra_rater"]
    rubric = RatedRubric(select(graded.dataset, rubric="answerable"))
    assert table.obstacle(rubric) == ""
    rows = table.make(rubric).records()
    assert [(row["rater"], row["equal_n"]) for row in rows] == [("all", 12), ("ann", 6), ("bob", 6)]
    assert rows[0]["equal"] == pytest.approx(11 / 12)
    assert "cohen_kappa" in rows[0]
    text = methods_text(graded.dataset)
    assert "2 people graded 12 pairs a second time; the share of equal grades is 0.92" in text
    kappa = rubric.repeats.agreement().kappa
    assert f"Cohen's $\\kappa$~\\cite{{cohen1960}} is {signed(decimals(kappa.value))}" in text
    graded.is_pilot = True
    graded.save()
    assert "a second time" not in methods_text(graded.dataset)
    rubric = RatedRubric(select(graded.dataset, rubric="answerable"))
    assert table.obstacle(rubric).startswith("nobody has graded a text twice under T1")
