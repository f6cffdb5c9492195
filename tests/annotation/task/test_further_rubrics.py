"""Several rubrics of a pair on one page: a card, a URL and ratings for each."""

import json
from uuid import uuid4

import pytest

from annotation.builder import drafts
from annotation.builder.sampling import publish
from annotation.models import Answer, Campaign, Item, Rater, Rating, Rubric
from annotation.models.rubric_wording import campaign_wording
from annotation.models.standard import STANDARD, add_standard
from annotation.monitoring.export import files
from annotation.participation import rating_sync
from annotation.participation.assigning import rater_of
from annotation.task import saving
from annotation.task.page import item_cards
from evaluation.data.answers import load
from evaluation.data.ratings import ratings_under
from evaluation.data.selection import select
from tests.toolbox.responses import markup
from tests.toolbox.rubric_studies import (
    BODY,
    QUESTIONS,
    kinds_of_facts,
    make_locks_study,
    open_both,
)

BY_SCRIPT = {"X-Requested-With": "fetch"}
KINDS = "kind-of-fact"
QUOTE = "a crack in the lower gate"
SPAN = {"start": BODY.index(QUOTE), "end": BODY.index(QUOTE) + len(QUOTE), "quote": QUOTE}


@pytest.fixture
def wend(db):
    return make_locks_study()


@pytest.fixture
def both(cast, wend) -> Campaign:
    """T1 and the kind of fact, for two workers."""
    return open_both(wend, [rater_of(cast.worker), rater_of(cast.other_worker)])


@pytest.fixture
def mine(cast, both):
    """The worker's first item."""
    return both.items.first().assignments.get(participant__rater__user=cast.worker)


def address(assignment, position=0, rubric="") -> str:
    pk = assignment.item.asked.get(position=position).question_id
    return f"/work/{assignment.pk}/answers/{pk}/{rubric}{'/' if rubric else ''}"


def send(client, assignment, grade, position=0, rubric="", spans=(), **more):
    sent = {"key": uuid4(), "grade": grade, "spans": json.dumps(list(spans))} | more
    return client.post(address(assignment, position, rubric), sent, headers=BY_SCRIPT)


def answer_all(client, assignment) -> None:
    for position in range(len(QUESTIONS)):
        assert send(client, assignment, 0, position).status_code == 204
        assert send(client, assignment, 2, position, KINDS).status_code == 204


def rated(rater) -> set[tuple[str, int, int]]:
    """Return a rater's ratings: rubric, position of the question, grade."""
    mine = Rating.objects.filter(rater=rater)
    return set(mine.values_list("rubric__slug", "question__position", "grade"))


def test_question_has_a_card_for_each_rubric(cast, mine):
    cards = item_cards(mine)
    assert [card.number for card in cards] == ["1a", "1b", "2a", "2b", "3a", "3b"]
    assert [card.rubric.slug for card in cards[:2]] == ["answerable", KINDS]
    assert [card.url for card in cards[:2]] == [address(mine), address(mine, 0, KINDS)]
    page = markup(cast.client("worker").get(f"/work/{mine.pk}/"))
    assert page.count("What kind of fact does the question ask for?") == len(QUESTIONS)
    # Words are marked under the one, and not under the other.
    assert page.count("data-span-from") == page.count('class="evidence"') == len(QUESTIONS)
    assert "<kbd>c</kbd>" in page  # in the help, beside 0 and 1
    assert "<kbd>0</kbd>" in page


def test_answer_under_each_rubric_is_a_separate_rating(cast, mine):
    client = cast.client("worker")
    assert send(client, mine, 1, spans=[SPAN]).status_code == 204
    assert send(client, mine, 4, rubric=KINDS, spans=[SPAN]).status_code == 204
    assert rated(mine.participant.rater) == {("answerable", 0, 1), (KINDS, 0, 4)}
    assert Rating.objects.get(rubric__slug=KINDS).spans.count() == 0  # it takes none
    send(client, mine, 3, rubric=KINDS)
    send(client, mine, "", rubric=KINDS)
    assert rated(mine.participant.rater) == {("answerable", 0, 1)}
    assert Answer.objects.filter(rubric__slug=KINDS).count() == 3
    answers = client.get(f"/work/{mine.pk}/state/", headers=BY_SCRIPT).json()["answers"]
    assert {(answer["url"], answer["grade"]) for answer in answers} == {
        (address(mine), 1),
        (address(mine, 0, KINDS), None),
    }


