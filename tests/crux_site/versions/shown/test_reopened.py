"""Restored wordings in a reopened campaign: answers withdrawn, given and counted again."""

import pytest

from annotation.models import (
    Assignment,
    Version,
)
from annotation.monitoring import actions
from crux_site.versions.text_edits import set_grades_valid
from evaluation.data.edited_text_grades import edited_text_grades
from tests.crux_site.versions.shown.material import grades, mend, participant, second
from tests.toolbox.answers import label
from tests.toolbox.factories import REPORT


def reopened(campaign, text, cast) -> Version:
    """The wording was changed and restored: the study is open, its grades are superseded."""
    mend(text)
    version = mend(text, REPORT, counts=False)
    actions.set_state(campaign, "open", cast.researcher)
    assert grades(text) == {}
    return version


@pytest.mark.parametrize("end_state", ["open", "closed"])
def test_withdrawal_in_reopened_study_persists(campaign, text, cast, end_state):
    """uma is excluded and wil withdraws an answer: the choice restores neither."""
    before = grades(text)
    version = reopened(campaign, text, cast)
    actions.exclude_work(participant(campaign, cast.other_worker), cast.researcher)
    label(campaign, cast.worker, "oracle", 2, None)
    if end_state == "closed":
        actions.set_state(campaign, "closed", cast.researcher)
    set_grades_valid(version, counts=True, by=cast.researcher)
    remaining = {("wil", 1): before["wil", 1], ("wil", 3): before["wil", 3]}
    assert grades(text) == remaining
    set_grades_valid(version, counts=False, by=cast.researcher)
    assert grades(text) == {}
    set_grades_valid(version, counts=True, by=cast.researcher)
    assert grades(text) == remaining


@pytest.mark.parametrize("end_state", ["open", "closed"])
def test_answer_in_reopened_study_counts(campaign, text, cast, end_state):
    """New answers are of the current wording, whatever the choice about earlier ones."""
    before = grades(text)
    version = reopened(campaign, text, cast)
    label(campaign, cast.worker, "oracle", 2, 0)
    if end_state == "closed":
        actions.set_state(campaign, "closed", cast.researcher)
    new_grades = {("wil", 2): (0, [])}
    assert grades(text) == new_grades
    set_grades_valid(version, counts=True, by=cast.researcher)
    assert grades(text) == before | new_grades
    set_grades_valid(version, counts=False, by=cast.researcher)
    assert grades(text) == new_grades


def test_work_that_counts_again_brings_no_grades_that_are_set_aside(campaign, text, cast):
    before = grades(text)
    version = reopened(campaign, text, cast)
    uma = participant(campaign, cast.other_worker)
    Assignment.objects.filter(participant=uma).update(state="submitted")
    actions.exclude_work(uma, cast.researcher)
    actions.include_work(uma, cast.researcher)
    assert grades(text) == {}
    set_grades_valid(version, counts=True, by=cast.researcher)
    assert grades(text) == before


def test_grade_that_is_given_anew_is_of_the_new_words(campaign, text, cast):
    """wil says 0 in a second study: results do not call that earlier, and no choice takes it."""
    version = mend(text)
    before = grades(text)
    assert edited_text_grades(campaign.dataset).n_valid == 6
    label(second(campaign, cast.worker), cast.worker, "oracle", 2, 0)
    assert edited_text_grades(campaign.dataset).n_valid == 5
    new_grades = {("wil", 2): (0, [])}
    set_grades_valid(version, counts=False, by=cast.researcher)
    assert grades(text) == new_grades
    assert edited_text_grades(campaign.dataset).n_superseded == 5
    set_grades_valid(version, counts=True, by=cast.researcher)
    assert grades(text) == before | new_grades
    assert edited_text_grades(campaign.dataset).n_valid == 5


def test_grade_that_counts_again_is_of_the_words_that_it_was_given_to(campaign, text, cast):
    mend(text)
    uma = participant(campaign, cast.other_worker)
    Assignment.objects.filter(participant=uma).update(state="submitted")
    actions.exclude_work(uma, cast.researcher)
    assert edited_text_grades(campaign.dataset).n_valid == 3
    actions.include_work(uma, cast.researcher)
    assert edited_text_grades(campaign.dataset).n_valid == 6
