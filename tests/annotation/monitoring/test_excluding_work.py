"""Excluding a participant's work and undoing it: ratings, slots and stored answers."""

from uuid import uuid4

import pytest
from django.test import Client

from annotation.adjudication.differences import differences
from annotation.models import Answer, Assignment, Campaign, Rating
from annotation.monitoring import actions
from annotation.participation import assigning, endings, workflow
from annotation.task import saving
from tests.annotation.monitoring.acting_material import logged
from tests.annotation.study_material import text_of_page
from tests.toolbox.assignment_pool import answer, make_pool, newcomer, work_through
from tests.toolbox.threads import in_threads


@pytest.fixture
def pool(db) -> Campaign:
    """Three texts, each for two raters."""
    return make_pool(texts=3, items_per_part=3)


@pytest.fixture
def spammer(pool):
    participant = newcomer(pool, "spammer")
    work_through(assigning.begin_part(participant), grade=1)
    return participant


@pytest.fixture
def careful(pool, spammer):
    participant = newcomer(pool, "careful")
    work_through(assigning.begin_part(participant))
    return participant


def raters() -> list[str]:
    return sorted(Rating.objects.values_list("rater__name", flat=True))


def test_work_counts_nowhere_and_others_have_its_places(cast, pool, spammer, careful):
    assert actions.exclude_work(spammer, cast.admin) == 3
    assert raters() == ["careful"] * 3
    assert set(Answer.objects.values_list("assignment__participant", "late")) == {
        (spammer.pk, "set_aside"),
        (careful.pk, ""),
    }
    assert differences(pool) == []
    second_rater = newcomer(pool, "another")
    work_through(assigning.begin_part(second_rater))
    assert raters() == ["another"] * 3 + ["careful"] * 3
    assert logged() == [("set work aside", "3 items", "ada")]


def test_exclusion_can_be_undone(cast, pool, spammer, careful):
    before = list(Rating.objects.order_by("rater", "text").values_list("rater", "text", "grade"))
    actions.exclude_work(spammer, cast.admin)
    assert actions.include_work(spammer, cast.admin) == (3, 0)
    ratings_after = list(
        Rating.objects.order_by("rater", "text").values_list("rater", "text", "grade")
    )
    assert ratings_after == before
    assert not Answer.objects.exclude(late="").exists()
    assert Assignment.objects.filter(participant=spammer, slot__isnull=False).count() == 3


def test_restored_item_with_a_taken_slot_does_not_count(cast, pool, spammer, careful):
    actions.exclude_work(spammer, cast.admin)
    second_rater = newcomer(pool, "another")
    first, *_ = assigning.begin_part(second_rater).assignments.order_by("position")
    assigning.release_begun(second_rater.assignments.exclude(pk=first.pk))
    answer(first)
    assert actions.include_work(spammer, cast.admin) == (2, 1)
    assert raters() == ["another"] + ["careful"] * 3 + ["spammer"] * 2
    assert logged()[-1] == ("counts work again", "2 items; the places of 1 are taken", "ada")


def test_excluded_participant_gets_no_items_and_loses_no_answer(cast, pool):
    spammer = newcomer(pool, "spammer")
    part = assigning.begin_part(spammer)
    begun, done, _ = part.assignments.order_by("position")
    answer(begun, 1)
    answer(done, 1)
    saving.submit(Assignment.objects.select_related("participant__campaign").get(pk=done.pk))
    actions.exclude_work(spammer, cast.admin)
    part.refresh_from_db()
    spammer.refresh_from_db()
    assert part.outcome == "returned"
    assert assigning.begin_part(spammer) is None
    assert workflow.next_part(spammer) is None
    assert answer(done, 0).late == "set_aside"
    assert answer(begun, 0).late == "set_aside"
    assert not Rating.objects.exists()
    assert Answer.objects.count() == 4
    # What was in hand went back; what was submitted counts again, by the newest answer.
    actions.include_work(spammer, cast.admin)
    assert [(rating.text, rating.grade) for rating in Rating.objects.all()] == [(done.item.text, 0)]


def loaded(assignment):
    """As the page of an item that is still open has it."""
    return Assignment.objects.select_related("item__text", "participant__campaign", "part").get(
        pk=assignment.pk
    )


def test_resubmission_does_not_restore_excluded_work(cast, pool, spammer):
    open_page = loaded(spammer.assignments.first())
    actions.exclude_work(spammer, cast.admin)
    for assignment in (open_page, loaded(open_page)):
        saving.submit(assignment)
    assert not Rating.objects.exists()
    assert set(Answer.objects.values_list("late", flat=True)) == {"set_aside"}


