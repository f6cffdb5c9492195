"""Grades under two rubrics that cannot both be right: count on Quality, list of pairs."""

import re
from uuid import uuid4

import pytest

from annotation.models import Rubric
from annotation.models.standard import STANDARD, add_standard
from annotation.participation.assigning import rater_of
from annotation.task import saving
from tests.evaluation.pairs.pair_rows import listed_pairs
from tests.toolbox.responses import text_of_page
from tests.toolbox.rubric_studies import make_locks_study, open_both, open_study, open_useful

LINE = "and one under another rubric that cannot both be right"


@pytest.fixture
def useful(cast, db):
    """Utility 5 with “not answerable”: by both workers once, and by uma once more."""
    campaign = open_useful(make_locks_study(), [rater_of(cast.worker), rater_of(cast.other_worker)])
    utility = Rubric.objects.get(slug="utility")
    item = campaign.items.first()
    for user, positions in ((cast.worker, {0: 5, 1: 2}), (cast.other_worker, {0: 5, 2: 5})):
        assignment = item.assignments.get(participant__rater__user=user)
        for position, grade in positions.items():
            question = item.asked.get(position=position).question
            for rubric, stored_grade in ((None, 0), (utility, grade)):
                saving.save_answer(
                    assignment, question, key=uuid4(), grade=stored_grade, spans=[], rubric=rubric
                )
    return campaign


def test_count_leads_to_the_list_of_its_pairs(cast, useful):
    rosa = cast.client("researcher")
    page = rosa.get("/campaigns/useful/quality/")
    assert re.search(rf"2 pairs with a grade under .* {LINE}", text_of_page(page))
    [link] = re.findall(r'href="([^"]*kind=contradicts[^"]*)"', page.content.decode())
    link = link.replace("&amp;", "&")
    listed = rosa.get(link)
    assert [number for _system, number in listed_pairs(listed)] == [1, 3]
    of_one_rater = rosa.get(f"{link}&raters=wil")
    assert [number for _system, number in listed_pairs(of_one_rater)] == [1]
    of_other_rubric = rosa.get(link.replace("rubric=answerable", "rubric=utility"))
    assert len(listed_pairs(of_other_rubric)) == 2


def test_resolved_contradiction_is_counted_no_more(cast, useful):
    item, utility = useful.items.first(), Rubric.objects.get(slug="utility")
    question = item.asked.get(position=0).question
    for user in (cast.worker, cast.other_worker):
        assignment = item.assignments.get(participant__rater__user=user)
        saving.save_answer(assignment, question, key=uuid4(), grade=1, spans=[], rubric=utility)
    page = text_of_page(cast.client("researcher").get("/campaigns/useful/quality/"))
    assert re.search(rf"1 pair with a grade under .* {LINE}", page)


def test_rubrics_without_declarations_have_no_count_and_no_such_kind(cast, useful):
    open_both(useful.dataset, [rater_of(cast.worker)])
    rosa = cast.client("researcher")
    assert LINE not in text_of_page(rosa.get("/campaigns/both/quality/"))
    Rubric.objects.update(impossible=[])
    assert LINE not in text_of_page(rosa.get("/campaigns/useful/quality/"))
    url = "/datasets/wend/disagreements/?rubric=answerable"
    assert "contradicts another rubric" not in text_of_page(rosa.get(url))
    assert rosa.get(f"{url}&kind=contradicts").status_code == 400


def test_contradiction_of_two_further_rubrics_leads_to_one_of_them(cast, db):
    """T1 alone excludes nothing here: the two others exclude each other."""
    raters = [rater_of(cast.worker)]
    utility, umbrela = add_standard(STANDARD["utility"]), add_standard(STANDARD["umbrela"])
    Rubric.objects.update(impossible=[])
    utility.impossible = [{"grade": 5, "rubric": "umbrela", "grades": [0]}]
    utility.save(update_fields=["impossible"])
    answerable = Rubric.objects.get(slug="answerable")
    campaign = open_study(
        make_locks_study(), answerable, raters, further=[utility, umbrela], slug="three"
    )
    item = campaign.items.first()
    assignment, question = item.assignments.get(), item.asked.get(position=0).question
    for rubric, grade in ((None, 0), (utility, 5), (umbrela, 0)):
        saving.save_answer(assignment, question, key=uuid4(), grade=grade, spans=[], rubric=rubric)
    page = cast.client("researcher").get("/campaigns/three/quality/").content.decode()
    [link] = re.findall(r'href="([^"]*kind=contradicts[^"]*)"', page)
    assert "rubric=umbrela&" in link.replace("&amp;", "&") or "rubric=utility&" in link
    listed = cast.client("researcher").get(link.replace("&amp;", "&"))
    assert [number for _system, number in listed_pairs(listed)] == [1]
