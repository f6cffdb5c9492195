"""Answers to a question that rubrics declare impossible: stored, and asked about."""

import json
from uuid import uuid4

import pytest

from annotation.models import Answer, Assignment, Rating, Rubric
from annotation.models.rubric import impossible_pairs
from annotation.models.standard import STANDARD, add_standard
from annotation.participation.assigning import rater_of
from annotation.task import saving
from annotation.task.page import item_cards
from evaluation.pairs.notes import remarks
from tests.toolbox.concurrent_clients import at_once, while_uncommitted
from tests.toolbox.responses import markup
from tests.toolbox.rubric_studies import BODY, QUESTIONS, make_locks_study, open_useful

BY_SCRIPT = {"X-Requested-With": "fetch"}
QUOTE = "a crack in the lower gate"
SPAN = {"start": BODY.index(QUOTE), "end": BODY.index(QUOTE) + len(QUOTE), "quote": QUOTE}
MESSAGE = (
    "You chose “not answerable” and “Exactly what was asked for”. "
    "They cannot both be right. Check both answers."
)
REASON = "Another source says so."
CHANGED_BACK = [(5, ""), (5, REASON), (2, REASON), (5, REASON)]  # changed, and changed back


@pytest.fixture
def mine(cast, db) -> Assignment:
    """The worker's first item of the study."""
    campaign = open_useful(make_locks_study(), [rater_of(cast.worker)])
    return campaign.items.first().assignments.get()


def address(assignment, position=0, rubric="") -> str:
    pk = assignment.item.asked.get(position=position).question_id
    return f"/work/{assignment.pk}/answers/{pk}/{rubric}{'/' if rubric else ''}"


def send(client, assignment, grade, position=0, rubric="", *, by_script=True, **fields):
    sent = {"key": uuid4(), "grade": grade}
    sent |= {"spans": json.dumps([SPAN] if grade == 1 and not rubric else [])} if by_script else {}
    headers = BY_SCRIPT if by_script else {}
    return client.post(address(assignment, position, rubric), sent | fields, headers=headers)


def answer_all(client, assignment, utility=1) -> None:
    """Answer 0 to every question under T1, and this grade under utility."""
    for position in range(len(QUESTIONS)):
        send(client, assignment, 0, position)
        send(client, assignment, utility, position, "utility")


def submit(client, assignment, **options):
    return client.post(f"/work/{assignment.pk}/submit/", **options)


def states(assignment) -> list[str]:
    return [card.state for card in item_cards(assignment)][:2]


def test_declaration_of_one_rubric_counts_for_both(db):
    answerable, utility = Rubric.objects.get(slug="answerable"), add_standard(STANDARD["utility"])
    pair = ((answerable.pk, 0), (utility.pk, 5))
    assert impossible_pairs([answerable, utility]) == {pair, pair[::-1]}
    assert impossible_pairs([utility]) == set()
    Rubric.objects.filter(pk=utility.pk).update(impossible=[])
    declared = [{"grade": 0, "rubric": "utility", "grades": [5]}]
    Rubric.objects.filter(pk=answerable.pk).update(impossible=declared)
    rubrics = Rubric.objects.in_bulk([answerable.pk, utility.pk]).values()
    assert impossible_pairs(list(rubrics)) == {pair, pair[::-1]}


def test_contradicting_answer_is_stored_and_both_cards_are_unfinished(cast, mine):
    client = cast.client("worker")
    assert send(client, mine, 0).status_code == 204
    assert send(client, mine, 5, rubric="utility").status_code == 204
    assert set(
        Rating.objects.of_dataset(mine.item.text.dataset)
        .filter(rater=mine.participant.rater)
        .values_list("rubric__slug", "grade")
    ) == {("answerable", 0), ("utility", 5)}
    assert states(mine) == ["contradicts", "contradicts"]
    assert not saving.is_complete(mine)
    for grade, rubric in ((4, "utility"), (5, "utility")):
        send(client, mine, grade, rubric=rubric)
        assert states(mine) == (["contradicts"] * 2 if grade == 5 else ["absent"] * 2)
    send(client, mine, 1)
    assert states(mine) == ["answered", "absent"]


def test_same_grades_to_different_questions_are_no_contradiction(cast, mine):
    client = cast.client("worker")
    send(client, mine, 0, position=0)
    send(client, mine, 5, position=1, rubric="utility")
    assert {card.state for card in item_cards(mine)} == {"absent", "open"}


