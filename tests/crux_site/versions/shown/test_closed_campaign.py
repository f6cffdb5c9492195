"""Edits of texts that a closed campaign has displayed: pages, answers and grades."""

import csv
import io
import json
import zipfile
from uuid import uuid4

import pytest

from annotation.adjudication.decisions import adjudicator_of
from annotation.models import (
    Answer,
    Assignment,
    Decision,
    NuggetSpan,
    Rater,
    Rating,
    Version,
    digest,
)
from annotation.monitoring import actions
from annotation.participation.withdrawal import ParticipationError
from crux_site.versions.restoring import restore
from crux_site.versions.text_edits import edit_text, set_grades_valid
from tests.crux_site.versions.shown.material import (
    HURT,
    MENDED,
    ask_otherwise,
    grades,
    mend,
    participant,
    second,
)
from tests.toolbox.adjudication_study import (
    decision,
    pair,
    span_position,
    url,
)
from tests.toolbox.answers import assignment_of, item_of, label
from tests.toolbox.factories import REPORT
from tests.toolbox.responses import markup


def test_ratings_move_and_what_was_said_and_shown_stays(campaign, text, rosa):
    answers = list(Answer.objects.order_by("pk").values())
    before = grades(text)
    assert before["wil", 2] == (1, [HURT])
    data = {"body": MENDED, "counts": "yes", "look": "", "seen": text.sha256}
    preview = rosa.post(f"/datasets/ferry/text-history/text/{text.pk}/", data)
    assert f"Raters of {campaign} saw the old text" in preview.content.decode()
    mend(text)
    assert grades(text) == {
        pair: (grade, [start + len("Mended. ") for start in starts])
        for pair, (grade, starts) in before.items()
    }
    assert list(Answer.objects.order_by("pk").values()) == answers
    item = item_of(campaign, "oracle")
    assert (item.shown_body, item.text.body) == (REPORT, MENDED)
    assert (item.as_shown().body, item.as_shown().sha256) == (REPORT, digest(REPORT))
    # The other report has the words that it had.
    assert item_of(campaign, "bm25").shown_body is None


def test_pages_of_the_campaign_show_what_was_shown(campaign, text, rosa):
    question = pair(campaign)[1]
    wording = question.body
    mend(text)
    ask_otherwise(question)
    quality = f"/campaigns/{campaign.slug}/quality/items/{item_of(campaign, 'oracle').pk}/"
    for address in (url(campaign), quality):
        page = rosa.get(address)
        assert page.status_code == 200, address
        page_text = markup(page)
        assert wording in page_text
        assert "Who was hurt, and how?" not in page_text
        assert page.context["text"].body == REPORT
    listed = markup(rosa.get(f"/campaigns/{campaign.slug}/adjudication/"))
    assert wording in listed
    assert "Who was hurt, and how?" not in listed


def test_pages_of_an_item_say_that_other_words_are_there_now(campaign, text, rosa):
    """For the text; and for the question displayed, if the text is unchanged."""
    question = pair(campaign)[1]
    items_url = f"/campaigns/{campaign.slug}/quality/items"
    quality = f"{items_url}/{item_of(campaign, 'oracle').pk}/?question={question.pk}"
    assert all(
        "raters saw" not in markup(rosa.get(address)) for address in (url(campaign), quality)
    )
    mend(text)
    ask_otherwise(question)
    for address in (url(campaign), quality):
        link = f'<a href="/datasets/ferry/text-history/text/{text.pk}/">current text</a>'
        assert link in markup(rosa.get(address))
    unchanged = item_of(campaign, "bm25")
    unchanged_url = f"{items_url}/{unchanged.pk}/"
    for address in (url(campaign, "bm25"), f"{unchanged_url}?question={question.pk}"):
        page_text = markup(rosa.get(address))
        assert (
            f'<a href="/datasets/ferry/text-history/question/{question.pk}/">current text</a>'
            in page_text
        )
        assert page_text.count(">current text</a>") == 1
    first = unchanged.asked.order_by("position")[0].question_id
    assert "raters saw" not in markup(rosa.get(f"{unchanged_url}?question={first}"))


