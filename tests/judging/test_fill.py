"""The baseline fills the matrix once, calls itself a baseline, and leaves gaps where it has nothing."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Rating, SubQuestion
from judging.fill import fill_lexical


def test_every_pair_with_words_is_graded_once(dataset):
    # Two reports and one passage with words, four questions each; one passage without words.
    first = fill_lexical(dataset)
    assert (first.graded, first.there_before, first.without_words) == (12, 0, 4)
    rating = Rating.objects.first()
    assert (rating.rater.name, rating.rater.kind) == ("lexical", "baseline")
    before = list(Rating.objects.order_by("id").values_list("id", "grade"))
    again = fill_lexical(dataset)
    assert (again.graded, again.there_before) == (0, 12)
    assert list(Rating.objects.order_by("id").values_list("id", "grade")) == before


def test_a_question_without_content_terms_gets_no_grade(dataset):
    SubQuestion.objects.filter(position=0).update(body="Who was it, and why?")
    filled = fill_lexical(dataset)
    assert (filled.graded, filled.ungradable) == (9, 3)
    assert not Rating.objects.filter(question__position=0).exists()


def test_the_command(dataset):
    out = StringIO()
    call_command("judge", "ferry", "--texts", "passages", "--json", stdout=out)
    assert json.loads(out.getvalue())["graded"] == 4
    with pytest.raises(CommandError, match="there are: ferry"):
        call_command("judge", "nowhere")
