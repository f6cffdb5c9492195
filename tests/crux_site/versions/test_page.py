"""words/ and versions/: text edits, their effect on spans and grades, and permissions."""

import pytest

from annotation.models import (
    Dataset,
    Membership,
    NuggetSpan,
    ProjectEntry,
    Rater,
    Rating,
    Rubric,
    Version,
    digest,
)
from evaluation.data.cache import data_version
from judging.engine.foreground import fill_lexical
from judging.models import Attempt
from tests.crux_site.versions.text_edits import SPANS, entity_at, make_world, marked, send
from tests.toolbox.factories import REPORT, make_campaign
from tests.toolbox.responses import text_of_page


@pytest.fixture(scope="module", autouse=True)
def _world(shared_world):
    return shared_world(make_world)


@pytest.fixture
def cast(_world, db):
    return _world


@pytest.fixture
def report(cast):
    return Dataset.objects.get().texts.filter(kind="report").first()


@pytest.fixture
def url(report):
    return f"/datasets/ferry/text-history/text/{report.pk}/"


@pytest.fixture
def owner(cast):
    return cast.client("researcher")


def choose(client, url, counts):
    """Send the form about grades of earlier words, as the page has it now."""
    entity = entity_at(url)
    digest_read = digest(entity.body or "")
    data = {"counts": counts, "version": entity.versions.count(), "seen": digest_read}
    return client.post(f"{url}choose/", data)


def test_look_says_what_would_lose_its_place_and_changes_nothing(owner, report, url):
    new = REPORT.replace("due for replacement", "overdue").replace("9 March", "10 March")
    page = send(owner, url, new, "look")
    page_text = text_of_page(page)
    assert "2 grades would count for the new text too." in page_text
    assert "Of 3 marked spans 2 would lose their position." in page_text
    assert "“coupling that was due”" in page_text
    assert not Version.objects.exists()
    report.refresh_from_db()
    assert (report.body, [quote for quote, _ in marked(report)]) == (REPORT, list(SPANS))


def test_new_words_keep_grades_move_spans_and_list_what_is_lost(owner, report, url, cast):
    before = data_version(report.dataset)
    new = "Corrected. " + REPORT.replace("9 March", "10 March")
    assert send(owner, url, new).url == url
    report.refresh_from_db()
    assert report.body == new
    assert marked(report) == [(SPANS[0], ""), (SPANS[1], ""), ("", "9 March")]
    version = Version.objects.get()
    assert (version.number, version.body, version.n_ratings, version.counts) == (1, REPORT, 2, True)
    assert ProjectEntry.objects.first().action == "changed words"
    assert data_version(report.dataset) != before
    page = text_of_page(owner.get(url))
    assert "Spans without a position" in page
    assert "0 of them superseded" in page
    assert "version" in text_of_page(owner.get("/datasets/ferry/text-history/")).lower()


def test_lost_span_is_placed_by_hand(owner, report, url):
    send(owner, url, REPORT.replace("9 March", "10 March"))
    span = NuggetSpan.objects.get(start=None)
    place_url = f"/datasets/ferry/text-history/spans/{span.pk}/place/"
    for unclear in ("11 March", "", "the"):
        assert "exactly once" in text_of_page(
            owner.post(place_url, {"words": unclear}, follow=True)
        )
    assert owner.post(place_url, {"words": "10 March"}).url == url
    report.refresh_from_db()
    assert marked(report)[2] == ("10 March", "9 March")
    second_response = owner.post(place_url, {"words": "10 March"}, follow=True)
    assert "has already placed this span" in text_of_page(second_response)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_lost_span_over_a_line_end_is_placed_by_its_words(owner, report, url, line_end):
    send(owner, url, REPORT.replace("9 March", "10 March"))
    body = REPORT.replace("9 March", f"10{line_end}March")
    type(report).objects.filter(pk=report.pk).update(body=body)
    span = NuggetSpan.objects.get(start=None)
    place_url = f"/datasets/ferry/text-history/spans/{span.pk}/place/"
    assert "<textarea" in owner.get(url).content.decode().partition(place_url)[2]
    assert owner.post(place_url, {"words": "10\r\nMarch "}).url == url
    report.refresh_from_db()
    assert marked(report)[2] == (f"10{line_end}March", "9 March")