def test_review_and_preview_show_what_was_shown(campaign, text, rosa):
    item, question = pair(campaign)
    wording = question.body
    mend(text)
    edit_text(question, "Who was hurt, and how?", by=None, why="", counts=True)
    campaign_url = f"/campaigns/{campaign.slug}"
    for address in (
        f"{campaign_url}/edit/review/",
        f"{campaign_url}/preview/items/{item.position}/",
    ):
        page_text = markup(rosa.get(address))
        assert wording in page_text, address
        assert "Who was hurt, and how?" not in page_text, address
        assert "Mended." not in page_text, address
    span = {"start": HURT, "end": HURT + 8, "quote": "was hurt"}
    sent = {"key": uuid4(), "grade": 1, "spans": json.dumps([span])}
    answers = f"{campaign_url}/preview/items/{item.position}/answers/{question.pk}/"
    assert rosa.post(answers, sent, headers={"X-Requested-With": "fetch"}).status_code == 200


def test_files_of_the_campaign_have_what_was_shown(campaign, text, rosa):
    question = pair(campaign)[1]
    mend(text)
    ask_otherwise(question)
    sent = b"".join(
        rosa.post(f"/campaigns/{campaign.slug}/export/", {"kind": "anonymous"}).streaming_content
    )
    with zipfile.ZipFile(io.BytesIO(sent)) as archive:
        tables = {
            name.rsplit("/")[-1]: list(csv.DictReader(io.StringIO(archive.read(name).decode())))
            for name in archive.namelist()
            if name.endswith(".csv")
        }
    [item] = [row for row in tables["items.csv"] if row["system"] == text.system]
    assert item["text_sha256"] == digest(REPORT)
    everything = json.dumps(tables)
    assert "Who was hurt, and how?" not in everything
    assert digest(MENDED) not in everything
    assert {row["text_sha256"] for row in tables["answers.csv"]} == {digest(REPORT)}


def test_campaign_reopens_only_after_restore(campaign, text, cast):
    mend(text)
    with pytest.raises(ParticipationError, match="was edited while it was closed"):
        actions.set_state(campaign, "open", cast.researcher)
    mend(text, f"Again: {REPORT}")
    assert item_of(campaign, "oracle").shown_body == REPORT
    mend(text, REPORT)
    assert item_of(campaign, "oracle").shown_body is None
    assert actions.set_state(campaign, "open", cast.researcher).state == "open"


def test_nor_with_another_question(campaign, cast):
    edit_text(pair(campaign)[1], "Who was hurt, and how?", by=None, why="", counts=True)
    with pytest.raises(ParticipationError, match="was edited"):
        actions.set_state(campaign, "open", cast.researcher)


def test_late_answer_is_of_displayed_wording(campaign, text, cast):
    assignment = assignment_of(campaign, cast.worker, "oracle")
    question = pair(campaign)[1]
    mend(text)
    client = cast.client("worker")
    span = {"start": HURT, "end": HURT + 8, "quote": "was hurt"}
    sent = {"key": uuid4(), "grade": 1, "spans": json.dumps([span])}
    answer = client.post(
        f"/work/{assignment.pk}/answers/{question.pk}/", sent, headers={"X-Requested-With": "fetch"}
    )
    assert answer.status_code in (200, 204, 302), answer.content
    newest = Answer.objects.order_by("pk").last()
    assert (newest.late, newest.spans) == ("closed", [span])
    assert newest.text_sha256 == digest(REPORT)


def test_included_rater_is_reanchored(campaign, text, cast):
    mend(text)
    moved = grades(text)
    uma = participant(campaign, cast.other_worker)
    for assignment in Assignment.objects.filter(participant=uma):
        Assignment.objects.filter(pk=assignment.pk).update(state="submitted")
    actions.exclude_work(uma, cast.researcher)
    assert {rater for rater, _ in grades(text)} == {"wil"}
    actions.include_work(uma, cast.researcher)
    assert grades(text) == moved


