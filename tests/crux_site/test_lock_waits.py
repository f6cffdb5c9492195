"""Writers that wait for a change under way read it, and overwrite none of it.

`while_uncommitted` forces the order: the second writer has started before the first commits. Without
its lock it would have read the old values.
"""

from datetime import timedelta
from types import SimpleNamespace
from uuid import uuid4

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone
from lxml import html

from annotation.adjudication.decisions import decide
from annotation.models import Answer, Assignment, Campaign, Participant, Rating, Rubric, User
from annotation.monitoring import actions
from annotation.participation import assigning, withdrawal
from annotation.task import saving
from annotation.text.reanchoring import lock_wordings
from annotation.text.spans import Span
from annotation.text.versions import edit_wording
from crux_site.contents.entities import SystemEntity
from evaluation.models import PairNote
from evaluation.pairs.notes import NoteForm
from tests.toolbox import participant_states
from tests.toolbox.assignment_pool import answer, make_pool, newcomer
from tests.toolbox.campaign_builder import make_draft, make_labelled
from tests.toolbox.concurrent_clients import while_uncommitted
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.prolific_study import Walker, make_study

pytestmark = pytest.mark.django_db(transaction=True)


def opened(client: Client, page: str, name: str) -> dict[str, list[str]]:
    """Return the values of the form with this field, as a browser sends them."""
    forms = html.fromstring(client.get(page).content.decode()).forms
    [form] = [form for form in forms if name in form.fields]
    sent: dict[str, list[str]] = {}
    for key, value in form.form_values():
        sent.setdefault(key, []).append(value)
    return sent


def save_guideline():
    rubric = Rubric.objects.select_for_update().get(slug="short")
    rubric.guideline = "Of the first."
    rubric.save(update_fields=["guideline"])


@pytest.fixture
def rubric(db):
    rubric = Rubric.objects.create(slug="short", title="Short", guideline="Read.")
    for grade in (0, 1):
        rubric.levels.create(grade=grade, label=f"level {grade}")
    return rubric


def test_edit_of_a_rubric_waits_for_its_guideline(cast, rubric):
    client = cast.client("admin")
    sent = opened(client, "/rubrics/short/edit/", "title") | {"title": ["Longer"]}
    outcome = while_uncommitted(save_guideline, lambda: client.post("/rubrics/short/edit/", sent))
    assert outcome.status == 409
    stored = Rubric.objects.get(slug="short")
    assert (stored.title, stored.guideline) == ("Short", "Of the first.")


def test_edit_of_a_rubric_waits_for_its_retirement(cast, rubric):
    client = cast.client("admin")
    sent = opened(client, "/rubrics/short/edit/", "title") | {"title": ["Longer"]}

    def retire():
        Rubric.objects.filter(slug="short").update(is_retired=True)

    outcome = while_uncommitted(retire, lambda: client.post("/rubrics/short/edit/", sent))
    assert outcome.status == 302
    stored = Rubric.objects.get(slug="short")
    assert (stored.title, stored.is_retired) == ("Longer", True)


def guideline_form(cast):
    return "/rubrics/short/", "guideline", "Of the second.", save_guideline


def account_form(cast):
    def change():
        User.objects.filter(pk=cast.worker.pk).update(role="researcher")

    return f"/people/{cast.worker.pk}/", "role", "admin", change


def terms_form(cast):
    campaign = make_campaign(make_dataset(), cast.worker)

    def change():
        Campaign.objects.filter(pk=campaign.pk).update(drop_out_percent=7)

    return f"/campaigns/{campaign.slug}/edit/later/", "drop_out_percent", "9", change


def parts_form(cast):
    draft = make_draft(cast.client("admin"), make_labelled())

    def change():
        Campaign.objects.filter(pk=draft.pk).update(max_parts=7)

    return f"/campaigns/{draft.slug}/edit/parts/", "max_parts", "9", change


@pytest.mark.parametrize("form", [guideline_form, account_form, terms_form, parts_form])
def test_form_waits_for_a_change_of_its_row_and_is_a_conflict(cast, rubric, form):
    page, name, value, change = form(cast)
    client = cast.client("admin")
    sent = opened(client, page, name) | {name: value}
    outcome = while_uncommitted(change, lambda: client.post(page, sent))
    assert outcome.status == 409
    # What is stored is still the value of the first: the form with it is no conflict.
    assert opened(client, page, name)[name] not in ([value], sent[name])


@pytest.fixture
def pool(db):
    """A participant with two items of a part, of which the first is answered."""
    campaign = make_pool(
        texts=2, raters_per_item=1, items_per_part=2, lease_hours=1, begun_lease_hours=3
    )
    ann = newcomer(campaign, "ann")
    first, second = assigning.begin_part(ann).assignments.order_by("position")
    answer(first)
    return SimpleNamespace(campaign=campaign, ann=ann, first=first, second=second)


def states(*assignments):
    rows = [Assignment.objects.get(pk=assignment.pk) for assignment in assignments]
    return [(row.state, row.slot) for row in rows]


