"""words/ and versions/: new words for a text or a question, what becomes of spans and grades, and by whom."""

import pytest

from annotation.models import (
    Dataset,
    Membership,
    NuggetSpan,
    ProjectEntry,
    Rater,
    Rating,
    Rubric,
    SubQuestion,
    Text,
    Version,
    digest,
)
from evaluation.data.cache import data_version
from judging.engine.foreground import fill_lexical
from judging.models import Attempt
from tests.conftest import make_cast
from tests.evaluation.agreement.test_page import words
from tests.factories import REPORT, make_campaign, make_dataset

SPANS = ("None of the 112 people aboard", "coupling that was due", "9 March")


def make_world():
    """rosa owns the project; ann, of a file, has graded a report with three spans, and a passage with none."""
    cast, dataset = make_cast(), make_dataset()
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    ann = Rater.objects.create(dataset=dataset, name="ann", kind="human")
    answerable = Rubric.objects.get(slug="answerable")
    report = dataset.texts.filter(kind="report").first()
    for question, grade in zip(dataset.topics.get().questions.all(), (1, 0), strict=False):
        Rating.objects.create(
            rater=ann, rubric=answerable, text=report, question=question, grade=grade
        )
    rating = Rating.objects.get(grade=1)
    for position, quote in enumerate(SPANS):
        start = REPORT.index(quote)
        NuggetSpan.objects.create(
            rating=rating, position=position, start=start, end=start + len(quote), quote=quote
        )
    return cast


@pytest.fixture(scope="module", autouse=True)
def _world(kept):
    return kept(make_world)


@pytest.fixture
def cast(_world, db):
    return _world


@pytest.fixture
def report(cast):
    return Dataset.objects.get().texts.filter(kind="report").first()


@pytest.fixture
def url(report):
    return f"/datasets/ferry/words/text/{report.pk}/"


@pytest.fixture
def owner(cast):
    return cast.client("researcher")


def thing_at(url: str) -> Text | SubQuestion:
    """The text or question of a page, by its address."""
    kind, pk = url.split("/")[-3:-1]
    return (Text if kind == "text" else SubQuestion).objects.get(pk=pk)


def choose(client, url, counts):
    """Send the form about grades of earlier words, as the page has it now."""
    thing = thing_at(url)
    seen = digest(thing.body or "")
    data = {"counts": counts, "version": thing.versions.count(), "seen": seen}
    return client.post(f"{url}choose/", data)


def send(client, url, body, button="change", counts="yes", why="a slip"):
    data = {
        "body": body,
        "counts": counts,
        "why": why,
        "seen": digest(thing_at(url).body),
        button: "",
    }
    return client.post(url, data)


def marked(report) -> list[tuple[str, str]]:
    """What each span marks now, and what it has kept of a place that is gone."""
    spans = NuggetSpan.objects.filter(rating__text=report)
    body = report.body
    return [
        (body[span.start : span.end] if span.start is not None else "", span.source_quote)
        for span in spans
    ]


def test_a_look_says_what_would_lose_its_place_and_changes_nothing(owner, report, url):
    new = REPORT.replace("due for replacement", "overdue").replace("9 March", "10 March")
    page = send(owner, url, new, "look")
    seen = words(page)
    assert "2 grades would count for them, too." in seen
    assert "Of 3 marked spans 2 would lose their place." in seen
    assert "“coupling that was due”" in seen
    assert not Version.objects.exists()
    report.refresh_from_db()
    assert (report.body, [there for there, _ in marked(report)]) == (REPORT, list(SPANS))


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
    page = words(owner.get(url))
    assert "Spans without a place" in page
    assert "none of it is set aside" in page or "none of them is set aside" in page
    assert "version" in words(owner.get("/datasets/ferry/versions/")).lower()


def test_a_lost_span_is_placed_by_hand(owner, report, url):
    send(owner, url, REPORT.replace("9 March", "10 March"))
    span = NuggetSpan.objects.get(start=None)
    place = f"/datasets/ferry/words/spans/{span.pk}/place/"
    for unclear in ("11 March", "", "the"):
        assert "once, exactly so" in words(owner.post(place, {"words": unclear}, follow=True))
    assert owner.post(place, {"words": "10 March"}).url == url
    report.refresh_from_db()
    assert marked(report)[2] == ("10 March", "9 March")
    again = owner.post(place, {"words": "10 March"}, follow=True)
    assert "has placed this span already" in words(again)


def test_grades_are_set_aside_and_come_back_with_their_spans(owner, report, url):
    before = list(Rating.objects.order_by("pk").values_list("grade", "created"))
    new = "Corrected. " + REPORT
    send(owner, url, new, counts="no")
    version = Version.objects.get()
    assert (Rating.objects.count(), len(version.set_aside)) == (0, 2)
    assert "2 of them are set aside" in words(owner.get(url))
    assert choose(owner, url, "yes").url == url
    assert list(Rating.objects.order_by("pk").values_list("grade", "created")) == before
    report.refresh_from_db()
    assert [there for there, _ in marked(report)] == list(SPANS)
    assert choose(owner, url, "no").url == url
    assert (Rating.objects.count(), len(Version.objects.get().set_aside)) == (0, 2)
    assert choose(owner, url, "yes").url == url  # their places are of the new words already
    assert [there for there, _ in marked(report)] == list(SPANS)
    assert choose(owner, url, "maybe").status_code == 404


