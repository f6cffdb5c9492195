"""Earlier words in a study that is open again: what is withdrawn, said and counted once more."""

import pytest

from annotation.models import (
    Assignment,
    Version,
)
from annotation.monitoring import actions
from crux_site.versions.changing import choose_again
from evaluation.data.earlier_words import earlier_words
from tests.crux_site.versions.shown.material import grades, mend, participant, second
from tests.factories import REPORT
from tests.labels import label


def reopened(campaign, text, cast) -> Version:
    """The words have been others and are back, so that the study is open again; its grades are set aside."""
    mend(text)
    version = mend(text, REPORT, counts=False)
    actions.set_state(campaign, "open", cast.researcher)
    assert grades(text) == {}
    return version


@pytest.mark.parametrize("then", ["open", "closed"])
def test_what_is_withdrawn_from_a_study_that_is_open_again_stays_so(campaign, text, cast, then):
    """uma's work is set aside as a whole, and wil takes one answer back: neither comes back by the choice."""
    before = grades(text)
    version = reopened(campaign, text, cast)
    actions.set_aside(participant(campaign, cast.other_worker), cast.researcher)
    label(campaign, cast.worker, "oracle", 2, None)
    if then == "closed":
        actions.set_state(campaign, "closed", cast.researcher)
    choose_again(version, counts=True, by=cast.researcher)
    left = {("wil", 1): before["wil", 1], ("wil", 3): before["wil", 3]}
    assert grades(text) == left
    choose_again(version, counts=False, by=cast.researcher)
    assert grades(text) == {}
    choose_again(version, counts=True, by=cast.researcher)
    assert grades(text) == left


@pytest.mark.parametrize("then", ["open", "closed"])
def test_what_is_said_in_a_study_that_is_open_again_counts(campaign, text, cast, then):
    """It is of the words of now, whatever the choice about what was said before."""
    before = grades(text)
    version = reopened(campaign, text, cast)
    label(campaign, cast.worker, "oracle", 2, 0)
    if then == "closed":
        actions.set_state(campaign, "closed", cast.researcher)
    said = {("wil", 2): (0, [])}
    assert grades(text) == said
    choose_again(version, counts=True, by=cast.researcher)
    assert grades(text) == before | said
    choose_again(version, counts=False, by=cast.researcher)
    assert grades(text) == said


def test_work_that_counts_again_brings_no_grades_that_are_set_aside(campaign, text, cast):
    before = grades(text)
    version = reopened(campaign, text, cast)
    uma = participant(campaign, cast.other_worker)
    Assignment.objects.filter(participant=uma).update(state="submitted")
    actions.set_aside(uma, cast.researcher)
    actions.count_work_again(uma, cast.researcher)
    assert grades(text) == {}
    choose_again(version, counts=True, by=cast.researcher)
    assert grades(text) == before


def test_a_grade_that_is_given_anew_is_of_the_new_words(campaign, text, cast):
    """wil says 0 in a second study: results do not call that earlier, and no choice takes it."""
    version = mend(text)
    before = grades(text)
    assert earlier_words(campaign.dataset).n_counting == 6
    label(second(campaign, cast.worker), cast.worker, "oracle", 2, 0)
    assert earlier_words(campaign.dataset).n_counting == 5
    said = {("wil", 2): (0, [])}
    choose_again(version, counts=False, by=cast.researcher)
    assert grades(text) == said
    assert earlier_words(campaign.dataset).n_set_aside == 5
    choose_again(version, counts=True, by=cast.researcher)
    assert grades(text) == before | said
    assert earlier_words(campaign.dataset).n_counting == 5


def test_a_grade_that_counts_again_is_of_the_words_that_it_was_given_to(campaign, text, cast):
    mend(text)
    uma = participant(campaign, cast.other_worker)
    Assignment.objects.filter(participant=uma).update(state="submitted")
    actions.set_aside(uma, cast.researcher)
    assert earlier_words(campaign.dataset).n_counting == 3
    actions.count_work_again(uma, cast.researcher)
    assert earlier_words(campaign.dataset).n_counting == 6