def in_hours(hours):
    return timezone.now() + timedelta(hours=hours)


def test_end_of_a_lease_waits_for_the_first_answer_of_an_item(pool):
    outcome = while_uncommitted(
        lambda: answer(pool.second), lambda: assigning.expire(pool.campaign, in_hours(2))
    )
    assert (outcome.error, outcome.value) == (None, 0)
    assert states(pool.first, pool.second) == [("open", 0), ("open", 0)]
    assert Rating.objects.count() == 2


@pytest.mark.parametrize("is_pilot", [False, True])
def test_end_of_a_lease_of_begun_items_waits_for_their_next_answer(pool, is_pilot):
    """Answers of a pilot become no ratings, and lock no text."""
    Campaign.objects.update(is_pilot=is_pilot)
    pool.campaign.refresh_from_db()
    assigning.expire(pool.campaign, in_hours(2))
    assert states(pool.first) == [("open", 0)]
    outcome = while_uncommitted(
        lambda: answer(pool.first, 1), lambda: assigning.expire(pool.campaign, in_hours(4))
    )
    assert outcome.error is None
    assert states(pool.first) == [("released", None)]
    assert set(Answer.objects.values_list("late", flat=True)) == {Answer.Late.RETURNED}
    assert is_pilot or not Rating.objects.exists()


def test_leaving_waits_for_a_submission(pool):
    mine = loaded(pool.first)
    outcome = while_uncommitted(
        lambda: saving.submit(mine), lambda: withdrawal.leave(fresh(pool.ann))
    )
    assert outcome.error is None
    assert states(pool.first, pool.second) == [("submitted", 0), ("released", None)]
    assert Rating.objects.count() == 1


def test_leaving_waits_for_an_answer(pool):
    outcome = while_uncommitted(
        lambda: answer(pool.second), lambda: withdrawal.leave(fresh(pool.ann))
    )
    assert outcome.error is None
    assert states(pool.first, pool.second) == [("released", None)] * 2
    assert set(Answer.objects.values_list("late", flat=True)) == {Answer.Late.RETURNED}
    assert not Rating.objects.exists()


def close_and_edit(campaign, entity):
    """Close a campaign, and change the words of one of its texts or questions."""
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.CLOSED)
    edit_wording(entity, f"Once more: {entity.body}", by=None, reason="", counts=True)


def marking(assignment):
    """Answer an item with a span; return the answer."""
    assignment = Assignment.objects.select_related("item__text", "participant__campaign").get(
        pk=assignment.pk
    )
    question, quote = assignment.item.asked.get().question, "Report"
    spans = [Span(0, len(quote), quote)]
    return saving.save_answer(assignment, question, key=uuid4(), grade=1, spans=spans)


@pytest.fixture
def entity(pool, request):
    """The text or the question of the second item."""
    text = pool.second.item.text
    return text if request.param == "text" else text.topic.questions.get()


@pytest.mark.parametrize(
    ("entity", "n_ratings"), [("text", 1), ("question", 2)], indirect=["entity"]
)
def test_edit_after_closing_waits_for_an_answer_and_moves_its_spans(pool, entity, n_ratings):
    outcome = while_uncommitted(
        lambda: marking(pool.second), lambda: close_and_edit(pool.campaign, entity)
    )
    assert outcome.error is None
    rating = Rating.objects.get(text=pool.second.item.text_id)
    [span] = rating.spans.all()
    assert rating.text.body[span.start : span.end] == span.quote == "Report"
    assert entity.versions.get().n_ratings == n_ratings


@pytest.mark.parametrize("entity", ["text", "question"], indirect=True)
def test_answer_waits_for_an_edit_after_closing_and_is_late(pool, entity):
    outcome = while_uncommitted(
        lambda: close_and_edit(pool.campaign, entity), lambda: marking(pool.second)
    )
    assert outcome.error is None
    assert outcome.value.late == Answer.Late.CLOSED
    assert not Rating.objects.filter(text=pool.second.item.text_id).exists()


def fresh(participant):
    return Participant.objects.select_related("campaign", "rater__user").get(pk=participant.pk)


@pytest.mark.parametrize("is_pilot", [False, True])
def test_exclusion_waits_for_an_answer_to_a_submitted_item(cast, pool, is_pilot):
    Campaign.objects.update(is_pilot=is_pilot)
    saving.submit(loaded(pool.first))
    outcome = while_uncommitted(
        lambda: answer(pool.first), lambda: actions.exclude_work(fresh(pool.ann), cast.admin)
    )
    assert outcome.error is None
    assert set(Answer.objects.values_list("late", flat=True)) == {Answer.Late.EXCLUDED}
    assert is_pilot or not Rating.objects.exists()


def loaded(assignment):
    rows = Assignment.objects.select_related("participant__campaign", "part")
    return rows.get(pk=assignment.pk)


