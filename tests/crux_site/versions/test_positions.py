"""Spans and citations of words that return: exactly where they were before."""

import pytest

from annotation.models import Citation, Document, NuggetSpan, Rating, Text, Version
from annotation.text.versions import anchor_span
from crux_site.versions.restoring import restore
from crux_site.versions.text_edits import edit_text, set_grades_valid
from tests.crux_site.versions.text_edits import SPANS, make_world
from tests.toolbox.factories import REPORT

NEW = REPORT.replace("due for replacement", "overdue").replace("9 March", "10 March")


@pytest.fixture(scope="module", autouse=True)
def _world(shared_world):
    return shared_world(make_world)


@pytest.fixture
def owner(_world, db):
    return _world.researcher


@pytest.fixture
def report(owner):
    return Text.objects.filter(kind="report").first()


def positions() -> list[tuple]:
    return list(
        NuggetSpan.objects.order_by("rating__question", "position").values_list(
            "start", "end", "quote", "source_quote", "located"
        )
    )


def edit(report, body, *, counts=True):
    return edit_text(report, body, by=None, why="", counts=counts)


def test_choice_that_is_made_three_times_and_undone_keeps_all_positions(report, owner):
    before = positions()
    version = edit(report, NEW, counts=False)
    for counts in (True, False, True, False):
        set_grades_valid(version, counts=counts, by=None)
    report.refresh_from_db()
    assert restore(version, by=owner, seen=report.sha256) == []
    assert positions() == before
    assert Rating.objects.filter(text=report).count() == 2


def test_old_words_that_are_typed_again_have_their_positions(report):
    before = positions()
    edit(report, NEW)
    assert [start for start, *_ in positions()].count(None) == 2
    edit(report, REPORT)
    assert positions() == before


def test_old_words_that_are_typed_again_after_a_choice_have_their_positions(report):
    before = positions()
    version = edit(report, NEW, counts=False)
    set_grades_valid(version, counts=True, by=None)
    edit(report, REPORT)
    assert positions() == before


def test_positions_placed_by_hand_are_kept_by_wording(report, owner):
    edit(report, NEW)
    unlocated = NuggetSpan.objects.get(start=None, source_quote="9 March")
    anchor_span(unlocated, "10 March")
    in_new = positions()
    edit(report, REPORT)
    assert [quote for *_, quote, _, _ in positions()] == list(SPANS)
    edit(report, NEW)
    assert positions() == in_new


def test_grades_of_a_question_keep_the_positions_of_each_wording_of_their_text(report):
    before = positions()
    question = Rating.objects.get(text=report, grade=1).question
    version = edit_text(question, "What is known of it?", by=None, why="", counts=False)
    edit(report, NEW)
    set_grades_valid(version, counts=True, by=None)
    set_grades_valid(version, counts=False, by=None)
    edit(report, REPORT)
    set_grades_valid(version, counts=True, by=None)
    assert positions() == before


def test_citations_and_the_place_in_the_document_come_back_with_the_words(report):
    document = Document.objects.create(
        dataset=report.dataset, topic=report.topic, name="d", body=f"A {report.body}"
    )
    Text.objects.filter(pk=report.pk).update(document=document, start=2, end=2 + len(report.body))
    for position, quote in enumerate(SPANS):
        start = REPORT.index(quote)
        Citation.objects.create(
            report=report, position=position, start=start, end=start + len(quote), label="[1]"
        )
    before = list(Citation.objects.values("pk", "position", "start", "end", "label"))
    edit(report, NEW)
    assert Citation.objects.count() == 1
    assert Version.objects.get().citations
    came_meanwhile = Citation.objects.create(report=report, position=1, start=0, end=4, label="[2]")
    edit(report, REPORT)
    stay = Citation.objects.exclude(pk=came_meanwhile.pk).order_by("pk")
    fields = ("pk", "start", "end", "label")
    assert [[row[name] for name in fields] for row in before] == [
        list(row) for row in stay.values_list(*fields)
    ]
    came_meanwhile.refresh_from_db()
    assert (came_meanwhile.start, came_meanwhile.end, came_meanwhile.label) == (0, 4, "[2]")
    report.refresh_from_db()
    assert (report.start, report.end) == (2, 2 + len(REPORT))
