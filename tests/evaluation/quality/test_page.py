"""campaigns/<slug>/quality/, its raters, its items, its file."""

import csv
import io
import re
from uuid import uuid4

import pytest
from django.utils import timezone

from annotation.models import (
    Assignment,
    AttentionCheck,
    Campaign,
    Decision,
    Item,
    ItemQuestion,
    Rating,
    Rubric,
    User,
)
from annotation.models.standard import QUESTION_TYPE, add_standard
from annotation.task import saving
from annotation.text.spans import sentences
from evaluation.quality.signals import copies
from tests.toolbox.answers import assignment_of, item_of, label, label_item, submit_item
from tests.toolbox.factories import make_campaign, make_dataset
from tests.toolbox.html_tables import tables
from tests.toolbox.responses import markup, text_of_page

QUALITY = "/campaigns/ferry-answerable/quality/"


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture
def answered(cast, campaign) -> Campaign:
    """wil: oracle 1 1 0, bm25 0 0 1. uma: oracle 1 0 0, bm25 not yet. Both handed oracle in."""
    label_item(campaign, cast.worker, "oracle", 1, 1, 0, ms=20_000)
    label_item(campaign, cast.worker, "bm25", 0, 0, 1, ms=10_000)
    label_item(campaign, cast.other_worker, "oracle", 1, 0, 0)
    for user in (cast.worker, cast.other_worker):
        submit_item(campaign, user, "oracle")
    return campaign


def pages(campaign):
    return [
        QUALITY,
        "/campaigns/ferry-answerable/quality.csv",
        f"{QUALITY}raters/wil/",
        f"{QUALITY}items/{campaign.items.first().pk}/",
    ]


def find_any_copy(monkeypatch):
    """Let one identical highlight be a copy."""
    monkeypatch.setattr(copies, "MIN_SAME", 1)
    monkeypatch.setattr(copies, "FALSE_ALARM", 1)


def profile(rosa, name, url=QUALITY):
    profiles = rosa.get(url).context["report"].profiles
    return next(rater for rater in profiles if rater.name == name)


@pytest.mark.parametrize(
    ("account", "status"), [("admin", 200), ("researcher", 200), ("worker", 403), ("stranger", 302)]
)
def test_page_is_for_researchers(cast, answered, account, status):
    for url in pages(answered):
        assert cast.client(account).get(url).status_code == status, url


def test_page_refuses_post(rosa, answered):
    for url in pages(answered):
        assert rosa.post(url).status_code == 405, url


def test_missing_pages_are_404(rosa, answered):
    foreign_campaign = make_campaign(make_dataset("train"), User.objects.get(username="uma"))
    for path in (
        "/campaigns/nowhere/quality/",
        "/campaigns/nowhere/quality.csv",
        f"{QUALITY}raters/nobody/",
        f"{QUALITY}items/0/",
        f"{QUALITY}items/{foreign_campaign.items.first().pk}/",
        f"{QUALITY}items/{answered.items.first().pk}/?question=0",
        f"{QUALITY}items/{answered.items.first().pk}/?question=x",
        f"/campaigns/{foreign_campaign.slug}/quality/raters/wil/",
    ):
        assert rosa.get(path).status_code == 404, path


def test_campaign_without_answers(cast, rosa, campaign):
    assert "but there are no answers yet" in text_of_page(rosa.get(QUALITY))
    assert "Nothing needs review" in text_of_page(rosa.get(f"{QUALITY}raters/wil/"))
    page = text_of_page(rosa.get(f"{QUALITY}items/{campaign.items.first().pk}/"))
    assert "Nobody marked words for this question" in page


def test_draft_is_read_as_well(rosa, dataset):
    Campaign.objects.create(
        dataset=dataset, rubric=Rubric.objects.get(slug="graded"), slug="draft", title="Draft"
    )
    assert "no participants yet" in text_of_page(rosa.get("/campaigns/draft/quality/"))