def test_grades_are_set_aside_and_come_back_with_their_spans(owner, report, url):
    before = list(Rating.objects.order_by("pk").values_list("grade", "created"))
    new = "Corrected. " + REPORT
    send(owner, url, new, counts="no")
    version = Version.objects.get()
    assert (Rating.objects.count(), len(version.set_aside)) == (0, 2)
    assert "2 of them superseded" in text_of_page(owner.get(url))
    assert choose(owner, url, "yes").url == url
    assert list(Rating.objects.order_by("pk").values_list("grade", "created")) == before
    report.refresh_from_db()
    assert [quote for quote, _ in marked(report)] == list(SPANS)
    assert choose(owner, url, "no").url == url
    assert (Rating.objects.count(), len(Version.objects.get().set_aside)) == (0, 2)
    assert choose(owner, url, "yes").url == url  # their places are of the new words already
    assert [quote for quote, _ in marked(report)] == list(SPANS)
    assert choose(owner, url, "maybe").status_code == 404


def test_grades_of_a_question_come_back_to_a_text_whose_words_changed_meanwhile(owner, report, url):
    """Their spans are of the words that the text had when they were superseded."""
    question = Rating.objects.get(text=report, grade=1).question
    address = f"/datasets/ferry/text-history/question/{question.pk}/"
    assert send(owner, address, "What is known of it?", counts="no").status_code == 302
    assert (
        send(owner, url, "Corrected. " + REPORT.replace("9 March", "10 March")).status_code == 302
    )
    assert not NuggetSpan.objects.exists()
    assert choose(owner, address, "yes").status_code == 302
    report.refresh_from_db()
    assert marked(report) == [(SPANS[0], ""), (SPANS[1], ""), ("", "9 March")]


def test_grades_of_a_rater_who_is_gone_do_not_come_back(owner, report, url):
    send(owner, url, f"Corrected. {REPORT}", counts="no")
    Rater.objects.filter(name="ann").delete()
    assert choose(owner, url, "yes").status_code == 302
    assert not Rating.objects.filter(text=report).exists()


def test_newer_rating_is_not_undone(owner, report, url):
    send(owner, url, "Corrected. " + REPORT, counts="no")
    [ann], question = Rater.objects.filter(name="ann"), report.topic.questions.first()
    rubric = Rubric.objects.get(slug="answerable")
    Rating.objects.create(rater=ann, rubric=rubric, text=report, question=question, grade=0)
    choose(owner, url, "yes")
    assert list(Rating.objects.filter(question=question).values_list("grade", flat=True)) == [0]
    assert len(Version.objects.get().set_aside) == 1


def test_replies_of_judges_count_no_more_where_grades_are_set_aside_and_count_again(owner, report):
    run = fill_lexical(report.dataset)
    passage = report.dataset.texts.filter(kind="passage").exclude(body=None).get()
    url = f"/datasets/ferry/text-history/text/{passage.pk}/"
    attempts = Attempt.objects.filter(text=passage, judge=run.judge)
    assert attempts.filter(counts=True).count() == 4  # the filtered question's, too
    send(owner, url, passage.body + " It was cheap.", counts="no")
    assert not attempts.filter(counts=True).exists()  # so that a run asks about the new words
    assert not Rating.objects.filter(text=passage).exists()
    choose(owner, url, "yes")
    assert attempts.filter(counts=True).count() == 4
    assert Rating.objects.filter(text=passage, rater=run.judge.rater).count() == 4


def test_question_has_versions_too(owner, report):
    question = report.topic.questions.first()
    url = f"/datasets/ferry/text-history/question/{question.pk}/"
    assert "2 grades" not in text_of_page(send(owner, url, "What broke on the Halden?", "look"))
    assert send(owner, url, "What broke on the Halden?").url == url
    question.refresh_from_db()
    assert question.body == "What broke on the Halden?"
    assert (Version.objects.get().question, Rating.objects.count()) == (question, 2)
    assert "Another question" in text_of_page(send(owner, url, "Was anybody hurt?"))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "required"),
        ("   ", "Enter the new text"),
        (REPORT, "There is no change"),
        ("a\x00b", "Null characters"),
    ],
)
def test_invalid_wording_is_refused(owner, report, url, body, message):
    answer = send(owner, url, body)
    assert (answer.status_code, message in answer.content.decode()) == (422, True)
    assert not Version.objects.exists()


