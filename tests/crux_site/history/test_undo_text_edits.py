"""Undo of an import that edited texts, unless rows depend on the new wording."""

import pytest

from annotation.models import (
    Campaign,
    Citation,
    Dataset,
    Document,
    NuggetSpan,
    ProjectEntry,
    Rater,
    Rating,
    Text,
    Version,
)
from annotation.monitoring import actions
from annotation.text.versions import anchor_span
from crux_site.history.import_undo import undo, undo_preview
from crux_site.imports.importing import import_dataset
from crux_site.versions.text_edits import edit_text, set_grades_valid
from judging.engine.foreground import fill_lexical
from judging.models import Attempt
from tests.crux_site.history.grade_files import first_grades, more_grades
from tests.crux_site.imports.text_edit_files import edited_files, question, report
from tests.toolbox.answers import label
from tests.toolbox.factories import make_campaign
from tests.toolbox.import_study import write

CHOICES = ("count", "set-aside")


@pytest.fixture
def small(tmp_path, db):
    import_dataset(write(tmp_path / "small"), "small")
    return Dataset.objects.get(slug="small")


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "new", edited_files())


def rows() -> dict[str, list]:
    """All that stands on words, keys of ratings left out: some are made again."""
    spans = (
        "rating__rater__name",
        "rating__text__name",
        "rating__text__system",
        "rating__question",
    )
    return {
        "texts": list(Text.objects.order_by("pk").values("body", "sha256", "start", "end")),
        "questions": list(report().topic.questions.values("body", "source_body")),
        "ratings": sorted(
            Rating.objects.values_list("rater", "rubric", "text", "question", "grade", "created")
        ),
        "spans": sorted(
            map(
                repr,
                NuggetSpan.objects.order_by().values_list(
                    *spans, "position", "start", "end", "quote", "source_quote", "located"
                ),
            )
        ),
        "citations": list(
            Citation.objects.order_by("report", "position").values(
                "report", "position", "start", "end", "label", "cited"
            )
        ),
    }


def newest_import() -> ProjectEntry:
    return ProjectEntry.objects.filter(action="imported").first()


def reasons(dataset) -> list[str]:
    return list(map(str, undo_preview(newest_import(), dataset).reasons))


def undone(dataset) -> None:
    preview = undo(newest_import(), dataset, None)
    assert preview.reasons == []


@pytest.mark.parametrize("choice", CHOICES)
def test_all_is_as_it_was(folder, small, choice):
    """The report is located in a document and has citations; the new wording drops one."""
    text = report()
    document = Document.objects.create(
        dataset=small, topic=text.topic, name="d", body=f"A {text.body}"
    )
    Text.objects.filter(pk=text.pk).update(document=document, start=2, end=2 + len(text.body))
    last_sentence = text.body.split(". ")[-1]
    for position, (start, end) in enumerate(
        [(0, 9), (text.body.index(last_sentence), len(text.body))]
    ):
        cited = Text.objects.filter(kind="passage")[position]
        Citation.objects.create(
            report=text, position=position, start=start, end=end, label=f"[{position}]", cited=cited
        )
    before = rows()
    import_dataset(folder, "small", new_words=choice)
    assert rows() != before
    undone(small)
    assert rows() == before
    assert not Version.objects.exists()
    import_dataset(folder, "small", new_words=choice)  # and can be made again
    assert question().versions.count() == report().versions.count() == 1


@pytest.mark.parametrize("choice", CHOICES)
def test_also_where_the_choice_was_made_otherwise_since(folder, small, choice):
    before = rows()
    import_dataset(folder, "small", new_words=choice)
    for version in Version.objects.all():
        set_grades_valid(version, counts=choice != "count", by=None)
    undone(small)
    assert rows() == before


def test_span_that_somebody_placed_since_goes_with_its_words(folder, small):
    import_dataset(folder, "small", new_words="count")
    unlocated = NuggetSpan.objects.filter(rating__text=report(), start=None).first()
    anchor_span(unlocated, report().body[-20:])
    undone(small)
    for span in NuggetSpan.objects.filter(rating__text=report(), start__isnull=False):
        assert report().body[span.start : span.end] == span.quote


