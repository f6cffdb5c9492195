"""Trial of another parser on stored replies: counts, list, access, no change."""

import pytest

from annotation.models import Rating
from judging.engine.judges import baseline_of
from judging.engine.storing import store
from judging.grading.pairs import State
from judging.llm.errors import Failure
from judging.models import Attempt
from tests.toolbox.reply_study import make_model, reply, start

UNREAD = {"state": State.UNPARSEABLE, "failure": Failure.SEVERAL_INTEGERS}


@pytest.fixture
def url(reply_study):
    return f"/judges/{reply_study.first.pk}/parser/"


@pytest.fixture
def wordy(reply_study):
    """A judge with 4/5 (unread), 3 (read), a cut 2/5, a filtered 1/5 and an error."""
    judge = make_model("wordy", sampling={"max_tokens": 9})
    cut = {"state": State.TRUNCATED, "failure": Failure.CUT, "raw": "2/5"}
    filtered = {"state": State.REFUSED, "failure": Failure.REFUSAL, "raw": "1/5"}
    error = {"state": State.ERROR, "failure": Failure.TIMEOUT, "raw": ""}
    replies = [
        reply(judge, reply_study.pair("passage", 1), None, **UNREAD | {"raw": "4/5"}),
        reply(judge, reply_study.pair("passage", 2), 3),
        reply(judge, reply_study.pair("passage", 3), None, **cut),
        reply(judge, reply_study.pair("passage", 4), None, **filtered),
        reply(judge, reply_study.pair("oracle", 1), None, **error),
    ]
    store(start(reply_study, judge), None, "host-1:77", replies, {})
    return judge


def test_parser_trial_is_for_researchers(cast, url):
    for role, status in (("admin", 200), ("researcher", 200), ("worker", 403), ("stranger", 302)):
        assert cast.client(role).get(url).status_code == status
    assert cast.client("admin").post(url).status_code == 405


def test_missing_objects_give_404(rosa, url):
    assert rosa.get("/judges/999999/parser/").status_code == 404
    assert rosa.get(f"{url}?parser=integer-9").status_code == 404


def test_more_would_be_read_and_nothing_changes(rosa, reply_study, wordy):
    before = (Attempt.objects.count(), Rating.objects.count())
    response = rosa.get(f"/judges/{wordy.pk}/parser/?parser=n-of-m-1")
    tried = response.context["tried"]
    # Of four replies the 4/5 is read; a cut one and a filtered one stay what they are.
    assert (tried.n, tried.n_errors, tried.n_left_out) == (4, 1, 0)
    assert dict(tried.counts) == {"more": 1, "same": 3}
    assert tried.rows == [("unreadable, more than one integer", "4", 1)]
    assert "Of 4 replies, 1 would gain a grade" in " ".join(response.content.decode().split())
    pair = reply_study.pair("passage", 1)
    assert (
        f"/replies/{wordy.rater_id}/{pair.text_id}/{pair.question_id}/" in response.content.decode()
    )
    assert (Attempt.objects.count(), Rating.objects.count()) == before


def test_literal_parser_reads_the_cut_and_the_filtered_too(rosa, wordy):
    tried = rosa.get(f"/judges/{wordy.pk}/parser/?parser=first-digit-1").context["tried"]
    assert dict(tried.counts) == {"more": 3, "same": 1}


def test_its_own_parser_reads_what_it_read(rosa, url, wordy):
    for address in (url, f"/judges/{wordy.pk}/parser/"):
        response = rosa.get(f"{address}?parser=integer-1")
        assert response.context["tried"].changes == []
        assert "No reply would have another grade." in response.content.decode()


def test_admin_is_offered_a_copy_with_that_parser(cast, url, reply_study):
    link = f"/judges/new/?from={reply_study.first.pk}&amp;parser=reason-1"
    assert link in cast.client("admin").get(f"{url}?parser=reason-1").content.decode()
    assert link not in cast.client("researcher").get(f"{url}?parser=reason-1").content.decode()
    form = cast.client("admin").get(link.replace("&amp;", "&")).context["form"]
    assert form.initial["parser"] == "reason-1"
    assert form.initial["prompt"] == reply_study.first.prompt


def test_baseline_has_no_replies_to_read(rosa, dataset):
    judge, _ = baseline_of(dataset)
    assert rosa.get(f"/judges/{judge.pk}/parser/").status_code == 404


def test_list_has_pages(rosa, wordy, monkeypatch):
    monkeypatch.setattr("judging.judges.views.CHANGES_SHOWN", 2)
    response = rosa.get(f"/judges/{wordy.pk}/parser/?parser=first-digit-1&page=2")
    assert len(response.context["changes"]) == 1
    assert "Page 2 of 2" in response.content.decode()