def test_agreement_time_and_runs_by_hand(rosa, answered):
    # On oracle: 1 1, 1 0, 0 0. Equal 2/3. By chance (2*1 + 1*2)/9 = 4/9; (6/9 - 4/9)/(5/9) = 0.4.
    wil = profile(rosa, "wil")
    assert (wil.equal.value, wil.equal.n) == (pytest.approx(2 / 3), 3)
    assert wil.kappa.value == pytest.approx(0.4)
    assert wil.majority.reason.startswith("undefined, because no answer has two others")
    assert (wil.answers.study, wil.items.study) == (6, 1)
    assert wil.pace.active_ms == 90_000
    assert (wil.pace.per_item.value, wil.pace.per_item.n) == (60, 1)
    assert wil.pace.per_hour.value == pytest.approx(240)
    # 1 1 0 0 0 1
    assert (wil.straight.length, wil.straight.grade) == (3, 0)
    uma = profile(rosa, "uma")
    assert (uma.pace.active_ms, uma.pace.per_item.value, uma.pace.per_item.missing) == (0, None, 1)


def test_impossible_active_time_is_cut_and_flagged(rosa, answered):
    """Both texts of wil were opened just now: of 90 s of active time hardly one can be."""
    Assignment.objects.update(opened_at=timezone.now())
    wil = profile(rosa, "wil")
    assert (wil.pace.active_ms, wil.pace.excess_ms) == (0, 90_000)
    page_text = text_of_page(rosa.get(f"{QUALITY}raters/wil/"))
    assert "2 min more active time than the server’s clock allows" in page_text
    assert (
        "none recorded, training included; 2 min more than the server’s clock allows" in page_text
    )
    _, row = csv.DictReader(
        io.StringIO(rosa.get("/campaigns/ferry-answerable/quality.csv").content.decode())
    )
    assert (row["active_seconds"], row["active_seconds_beyond_clock"]) == ("0.0", "90.0")


def test_answer_that_was_changed_counts_once_and_its_time_twice(cast, rosa, answered):
    label(answered, cast.worker, "bm25", 1, 1, "The car", ms=5_000)
    wil = profile(rosa, "wil")
    assert (wil.answers.study, wil.pace.active_ms) == (6, 95_000)
    label(answered, cast.worker, "bm25", 1, None)
    assert profile(rosa, "wil").answers.study == 5


def test_open_answer_of_words_alone_is_no_answer(cast, rosa, campaign):
    label(campaign, cast.worker, "bm25", 1, None, "The car")
    assert profile(rosa, "wil").answers.study == 0


def test_majority_is_of_two_others(cast, rosa, dataset):
    people = [cast.worker, cast.other_worker, cast.admin]
    campaign = make_campaign(dataset, *people)
    for person, grades in zip(people, [(1, 1, 0), (0, 1, 0), (0, 1, 1)], strict=True):
        label_item(campaign, person, "oracle", *grades)
    # For wil: the others say 0, 1, and differ on the third.
    wil = profile(rosa, "wil")
    assert (wil.majority.value, wil.majority.n) == (0.5, 2)
    assert wil.n_others == 2


def test_gold_sets_weights_and_training_is_separate(cast, rosa, answered):
    oracle, bm25 = item_of(answered, "oracle"), item_of(answered, "bm25")
    Item.objects.filter(pk=oracle.pk).update(purpose="gold")
    Item.objects.filter(pk=bm25.pk).update(purpose="training")
    ItemQuestion.objects.filter(item__in=[oracle, bm25]).update(expected=1)
    wil = profile(rosa, "wil")  # 1 1 0
    assert (wil.n_right, wil.gold.n, wil.gold_exact) == (2, 3, 2)
    assert wil.weight.value == pytest.approx(3 / 5)
    assert (wil.answers.gold, wil.answers.training, wil.answers.study) == (3, 3, 0)
    assert wil.straight.n == 3
    page_text = text_of_page(rosa.get(QUALITY))
    assert "2 of 3 [0.21, 0.94]" in page_text
    assert "A flag is a reason for a review, and decides nothing" in page_text


