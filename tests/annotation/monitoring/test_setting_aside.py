"""Setting somebody's work aside, and undoing it: what counts, who has the places, what is kept."""

from uuid import uuid4

import pytest
from django.test import Client

from annotation.adjudication.differences import differences
from annotation.models import Answer, Assignment, Campaign, Rating
from annotation.monitoring import actions
from annotation.participation import assigning, journey
from annotation.task import saving
from tests.annotation.monitoring.acting_material import logged
from tests.annotation.pool_material import answer, make_pool, newcomer, work_through
from tests.annotation.study_material import words
from tests.threads import in_threads


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


def test_the_work_counts_nowhere_and_others_have_its_places(cast, pool, spammer, careful):
    assert actions.set_aside(spammer, cast.admin) == 3
    assert raters() == ["careful"] * 3
    assert set(Answer.objects.values_list("assignment__participant", "late")) == {
        (spammer.pk, "set_aside"),
        (careful.pk, ""),
    }
    assert differences(pool) == []
    another = newcomer(pool, "another")
    work_through(assigning.begin_part(another))
    assert raters() == ["another"] * 3 + ["careful"] * 3
    assert logged() == [("set work aside", "3 items", "ada")]


def test_it_is_undone_as_easily(cast, pool, spammer, careful):
    before = list(Rating.objects.order_by("rater", "text").values_list("rater", "text", "grade"))
    actions.set_aside(spammer, cast.admin)
    assert actions.count_work_again(spammer, cast.admin) == (3, 0)
    after = list(Rating.objects.order_by("rater", "text").values_list("rater", "text", "grade"))
    assert after == before
    assert not Answer.objects.exclude(late="").exists()
    assert Assignment.objects.filter(participant=spammer, slot__isnull=False).count() == 3


def test_what_others_took_meanwhile_does_not_count_twice(cast, pool, spammer, careful):
    actions.set_aside(spammer, cast.admin)
    another = newcomer(pool, "another")
    first, *_ = assigning.begin_part(another).assignments.order_by("position")
    assigning.release_begun(another.assignments.exclude(pk=first.pk))
    answer(first)
    assert actions.count_work_again(spammer, cast.admin) == (2, 1)
    assert raters() == ["another"] + ["careful"] * 3 + ["spammer"] * 2
    assert logged()[-1] == ("counts work again", "2 items; the places of 1 are taken", "ada")


def test_who_is_set_aside_is_given_nothing_and_loses_no_word(cast, pool):
    spammer = newcomer(pool, "spammer")
    part = assigning.begin_part(spammer)
    begun, done, _ = part.assignments.order_by("position")
    answer(begun, 1)
    answer(done, 1)
    saving.submit(Assignment.objects.select_related("participant__campaign").get(pk=done.pk))
    actions.set_aside(spammer, cast.admin)
    part.refresh_from_db()
    spammer.refresh_from_db()
    assert part.outcome == "returned"
    assert assigning.begin_part(spammer) is None
    assert journey.next_part(spammer) is None
    assert answer(done, 0).late == "set_aside"
    assert answer(begun, 0).late == "set_aside"
    assert not Rating.objects.exists()
    assert Answer.objects.count() == 4
    # What was in hand went back; what was handed in counts again, by the newest answer.
    actions.count_work_again(spammer, cast.admin)
    assert [(rating.text, rating.grade) for rating in Rating.objects.all()] == [(done.item.text, 0)]


def loaded(assignment):
    """As the page of an item that is still open has it."""
    return Assignment.objects.select_related("item__text", "participant__campaign", "part").get(
        pk=assignment.pk
    )


def test_handing_in_again_brings_nothing_back(cast, pool, spammer):
    open_page = loaded(spammer.assignments.first())
    actions.set_aside(spammer, cast.admin)
    for assignment in (open_page, loaded(open_page)):
        saving.submit(assignment)
    assert not Rating.objects.exists()
    assert set(Answer.objects.values_list("late", flat=True)) == {"set_aside"}