@pytest.mark.parametrize(
    ("rubric", "grade", "status"),
    [
        ("nowhere", 1, 404),
        ("graded", 1, 404),  # is there, and not asked here
        ("answerable", 1, 404),  # has the address without a name
        (KINDS, 9, 422),
        (KINDS, 0, 422),  # a grade of the other one
    ],
)
def test_answer_under_a_foreign_rubric_is_refused(cast, mine, rubric, grade, status):
    assert send(cast.client("worker"), mine, grade, rubric=rubric).status_code == status
    assert send(cast.client("other_worker"), mine, 1, rubric=KINDS).status_code == 404
    assert cast.client("worker").get(address(mine, 0, KINDS)).status_code == 405
    assert not Answer.objects.exists()


def test_conflict_is_one_of_a_card_and_a_key_carries_one_answer(cast, mine):
    client, key = cast.client("worker"), uuid4()
    assert send(client, mine, 4, rubric=KINDS, key=key, base="").status_code == 204
    assert send(client, mine, 0, base="").status_code == 204  # the other card knows nothing of it
    conflict = send(client, mine, 1, rubric=KINDS, base="")
    assert conflict.status_code == 409
    assert conflict.json()["url"] == address(mine, 0, KINDS)
    assert conflict.json()["key"] == str(key)
    assert send(client, mine, 4, rubric=KINDS, key=key, base="").status_code == 204
    assert send(client, mine, 0, key=key).status_code == 422
    assert send(client, mine, 1, rubric=KINDS, base=str(key)).status_code == 204
    assert rated(mine.participant.rater) == {("answerable", 0, 0), (KINDS, 0, 1)}


def test_submission_needs_all_rubrics_and_a_change_reopens_it(cast, mine):
    client = cast.client("worker")
    for position in range(len(QUESTIONS)):
        send(client, mine, 0, position)
    refused = client.post(f"/work/{mine.pk}/submit/")
    assert refused.status_code == 422
    assert 'href="#q-1b"' in markup(refused)
    answer_all(client, mine)
    assert client.post(f"/work/{mine.pk}/submit/").status_code == 302
    reply = send(client, mine, "", rubric=KINDS)
    assert reply.json() == {"reopened": f"/work/{mine.pk}/"}


def test_without_scripts_the_page_comes_back_to_the_card(cast, mine):
    client = cast.client("worker")
    response = client.post(address(mine, 1, KINDS), {"key": uuid4(), "grade": 3})
    assert response.url == f"/work/{mine.pk}/#q-2b"
    page = markup(client.get(f"/work/{mine.pk}/"))
    assert "Question 2b is saved." in page


def test_excluded_answers_are_restored_under_each_rubric(cast, mine):
    answer_all(cast.client("worker"), mine)
    everything = rated(mine.participant.rater)
    assert len(everything) == 2 * len(QUESTIONS)
    rating_sync.exclude_answers([mine.pk])
    assert rated(mine.participant.rater) == set()
    rating_sync.restore_answers(mine)
    assert rated(mine.participant.rater) == everything


def test_answer_in_another_study_counts_again_under_its_own_rubric(cast, wend, both, mine):
    single_rubric = open_both(
        wend,
        [rater_of(cast.worker)],
        slug="alone",
        further=[],
        rubric=Rubric.objects.get(slug=KINDS),
    )
    other_assignment = single_rubric.items.get(text=mine.item.text).assignments.get()
    send(cast.client("worker"), other_assignment, 3)
    send(cast.client("worker"), mine, 1, rubric=KINDS)
    assert rated(mine.participant.rater) == {(KINDS, 0, 1)}
    rating_sync.exclude_answers([mine.pk])
    assert rated(mine.participant.rater) == {(KINDS, 0, 3)}
    send(cast.client("worker"), other_assignment, 2)
    rating_sync.restore_answers(mine)  # which was said before that
    assert rated(mine.participant.rater) == {(KINDS, 0, 2)}


