"""Answers to an item: saved with their spans, replaced, taken back, refused."""

import re
from uuid import uuid4

import pytest

from annotation.models import Answer, Assignment, NuggetSpan, Rating
from tests.toolbox.factories import REPORT, make_campaign
from tests.toolbox.responses import markup
from tests.toolbox.task_answers import answer, question

BY_SCRIPT = {"HTTP_X_REQUESTED_WITH": "fetch"}


def test_answer_is_saved_with_its_spans(cast, assignment):
    response = answer(
        cast.client("worker"), assignment, quotes=["112 people", "was hurt"], **BY_SCRIPT
    )
    assert response.status_code == 204
    rating = Rating.objects.get()
    assert (rating.grade, rating.rater.user, rating.rubric.slug) == (1, cast.worker, "answerable")
    assert [(s.start, s.end, s.quote) for s in rating.spans.all()] == [
        (REPORT.index("112 people"), REPORT.index("112 people") + 10, "112 people"),
        (REPORT.index("was hurt"), REPORT.index("was hurt") + 8, "was hurt"),
    ]
    assert Answer.objects.get().text_sha256 == assignment.item.text.sha256


def test_newest_answer_counts_and_the_older_stay(cast, assignment):
    client = cast.client("worker")
    answer(client, assignment, quotes=["112 people"])
    answer(client, assignment, grade="0")
    assert [a.grade for a in Answer.objects.order_by("id")] == [1, 0]
    assert Rating.objects.get().grade == 0
    assert not NuggetSpan.objects.exists()


@pytest.mark.parametrize("rubric", ["answerable", "graded"])
def test_grade_that_rests_on_no_words_carries_none(cast, dataset, rubric):
    campaign = make_campaign(dataset, cast.worker, rubric=rubric)
    item = Assignment.objects.filter(participant__campaign=campaign).first()
    client = cast.client("worker")
    for grade in (1, 0, 1):  # from a page of before, which did not ask
        key = uuid4()
        for _ in range(2):
            sent = answer(client, item, grade=grade, quotes=["112 people"], key=key, **BY_SCRIPT)
            assert sent.status_code == 204
        assert Rating.objects.get().spans.count() == grade
    answers = Answer.objects.order_by("id")
    assert [(a.grade, len(a.spans)) for a in answers] == [(1, 1), (0, 0), (1, 1)]


def test_without_scripts_nothing_is_taken_away_unasked(cast, assignment):
    client = cast.client("worker")
    answer(client, assignment, quotes=["112 people"])
    url = f"/work/{assignment.pk}/answers/{question(assignment).pk}/"
    span = NuggetSpan.objects.get()
    for fields in ({"keep": f"{span.start}:{span.end}"}, {"quotes": "was hurt"}):
        page = client.post(url, {"key": uuid4(), "grade": "0"} | fields, follow=True)
        assert "Grade 0 needs no marked words: untick them" in page.content.decode()
    assert Rating.objects.get().grade == 1
    assert NuggetSpan.objects.get() == span
    client.post(url, {"key": uuid4(), "grade": "0"})
    assert Rating.objects.get().grade == 0
    assert not NuggetSpan.objects.exists()


def test_answer_can_be_withdrawn(cast, assignment):
    client = cast.client("worker")
    answer(client, assignment, grade="0")
    answer(client, assignment, grade="")
    assert not Rating.objects.exists()
    assert [a.grade for a in Answer.objects.order_by("id")] == [0, None]


def test_same_key_is_the_same_answer(cast, assignment):
    client, key = cast.client("worker"), uuid4()
    for _ in range(3):
        assert answer(client, assignment, grade="0", key=key, **BY_SCRIPT).status_code == 204
    assert Answer.objects.count() == 1
    refused = answer(client, assignment, grade="1", key=key, **BY_SCRIPT)
    assert refused.status_code == 422
    assert "already sent with other content" in refused.content.decode()
    assert Rating.objects.get().grade == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grade": "2"}, "one of 0, 1, not 2"),
        ({"grade": "-1"}, "one of 0, 1, not -1"),
        ({"grade": "many"}, "whole number"),
        ({"key": "no-uuid"}, "UUID"),
        ({"spans": [{"start": 0, "end": 3, "quote": "Ter"}]}, "the text says"),
        ({"spans": [{"start": 3, "end": 3, "quote": ""}]}, "0 <= start < end"),
        ({"spans": [{"start": -1, "end": 3, "quote": "x"}]}, "0 <= start < end"),
        ({"spans": [{"start": 0, "end": 9999, "quote": "x"}]}, "beyond the text"),
        ({"spans": [{"start": 3, "end": 4, "quote": " "}]}, "white space alone"),
        ({"spans": [{"from": 3}]}, "expected a list"),
        ({"spans": "not spans"}, "expected a list"),
        ({"spans": [{"start": 0.5, "end": "3", "quote": "The"}]}, "expected a list"),
        ({"spans": [{"start": False, "end": True, "quote": "T"}]}, "expected a list"),
        ({"spans": None, "quotes": ["x"]}, None),
    ],
)
def test_bad_answers_are_refused_and_change_nothing(cast, assignment, change, message):
    if message is None:
        change = {"spans": 7}
        message = "expected a list"
    response = answer(cast.client("worker"), assignment, **change, **BY_SCRIPT)
    assert response.status_code == 422
    assert message in response.content.decode()
    assert not Answer.objects.exists()
    assert not Rating.objects.exists()


