"""Drawing the items of a study: repeatable, counted, and settled once it is open."""

import pytest

from annotation.builder import sampling
from annotation.models import Campaign, Item, Rater, Rating, Rubric, SubQuestion, Text
from tests.toolbox.campaign_builder import make_labelled


@pytest.fixture
def harbour(db):
    return make_labelled()


@pytest.fixture
def draft(harbour):
    return make(harbour)


def make(dataset, slug="draft", **options):
    options.setdefault("selection", {"kind": "passage"})
    return Campaign.objects.create(
        dataset=dataset,
        rubric=Rubric.objects.get(slug="graded"),
        slug=slug,
        title="Draft",
        **options,
    )


def sampled_rows(campaign):
    return [
        (
            item.text.name,
            item.purpose,
            [item_question.question.position for item_question in item.asked.all()],
        )
        for item in campaign.items.select_related("text")
    ]


def orla():
    return Rater.objects.get(name="orla")


def test_all_usable_texts_are_drawn_by_topic_and_the_rest_is_counted(draft):
    result = sampling.resample(draft)
    assert result.study == 10
    assert dict(result.left_out) == {"text not in the dataset": 1, sampling.NO_TOPIC: 1}
    assert [name for name, _, _ in sampled_rows(draft)][:2] == ["harbour-0:0", "harbour-0:2"]
    draft.refresh_from_db()
    assert draft.selection == {"kind": "passage", "left_out": dict(result.left_out)}


def test_filtered_question_is_never_drawn(draft, harbour):
    SubQuestion.objects.filter(position=1).update(filtered_because="nobody answers it")
    sampling.resample(draft)
    assert {1} & {
        position for _, _, positions in sampled_rows(draft) for position in positions
    } == set()


@pytest.mark.parametrize(
    "options",
    [
        {"selection": {"kind": "passage", "sample": 5}},
        {"questions_per_item": 2},
        {"selection": {"kind": "passage", "sample": 7}, "questions_per_item": 1},
    ],
)
def test_same_seed_draws_the_same_and_another_does_not(harbour, options):
    first, same, other_draw = (
        make(harbour, f"draft-{number}", seed=seed, **options)
        for number, seed in enumerate((3, 3, 4))
    )
    for campaign in (first, same, other_draw):
        sampling.resample(campaign)
    assert sampled_rows(first) == sampled_rows(same)
    assert sampled_rows(first) != sampled_rows(other_draw)
    before = sampled_rows(first)
    sampling.resample(first)
    assert sampled_rows(first) == before


def test_sample_of_pairs_is_repeatable_and_counts_missing_questions(harbour):
    options = {
        "question_source": orla(),
        "question_rubric": Rubric.objects.get(slug="graded"),
        "seed": 9,
    }
    first, same = (make(harbour, slug, **options) for slug in ("one", "same"))
    result = sampling.resample(first)
    sampling.resample(same)
    assert sampled_rows(first) == sampled_rows(same)
    assert all(positions[0] == 0 and len(positions) == 2 for _, _, positions in sampled_rows(first))
    assert result.left_out["no answerable question by orla"] == 3
    assert result.left_out["no unanswerable question by orla"] == 1


def test_training_and_gold_are_drawn_apart_from_the_study(harbour):
    draft = make(harbour, gold_source=orla(), n_training=2, n_gold=2)
    result = sampling.resample(draft)
    assert (result.study, result.training, result.gold) == (6, 2, 2)
    assert result.left_out["used for training and gold"] == 4
    assert len({name for name, _, _ in sampled_rows(draft)}) == 10
    for item in draft.items.exclude(purpose=Item.Purpose.STUDY):
        assert item.asked.count() == 4
        for item_question in item.asked.all():
            rating = Rating.objects.get(
                rater=orla(), text=item.text, question=item_question.question
            )
            spans = [{"start": s.start, "end": s.end, "quote": s.quote} for s in rating.spans.all()]
            assert (item_question.expected, item_question.expected_spans) == (rating.grade, spans)


@pytest.mark.parametrize(("per_item", "n_asked", "labelled"), [(None, 4, 1), (3, 3, 1), (1, 1, 1)])
def test_gold_asks_what_the_study_asks_and_is_scored_where_it_has_a_label(
    harbour, per_item, n_asked, labelled
):
    """orla has labelled the second question of each passage alone."""
    Rating.objects.exclude(question__position=1).delete()
    draft = make(harbour, gold_source=orla(), n_training=1, n_gold=3, questions_per_item=per_item)
    sampling.resample(draft)
    for item in draft.items.exclude(purpose=Item.Purpose.TRAINING):
        assert item.asked.count() == n_asked
    for item in draft.items.filter(purpose=Item.Purpose.GOLD):
        expected = {of.question.position: of.expected for of in item.asked.all()}
        assert expected[1] is not None
        assert sum(grade is not None for grade in expected.values()) == labelled
    training = draft.items.get(purpose=Item.Purpose.TRAINING)
    assert [of.question.position for of in training.asked.all()] == [1]