def test_gold_is_scored_where_the_source_has_a_label(rosa, answered):
    """All three questions of oracle are asked and answered, and the first alone has a label."""
    oracle = item_of(answered, "oracle")
    Item.objects.filter(pk=oracle.pk).update(purpose="gold")
    oracle.asked.filter(position=0).update(expected=0)
    wil = profile(rosa, "wil")
    assert (wil.answers.gold, wil.n_right, wil.gold.n) == (3, 0, 1)


def test_without_gold_or_checks_their_columns_are_left_out(rosa, answered):
    page_text = text_of_page(rosa.get(QUALITY))
    assert "Gold right" not in page_text.split("Meaning of the columns")[0]
    assert "Because no gold item was answered" in page_text
    assert "Because no attention check was answered" in page_text


def test_attention_checks_are_counted_as_asked_and_passed(cast, rosa, answered):
    check = AttentionCheck.objects.create(
        campaign=answered, position=0, body="Choose 0.", expected=0
    )
    Assignment.objects.filter(participant__campaign=answered).update(check_asked=check)
    assignment = assignment_of(answered, cast.worker, "oracle")
    for grade in (0, 1):
        saving.save_answer(assignment, check, key=uuid4(), grade=grade, spans=[])
    wil = profile(rosa, "wil")
    assert (wil.n_passed, wil.checks.n, wil.checks_open) == (0, 1, 1)
    assert [flag.words for flag in wil.flags] == ["0 of 1 attention checks passed"]
    assert wil.answers.study == 6
    assert profile(rosa, "uma").checks_open == 2
    # On Prolific one failed check is no reason in a study of 5 minutes or more.
    for minutes, n_flags in ((None, 0), (5, 0), (4, 1)):
        Campaign.objects.update(platform="prolific", minutes_per_part=minutes)
        assert len(profile(rosa, "wil").flags) == n_flags


def test_spans_of_a_whole_text_and_of_no_word(cast, rosa, campaign):
    body = item_of(campaign, "bm25").text.body
    for number in (1, 2):
        label(campaign, cast.worker, "bm25", number, 1, body)
    label(campaign, cast.worker, "oracle", 1, 1, ".")
    wil = profile(rosa, "wil")
    assert (wil.marks.n, wil.marks.whole, wil.marks.wordless) == (3, 2, 1)
    assert (wil.marks.shared, wil.marks.comparable) == (1, 1)
    assert "2 of 3 spans cover a whole text" in text_of_page(rosa.get(QUALITY))


def test_grades_that_mirror_another_task_are_found_by_system(cast, rosa, answered):
    # wil's graded ratings of the passage, of the same sub-questions: 4 1 0, then as oracle here.
    passage = answered.dataset.texts.filter(kind="passage").first()
    graded = Rubric.objects.get(slug="graded")
    for item_question, grade in zip(
        item_of(answered, "oracle").asked.all(), (4, 5, 0), strict=True
    ):
        Rating.objects.create(
            rater=cast.worker.rater,
            rubric=graded,
            text=passage,
            question=item_question.question,
            grade=grade,
        )
    wil = profile(rosa, "wil")
    (mirror,) = wil.task_consistencies
    # Oracle 1 1 0 is the same thrice, bm25 0 0 1 never. The campaign's own ratings are no other task.
    assert (mirror.other, mirror.same, mirror.n) == (("graded", "passage"), 3, 6)
    assert profile(rosa, "uma").task_consistencies == ()