def test_an_answer_that_is_on_its_way_meanwhile_does_not_count(cast, pool, spammer):
    """It was let in before, and waits for the item that is just being set aside."""
    open_page = loaded(spammer.assignments.first())
    actions.set_aside(spammer, cast.admin)
    asked = open_page.item.asked.get().question
    late = saving.save_answer(open_page, asked, key=uuid4(), grade=0, spans=[])
    assert late.late == "set_aside"
    assert not Rating.objects.exists()


def test_setting_aside_while_answers_come_in_leaves_no_rating(transactional_db, cast):
    pool = make_pool(texts=12, items_per_part=12)
    spammer = newcomer(pool, "spammer")
    work_through(assigning.begin_part(spammer), grade=1)
    pages = [loaded(assignment) for assignment in spammer.assignments.all()]

    def act(number):
        if number == 6:
            actions.set_aside(spammer, cast.admin)
        else:
            page = pages[number % 12]
            asked = page.item.asked.get().question
            saving.save_answer(page, asked, key=uuid4(), grade=0, spans=[])

    in_threads(act, range(13))
    assert not Rating.objects.exists()
    assert set(Answer.objects.values_list("late", flat=True)) == {"set_aside"}
    assert Answer.objects.count() == 24


def test_an_answer_where_others_have_the_place_does_not_count_after_it_is_undone(
    cast, pool, spammer
):
    actions.set_aside(spammer, cast.admin)
    for name in ("another", "one more"):
        work_through(assigning.begin_part(newcomer(pool, name.replace(" ", "-"))))
    assert actions.count_work_again(spammer, cast.admin) == (0, 3)
    mine = spammer.assignments.order_by("position").first()
    assert answer(mine, 0).late == "taken_back"
    assert "spammer" not in raters()
    # Once there is a place again, it counts.
    theirs = mine.item.assignments.exclude(participant=spammer).first()
    actions.set_aside(theirs.participant, cast.admin)
    assert answer(mine, 0).late == ""
    assert raters().count("spammer") == 1


def test_twice_is_refused(cast, pool, spammer):
    with pytest.raises(actions.ActionRefusedError, match="not set aside"):
        actions.count_work_again(spammer, cast.admin)
    actions.set_aside(spammer, cast.admin)
    with pytest.raises(actions.ActionRefusedError, match="set aside before"):
        actions.set_aside(spammer, cast.admin)
    assert len(logged()) == 1


def test_pay_for_parts_that_are_done_stays_due(cast, pool, spammer):
    Campaign.objects.update(code_done="DONE1")
    actions.set_aside(spammer, cast.admin)
    assert spammer.parts.get().outcome == "done"
    assert journey.ending(type(spammer).objects.get(pk=spammer.pk)).code == "DONE1"


def test_the_pages_say_so(cast, pool, spammer, careful):
    admin: Client = cast.client("admin")
    home = f"/campaigns/{pool.slug}/"
    quality = f"{home}quality/raters/spammer/"
    page = words(admin.get(quality))
    # Three texts with a question each: two raters now, who agree on none (kappa -1); one without.
    assert "Answers that agreement counts 6 3" in page
    assert "Pairs with two or more 3 0" in page
    assert "Set this work aside" not in words(cast.client("researcher").get(quality))
    told = admin.post(f"{home}participants/{spammer.pk}/set-aside/", follow=True)
    assert "3 items handed in can go to others" in told.content.decode()
    assert "This work was set aside on" in words(told)
    assert "Count this work again" in words(admin.get(quality))
    assert "set aside" in words(admin.get(f"{home}participants/"))
    assert "3 answers of work that was set aside count nowhere." in words(admin.get(home))
    assert "3 of work that was set aside, which agreement leaves out" in words(
        admin.get(f"{home}quality/")
    )
    assert "spammer set aside" in words(admin.get(f"{home}quality/"))
    table = admin.get(f"{home}quality.csv").content.decode().splitlines()
    assert [line.split(",")[:2] for line in table] == [
        ["rater", "set_aside"],
        ["careful", "0"],
        ["spammer", "1"],
    ]
    told = admin.post(f"{home}participants/{spammer.pk}/count-again/", follow=True)
    assert "3 items of spammer count again." in told.content.decode()
    assert "was set aside" not in words(told)