def test_submission_waits_for_the_removal_of_a_grade_in_another_tab(cast):
    """The item is complete when the view first looks, and lacks a grade when it is locked."""
    mine = Assignment.objects.filter(
        participant__campaign=make_campaign(make_dataset(), cast.worker)
    ).first()
    client = cast.client("worker")
    for question in mine.item.asked.values_list("question", flat=True):
        client.post(f"/work/{mine.pk}/answers/{question}/", {"key": uuid4(), "grade": 0})

    def take_back():
        row = Assignment.objects.select_related("item__text", "participant__campaign").get(
            pk=mine.pk
        )
        question = row.item.asked.first().question
        saving.save_answer(row, question, key=uuid4(), grade=None, spans=[])

    outcome = while_uncommitted(take_back, lambda: client.post(f"/work/{mine.pk}/submit/"))
    assert outcome.error is None
    assert (outcome.status, states(mine)) == (422, [("open", 0)])


def test_submission_waits_for_the_release_of_its_item(cast, pool):
    mine = loaded(pool.first)
    outcome = while_uncommitted(
        lambda: actions.release_item(loaded(pool.first), cast.admin), lambda: saving.submit(mine)
    )
    # Nobody else has the place yet: whoever submits takes the item again.
    assert outcome.error is None
    assert states(pool.first) == [("submitted", 0)]
    assert Rating.objects.count() == 1


def test_first_decision_waits_for_an_exclusion_and_is_in_no_deadlock(cast, pool):
    item = pool.first.item
    question = item.asked.get().question

    def decide_first():
        return decide(
            *(item, question),
            key=uuid4(),
            grade=0,
            spans=[],
            note="",
            by=cast.admin,
            base=None,
        )

    outcome = while_uncommitted(
        lambda: withdrawal.lock_campaign(pool.campaign),
        decide_first,
        before_commit=lambda: actions.exclude_work(fresh(pool.ann), cast.admin),
    )
    assert outcome.error is None
    assert Rating.objects.get().rater.is_adjudicator


def test_late_answers_to_texts_with_the_same_questions_are_in_no_deadlock(cast):
    """Both items take their slots again, by which their other answers count again."""
    campaign = make_campaign(make_dataset(), cast.worker)
    mine = Assignment.objects.filter(participant__campaign=campaign).first()
    client = cast.client("worker")
    first, *_middle, last = mine.item.asked.values_list("question", flat=True)
    to = f"/work/{mine.pk}/answers/{{}}/"
    client.post(to.format(first), {"key": uuid4(), "grade": 0})
    participant = fresh(mine.participant)
    with transaction.atomic():
        assigning.release_begun(withdrawal.lock_active_items(participant))
    outcome = while_uncommitted(
        lambda: lock_wordings([], [first]),
        lambda: client.post(to.format(last), {"key": uuid4(), "grade": 0}),
        before_commit=lambda: lock_wordings([], [last]),
    )
    assert (outcome.error, outcome.status) == (None, 302)
    assert Rating.objects.count() == 2


def test_rename_of_a_system_waits_for_an_exclusion_and_is_in_no_deadlock(cast, pool):
    text = pool.first.item.text
    outcome = while_uncommitted(
        lambda: withdrawal.lock_campaign(pool.campaign),
        lambda: SystemEntity(pool.campaign.dataset, text.system).rename("other", cast.admin),
        before_commit=lambda: actions.exclude_work(fresh(pool.ann), cast.admin),
    )
    assert (outcome.error, outcome.value) == (None, "")
    text.refresh_from_db()
    assert text.system == "other"
    assert not Rating.objects.exists()


def test_begin_waits_for_the_end_of_the_part_and_begins_no_unpaid_one():
    """On the platform a submission is paid once, and it has had its part."""
    walker = Walker(Client(), make_study(training=0))
    walker.prepare()
    walker.begin()
    first, last = walker.in_hand()
    walker.do(first)
    outcome = while_uncommitted(
        lambda: participant_states.submit_item(loaded(last)),
        lambda: walker.client.post(f"{walker.room}begin/"),
    )
    assert outcome.error is None
    assert outcome.value.url == f"{walker.room}end/"
    assert [part.outcome for part in walker.participant.parts.all()] == ["done"]
    walker.arrive(session="sub2")
    walker.begin()
    assert [part.outcome for part in walker.participant.parts.all()] == ["done", ""]


def test_answer_waits_for_the_exclusion_of_its_person(cast, pool):
    outcome = while_uncommitted(
        lambda: actions.exclude_work(fresh(pool.ann), cast.admin), lambda: answer(pool.second)
    )
    assert outcome.error is None
    assert outcome.value.late == Answer.Late.EXCLUDED
    assert not Rating.objects.exists()


def test_second_press_of_a_note_waits_for_the_first(cast, pool):
    text = pool.first.item.text
    question = pool.first.item.asked.get().question

    def leave_note():
        form = NoteForm({"body": "Look again."})
        assert form.is_valid()
        form.save(text, question, cast.admin)

    client = cast.client("admin")
    to = f"/datasets/{pool.campaign.dataset.slug}/pairs/{text.pk}/{question.pk}/notes/"
    outcome = while_uncommitted(leave_note, lambda: client.post(to, {"body": "Look again."}))
    assert outcome.status == 302
    assert PairNote.objects.count() == 1
