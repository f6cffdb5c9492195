"""The short way of an answer: what it reads, what it writes, and that it stays short."""

from uuid import uuid4

import pytest
from django.db import connection
from django.db.models import F
from django.http import Http404

from annotation.models import Answer, Assignment, NuggetSpan, Rating, Rubric
from annotation.prepared import Prepared, PreparedInsert, PreparedObjects, execute_prepared
from annotation.task.saving import item_to_answer, save_answer
from annotation.text.spans import Span
from tests.toolbox.factories import make_dataset


@pytest.fixture
def question(assignment):
    return assignment.item.asked.first().question


def test_item_to_answer_equals_the_model_row(cast, assignment, question):
    to_answer = item_to_answer(cast.worker, assignment.pk, question.pk)
    assert to_answer == assignment
    for path in ("participant", "participant.campaign", "item", "item.text"):
        mine, theirs = to_answer, assignment
        for name in path.split("."):
            mine, theirs = getattr(mine, name), getattr(theirs, name)
        mine.refresh_from_db(fields=[])
        for field in mine._meta.concrete_fields:
            assert getattr(mine, field.attname) == getattr(theirs, field.attname), field
    for field in to_answer._meta.concrete_fields:
        assert getattr(to_answer, field.attname) == getattr(assignment, field.attname), field
    assert to_answer.participant.campaign.rubric == Rubric.objects.get(slug="answerable")


def test_foreign_item_or_question_gets_404(cast, assignment, question):
    foreign_question = make_dataset("other").topics.get().questions.first()
    for user, pk, asked_question in (
        (cast.other_worker, assignment.pk, question.pk),
        (cast.admin, assignment.pk, question.pk),
        (cast.worker, assignment.pk, foreign_question.pk),
        (cast.worker, 0, question.pk),
        (cast.worker, 2**63 - 1, 2**63 - 1),
        (cast.worker, 2**63, 2**80),
    ):
        with pytest.raises(Http404):
            item_to_answer(user, pk, asked_question)


def test_answer_takes_few_statements(cast, assignment, question, django_assert_max_num_queries):
    client = cast.client("worker")
    text = assignment.item.text.body
    sent = {"grade": 1, "spans": f'[{{"start": 0, "end": 3, "quote": "{text[:3]}"}}]', "base": ""}

    def post(to):
        return client.post(
            f"/work/{assignment.pk}/answers/{to.pk}/",
            sent | {"key": uuid4()},
            headers={"X-Requested-With": "fetch"},
        )

    # Fills the caches of the process (the grades of the rubric).
    assert post(assignment.item.asked.last().question).status_code == 204
    # Session, account; the item; held, newest answer, answer, rating, spans; this test's savepoint
    # and its release.
    with django_assert_max_num_queries(10):
        answer = post(question)
    assert answer.status_code == 204
    assert "Content-Security-Policy" not in answer.headers  # nor a body that one could protect


def test_spans_of_an_older_answer_go_even_after_one_that_did_not_count(assignment, question):
    def save(grade, spans):
        save_answer(assignment, question, key=uuid4(), grade=grade, spans=spans)

    body = assignment.item.text.body
    save(1, [Span(0, 3, body[:3]), Span(4, 7, body[4:7])])
    # Meanwhile the item was somebody else's: this answer is kept, and is no rating.
    Assignment.objects.filter(pk=assignment.pk).update(state="released", slot=None)
    other_assignment = Assignment.objects.get(
        item=assignment.item, participant__rater__user__username="uma"
    )
    slot = other_assignment.slot
    campaign = assignment.participant.campaign
    campaign.raters_per_item = 1
    Assignment.objects.filter(pk=other_assignment.pk).update(slot=0)
    save(0, [])
    assert Rating.objects.get(rater=assignment.participant.rater).grade == 1
    campaign.raters_per_item = 2
    Assignment.objects.filter(pk=other_assignment.pk).update(slot=slot)
    save(1, [Span(8, 11, body[8:11])])
    assert [span.start for span in NuggetSpan.objects.all()] == [8]