def test_gold_in_a_study_of_pairs_is_a_pair_as_well(harbour):
    """By ann's labels 5 of 8 passages can be asked a pair of questions; orla's are gold."""
    graded = Rubric.objects.get(slug="graded")
    ann = Rater.objects.create(dataset=harbour, name="ann", kind=Rater.Kind.HUMAN)
    for number, text in enumerate(Text.objects.filter(ratings__rater=orla()).distinct()):
        for question in text.topic.questions.filter(position__lt=2):
            grade = 5 if question.position == 0 or number > 4 else 0
            Rating.objects.create(
                rater=ann, rubric=graded, text=text, question=question, grade=grade
            )
    options = {"question_source": ann, "question_rubric": graded, "gold_source": orla()}
    draft = make(harbour, n_gold=4, **options)
    assert sampling.resample(draft).gold == 4
    assert [positions for _, _, positions in sampled_rows(draft)] == [[0, 1]] * 5
    draft.n_gold = 6
    with pytest.raises(sampling.SampleError, match="5 can have the questions of the study; 6 gold"):
        sampling.resample(draft)


def test_gold_is_taken_from_outside_a_sample_first(harbour):
    sample = {"kind": "passage", "sample": 4}
    plain = make(harbour, "plain", selection=dict(sample))
    sampling.resample(plain)
    with_gold = make(harbour, "gold", selection=dict(sample), gold_source=orla(), n_gold=3)
    result = sampling.resample(with_gold)
    assert (result.study, result.gold) == (4, 3)
    assert [row for row in sampled_rows(with_gold) if row[1] == "study"] == sampled_rows(plain)


def test_more_gold_changes_the_questions_of_no_other_text(harbour):
    options = {"questions_per_item": 2, "gold_source": orla()}
    questions_of_draws = []
    for n_gold in (1, 4):
        campaign = make(harbour, f"gold-{n_gold}", n_gold=n_gold, **options)
        sampling.resample(campaign)
        questions_of_draws.append(
            {name: of for name, purpose, of in sampled_rows(campaign) if purpose == "study"}
        )
    assert questions_of_draws[1].items() <= questions_of_draws[0].items()


def test_text_whose_only_labels_are_of_filtered_questions_is_no_gold(harbour):
    SubQuestion.objects.filter(topic__name="harbour-0").update(filtered_because="no answer")
    draft = make(harbour, gold_source=orla(), n_gold=4)
    sampling.resample(draft)
    assert all(item.asked.exists() for item in draft.items.all())
    draft.n_gold = 5
    with pytest.raises(sampling.SampleError, match="orla has rated 4 texts"):
        sampling.resample(draft)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selection": {}}, "No texts are chosen yet"),
        ({"selection": {"kind": "reference"}}, "No text can be assigned; none was chosen"),
        ({"n_gold": 1}, "need a source"),
    ],
)
def test_impossible_sample_is_refused_and_keeps_the_old_one(draft, options, message):
    sampling.resample(draft)
    before = sampled_rows(draft)
    for name, value in options.items():
        setattr(draft, name, value)
    with pytest.raises(sampling.SampleError, match=message):
        sampling.resample(draft)
    assert sampled_rows(draft) == before


def test_empty_sample_names_the_reasons(harbour):
    Rating.objects.filter(rater=orla(), grade=1).delete()
    draft = make(harbour, question_source=orla(), question_rubric=Rubric.objects.get(slug="graded"))
    with pytest.raises(sampling.SampleError, match="no unanswerable question by orla"):
        sampling.resample(draft)


def test_open_campaign_is_neither_sampled_nor_opened_again(draft):
    with pytest.raises(sampling.SampleError, match="no items"):
        sampling.publish(draft)
    sampling.resample(draft)
    stale = Campaign.objects.get(pk=draft.pk)
    sampling.publish(draft)
    with pytest.raises(sampling.SampleError, match="cannot change"):
        sampling.resample(draft)
    with pytest.raises(sampling.SampleError, match="opened before"):
        sampling.publish(stale)


def test_empty_guideline_becomes_the_rubrics_own_when_it_opens(draft):
    sampling.resample(draft)
    sampling.publish(draft)
    assert draft.guideline == draft.rubric.guideline


def test_passages_of_no_topic_are_named_as_the_reason(draft):
    draft.dataset.texts.filter(kind="passage").update(topic=None)
    with pytest.raises(sampling.SampleError, match="left out: passage of no topic, as its id"):
        sampling.resample(draft)
