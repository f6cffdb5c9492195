"""The item page under rubrics that mark no words, show no text, or have names for grades."""

from uuid import uuid4

import pytest

from annotation.builder.attention_checks import add_ready_made
from annotation.models import Answer, Rater, Rating
from annotation.models.standard import STANDARD, add_standard
from annotation.participation.assigning import rater_of
from tests.toolbox.responses import markup
from tests.toolbox.rubric_studies import (
    ANSWERS,
    BODY,
    QUESTIONS,
    kinds_of_facts,
    make_locks_study,
    open_study,
)


@pytest.fixture
def wend(db):
    return make_locks_study()


@pytest.fixture
def opened(cast, wend):
    """opened(slug): the worker's first item under a rubric of this name, and a client for it."""

    def open_one(slug, **options):
        rubric = kinds_of_facts() if slug == "kind-of-fact" else add_standard(STANDARD[slug])
        campaign = open_study(wend, rubric, [rater_of(cast.worker)], **options)
        assignment = campaign.items.first().assignments.get()
        return assignment, cast.client("worker")

    return open_one


def page_of(opened, slug, **options) -> str:
    assignment, client = opened(slug, **options)
    return markup(client.get(f"/work/{assignment.pk}/"))


def test_page_without_spans_mentions_none(opened):
    page = page_of(opened, "question-type")
    assert "The lock at Wend was drained" in page
    for phrase in (
        "Select words",
        "one per line",
        'class="evidence"',
        "data-span-from",
        "Space",
    ):
        assert phrase not in page.split('id="words"')[0]
    assert 'class="unscripted"' in page
    assert 'class="sentence" tabindex' not in page
    assert 'aria-labelledby="text-title" tabindex="0"' in page


def test_names_come_with_their_keys_and_hues(opened):
    page = page_of(opened, "kind-of-fact")
    assert 'data-colour="green"' in page
    assert 'data-key="c"' in page
    assert 'data-name="A cause or a reason"' in page
    assert "<small>4</small>" in page


def test_without_a_text_there_is_one_pane_and_the_request_is_open(opened):
    page = page_of(opened, "importance")
    assert "The lock at Wend was drained" not in page
    assert "text-pane" not in page
    assert "Say what became of the lock at Wend." in page
    assert '<details class="request"' not in page
    assert "Task 1 of 1" in page
    assert 'name="broken"' not in page


@pytest.mark.parametrize(
    ("slug", "shows_text", "shows_question"),
    [("critique-a_to_c_groundedness", True, False), ("critique-qa_tautology", False, True)],
)
def test_answer_is_shown_with_its_question_or_without(opened, slug, shows_text, shows_question):
    page = page_of(opened, slug)
    assert all(f'<q dir="auto" translate="no">{answer}</q>' in page for answer in ANSWERS)
    assert ("The lock at Wend was drained" in page) == shows_text
    assert (QUESTIONS[0] in page) == shows_question
    assert STANDARD[slug].question in page


def test_critique_of_the_text_has_one_card_with_what_is_asked(opened):
    page = page_of(opened, "critique-c_clarity")
    assert page.count('class="question ') == 1
    assert QUESTIONS[0] not in page
    assert page.count("Is the text whole, and easy to understand?") == 1


@pytest.mark.parametrize(("kind", "folds"), [("report", True), ("passage", False)])
def test_request_folds_where_the_text_was_written_for_it(opened, kind, folds):
    assert ('<details class="request"' in page_of(opened, "graded", kind=kind)) == folds


def test_answer_without_words_becomes_a_rating_and_words_sent_with_it_do_not(opened, cast):
    assignment, client = opened("question-type")
    question = assignment.item.asked.first().question
    url = f"/work/{assignment.pk}/answers/{question.pk}/"
    span = f'[{{"start": 0, "end": 8, "quote": "{BODY[:8]}"}}]'
    response = client.post(
        url, {"key": uuid4(), "grade": 3, "spans": span}, headers={"X-Requested-With": "fetch"}
    )
    assert response.status_code == 204
    assert Answer.objects.get().spans == []
    rating = Rating.objects.get(rubric__slug="question-type")
    assert (rating.grade, rating.spans.count()) == (3, 0)
    # Without scripts no field for words is there; who sends some is told.
    client.post(url, {"key": uuid4(), "grade": 2, "quotes": "in March"})
    assert Answer.objects.count() == 1
    client.post(url, {"key": uuid4(), "grade": 2})
    assert Rating.objects.get(rubric__slug="question-type").grade == 2


def test_feedback_says_grades_in_words_and_shows_what_was_shown(opened, cast, wend):
    rubric = add_standard(STANDARD["critique-qa_tautology"])
    gold = Rater.objects.create(dataset=wend, name="gold", kind="human")
    text = wend.texts.filter(kind="report").first()
    for question in wend.topics.get().questions.all()[:2]:
        Rating.objects.record(
            rater=gold.pk, rubric=rubric.pk, text=text.pk, question=question.pk, grade=1
        )
    assignment, client = opened("critique-qa_tautology", gold_source=gold, n_training=1)
    practice = assignment.participant.assignments.get(item__purpose="training")
    for item_question in practice.item.asked.all():
        url = f"/work/{practice.pk}/answers/{item_question.question_id}/"
        client.post(url, {"key": uuid4(), "grade": 5})
    client.post(f"/work/{practice.pk}/submit/")
    page = markup(client.get(f"/work/{practice.pk}/feedback/"))
    assert "5 fully" in page
    assert "1 not at all" in page
    assert ANSWERS[0] in page
    assert "no words marked" not in page
    assert "The lock at Wend was drained" not in page


def test_retired_rubric_is_offered_to_no_new_campaign(cast, wend):
    rubric = add_standard(STANDARD["utility"])
    client = cast.client("admin")
    url = f"/campaigns/new/?dataset={wend.slug}"
    assert "Utility of an answer" in markup(client.get(url))
    rubric.is_retired = True
    rubric.save()
    assert "Utility of an answer" not in markup(client.get(url))
    sent = {"title": "x", "rubric": rubric.pk, "kind": "report", "dataset": wend.slug}
    assert client.post(url, sent).status_code != 302


def test_ready_made_check_asks_for_a_name(cast, wend):
    campaign = open_study(wend, kinds_of_facts(), [], attention_per_part=1)
    check = add_ready_made(campaign)
    assert check.body.endswith("please choose “A person or a body”.")
    assert check.expected == 2
    page = markup(cast.client("admin").get(f"/campaigns/{campaign.slug}/preview/items/0/"))
    assert check.body in page