def test_copied_answers_are_flagged_on_both_raters(cast, rosa, answered, monkeypatch):
    """On oracle both highlight the same text for the first question alone; bm25 is wil's only."""
    find_any_copy(monkeypatch)
    label(answered, cast.worker, "oracle", 2, 0)
    label(answered, cast.worker, "oracle", 3, 1, item_of(answered, "oracle").text.body)
    label(answered, cast.other_worker, "oracle", 3, 1, item_of(answered, "oracle").text.body)
    ((name, copy),) = profile(rosa, "wil").copies
    assert (name, copy.n, copy.same) == ("uma", 3, 3)
    # A whole text that is highlighted is not compared.
    assert (copy.marked, copy.same_marks) == (1, 1)
    flag_text = "same as uma: 3 of 3 grades (2 by chance), 1 of 1 highlights"
    assert [flag.words for flag in profile(rosa, "wil").flags] == [flag_text]
    page_text = text_of_page(rosa.get(f"{QUALITY}raters/uma/"))
    assert "same as wil: 3 of 3 grades (2 by chance), 1 of 1 highlights" in page_text
    assert "1 of 1 highlights and 3 of 3 grades (2 by chance)" in page_text
    uma, _ = csv.DictReader(
        io.StringIO(rosa.get("/campaigns/ferry-answerable/quality.csv").content.decode())
    )
    assert (uma["copies"], uma["copies_same_highlights"], uma["copies_highlights"]) == (
        *("wil", "1", "1"),
    )


def test_equal_sentence_highlights_are_no_copy(cast, rosa, campaign, monkeypatch):
    find_any_copy(monkeypatch)
    body = item_of(campaign, "oracle").text.body
    (start, end), *_ = sentences(body, 0, len(body))
    for worker in (cast.worker, cast.other_worker):
        label(campaign, worker, "oracle", 1, 1, body[start:end])
    assert profile(rosa, "wil").copies == ()
    for worker in (cast.worker, cast.other_worker):
        label(campaign, worker, "oracle", 2, 1, body[start : end - 2])
    assert [copy.same_marks for _, copy in profile(rosa, "wil").copies] == [1]


def test_pilot_has_its_pages_though_it_has_no_ratings(cast, rosa, dataset):
    campaign = make_campaign(dataset, cast.worker, is_pilot=True)
    label_item(campaign, cast.worker, "oracle", 1, 0, 0)
    assert not Rating.objects.exists()
    assert profile(rosa, "wil").answers.study == 3
    assert "This is a pilot: its answers never become ratings" in text_of_page(rosa.get(QUALITY))


def test_table_is_ordered_by_any_column_and_undefined_comes_last(rosa, answered):
    def names(sort):
        return [row[0] for row in tables(rosa.get(f"{QUALITY}?sort={sort}"))["Raters"]]

    assert names("rater") == ["uma", "wil"]
    assert names("-rater") == ["wil", "uma"]
    assert names("answers") == ["uma", "wil"]
    assert names("-time") == names("time") == ["wil", "uma"]  # uma's is undefined
    assert names("nonsense") == names("") == ["uma", "wil"]
    page = markup(rosa.get(f"{QUALITY}?sort=-answers"))
    assert page.count("aria-sort") == 1
    assert re.search(r'aria-sort="descending" ?> ?<a href="\?sort=raters:answers#raters">', page)


def test_file_has_reasons_of_missing_values(rosa, answered):
    response = rosa.get("/campaigns/ferry-answerable/quality.csv")
    assert response["Content-Type"].startswith("text/csv")
    uma, wil = csv.DictReader(io.StringIO(response.content.decode()))
    assert (wil["rater"], wil["kappa_n"], float(wil["kappa"])) == ("wil", "3", pytest.approx(0.4))
    assert uma["seconds_per_item"] == ""
    assert uma["seconds_per_item_why_not"].endswith("no active time was recorded")
    assert wil["weight"] == ""


def test_rater_closely(rosa, answered):
    response = rosa.get(f"{QUALITY}raters/wil/")
    assert response.context["confusion"] == [(0, [(1, 5), (0, 0)]), (1, [(1, 5), (1, 5)])]
    (partner,) = response.context["partners"]
    assert (partner.name, partner.equal.n) == ("uma", 3)
    (day,) = response.context["days"]
    assert (day.counts, day.n) == ((3, 3), 6)
    cells = [[cell.grade for cell in item.cells] for item in response.context["items"]]
    assert cells == [[1, 1, 0], [0, 0, 1]]
    assert f"{QUALITY}items/{item_of(answered, 'oracle').pk}/" in response.content.decode()


