"""Display of edge cases: nearly all, hardly any, not counted yet, not today."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Rater
from judging.engine import runs
from judging.engine.selection import Selection
from judging.runs.page import run_page
from judging.templatetags.judge_pages import percent_of, short_time
from tests.toolbox.responses import markup


@pytest.mark.parametrize(
    ("n", "of", "displayed"),
    [
        (1000, 1000, "100%"),
        (996, 1000, ">99%"),
        (619_999, 620_000, ">99%"),
        (995, 1000, ">99%"),
        (994, 1000, "99%"),
        (1, 2_000_000, "<0.01%"),
        (1, 1000, "0.1%"),
        (0, 1000, "0%"),
        (0, 0, ""),
    ],
)
def test_share_is_all_or_nothing_only_where_it_is(n, of, displayed):
    assert percent_of(n, of) == displayed


@pytest.mark.parametrize("n_done", [29, 57, 58, 99])
def test_percents_of_a_run_are_whole_and_exact(run, n_done):
    run.batches.create(worker="w:1", n_attempts=n_done, n_graded=n_done)
    run.n_planned = 100
    assert run_page(run).percent == n_done


def test_time_of_another_day_says_the_day():
    now = timezone.localtime().replace(hour=12, minute=30)
    assert short_time(now).startswith("12:30")
    later = short_time(now + timedelta(days=3))
    assert later.startswith(f"{(now + timedelta(days=3)).day} ")


def test_uncounted_number_is_not_displayed_as_0(cast, judge, dataset):
    run = runs.start(judge, dataset, Selection())
    client = cast.client("admin")
    assert "not counted yet" in client.get("/judge-runs/").content.decode()
    page = markup(client.get(f"/judge-runs/{run.pk}/cancel/"))
    assert "are still being counted" in page


def test_judge_is_linked_by_the_name_that_its_dataset_knows(cast, done, dataset):
    Rater.objects.create(dataset=dataset, name=done.judge.slug, kind=Rater.Kind.MODEL)
    page = markup(cast.client("researcher").get(f"/judges/{done.judge.pk}/"))
    assert "?source=tiny-judge-site" in page
    assert '?source=tiny-judge"' not in page


@pytest.mark.parametrize(
    ("tokens", "displayed"),
    [
        (0, "the server reports no tokens, so the limit of tokens has no effect; 8 pairs sent."),
        (5, "5 of 900 tokens; 8 pairs sent."),
    ],
)
def test_tokens_that_nobody_tells_are_not_none(cast, run, tokens, displayed):
    run.max_tokens = 900
    run.save()
    run.batches.create(worker="w:1", n_sent=8, n_attempts=8, n_graded=8, prompt_tokens=tokens)
    page = markup(cast.client("researcher").get(f"/judge-runs/{run.pk}/"))
    assert displayed in page