@pytest.mark.parametrize("acts", ["while they count", "while they are superseded"])
def test_choice_made_otherwise_finds_what_staff_did_meanwhile(campaign, text, cast, acts):
    """uma is excluded before or after the grades are superseded, and included or not."""
    before = grades(text)
    assert {rater for rater, _ in before} == {"wil", "uma"}
    uma = participant(campaign, cast.other_worker)
    Assignment.objects.filter(participant=uma).update(state="submitted")
    at_once = acts == "while they count"
    if at_once:
        actions.exclude_work(uma, cast.researcher)
    version = mend(text, counts=False)
    assert grades(text) == {}
    if at_once:
        actions.include_work(uma, cast.researcher)
    else:
        actions.exclude_work(uma, cast.researcher)
    assert grades(text) == {}
    set_grades_valid(version, counts=True, by=cast.researcher)
    expected_raters = {"wil", "uma"} if at_once else {"wil"}
    assert grades(text) == {
        (rater, number): (grade, [start + len("Mended. ") for start in starts])
        for (rater, number), (grade, starts) in before.items()
        if rater in expected_raters
    }
    set_grades_valid(version, counts=False, by=cast.researcher)
    assert grades(text) == {}


def test_later_decision_is_of_current_wording(campaign, text, rosa, cast):
    mend(text)
    assert (
        rosa.post(url(campaign), decision(campaign, text_sha256=digest(MENDED))).status_code == 422
    )
    sent = decision(campaign, text_sha256=digest(REPORT))
    assert rosa.post(url(campaign), sent).status_code == 302
    campaign.refresh_from_db()
    name = adjudicator_of(campaign).name
    assert Decision.objects.get().spans[0]["start"] == HURT
    assert grades(text)[name, 2] == (1, [HURT + len("Mended. ")])
    version = Version.objects.get()
    set_grades_valid(version, counts=False, by=cast.researcher)
    assert grades(text) == {}
    withdrawn = {"key": uuid4(), "base": sent["key"], "note": "", "withdraw": ""}
    assert rosa.post(url(campaign), withdrawn).status_code == 302
    set_grades_valid(version, counts=True, by=cast.researcher)
    assert {rater for rater, _ in grades(text)} == {"wil", "uma"}
    assert (
        rosa.post(
            url(campaign),
            decision(campaign, base=Decision.objects.last().key, text_sha256=digest(REPORT)),
        ).status_code
        == 302
    )
    assert grades(text)[name, 2] == (1, [HURT + len("Mended. ")])


def test_decision_about_words_whose_grades_are_set_aside_waits(campaign, text, rosa, cast):
    version = mend(text, counts=False)
    sent = decision(campaign, text_sha256=digest(REPORT))
    assert rosa.post(url(campaign), sent).status_code == 302
    assert grades(text) == {}
    set_grades_valid(version, counts=True, by=cast.researcher)
    campaign.refresh_from_db()
    assert grades(text)[adjudicator_of(campaign).name, 2] == (1, [HURT + len("Mended. ")])


def test_decision_that_waits_counts_once_its_words_are_back(campaign, text, rosa, cast):
    mend(text, counts=False)
    sent = decision(campaign, text_sha256=digest(REPORT))
    assert rosa.post(url(campaign), sent).status_code == 302
    mend(text, REPORT)
    campaign.refresh_from_db()
    assert grades(text) == {(adjudicator_of(campaign).name, 2): (1, [HURT])}


def test_decision_counts_no_more_when_its_words_are_gone_again(campaign, text, rosa, cast):
    """The words of the decision came back by an edit, and that edit is undone."""
    mend(text, counts=False)
    sent = decision(campaign, text_sha256=digest(REPORT))
    assert rosa.post(url(campaign), sent).status_code == 302
    version = mend(text, REPORT)
    campaign.refresh_from_db()
    assert grades(text) == {(adjudicator_of(campaign).name, 2): (1, [HURT])}
    restore(version, by=cast.researcher, seen=digest(REPORT))
    assert grades(text) == {}
    restore(text.versions.get(), by=cast.researcher, seen=digest(MENDED))
    assert (adjudicator_of(campaign).name, 2) in grades(text)


def test_newer_decision_counts(campaign, text, rosa, cast):
    first = decision(campaign, text_sha256=digest(REPORT))
    assert rosa.post(url(campaign), first).status_code == 302
    version = mend(text, counts=False)
    again = decision(campaign, base=first["key"], grade="0", keep=[], text_sha256=digest(REPORT))
    assert rosa.post(url(campaign), again).status_code == 302
    set_grades_valid(version, counts=True, by=cast.researcher)
    campaign.refresh_from_db()
    assert grades(text)[adjudicator_of(campaign).name, 2] == (0, [])