def test_without_scripts_a_form_does_the_same(cast, assignment):
    client = cast.client("worker")
    url = f"/work/{assignment.pk}/answers/{question(assignment).pk}/"
    lines = "112 people\ncoupling that was  due"
    response = client.post(url, {"key": uuid4(), "grade": "1", "quotes": lines})
    assert (response.status_code, response.url) == (302, f"/work/{assignment.pk}/#q-1")
    first, second = NuggetSpan.objects.all()
    assert (first.quote, second.quote) == ("112 people", "coupling that was due")
    page = client.get(assignment.get_absolute_url()).content.decode()
    assert '<mark data-mark="1" data-label="1">112 people</mark>' in page
    client.post(url, {"key": uuid4(), "grade": "1", "keep": f"{first.start}:{first.end}"})
    assert [s.quote for s in NuggetSpan.objects.all()] == ["112 people"]


def test_without_scripts_a_refused_form_comes_back_as_it_was_filled_in(cast, assignment):
    client = cast.client("worker")
    url = f"/work/{assignment.pk}/answers/{question(assignment).pk}/"
    client.post(url, {"key": uuid4(), "grade": "1", "quotes": "112 people\nwas hurt"})
    first, second = NuggetSpan.objects.all()
    keep = f"{first.start}:{first.end}"
    typed = "not there at all\n<b>nor this"
    refused = client.post(url, {"key": uuid4(), "grade": "1", "keep": keep, "quotes": typed})
    assert refused.status_code == 422
    page = refused.content.decode()
    assert "the words “not there at all” are not in it" in page
    assert ">not there at all\n&lt;b&gt;nor this</textarea>" in page
    assert page.count("autofocus") == 1
    card = page.split('id="q-1"')[1].split('id="q-2"')[0]
    boxes = dict(re.findall(r'name="keep"\s+value="(\S+)"\s*(\w*)', card))
    assert boxes == {keep: "checked", f"{second.start}:{second.end}": ""}
    assert [span.quote for span in NuggetSpan.objects.all()] == ["112 people", "was hurt"]
    # A grade that was chosen comes back chosen, though it is not saved.
    refused = client.post(url, {"key": uuid4(), "grade": "0", "quotes": "coupling"})
    card = refused.content.decode().split('id="q-1"')[1].split('id="q-2"')[0]
    [chosen] = re.findall(r'value="(\d)"[^>]*?\bchecked', card.split('class="spans"')[0])
    assert chosen == "0"
    assert question(assignment).answers.last().grade == 1


@pytest.mark.parametrize("keep", ["x", "1", "1:", "1:2:3", "-1:3", "9" * 5000 + ":1", "٣:٤"])
def test_span_to_keep_that_is_no_place_is_refused(cast, assignment, keep):
    url = f"/work/{assignment.pk}/answers/{question(assignment).pk}/"
    response = cast.client("worker").post(
        url, {"key": uuid4(), "grade": "1", "keep": keep}, **BY_SCRIPT
    )
    assert response.status_code == 422
    assert "not a place in the text" in response.content.decode()
    assert not Answer.objects.exists()


def test_spans_marked_before_a_grade_survive_a_reload(cast, dataset):
    campaign = make_campaign(dataset, cast.worker, rubric="graded", kind="passage")
    item = Assignment.objects.get(participant__campaign=campaign)
    client = cast.client("worker")
    quote = "divers found a crack"
    start = item.item.text.body.index(quote)
    span = {"start": start, "end": start + len(quote), "quote": quote}
    answer(client, item, grade="", spans=[span])
    assert not Rating.objects.exists()  # no grade yet
    page = markup(client.get(item.get_absolute_url()))
    assert f'<q dir="auto" translate="no">{quote}</q>' in page
    assert ">0 of 3<" in page
    answer(client, item, grade="4", spans=[span])
    assert Rating.objects.get().spans.get().quote == quote


def test_answer_from_an_altered_page_is_marked_for_staff(cast, assignment):
    client = cast.client("worker")
    url = f"/work/{assignment.pk}/answers/{assignment.item.asked.first().question_id}/"
    for altered in ("on", ""):
        data = {"key": uuid4(), "grade": 0, "spans": "[]", "altered": altered}
        assert client.post(url, data, HTTP_X_REQUESTED_WITH="fetch").status_code == 204
    assert list(Answer.objects.order_by("pk").values_list("altered", flat=True)) == [True, False]
    participant = assignment.participant
    page = cast.client("researcher").get(
        f"/campaigns/{participant.campaign.slug}/participants/{participant.pk}/"
    )
    text = " ".join(page.content.decode().split())
    assert "1 answer came from a page whose text was changed by the browser" in text


def test_texts_and_questions_are_not_to_be_translated(cast, assignment):
    page = cast.client("worker").get(f"/work/{assignment.pk}/").content.decode()
    assert page.count('translate="no" data-served=') == 1 + assignment.item.asked.count()


def test_page_promises_nothing_that_its_scripts_do(cast, assignment):
    page = cast.client("worker").get(f"/work/{assignment.pk}/").content.decode()
    assert "All saved" not in page.split('id="words"')[0]
    assert "<noscript" not in page