def test_line_ends_of_a_browser_are_no_change(owner, report, url):
    assert "\n\n" in REPORT
    answer = send(owner, url, REPORT.replace("\n", "\r\n"))
    assert "There is no change" in text_of_page(answer)


@pytest.mark.parametrize("state", ["open", "paused"])
def test_text_of_open_campaign_cannot_change(owner, report, url, cast, state):
    campaign = make_campaign(report.dataset, cast.worker)
    type(campaign).objects.update(state=state)
    for address in (
        url,
        f"/datasets/ferry/text-history/question/{report.topic.questions.first().pk}/",
    ):
        answer = send(owner, address, "Other words.")
        assert answer.status_code == 422
        assert f"The campaign {campaign} uses this text: close it first" in text_of_page(answer)
    assert not Version.objects.exists()


def test_running_judge_blocks_edit(owner, report, url):
    run = fill_lexical(report.dataset)
    type(run).objects.filter(pk=run.pk).update(state="running")
    assert "is running: pause it first" in text_of_page(send(owner, url, "Other words."))


def test_text_edit_permissions(cast, report, url):
    rosa = Membership.objects.get(user=cast.researcher)
    for role, status in (("viewer", 403), ("researcher", 403), ("coordinator", 403)):
        Membership.objects.filter(pk=rosa.pk).update(role=role)
        client = cast.client("researcher")
        assert client.get(url).status_code == 200
        assert client.get("/datasets/ferry/text-history/").status_code == 200
        assert send(client, url, "Other words.").status_code == status
        assert choose(client, url, "no").status_code == status
    for account, status in (("worker", 403), ("stranger", 302)):
        assert cast.client(account).get(url).status_code == status
        assert send(cast.client(account), url, "Other words.").status_code == status
    admin = cast.client("admin")
    for missing in ("text/0", "question/0", "page/1"):
        assert admin.get(f"/datasets/ferry/text-history/{missing}/").status_code == 404
    assert admin.post("/datasets/ferry/text-history/spans/0/place/").status_code == 404
    assert admin.get(f"{url}choose/").status_code == 405
    assert choose(admin, url, "no").status_code == 404  # nothing to choose
    assert not Version.objects.exists()


def test_superseded_grades_are_restored_in_place(owner, report, url):
    """Its pair was rated again at first, by a grade that is gone since."""
    send(owner, url, "Corrected. " + REPORT, counts="no")
    row = next(row for row in Version.objects.get().set_aside if row["grade"] == 1)
    pair = {f"{name}_id": row[name] for name in ("rater", "rubric", "text", "question")}
    second_rating = Rating.objects.create(**pair, grade=0)
    choose(owner, url, "yes")
    second_rating.delete()
    choose(owner, url, "no")
    choose(owner, url, "yes")
    report.refresh_from_db()
    assert marked(report) == [(quote, "") for quote in SPANS]


def test_grades_that_text_and_question_set_aside_come_back_when_both_let_them(owner, report, url):
    question = Rating.objects.get(text=report, grade=1).question
    address = f"/datasets/ferry/text-history/question/{question.pk}/"
    send(owner, address, "What is known of it?", counts="no")
    send(owner, url, f"Corrected. {REPORT}", counts="no")
    assert not Rating.objects.exists()
    choose(owner, address, "yes")
    assert not Rating.objects.exists()
    choose(owner, url, "yes")
    assert sorted(Rating.objects.values_list("grade", flat=True)) == [0, 1]
    report.refresh_from_db()
    assert marked(report) == [(quote, "") for quote in SPANS]
    choose(owner, address, "no")
    assert list(Rating.objects.values_list("grade", flat=True)) == [0]