def test_rows_on_new_wording_block_undo(folder, small, cast):
    import_dataset(folder, "small", new_words="count")
    ben = Rater.objects.create(dataset=small, name="ben", kind="human")
    rated = Rating.objects.filter(text=report()).first()
    Rating.objects.record(
        rater=ben.pk, rubric=rated.rubric_id, text=report().pk, question=rated.question_id, grade=0
    )
    campaign = make_campaign(small, cast.worker)
    assert "Rater ben: 1 grades of the new version of a text" in reasons(small)
    assert any(
        reason.startswith(f"Campaign {campaign}: ")
        and reason.endswith("items with the new version: close or delete the campaign first")
        for reason in reasons(small)
    )
    assert undo(newest_import(), small, None).reasons
    assert Version.objects.count() == 2
    Rating.objects.filter(rater=ben).delete()
    Campaign.objects.update(state="closed")
    undone(small)
    bodies = {item.shown_body for item in campaign.items.filter(text=report())}
    assert bodies == {edited_files()["reports_annotated.jsonl"][0]["response"]}


@pytest.mark.parametrize("grade", [1, None])
def test_grade_that_somebody_gave_anew_keeps_the_new_words(folder, small, cast, grade):
    """The existing rating has the time of the answer that it follows now, or is withdrawn."""
    name = report().system
    first = make_campaign(small, cast.worker)
    label(first, cast.worker, name, 1, 0)
    Campaign.objects.update(state="closed", slug="first")
    import_dataset(folder, "small", new_words="count")
    assert reasons(small) == []
    second = make_campaign(small, cast.worker)
    label(second, cast.worker, name, 1, grade, *([report().body[:7]] if grade else []))
    Campaign.objects.update(state="closed")
    assert f"Campaign {second}: 1 answers to the new version of a text" in reasons(small)


def test_later_edit_blocks_undo(folder, small):
    import_dataset(folder, "small", new_words="count")
    edit_text(question(), "What became of the ferry after all?", by=None, why="", counts=True)
    assert reasons(small) == ["Texts: 1 edited again since"]


def test_duplicate_question_blocks_undo(folder, small):
    import_dataset(folder, "small", new_words="count")
    earlier = question().versions.get().body
    second_question = question().topic.questions.exclude(pk=question().pk).first()
    edit_text(second_question, earlier, by=None, why="", counts=True)
    assert reasons(small) == ["Texts: 1 that are now equal to another question"]


def test_versions_from_before_know_no_way_back(folder, small):
    import_dataset(folder, "small", new_words="count")
    Version.objects.filter(text=None).update(had={})
    assert reasons(small) == ["Texts: 1 edited before edits could be undone"]


def test_replies_of_judges_count_again_and_new_ones_keep_the_words(folder, small):
    run = fill_lexical(small)
    n_counted = Attempt.objects.filter(counts=True).count()
    before = rows()
    import_dataset(folder, "small", new_words="set-aside")
    assert Attempt.objects.filter(counts=True).count() < n_counted
    undone(small)
    assert (rows(), Attempt.objects.filter(counts=True).count()) == (before, n_counted)
    import_dataset(folder, "small", new_words="set-aside")
    fill_lexical(small)
    assert [reason for reason in reasons(small) if reason.startswith(f"Rater {run.judge.rater}")]


def graded() -> Text:
    return Text.objects.get(name="bm25_t-2")


@pytest.mark.parametrize("choice", CHOICES)
def test_its_grades_do_not_come_back_from_where_they_were_set_aside(tmp_path, small, choice):
    before = rows()["ratings"]
    import_dataset(
        write(tmp_path / "new", edited_files() | more_grades()), "small", new_words=choice
    )
    assert Rating.objects.filter(text=graded()).count() == 3
    version = edit_text(graded(), "Other words.", by=None, why="", counts=False)
    assert undo_preview(newest_import(), small).counts["superseded grades of earlier versions"] == 3
    undone(small)
    assert rows()["ratings"] == before
    version.refresh_from_db()
    set_grades_valid(version, counts=True, by=None)
    assert rows()["ratings"] == before