def test_page_asks_about_both_answers(cast, mine):
    client = cast.client("worker")
    page = markup(client.get(f"/work/{mine.pk}/"))
    assert page.count('class="contradiction"') == 2 * len(QUESTIONS)
    assert MESSAGE not in page
    send(client, mine, 0)
    send(client, mine, 5, rubric="utility")
    page = markup(client.get(f"/work/{mine.pk}/"))
    assert page.count(MESSAGE) == 1
    assert "You chose “Exactly what was asked for” and “not answerable”." in page
    assert page.count("Check question 1b</a>") == page.count("Check question 1a</a>") == 1
    assert page.count('<details class="remark" open>') == 2


def test_page_without_declarations_has_no_panel(cast, mine):
    Rubric.objects.update(impossible=[])
    page = markup(cast.client("worker").get(f"/work/{mine.pk}/"))
    assert "contradiction" not in page.partition("<main")[2].partition("<dialog")[0]
    assert "data-impossible" not in page


def test_without_scripts_the_saved_answer_is_asked_about(cast, mine):
    client = cast.client("worker")
    send(client, mine, 0, by_script=False)
    response = send(client, mine, 5, rubric="utility", by_script=False)
    assert response.url == f"/work/{mine.pk}/#q-1b"
    page = markup(client.get(f"/work/{mine.pk}/"))
    assert "Question 1b is saved." in page
    assert page.count("You chose “Exactly what was asked for” and “not answerable”.") == 2
    assert "data-active" in page.partition('id="q-1a"')[2].partition(">")[0]


def test_submission_lists_contradictions_and_takes_the_changed_answer(cast, mine):
    client = cast.client("worker")
    answer_all(client, mine)
    send(client, mine, 5, rubric="utility")
    refused = submit(client, mine)
    assert refused.status_code == 422
    page = markup(refused)
    listed = page.partition('id="missing"')[2].partition("</div>")[0]
    assert "2 questions are left" in listed
    assert listed.count("does not fit another answer") == 2
    assert f"1a, 1b: {MESSAGE} If both are right, write why in the note of one of them." in listed
    assert 'href="#q-1a"' in listed
    assert 'href="#q-1b"' in listed
    by_script = submit(client, mine, headers=BY_SCRIPT)
    assert by_script.status_code == 422
    assert f"1a, 1b: {MESSAGE}" in markup(by_script)
    mine.refresh_from_db()
    assert mine.state == Assignment.State.OPEN
    send(client, mine, 2, rubric="utility")
    assert submit(client, mine).status_code == 302


def test_note_that_says_why_both_are_right_settles_it(cast, mine):
    client = cast.client("worker")
    answer_all(client, mine)
    send(client, mine, 5, rubric="utility")
    send(client, mine, 5, rubric="utility", by_script=False, note=REASON)
    assert states(mine) == ["absent", "absent"]
    assert submit(client, mine).status_code == 302
    assert [answer.note for answer in remarks(mine.item.text.dataset)] == [REASON]
    state = client.get(f"/work/{mine.pk}/state/", headers=BY_SCRIPT).json()
    explained = {row["url"]: row["explained_cards"] for row in state["answers"]}
    assert explained[address(mine)] == []  # the note is on the other card
    assert explained[address(mine, 0, "utility")] == ["1a"]
    assert explained[address(mine, 1)] == []
    page = markup(client.get(f"/work/{mine.pk}/"))
    assert 'data-explained="1a "' in page
    assert MESSAGE not in page


@pytest.mark.parametrize(
    ("answers", "is_settled"),
    [
        # Each is a grade and a note: (of T1, of utility), where None sends nothing.
        ([((0, ""), None), (None, (5, REASON))], False),  # the note came with the grade
        ([((0, REASON), None), (None, (5, ""))], False),  # it was there before
        ([((0, ""), None), (None, (5, "")), ((0, REASON), None)], True),
        ([((0, REASON), None), (None, (5, "")), ((0, REASON), None)], False),  # as it was
        ([((0, REASON), None), (None, (5, "")), ((0, f"{REASON} So."), None)], True),
        ([((0, ""), None), (None, (5, "")), ((0, REASON), None), ((0, ""), None)], False),
        ([((0, ""), None), (None, (5, "")), ((0, " "), None)], False),
        # A reason stays one if a note on the other answer is deleted.
        (
            [
                ((0, ""), None),
                (None, (5, "")),
                ((0, "x"), None),
                (None, (5, REASON)),
                ((0, ""), None),
            ],
            True,
        ),
        # A grade that was changed since, and changed back, is a new answer.
        ([((0, ""), None), (None, (5, "")), (None, (5, REASON)), (None, (2, REASON))], True),
        (
            [((0, ""), None), *((None, of_utility) for of_utility in CHANGED_BACK)],
            False,
        ),
    ],
)
def test_only_a_note_that_was_written_since_settles_it(cast, mine, answers, is_settled):
    client = cast.client("worker")
    for of_t1, of_utility in answers:
        for rubric, answer in (("", of_t1), ("utility", of_utility)):
            if answer:
                grade, note = answer
                send(client, mine, grade, rubric=rubric, note=note)
    assert ("contradicts" in states(mine)) == (not is_settled)


