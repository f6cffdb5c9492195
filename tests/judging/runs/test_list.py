"""The list of runs, and the replies of one that have no grade."""

from judging.engine import runs
from judging.engine.foreground import fill_lexical
from judging.engine.planning import plan
from judging.engine.selection import Selection
from judging.execution import states
from judging.models import JudgeRun
from tests.toolbox.judging_runs import a_judge, a_run, filled
from tests.toolbox.responses import markup


def test_empty_list_says_what_to_do(cast, db):
    page = markup(cast.client("admin").get("/judge-runs/"))
    assert "import one" in page


def test_list_says_how_far_each_is(cast, done, dataset):
    fill_lexical(dataset)
    page = markup(cast.client("researcher").get("/judge-runs/"))
    assert "12 of 12" in page
    assert f"/judge-runs/{done.pk}/failures/all/" in page
    assert '<span class="tag">baseline</span>' in page
    assert "finished" in page


def test_list_is_filtered_by_state_and_dataset(cast, run, dataset):
    client = cast.client("researcher")
    link = f'<a href="/judge-runs/{run.pk}/">'
    assert link in client.get("/judge-runs/?dataset=ferry&state=running").content.decode()
    page = markup(client.get("/judge-runs/?dataset=ferry&state=paused"))
    assert link not in page
    assert "No run matches the filter." in page
    assert link in client.get("/judge-runs/?state=nonsense").content.decode()


def test_replies_without_a_grade_are_listed_as_they_came(cast, done):
    client = cast.client("researcher")
    page = markup(client.get(f"/judge-runs/{done.pk}/failures/several/"))
    assert "More than one integer" in page
    assert "3 or 4 &lt;b&gt;of them&lt;/b&gt;" in page
    attempt = done.judge.attempts.get(grade=None)
    assert f"/replies/{done.judge.rater_id}/{attempt.text_id}/{attempt.question_id}/" in page
    assert "There is none." in client.get(f"/judge-runs/{done.pk}/failures/cut/").content.decode()


def test_retry_run_is_marked(cast, done, dataset):
    retry = runs.start(done.judge, dataset, Selection(retry=True))
    plan(retry, "planner:1")
    filled(retry)
    page = markup(cast.client("researcher").get(f"/judge-runs/{done.pk}/failures/all/"))
    assert "retried" in page
    page = markup(cast.client("admin").get(f"/judge-runs/{done.pk}/"))
    assert "Retry failed pairs" not in page


def test_many_runs_come_in_pages_that_keep_the_choice(cast, dataset):
    for number in range(52):
        run = a_run(a_judge(f"judge-{number}", revision=str(number)), dataset, texts="passages")
        states.pause(run)
    assert JudgeRun.objects.count() == 52
    page = cast.client("researcher").get("/judge-runs/?dataset=ferry&state=paused")
    assert "?dataset=ferry&amp;state=paused&amp;page=2" in page.content.decode()
    page = markup(cast.client("researcher").get("/judge-runs/?dataset=ferry&page=2"))
    assert page.count("<tr>") == 3