def test_answer_that_is_on_its_way_meanwhile_does_not_count(cast, pool, spammer):
    """The answer's request passed its checks before, and waits for the lock of its item."""
    open_page = loaded(spammer.assignments.first())
    actions.exclude_work(spammer, cast.admin)
    question = open_page.item.asked.get().question
    late = saving.save_answer(open_page, question, key=uuid4(), grade=0, spans=[])
    assert late.late == "set_aside"
    assert not Rating.objects.exists()


def test_setting_aside_while_answers_come_in_leaves_no_rating(transactional_db, cast):
    pool = make_pool(texts=12, items_per_part=12)
    spammer = newcomer(pool, "spammer")
    work_through(assigning.begin_part(spammer), grade=1)
    pages = [loaded(assignment) for assignment in spammer.assignments.all()]

    def act(number):
        if number == 6:
            actions.exclude_work(spammer, cast.admin)
        else:
            page = pages[number % 12]
            question = page.item.asked.get().question
            saving.save_answer(page, question, key=uuid4(), grade=0, spans=[])

    in_threads(act, range(13))
    assert not Rating.objects.exists()
    assert set(Answer.objects.values_list("late", flat=True)) == {"set_aside"}
    assert Answer.objects.count() == 24


def test_answer_where_others_have_the_place_does_not_count_after_it_is_undone(cast, pool, spammer):
    actions.exclude_work(spammer, cast.admin)
    for name in ("another", "one more"):
        work_through(assigning.begin_part(newcomer(pool, name.replace(" ", "-"))))
    assert actions.include_work(spammer, cast.admin) == (0, 3)
    mine = spammer.assignments.order_by("position").first()
    assert answer(mine, 0).late == "taken_back"
    assert "spammer" not in raters()
    # Once there is a place again, it counts.
    theirs = mine.item.assignments.exclude(participant=spammer).first()
    actions.exclude_work(theirs.participant, cast.admin)
    assert answer(mine, 0).late == ""
    assert raters().count("spammer") == 1


def test_twice_is_refused(cast, pool, spammer):
    with pytest.raises(actions.ParticipationError, match="not excluded"):
        actions.include_work(spammer, cast.admin)
    actions.exclude_work(spammer, cast.admin)
    with pytest.raises(actions.ParticipationError, match="already excluded"):
        actions.exclude_work(spammer, cast.admin)
    assert len(logged()) == 1


def test_pay_for_parts_that_are_done_stays_due(cast, pool, spammer):
    Campaign.objects.update(code_done="DONE1")
    actions.exclude_work(spammer, cast.admin)
    assert spammer.parts.get().outcome == "done"
    assert endings.ending(type(spammer).objects.get(pk=spammer.pk)).code == "DONE1"


def test_pages_say_so(cast, pool, spammer, careful):
    admin: Client = cast.client("admin")
    home = f"/campaigns/{pool.slug}/"
    quality = f"{home}quality/raters/spammer/"
    page = text_of_page(admin.get(quality))
    # Three texts with a question each: two raters now, who agree on none (kappa -1); one without.
    assert "Answers counted in agreement 6 3" in page
    assert "Pairs with at least two answers 3 0" in page
    assert "Exclude this work" not in text_of_page(cast.client("researcher").get(quality))
    reply = admin.post(f"{home}participants/{spammer.pk}/exclude/", follow=True)
    assert (
        "3 submitted items no longer count, and other people can get the texts."
        in reply.content.decode()
    )
    assert "This work was excluded on" in text_of_page(reply)
    assert "Include this work again" in text_of_page(admin.get(quality))
    assert "excluded" in text_of_page(admin.get(f"{home}participants/"))
    assert "3 answers of excluded participants do not count." in text_of_page(admin.get(home))
    assert "3 of excluded raters, not counted in agreement" in text_of_page(
        admin.get(f"{home}quality/")
    )
    assert "spammer excluded" in text_of_page(admin.get(f"{home}quality/"))
    table = admin.get(f"{home}quality.csv").content.decode().splitlines()
    assert [line.split(",")[:2] for line in table] == [
        ["rater", "set_aside"],
        ["careful", "0"],
        ["spammer", "1"],
    ]
    reply = admin.post(f"{home}participants/{spammer.pk}/include/", follow=True)
    assert "3 items of spammer count again." in reply.content.decode()
    assert "was excluded" not in text_of_page(reply)
