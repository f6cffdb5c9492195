"""Page of a run, whole and as a fragment, in every state of the run."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from judging import tasks
from judging.engine import runs
from judging.engine.foreground import fill_lexical
from judging.engine.planning import plan
from judging.engine.progress import ShardState
from judging.engine.selection import Selection
from judging.execution import leases, states
from judging.llm.errors import BackendUnavailableError
from judging.models import JudgeRun, Shard
from judging.runs.page import MOST_CELLS, rate_line, shard_cells
from judging.tasks import JUDGING
from tests.toolbox.judging_runs import filled, n_wakes
from tests.toolbox.responses import markup


@pytest.fixture
def get_page(cast, run):
    def get(role="admin", **headers):
        return cast.client(role).get(f"/judge-runs/{run.pk}/?state=running", headers=headers)

    return get


def live(get_page, role="admin"):
    return get_page(role, **{"HX-Request": "true"}).content.decode()


def test_run_under_way(get_page, run, dataset):
    leases.take(run, "gpu-1:7")
    page = markup(get_page())
    assert f'hx-get="/judge-runs/{run.pk}/?state=running" hx-trigger="every 2s"' in page
    assert "of 12 pairs" in page
    assert "1 leased, by gpu-1:7" in page
    assert "Pause" in page
    assert '<dialog id="cancel"' in page
    assert "4 pairs cannot be sent" in " ".join(page.split())
    assert "No reply yet." in page
    assert "No worker is running" not in page


def test_finished_run_is_asked_about_no_more(get_page, done):
    page = markup(get_page())
    assert "hx-get" not in page
    assert "<dialog" not in page
    assert "htmx" not in page
    assert '<strong id="done">12</strong>' in page
    assert "100%" in page
    assert "More than one integer" in page
    assert "“3 or 4 &lt;b&gt;of them&lt;/b&gt;”" in page
    assert "8.3% of 12 replies" in page
    assert "Retry failed pairs" in page
    assert "mean over 11 replies" in page


def test_fragment_holds_what_changes_and_nothing_else(get_page, run):
    page = live(get_page)
    assert re.match(r'\s*<section\s+id="progress"', page)
    assert "<html" not in page
    for part in ("run-state", "tiles", "failure-rows", "reply-rows"):
        assert f'id="{part}" hx-swap-oob="true"' in page
    assert 'id="acts"' not in page
    assert "hx-trigger" in page
    assert get_page().headers["Vary"].count("HX-Request") == 1


def test_fragment_of_a_run_that_ended_brings_its_buttons_and_stops(get_page, run):
    filled(run)
    page = live(get_page)
    assert 'id="acts" class="row acts" hx-swap-oob="true"' in page
    assert "hx-trigger" not in page
    assert "Pause" not in page


def test_researchers_get_no_buttons_from_the_fragment_either(get_page, run):
    states.pause(run)
    page = live(get_page, "researcher")
    assert "Resume" not in page
    assert "<form" not in page


def test_planning_has_no_numbers_yet(cast, judge, dataset):
    run = runs.start(judge, dataset, Selection())
    page = markup(cast.client("admin").get(f"/judge-runs/{run.pk}/"))
    assert "counting the pairs without a grade of this judge" in page
    assert "100%" not in page
    assert "still being counted" in page
    assert "Cancel the run" in page
    assert ">Pause<" not in page


def test_run_without_anything_to_ask_says_so(cast, done, judge, dataset):
    second_run = runs.start(judge, dataset, Selection())
    plan(second_run, "planner:1")
    page = markup(cast.client("admin").get(f"/judge-runs/{second_run.pk}/"))
    assert "This judge has already graded all of these pairs." in page
    assert "12 pairs already had a reply and are not sent again." in page
    assert "0 of 0 replies" not in page


def test_baseline_is_called_one_and_has_no_probabilities(cast, dataset):
    run = fill_lexical(dataset)
    page = markup(cast.client("admin").get(f"/judge-runs/{run.pk}/"))
    assert "The baseline" in page
    assert "a baseline gives no probabilities" in page
    assert "Spent" not in page
    assert "copied from the same words" in page


def test_money_and_tokens_of_their_budgets(get_page, run):
    JudgeRun.objects.filter(pk=run.pk).update(
        price_in=1000, price_out=0, currency="EUR", max_money=50, max_tokens=100_000, max_pairs=500
    )
    run.refresh_from_db()
    filled(run)
    page = markup(get_page())
    assert "1.60</span> EUR" in page
    assert "of 50.00 EUR; 1,616 of 100,000 tokens; 8 of 500 pairs sent." in page


def test_worker_that_nobody_started_is_asked_for(get_page, run):
    JUDGING.wake(run)
    assert "No worker is running" not in get_page().content.decode()
    long_ago = timezone.now() - timedelta(seconds=60)
    DBTaskResult.objects.update(enqueued_at=long_ago)
    assert "manage.py judge_worker" in get_page().content.decode()
    leases.take(run, "gpu-1:7")
    assert "No worker is running" not in get_page().content.decode()
    states.pause(run)
    assert "No worker is running" not in get_page().content.decode()


def test_run_whose_process_has_died_says_so_and_is_resumed(cast, get_page, run):
    """Simulate kill -9: no live lease, no waiting task, and a running state."""
    long_ago = timezone.now() - timedelta(seconds=60)
    JudgeRun.objects.filter(pk=run.pk).update(created=long_ago)
    run.batches.update(created=long_ago)
    listed = cast.client("admin").get("/judge-runs/").content.decode()
    assert "no worker</small>" in listed
    page = markup(get_page())
    assert "No worker is processing this run" in page
    assert f'action="/judge-runs/{run.pk}/resume/"' in page
    assert f'action="/judge-runs/{run.pk}/resume/"' not in markup(get_page("researcher"))
    DBTaskResult.objects.all().delete()
    response = cast.client("admin").post(f"/judge-runs/{run.pk}/resume/", follow=True)
    assert "The run waits for a worker" in response.content.decode()
    assert n_wakes(run) == 1
    leases.take(run, "gpu-1:7")
    assert "No worker is processing this run" not in markup(get_page())
    assert "no worker</small>" not in cast.client("admin").get("/judge-runs/").content.decode()


def test_worker_with_another_run_is_not_called_missing(get_page, run):
    JUDGING.wake(run)
    long_ago = timezone.now() - timedelta(seconds=60)
    DBTaskResult.objects.update(enqueued_at=long_ago)
    tasks.work.enqueue(run.pk + 1)
    busy = DBTaskResult.objects.filter(args_kwargs__args=[run.pk + 1])
    busy.update(status="RUNNING", started_at=long_ago)
    page = markup(get_page())
    assert "No worker is running" not in page
    assert "All workers are busy with other runs" in page


def test_looking_at_a_run_that_nobody_works_at_wakes_a_worker_once(get_page, run):
    assert n_wakes(run) == 0
    get_page()
    get_page()
    assert n_wakes(run) == 1


def test_seconds_for_a_reply_are_those_of_the_run_or_by_its_judge(get_page, run):
    JudgeRun.objects.filter(pk=run.pk).update(endpoint="http://127.0.0.1:9/v1", reply_seconds=None)
    assert "at most 180 seconds for a reply" in " ".join(markup(get_page()).split())
    JudgeRun.objects.filter(pk=run.pk).update(reply_seconds=1_234)
    assert "at most 1,234 seconds for a reply" in " ".join(markup(get_page()).split())


def test_requests_at_once_are_shown_where_they_are_fewer_than_wished_for(get_page, run):
    assert 'id="lowered"' not in markup(get_page())
    runs.note_concurrency(run, 64)
    assert 'id="lowered"' not in markup(get_page())
    runs.note_concurrency(run, 8)
    assert "8 of 64 concurrent requests now" in markup(get_page())
    assert "8 of 64 concurrent requests now" in live(get_page)


def test_reason_of_a_leaving_worker_is_displayed(get_page, run):
    with pytest.raises(BackendUnavailableError), states.giving_up(run, "gpu-1:7"):
        raise BackendUnavailableError("The server at <local> does not answer.")
    page = markup(get_page())
    assert "The server at &lt;local&gt; does not answer." in page
    assert "Resume" in page


def test_cost_of_a_look_does_not_grow_with_the_replies(cast, run, django_assert_max_num_queries):
    client = cast.client("admin")
    url = f"/judge-runs/{run.pk}/"
    filled(run)
    with django_assert_max_num_queries(24):
        client.get(url, headers={"HX-Request": "true"})


def test_strip_has_a_cell_for_each_shard_until_there_are_too_many():
    few = [ShardState(number, "open", "") for number in range(1, 6)]
    assert [(cell.first, cell.last) for cell in shard_cells(few)] == [(n, n) for n in range(1, 6)]
    shards = [ShardState(n, "done" if n <= 500 else "open", "") for n in range(1, 1112)]
    cells = shard_cells(shards)
    assert len(cells) <= MOST_CELLS
    assert (cells[0].first, cells[-1].last) == (1, 1111)
    assert [cell.state for cell in cells] == ["done"] * 41 + ["leased"] + ["open"] * 51
    assert cells[41].words == "shards 493 to 504: 8 of 12 done"
    assert shard_cells([]) == []


def test_drawn_strip_of_many_shards_says_that_it_is_grouped(get_page, run):
    Shard.objects.bulk_create(
        Shard(run=run, number=100 + n, groups=[], n_pairs=0) for n in range(300)
    )
    page = markup(get_page())
    assert "each square is a group of shards" in page
    assert page.count('<li class="open">') <= MOST_CELLS


def test_line_of_the_rate_ends_at_its_axis():
    # 0 is at 65, the largest at 14, half of it in the middle.
    assert rate_line([0, 5, 10]).points == "0,65.0 115,39.5 230,14.0"
    assert rate_line([0, 0]).points == "0,65.0 230,65.0"
    assert rate_line([]).most == 0