def test_its_grades_go_also_after_they_were_set_aside_and_came_back(tmp_path, small):
    before = rows()["ratings"]
    import_dataset(write(tmp_path / "new", more_grades()), "small")
    version = edit_text(graded(), "Other words.", by=None, why="", counts=False)
    set_grades_valid(version, counts=True, by=None)
    assert Rating.objects.filter(text=graded()).count() == 3
    undone(small)
    assert rows()["ratings"] == before


@pytest.mark.parametrize("first", ["the grades", "the words"])
def test_undone_grades_are_not_restored_with_wording(tmp_path, folder, small, first):
    """An import grades a question; a later one edits it and supersedes the grades."""
    before = rows()["ratings"]
    import_dataset(write(tmp_path / "more", first_grades()), "small")
    gave_grades = newest_import()
    import_dataset(folder, "small", new_words="set-aside")
    gave_words = newest_import()
    both = (gave_grades, gave_words) if first == "the grades" else (gave_words, gave_grades)
    for entry in both:
        assert undo(entry, small, None).reasons == []
    assert rows()["ratings"] == before


@pytest.mark.parametrize("first", ["the citations", "the words"])
def test_undone_citations_are_not_restored_with_wording(tmp_path, small, first):
    """An import gives a report citations, a later one another wording: both are undone."""
    text = graded()
    cites = {"start": 0, "end": 7, "cited": [["[1]", "t-2:0#0"]]}
    row = {"topic": "t-2", "system": text.system, "name": text.name, "body": text.body}
    cited = {"reports_cited.jsonl": [row | {"statements": [cites]}]}
    before = rows()
    import_dataset(write(tmp_path / "cited", cited), "small")
    gave_citations = newest_import()
    assert text.citations.count() == 1
    files = {"reports_cited.jsonl": [row | {"body": "Other words.", "statements": []}]}
    import_dataset(write(tmp_path / "other", files), "small", new_words="count")
    gave_words = newest_import()
    both = (
        (gave_citations, gave_words) if first == "the citations" else (gave_words, gave_citations)
    )
    for entry in both:
        assert undo(entry, small, None).reasons == []
    assert rows() == before


def test_grades_that_another_change_set_aside_as_well_stay_so(folder, small):
    """Of the question, under which the report's are aside with the report's new words, too."""
    import_dataset(
        write(
            folder.parent / "asked", {"subquestions.jsonl": edited_files()["subquestions.jsonl"]}
        ),
        "small",
        new_words="set-aside",
    )
    version = edit_text(report(), "Other words.", by=None, why="", counts=False)
    undone(small)
    assert not Rating.objects.filter(text=report()).exists()
    assert Rating.objects.filter(question=question()).count() == 7 - 2
    version.refresh_from_db()
    set_grades_valid(version, counts=True, by=None)
    assert Rating.objects.filter(text=report()).count() == 4


def test_withdrawn_grades_are_not_restored(folder, small, cast):
    """Grades given again while the choice differed are superseded; then both are withdrawn."""
    name = report().system
    first = make_campaign(small, cast.worker)
    label(first, cast.worker, name, 1, 0)
    close(first, "first")
    import_dataset(folder, "small", new_words="set-aside")
    second = make_campaign(small, cast.worker)
    label(second, cast.worker, name, 1, 1, report().body[:7])
    close(second, "second")
    for version in Version.objects.all():
        set_grades_valid(version, counts=True, by=cast.admin)
    for campaign in (second, first):
        actions.exclude_work(campaign.participants.get(), cast.admin)
    mine = Rating.objects.filter(rater__user=cast.worker)
    assert not mine.exists()
    undone(small)
    assert not mine.exists()


def close(campaign, slug) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(state="closed", slug=slug)
