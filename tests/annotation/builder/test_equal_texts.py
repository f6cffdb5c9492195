"""Texts of equal words in the draw of a campaign: remark, choice and selection."""

import pytest

from annotation.builder.drafts import copy_draft
from annotation.models import Campaign, Dataset, EqualText, Rater, Rating, Rubric, Text
from annotation.models.standard import STANDARD, add_standard
from annotation.participation.workload import workload
from crux_site.imports.importing import import_dataset
from tests.toolbox.campaign_builder import TEXTS, make_draft, open_it, read, remarks, url
from tests.toolbox.equal_texts import COPIES, make_mill
from tests.toolbox.regression_cases import case
from tests.toolbox.responses import markup

NAME = "copies_equal_texts"


def repeated(client, draft) -> list[str]:
    return [remark for remark in remarks(client, draft) if "same words as another text" in remark]


def save_texts(client, draft, **change):
    return client.post(url(draft, "texts"), TEXTS | change)


def copies(draft) -> list[str]:
    equal = EqualText.objects.filter(item__campaign=draft).order_by("text")
    return list(equal.values_list("text__name", flat=True))


@pytest.fixture
def mill(db):
    return make_mill()


def test_case_of_equal_texts(admin, db):
    import_dataset(case("equal-texts-handed-out") / "study", "c14")
    draft = make_draft(admin, Dataset.objects.get(slug="c14"))
    [remark] = repeated(admin, draft)
    assert remark.startswith("2 texts have the same words as another text of the topic")
    assert "one of equal texts is assigned" in remark
    assert remark in read(admin, draft, "texts")
    assert [item.text.name for item in draft.items.all()] == ["m1:0", "m1:3"]
    assert copies(draft) == ["m1:1", "m1:2"]
    assert workload(draft).items == 2
    assert "<strong>2</strong> further texts equal one of these texts," in markup(
        admin.get(url(draft, "review"))
    )
    response = save_texts(admin, draft, **{NAME: "False"})
    assert response.status_code == 302
    assert (draft.items.count(), copies(draft)) == (4, [])
    assert workload(draft).items == 4
    [remark] = repeated(admin, draft)
    assert remark.startswith("2 texts have")
    assert "each of them is assigned" in remark
    assert "each is assigned" in markup(admin.get(url(draft, "review")))


@pytest.mark.parametrize(("ending", "n"), [(" \n", 1), (" more", 0)])
def test_white_space_at_the_ends_makes_no_other_words(admin, draft, ending, n):
    assert repeated(admin, draft) == []
    first, second = draft.items.select_related("text").filter(text__topic__isnull=False)[:2]
    texts = Text.objects.filter(pk=second.text_id)
    texts.update(body=f"{first.text.body}{ending}", topic=first.text.topic)
    matches = repeated(admin, draft)
    assert [remark.startswith("1 text has") for remark in matches] == [True] * n


def test_choice_is_offered_only_with_equal_texts(admin, draft, mill):
    """A new campaign copies; the form of a draft without equal texts keeps that."""
    assert NAME not in admin.get(url(draft, "texts")).context["form"].fields
    save_texts(admin, draft)
    draft.refresh_from_db()
    assert draft.copies_equal_texts
    second_draft = make_draft(admin, mill, title="Mill")
    assert NAME in admin.get(url(second_draft, "texts")).context["form"].fields


def test_form_without_the_choice_keeps_it(admin, mill):
    draft = make_draft(admin, mill)
    assert save_texts(admin, draft).status_code == 302
    assert copies(draft) == list(COPIES)


def test_wrong_choice_changes_nothing(admin, mill):
    draft = make_draft(admin, mill)
    response = save_texts(admin, draft, **{NAME: "both"})
    assert response.status_code == 422
    assert response.context["form"].errors[NAME]
    assert copies(draft) == list(COPIES)


def test_choice_is_not_offered_where_answers_are_shown(admin, mill):
    add_standard(STANDARD["critique-a_to_c_groundedness"])
    rubric = Rubric.objects.get(slug="critique-a_to_c_groundedness")
    draft = make_draft(admin, mill)
    Campaign.objects.filter(pk=draft.pk).update(rubric=rubric)
    assert NAME not in admin.get(url(draft, "texts")).context["form"].fields


def test_sample_counts_equal_texts_once(admin, mill):
    draft = make_draft(admin, mill)
    assert save_texts(admin, draft, sample=2).status_code == 302
    assert (draft.items.count(), len(copies(draft))) == (2, 2)
    selected = set()
    for seed in range(1, 9):
        save_texts(admin, draft, sample=1, seed=seed)
        selected.add((draft.items.get().text.name, tuple(copies(draft))))
    assert selected == {("m1:0", COPIES), ("m1:3", ())}


def test_equal_texts_of_gold_and_training_are_no_study_items(admin, mill):
    """Gold gets copies, as its answers are ratings; those of training are none."""
    gold = Rater.objects.create(dataset=mill, name="gold", kind="human")
    question = mill.topics.get().questions.first()
    for name in ("m1:0", "m1:2"):
        Rating.objects.create(
            rater=gold,
            rubric=Rubric.objects.get(slug="graded"),
            text=Text.objects.get(name=name),
            question=question,
            grade=3,
        )
    draft = make_draft(admin, mill)
    Campaign.objects.filter(pk=draft.pk).update(gold_source=gold)
    for training, items, n_copies in ((0, {"gold", "study"}, 2), (1, {"training", "study"}, 0)):
        Campaign.objects.filter(pk=draft.pk).update(n_training=training, n_gold=1 - training)
        save_texts(admin, draft)
        assert set(draft.items.values_list("purpose", flat=True)) == items
        assert draft.items.count() == 2
        assert len(copies(draft)) == n_copies


def test_equal_text_that_was_edited_blocks_the_opening(admin, mill):
    draft = make_draft(admin, mill)
    Text.objects.filter(name="m1:1").update(body="Quite other.")
    open_it(admin, draft)
    draft.refresh_from_db()
    assert draft.is_draft
    assert "1 text had the same words as another text at the draw" in markup(
        admin.get(url(draft, "review"))
    )
    save_texts(admin, draft)
    assert copies(draft) == ["m1:2"]
    open_it(admin, draft)
    draft.refresh_from_db()
    assert not draft.is_draft


def test_copied_campaign_keeps_the_choice(admin, cast, mill):
    draft = make_draft(admin, mill)
    save_texts(admin, draft, **{NAME: "False"})
    copy = copy_draft(Campaign.objects.get(pk=draft.pk), cast.admin)
    assert (copy.copies_equal_texts, copy.items.count()) == (False, 4)