def test_adjudication_quality_and_gold_use_the_campaigns_rubric(cast, both, mine):
    other_assignment = both.items.first().assignments.get(
        participant__rater__user=cast.other_worker
    )
    for name, assignment, kind in (("worker", mine, 4), ("other_worker", other_assignment, 1)):
        send(cast.client(name), assignment, 0)
        send(cast.client(name), assignment, kind, rubric=KINDS)
    answers = load(both)
    assert answers.grade.tolist() == [0, 0]
    rosa = cast.client("researcher")
    assert "Raters do not disagree on any question so far" in markup(
        rosa.get(f"/campaigns/{both.slug}/adjudication/")
    )
    item, question = mine.item_id, mine.item.asked.first().question_id
    page = markup(rosa.get(f"/campaigns/{both.slug}/adjudication/{item}/{question}/"))
    assert page.count("not answerable</span>") >= 2
    assert "A cause or a reason" not in page


def test_agreement_lists_the_campaign_under_each_of_its_rubrics(cast, wend, both, mine):
    send(cast.client("worker"), mine, 0)
    send(cast.client("worker"), mine, 4, rubric=KINDS)
    rater = mine.participant.rater_id
    for slug, grade in (("answerable", 0), (KINDS, 4)):
        selection = select(wend, rubric=slug, campaign=both.slug)
        assert selection.campaign == both
        assert [rating.grade for rating in ratings_under(selection, [rater])] == [grade]


def test_export_names_the_rubric_of_each_row(cast, both, mine):
    client = cast.client("worker")
    send(client, mine, 1, spans=[SPAN])
    send(client, mine, 4, rubric=KINDS)
    tables = {
        name: b"".join(lines).decode().splitlines() for name, lines in files(both, anonymous=True)
    }
    assert tables["labels.csv"][1].split(",")[1] == "answerable"
    assert tables["labels.csv"][2].split(",")[1] == KINDS
    assert len(tables["questions.csv"]) == 1 + 2 * 2 * len(QUESTIONS)  # items, rubrics
    assert f",{KINDS}," in tables["answers.csv"][2]
    assert ",answerable," in tables["spans.csv"][1]
    assert any(row.startswith(f"{KINDS}: grade 4,") for row in tables["words.csv"])
    assert json.loads("\n".join(tables["provenance.json"]))["further_rubrics"] == [KINDS]


def test_practice_is_compared_under_each_rubric_that_has_labels(cast, wend):
    gold = Rater.objects.create(dataset=wend, name="gold", kind="human")
    text = wend.texts.filter(kind="report").first()
    first = wend.topics.get().questions.first()
    for rubric, grade in (
        (Rubric.objects.get(slug="answerable"), 0),
        (kinds_of_facts(), 4),
    ):
        Rating.objects.record(
            rater=gold.pk, rubric=rubric.pk, text=text.pk, question=first.pk, grade=grade
        )
    utility = add_standard(STANDARD["utility"])
    campaign = open_both(
        wend,
        [rater_of(cast.worker)],
        gold_source=gold,
        n_training=1,
        further=[Rubric.objects.get(slug=KINDS), utility],
    )
    practice = campaign.items.get(purpose=Item.Purpose.TRAINING).assignments.get()
    client = cast.client("worker")
    send(client, practice, 0)
    send(client, practice, 3, rubric=KINDS)
    send(client, practice, 4, rubric="utility")
    client.post(f"/work/{practice.pk}/submit/")
    page = markup(client.get(f"/work/{practice.pk}/feedback/"))
    assert "You agree on 1 of 2 questions." in page
    assert "A cause or a reason" in page  # expected
    assert "A time or a duration" in page  # said
    assert page.count("You differ") == 1
    assert page.count("no answer is known") == 1
    assert not Rating.objects.filter(rater=practice.participant.rater).exists()


