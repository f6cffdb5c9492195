"""Sampling under rubrics that display other things than a text and its question."""

import pytest

from annotation.builder.sampling import SampleError
from annotation.models import Campaign, Item, Rater, Rating, SubQuestion, Text, Topic
from annotation.models.standard import STANDARD, add_standard
from tests.toolbox.rubric_studies import ANSWERS, QUESTIONS, make_locks_study, open_study


@pytest.fixture
def wend(db):
    return make_locks_study()


def sampled_questions(campaign: Campaign) -> dict[str, list[str]]:
    """By text: what is asked about it."""
    return {
        f"{item.text.system}/{item.text.name}": [
            item_question.question.body for item_question in item.asked.all()
        ]
        for item in campaign.items.filter(purpose=Item.Purpose.STUDY)
    }


def study(wend, rubric, **options):
    return open_study(wend, add_standard(STANDARD[rubric]), [], **options)


def test_rubric_of_the_text_alone_asks_one_question_of_each_text(wend):
    wend.topics.get().questions.filter(position=0).update(filtered_because="it is odd")
    campaign = study(wend, "critique-c_clarity")
    assert sampled_questions(campaign) == {"one/wend": QUESTIONS[1:2], "two/wend": QUESTIONS[1:2]}


def test_without_a_text_each_topic_is_asked_once(wend):
    campaign = study(wend, "importance")
    assert sampled_questions(campaign) == {"one/wend": QUESTIONS}
    assert campaign.selection["left_out"] == {
        "another text of the topic has the same question, and texts are not displayed": 1
    }


def test_topic_asked_in_practice_or_gold_is_asked_by_no_other_text(wend):
    """Another text would ask the same, as none is displayed; practice has told the answers."""
    rubric = add_standard(STANDARD["importance"])
    gold = Rater.objects.create(dataset=wend, name="gold", kind="human")
    for text in wend.texts.filter(kind="report"):
        for question in text.topic.questions.all():
            Rating.objects.record(
                rater=gold.pk, rubric=rubric.pk, text=text.pk, question=question.pk, grade=1
            )
    topic = Topic.objects.create(dataset=wend, name="mole", request="Say.", position=1)
    SubQuestion.objects.create(topic=topic, position=0, body="Who built the mole?")
    Text.objects.create(
        dataset=wend, topic=topic, kind="report", system="one", name="mole", body="It is old."
    )
    campaign = study(wend, "importance", gold_source=gold, n_training=1)
    assert campaign.items.get(purpose=Item.Purpose.TRAINING).text.topic.name == "wend"
    assert sampled_questions(campaign) == {"one/mole": ["Who built the mole?"]}
    with pytest.raises(SampleError, match="has rated 1 text under"):
        study(wend, "importance", gold_source=gold, n_training=1, n_gold=1, slug="more")


@pytest.mark.parametrize("slug", ["critique-qa_tautology", "critique-a_to_c_groundedness"])
def test_pairs_without_an_answer_to_show_are_not_asked(wend, slug):
    two = wend.texts.get(kind="report", system="two")
    Rating.objects.filter(text=two, rubric__slug="answered").delete()
    campaign = study(wend, slug)
    assert sampled_questions(campaign) == {"one/wend": QUESTIONS[:2]}
    assert campaign.selection["left_out"] == {"no answer": 1}
    answers = [item_question.answer for item_question in campaign.items.get().asked.all()]
    assert answers == [[answer] for answer in ANSWERS]


def test_answer_is_the_gold_sources_else_of_the_first_by_name(wend):
    rubric = add_standard(STANDARD["answered"])
    texts = list(wend.texts.filter(kind="report").order_by("system"))
    first = wend.topics.get().questions.get(position=0)
    early = Rater.objects.create(dataset=wend, name="an-early-name", kind="human")
    gold = Rater.objects.create(dataset=wend, name="zoe", kind="human")
    for rater, text, body in ((early, texts[0], "early"), (gold, texts[1], "gold")):
        # As an import leaves it: words that are not in the text at all.
        Rating.objects.record(
            rater=rater.pk, rubric=rubric.pk, text=text.pk, question=first.pk, grade=1
        )
        rating = Rating.objects.get(rater=rater, text=text)
        rating.spans.create(position=0, source_quote=body, located="unlocated")
    campaign = study(wend, "critique-qa_tautology", gold_source=gold)
    answer_of_text = {
        item.text.system: item.asked.get(question=first).answer for item in campaign.items.all()
    }
    assert answer_of_text == {"one": ["early"], "two": ["gold"]}


def test_gold_is_drawn_from_what_can_be_asked(wend):
    rubric = add_standard(STANDARD["critique-c_clarity"])
    gold = Rater.objects.create(dataset=wend, name="gold", kind="human")
    one, two = wend.texts.filter(kind="report").order_by("system")
    first, second, _ = SubQuestion.objects.filter(topic__dataset=wend)
    for text, question in ((one, second), (two, first)):
        Rating.objects.record(
            rater=gold.pk, rubric=rubric.pk, text=text.pk, question=question.pk, grade=4
        )
    # Of the first text a question has a label that is never asked.
    campaign = study(wend, "critique-c_clarity", gold_source=gold, n_training=1)
    practice = campaign.items.get(purpose=Item.Purpose.TRAINING)
    assert practice.text == two
    assert [
        (item_question.question, item_question.expected) for item_question in practice.asked.all()
    ] == [(first, 4)]
    with pytest.raises(SampleError, match="has rated 1 text under"):
        study(wend, "critique-c_clarity", gold_source=gold, n_training=2, slug="more")
    assert Text.objects.filter(items__campaign=campaign).count() == 2