def test_many_spans_are_one_answer(assignment, question):
    body = assignment.item.text.body
    spans = [
        Span(offset, offset + 1, body[offset])
        for offset in range(len(body))
        if body[offset].strip()
    ]
    save_answer(assignment, question, key=uuid4(), grade=1, spans=spans)
    stored = list(NuggetSpan.objects.values_list("position", "start", "end", "quote"))
    assert stored == [(position, s.start, s.end, s.quote) for position, s in enumerate(spans)]


def test_prepared_query_gives_what_the_query_gives(assignment):
    prepared = Prepared(
        lambda text, user: (
            Assignment.objects.filter(item__text=text, participant__rater__user=user)
            .exclude(note="a constant")
            .values_list("id", "state")
        ),
        2,
    )
    participant = assignment.participant
    keys = (assignment.item.text_id, participant.rater.user_id)
    assert prepared.all(*keys) == [(assignment.pk, "open")]
    Assignment.objects.update(note="a constant")
    assert prepared.all(*keys) == []
    grades = Prepared(
        lambda rubric: Rubric.objects.filter(pk=rubric).values_list("levels__grade"), 1
    )
    for rubric in Rubric.objects.all():
        assert {grade for (grade,) in grades.all(rubric.pk)} == set(rubric.grades())
    assert grades.first(0) is None


def test_prepared_statement_keeps_percent_signs(db):
    for is_logged in (False, True):  # by the driver's cursor and Django's
        connection.force_debug_cursor = is_logged
        rows = execute_prepared("select '100 %%', '%%s', %s", ["50 %s"])
        assert rows == [("100 %", "%s", "50 %s")]
    connection.force_debug_cursor = False


def test_prepared_objects_are_those_of_the_query(assignment):
    def build(participant):
        return (
            Assignment.objects.filter(participant=participant)
            .select_related("item__text", "participant__campaign", "part", "check_asked")
            .annotate(doubled=F("position") * 2)
        )

    def values(instance):
        if instance is None:
            return None
        return {f.attname: getattr(instance, f.attname) for f in instance._meta.concrete_fields}

    prepared = PreparedObjects(build, 1)
    participant = assignment.participant_id
    expected = list(build(participant))
    for _ in range(2):  # compiled, and from what was compiled
        assert prepared.objects(participant) == expected
    for instance, stored in zip(prepared.objects(participant), expected, strict=True):
        assert values(instance) == values(stored)
        assert values(instance.item.text) == values(stored.item.text)
        assert values(instance.participant.campaign) == values(stored.participant.campaign)
        assert values(instance.part) == values(stored.part)
        assert instance.check_asked is stored.check_asked is None
        assert instance.doubled == stored.doubled
    assert prepared.objects(0) == prepared.objects(2**63) == []


def test_prepared_insert_gives_the_key_of_the_row_that_is_there(assignment, question):
    insert = PreparedInsert(Rating, ["rater", "rubric", "text", "question"], ["grade"])
    campaign, rater = assignment.participant.campaign, assignment.participant.rater
    rows = [
        Rating(
            rater=rater,
            rubric=campaign.rubric,
            text=assignment.item.text,
            question=question,
            grade=grade,
        )
        for grade in (0, 1)
    ]
    assert [insert.insert_one(row) for row in rows] == [True, False]
    assert rows[0].pk == rows[1].pk
    assert Rating.objects.get().grade == 1


def test_answer_values_are_read_back(assignment, question):
    key = uuid4()
    save_answer(assignment, question, key=key, grade=None, spans=[Span(0, 2, "é'")], active_ms=1234)
    answer = Answer.objects.get()
    assert (answer.key, answer.grade, answer.active_ms) == (key, None, 1234)
    assert answer.spans == [{"start": 0, "end": 2, "quote": "é'"}]
    assert answer.created is not None
    assert answer.text_sha256 == assignment.item.text.sha256