@pytest.fixture
def draft(wend):
    kinds = kinds_of_facts()
    campaign = Campaign(
        dataset=wend,
        rubric=Rubric.objects.get(slug="answerable"),
        slug="draft",
        title="Draft",
        selection={"kind": "report"},
    )
    drafts.create_draft(campaign, [])
    return campaign, kinds


def chosen(client, campaign, *rubrics):
    """Send the step Texts of the builder with these further rubrics."""
    sent = {"title": campaign.title, "kind": "report", "questions": "all", "seed": campaign.seed}
    url = f"/campaigns/{campaign.slug}/edit/texts/"
    return client.post(url, sent | {"further_rubrics": [rubric.pk for rubric in rubrics]})


def test_builder_offers_further_rubrics_and_draws_for_all_of_them(cast, draft):
    campaign, kinds = draft
    client = cast.client("admin")
    answer = add_standard(STANDARD["critique-qa_tautology"])
    assert chosen(client, campaign, kinds, answer).status_code == 302
    assert list(campaign.further_rubrics.all()) == [answer, kinds]  # by their names
    item_questions = campaign.items.first().asked.all()
    assert len(item_questions) == 2  # the third question has no answer to show
    page = markup(client.get("/campaigns/draft/edit/guideline/"))
    assert "Asked on the same page: Kind of fact" in page
    preview = markup(client.get("/campaigns/draft/preview/items/0/"))
    assert 'id="q-1c"' in preview
    url = f"/campaigns/draft/preview/items/0/answers/{item_questions[0].question_id}/{KINDS}/"
    assert client.post(url, {"key": uuid4(), "grade": 4}, headers=BY_SCRIPT).status_code == 200
    assert client.post(url, {"key": uuid4(), "grade": 9}, headers=BY_SCRIPT).status_code == 422
    assert chosen(client, campaign).status_code == 302
    assert not campaign.further_rubrics.exists()


def test_builder_refuses_too_many_its_own_and_retired_ones(cast, draft):
    campaign, kinds = draft
    client = cast.client("admin")
    more = [add_standard(STANDARD[slug]) for slug in ("utility", "umbrela", "question-type")]
    page = chosen(client, campaign, kinds, *more)
    assert page.status_code == 422
    assert "Choose 3 further rubrics at most." in markup(page)
    assert chosen(client, campaign, campaign.rubric).status_code == 422
    chosen(client, campaign, kinds)
    Rubric.objects.filter(pk__in=[kinds.pk, more[0].pk]).update(is_retired=True)
    assert chosen(client, campaign, more[0]).status_code == 422
    assert chosen(client, campaign, kinds).status_code == 302  # was chosen before


def test_wording_of_further_rubrics_is_frozen_and_copied(cast, draft):
    campaign, kinds = draft
    campaign.further_rubrics.add(kinds)
    publish(campaign)
    kinds.levels.filter(grade=4).update(label="Something else")
    Rubric.objects.filter(pk=kinds.pk).update(guideline="Other words.")
    rubric_wording = campaign_wording(Campaign.objects.get(pk=campaign.pk))
    assert rubric_wording.further[KINDS].labels()[4] == "A cause or a reason"
    assert "## Kind of fact\n\nSay what the question asks for." in rubric_wording.whole_guideline
    copy = drafts.copy_draft(campaign, cast.admin)
    assert list(copy.further_rubrics.all()) == [kinds]
    assert "Kind of fact" not in copy.guideline


def test_rubric_that_a_campaign_asks_besides_is_used(draft):
    campaign, kinds = draft
    assert not kinds.is_used()
    campaign.further_rubrics.add(kinds)
    assert kinds.is_used()


def test_closed_study_keeps_what_comes_under_a_further_rubric(cast, both, mine):
    Campaign.objects.update(state="closed")
    reply = send(cast.client("worker"), mine, 4, rubric=KINDS)
    assert "the study is closed" in reply.json()["says"]
    assert Answer.objects.get().late == Answer.Late.CLOSED
    assert not Rating.objects.filter(rubric__slug=KINDS).exists()
    Campaign.objects.update(state="open")
    answer_all(cast.client("worker"), mine)
    mine.refresh_from_db()
    saving.submit(mine)
    assert (KINDS, 0, 2) in rated(mine.participant.rater)