def test_grades_of_a_question_come_back_to_a_text_whose_words_changed_meanwhile(owner, report, url):
    """Their spans are of the words that the text had when they were set aside."""
    question = Rating.objects.get(text=report, grade=1).question
    address = f"/datasets/ferry/words/question/{question.pk}/"
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


def test_what_was_rated_anew_is_not_taken_back(owner, report, url):
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
    url = f"/datasets/ferry/words/text/{passage.pk}/"
    said = Attempt.objects.filter(text=passage, judge=run.judge)
    assert said.filter(counts=True).count() == 4  # the filtered question's, too
    send(owner, url, passage.body + " It was cheap.", counts="no")
    assert not said.filter(counts=True).exists()  # so that a run asks about the new words
    assert not Rating.objects.filter(text=passage).exists()
    choose(owner, url, "yes")
    assert said.filter(counts=True).count() == 4
    assert Rating.objects.filter(text=passage, rater=run.judge.rater).count() == 4


def test_a_question_has_versions_too(owner, report):
    question = report.topic.questions.first()
    url = f"/datasets/ferry/words/question/{question.pk}/"
    assert "2 grades" not in words(send(owner, url, "What broke on the Halden?", "look"))
    assert send(owner, url, "What broke on the Halden?").url == url
    question.refresh_from_db()
    assert question.body == "What broke on the Halden?"
    assert (Version.objects.get().question, Rating.objects.count()) == (question, 2)
    assert "Another question" in words(send(owner, url, "Was anybody hurt?"))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("", "required"),
        ("   ", "Give the new words"),
        (REPORT, "These are the words that are there"),
        ("a\x00b", "Null characters"),
    ],
)
def test_words_that_will_not_do(owner, report, url, body, says):
    answer = send(owner, url, body)
    assert (answer.status_code, says in answer.content.decode()) == (422, True)
    assert not Version.objects.exists()


def test_line_ends_of_a_browser_are_no_change(owner, report, url):
    assert "\n\n" in REPORT
    answer = send(owner, url, REPORT.replace("\n", "\r\n"))
    assert "These are the words that are there" in words(answer)


@pytest.mark.parametrize("state", ["open", "paused"])
def test_what_a_campaign_shows_stays(owner, report, url, cast, state):
    campaign = make_campaign(report.dataset, cast.worker)
    type(campaign).objects.update(state=state)
    for address in (url, f"/datasets/ferry/words/question/{report.topic.questions.first().pk}/"):
        answer = send(owner, address, "Other words.")
        assert answer.status_code == 422
        assert f"The campaign {campaign} shows these words: close it first" in words(answer)
    assert not Version.objects.exists()


def test_nobody_judges_meanwhile(owner, report, url):
    run = fill_lexical(report.dataset)
    type(run).objects.filter(pk=run.pk).update(state="running")
    assert "is at work: pause it first" in words(send(owner, url, "Other words."))


def test_who_may(cast, report, url):
    rosa = Membership.objects.get(user=cast.researcher)
    for role, status in (("viewer", 403), ("researcher", 403), ("coordinator", 403)):
        Membership.objects.filter(pk=rosa.pk).update(role=role)
        client = cast.client("researcher")
        assert client.get(url).status_code == 200
        assert client.get("/datasets/ferry/versions/").status_code == 200
        assert send(client, url, "Other words.").status_code == status
        assert choose(client, url, "no").status_code == status
    for who, status in (("worker", 403), ("stranger", 302)):
        assert cast.client(who).get(url).status_code == status
        assert send(cast.client(who), url, "Other words.").status_code == status
    admin = cast.client("admin")
    for missing in ("text/0", "question/0", "page/1"):
        assert admin.get(f"/datasets/ferry/words/{missing}/").status_code == 404
    assert admin.post("/datasets/ferry/words/spans/0/place/").status_code == 404
    assert admin.get(f"{url}choose/").status_code == 405
    assert choose(admin, url, "no").status_code == 404  # nothing to choose
    assert not Version.objects.exists()


def test_what_stayed_aside_once_comes_back_later_where_it_stands(owner, report, url):
    """Its pair was rated anew at first, by a grade that is gone since."""
    send(owner, url, "Corrected. " + REPORT, counts="no")
    row = next(row for row in Version.objects.get().set_aside if row["grade"] == 1)
    pair = {f"{name}_id": row[name] for name in ("rater", "rubric", "text", "question")}
    anew = Rating.objects.create(**pair, grade=0)
    choose(owner, url, "yes")
    anew.delete()
    choose(owner, url, "no")
    choose(owner, url, "yes")
    report.refresh_from_db()
    assert marked(report) == [(words, "") for words in SPANS]


def test_grades_that_text_and_question_set_aside_come_back_when_both_let_them(owner, report, url):
    question = Rating.objects.get(text=report, grade=1).question
    address = f"/datasets/ferry/words/question/{question.pk}/"
    send(owner, address, "What is known of it?", counts="no")
    send(owner, url, f"Corrected. {REPORT}", counts="no")
    assert not Rating.objects.exists()
    choose(owner, address, "yes")
    assert not Rating.objects.exists()
    choose(owner, url, "yes")
    assert sorted(Rating.objects.values_list("grade", flat=True)) == [0, 1]
    report.refresh_from_db()
    assert marked(report) == [(words, "") for words in SPANS]
    choose(owner, address, "no")
    assert list(Rating.objects.values_list("grade", flat=True)) == [0]