def test_contradiction_after_the_submission_reopens_the_item(cast, mine):
    client = cast.client("worker")
    answer_all(client, mine)
    assert submit(client, mine).status_code == 302
    reply = send(client, mine, 5, rubric="utility")
    assert reply.json() == {"reopened": f"/work/{mine.pk}/"}
    assert submit(client, mine).status_code == 422


def test_skipping_asks_nothing(cast, mine):
    client = cast.client("worker")
    send(client, mine, 0)
    send(client, mine, 5, rubric="utility")
    client.post(f"/work/{mine.pk}/skip/", {"note": "Too hard."})
    mine.refresh_from_db()
    assert mine.state == Assignment.State.SKIPPED


def test_queue_stores_the_answers_and_refuses_the_submission(cast, mine):
    client = cast.client("worker")
    answer_all(client, mine)
    entry = {"url": address(mine, 0, "utility"), "fields": {"key": str(uuid4()), "grade": "5"}}
    end = {"url": f"/work/{mine.pk}/submit/", "fields": {}}
    reply = client.post(
        "/work/answers/", json.dumps([entry, end]), "application/json", headers=BY_SCRIPT
    )
    assert [result["status"] for result in reply.json()["results"]] == [204, 422]
    assert "They cannot both be right." in reply.json()["results"][1]["reply"]


def test_another_persons_item_stays_hidden(cast, mine):
    assert submit(cast.client("other_worker"), mine).status_code == 404
    assert cast.client("worker").get(f"/work/{mine.pk}/submit/").status_code == 405


def test_preview_of_a_draft_knows_the_declarations(cast, mine):
    page = markup(cast.client("admin").get("/campaigns/useful/preview/items/0/"))
    assert page.count("data-impossible") == 2 * len(QUESTIONS)


@pytest.mark.django_db(transaction=True)
def test_answers_of_two_tabs_are_asked_about_at_the_submission(cast):
    campaign = open_useful(make_locks_study(), [rater_of(cast.worker)])
    mine = campaign.items.first().assignments.get()
    answer_all(cast.client("worker"), mine, utility=2)
    first, second = cast.client("worker"), cast.client("worker")
    send(first, mine, "")
    outcomes = at_once(
        lambda: send(first, mine, 0),
        lambda: send(second, mine, 5, rubric="utility"),
        after_reading=Assignment,
    )
    assert [outcome.status for outcome in outcomes] == [204, 204]
    for client in (first, second):
        refused = submit(client, mine)
        assert refused.status_code == 422
        assert MESSAGE in markup(refused)
    assert Assignment.objects.get(pk=mine.pk).state == Assignment.State.OPEN


@pytest.mark.django_db(transaction=True)
def test_no_item_is_submitted_with_an_answer_that_comes_at_the_same_moment(cast):
    campaign = open_useful(make_locks_study(), [rater_of(cast.worker)])
    mine = campaign.items.first().assignments.get()
    answer_all(cast.client("worker"), mine)
    first, second = cast.client("worker"), cast.client("worker")
    answered, submitted = at_once(
        lambda: send(first, mine, 5, rubric="utility"),
        lambda: submit(second, mine),
        after_reading=Assignment,
    )
    # Either the answer came first, or it has opened the item again.
    assert (answered.status, submitted.status) in [(204, 422), (200, 302)]
    assert Assignment.objects.get(pk=mine.pk).state == Assignment.State.OPEN
    assert Answer.objects.filter(grade=5).count() == 1


@pytest.mark.django_db(transaction=True)
def test_submission_that_waits_for_an_answer_sees_it(cast):
    campaign = open_useful(make_locks_study(), [rater_of(cast.worker)])
    mine = campaign.items.first().assignments.get()
    answer_all(cast.client("worker"), mine)
    first, second = cast.client("worker"), cast.client("worker")
    refused = while_uncommitted(
        lambda: send(first, mine, 5, rubric="utility"), lambda: submit(second, mine)
    )
    assert refused.status == 422
    assert MESSAGE in markup(refused.value)