def test_answer_in_other_campaign_is_restored(campaign, text, cast):
    """wil graded 0 later in a second study of the same text; that is superseded meanwhile."""
    later = second(campaign, cast.worker)
    label(later, cast.worker, "oracle", 2, 0)
    actions.set_state(later, "closed", cast.researcher)
    assert grades(text)["wil", 2] == (0, [])
    version = mend(text, counts=False)
    actions.exclude_work(participant(later, cast.worker), cast.researcher)
    set_grades_valid(version, counts=True, by=cast.researcher)
    assert grades(text)["wil", 2] == (1, [HURT + len("Mended. ")])


def test_span_of_deleted_text_is_unlocated(campaign, text, cast, rosa):
    mend(text, REPORT.replace("was hurt", "had an injury"))
    unlocated = NuggetSpan.objects.filter(rating__text=text, start=None)
    assert [span.source_quote for span in unlocated] == ["was hurt"]
    wil = participant(campaign, cast.worker)
    Assignment.objects.filter(participant=wil).update(state="submitted")
    actions.exclude_work(wil, cast.researcher)
    actions.include_work(wil, cast.researcher)
    unlocated = NuggetSpan.objects.filter(rating__text=text, start=None)
    assert [(span.source_quote, span.located) for span in unlocated] == [("was hurt", "unlocated")]
    assert span_position("was hurt") in markup(rosa.get(url(campaign)))


def test_span_that_a_person_placed_is_there_when_its_rater_counts_again(campaign, text, cast, rosa):
    mend(text, REPORT.replace("was hurt", "had an injury"))
    unlocated = NuggetSpan.objects.get(rating__text=text, start=None)
    address = f"/datasets/ferry/text-history/spans/{unlocated.pk}/place/"
    rosa.post(address, {"words": "had an injury"})
    placed = NuggetSpan.objects.get(pk=unlocated.pk).position_fields()
    assert placed["quote"] == "had an injury"
    wil = participant(campaign, cast.worker)
    Assignment.objects.filter(participant=wil).update(state="submitted")
    for _ in range(2):
        actions.exclude_work(wil, cast.researcher)
        assert not NuggetSpan.objects.filter(source_quote="was hurt").exists()
        actions.include_work(wil, cast.researcher)
        assert NuggetSpan.objects.get(source_quote="was hurt").position_fields() == placed
    actions.exclude_work(wil, cast.researcher)
    mend(text, f"Again. {text.body}")
    actions.include_work(wil, cast.researcher)
    span = NuggetSpan.objects.get(source_quote="was hurt")
    assert (span.start, span.quote) == (placed["start"] + len("Again. "), "had an injury")


@pytest.mark.parametrize("at_first", [True, False])
def test_restored_wording_keeps_grades_superseded(campaign, text, cast, at_first):
    """Grades of the current wording stay superseded with the last version, or the first."""
    mend(text, counts=at_first)
    version = mend(text, REPORT, counts=False)
    assert item_of(campaign, "oracle").shown_body is None
    set_grades_valid(version, counts=True, by=cast.researcher)
    assert bool(grades(text)) == at_first
    set_grades_valid(version, counts=False, by=cast.researcher)
    assert grades(text) == {}
    last = mend(text)
    set_grades_valid(last, counts=False, by=cast.researcher)
    set_grades_valid(last, counts=True, by=cast.researcher)
    assert grades(text) == {}


def test_ratings_of_file_raters_are_unchanged(campaign, text, cast):
    """The choice affects pairs that the campaign has answers to: ratings of files stay."""
    ann = Rater.objects.create(dataset=text.dataset, name="ann", kind="human")
    question = pair(campaign)[1]
    version = mend(text)
    Rating.objects.record(
        rater=ann.pk, rubric=campaign.rubric_id, text=text.pk, question=question.pk, grade=1
    )
    set_grades_valid(version, counts=False, by=cast.researcher)
    assert grades(text) == {("ann", 2): (1, [])}
