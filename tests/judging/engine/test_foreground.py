"""Baseline run: it fills the matrix once, and leaves gaps where it has no grade."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Rating, SubQuestion
from judging.engine.foreground import fill_lexical
from judging.engine.progress import failures_of, progress_of
from judging.models import Attempt


def test_pairs_with_text_are_graded_once(dataset):
    # Two reports of the same words and one passage, four questions each; one passage without words.
    first = fill_lexical(dataset)
    assert first.state == "finished"
    assert (first.n_planned, first.n_there_before, first.n_without_words) == (12, 0, 4)
    rating = Rating.objects.first()
    assert (rating.rater.name, rating.rater.kind) == ("lexical", "baseline")
    before = list(Rating.objects.order_by("id").values_list("id", "grade"))
    assert len(before) == 12
    second_run = fill_lexical(dataset)
    assert (second_run.n_planned, second_run.n_there_before, second_run.state) == (
        0,
        12,
        "finished",
    )
    assert list(Rating.objects.order_by("id").values_list("id", "grade")) == before


def test_question_without_content_terms_gets_no_grade_and_says_why(dataset):
    SubQuestion.objects.filter(position=0).update(body="Who was it, and why?")
    run = fill_lexical(dataset)
    assert [(kind.failure, kind.n) for kind in failures_of(run)] == [("no_terms", 3)]
    assert Rating.objects.count() == 9
    assert not Rating.objects.filter(question__position=0).exists()


def test_texts_of_the_same_words_are_asked_about_once(dataset):
    run = fill_lexical(dataset)
    assert progress_of(run).n_sent == 8
    assert Attempt.objects.filter(copied=True).count() == 4


def test_command(dataset):
    out = StringIO()
    call_command("judge", "ferry", "--texts", "passages", "--json", stdout=out)
    assert json.loads(out.getvalue())["graded"] == 4
    with pytest.raises(CommandError, match="there are: ferry"):
        call_command("judge", "nowhere")