def test_item_closely(cast, rosa, answered):
    item = item_of(answered, "oracle")
    Assignment.objects.filter(item=item, participant__rater__user=cast.worker).update(note="odd")
    Decision.objects.create(
        item=item, question=item.asked.all()[1].question, key=uuid4(), grade=1, spans=[]
    )
    response = rosa.get(f"{QUALITY}items/{item.pk}/")
    # The first question on which they differ is shown: wil's first words are marked.
    assert response.context["shown"].asked == item.asked.all()[1]
    assert [span["label"] for span in response.context["spans"]] == ["B"]
    page_text = text_of_page(response)
    assert "Percent agreement: 0.67 (n = 3)" in page_text
    assert "odd" in page_text
    report = response.context["report"]
    assert [reader.active_ms for reader in report.readers] == [0, 60_000]
    assert [row.decided for row in report.rows] == [None, 1, None]
    first = item.asked.first().question_id
    response = rosa.get(f"{QUALITY}items/{item.pk}/?question={first}")
    assert [span["label"] for span in response.context["spans"]] == ["A", "B"]
    assert f"/adjudication/{item.pk}/{first}/" in response.content.decode()


def test_queries_do_not_grow_with_the_answers(cast, rosa, campaign, django_assert_max_num_queries):
    # session, user, campaign, raters, items, assignments, answers, gold, levels, other ratings,
    # further rubrics
    label_item(campaign, cast.worker, "oracle", 1, 1, 0)
    with django_assert_max_num_queries(15):
        rosa.get(QUALITY)
    label_item(campaign, cast.worker, "bm25", 1, 1, 0)
    label_item(campaign, cast.other_worker, "oracle", 1, 1, 0)
    with django_assert_max_num_queries(15):
        rosa.get(QUALITY)


def test_raters_without_work_are_listed_beside_the_table(cast, rosa, campaign):
    label_item(campaign, cast.worker, "oracle", 1)
    response = rosa.get(QUALITY)
    assert [rater.name for rater in response.context["profiles"]] == ["wil"]
    assert "1 has not begun and is not in the table: uma" in text_of_page(response)


def test_campaign_of_names(rosa, cast, dataset):
    """Question types: no eta, no highlights, no distance; the majority is of the same name."""
    add_standard(QUESTION_TYPE)
    campaign = make_campaign(dataset, cast.worker, cast.other_worker, rubric="question-type")
    label_item(campaign, cast.worker, "oracle", 1, 2, 3)
    label_item(campaign, cast.other_worker, "oracle", 1, 3, 3)
    url = f"/campaigns/{campaign.slug}/quality/"
    report = rosa.get(url).context["report"]
    assert report.weights is None
    assert [profile.equal.value for profile in report.profiles] == [pytest.approx(2 / 3)] * 2
    # In all, wil 1 2 3 and uma 1 3 3: 2/3 equal, 3/9 by chance; unweighted (2/3 - 1/3) / (2/3) = 1/2.
    assert report.profiles[0].kappa.value == pytest.approx(1 / 2)
    table = text_of_page(rosa.get(url))
    assert "with the same grade as this majority" in table
    for term in ("η", "None", "Spans", "As in another task", "weighted"):
        assert term not in table, term
    of_rater = text_of_page(rosa.get(f"{url}raters/wil/"))
    assert "Cohen κ with the others" in of_rater
    assert "reasoning" in of_rater
    item = item_of(campaign, "oracle")
    of_item = text_of_page(rosa.get(f"{url}items/{item.pk}/"))
    assert "summary" in of_item
    assert "not answerable" not in of_item
    assert rosa.get(f"/campaigns/{campaign.slug}/quality.csv").status_code == 200
