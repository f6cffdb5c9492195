"""An import that gave texts and questions new words is undone, unless somebody needs the new ones."""

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
from annotation.text.versions import place_by_words
from crux_site.history.undoing import undo, undoing
from crux_site.imports.importing import import_dataset
from crux_site.versions.changing import change, choose_again
from judging.engine.foreground import fill_lexical
from judging.models import Attempt
from tests.crux_site.imports.study import t1, t2, write
from tests.crux_site.imports.test_new_words import new_words, question, report
from tests.factories import make_campaign
from tests.labels import label

CHOICES = ("count", "set-aside")


@pytest.fixture
def small(tmp_path, db):
    import_dataset(write(tmp_path / "small"), "small")
    return Dataset.objects.get(slug="small")


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "new", new_words())


def rows() -> dict[str, list]:
    """All that stands on words, keys of ratings left out: some are made anew."""
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
    return list(map(str, undoing(newest_import(), dataset).reasons))


def undone(dataset) -> None:
    found = undo(newest_import(), dataset, None)
    assert found.reasons == []


@pytest.mark.parametrize("choice", CHOICES)
def test_all_is_as_it_was(folder, small, choice):
    """The report has a place in a document and citations, of which one's statement goes with the new words."""
    text = report()
    document = Document.objects.create(
        dataset=small, topic=text.topic, name="d", body=f"A {text.body}"
    )
    Text.objects.filter(pk=text.pk).update(document=document, start=2, end=2 + len(text.body))
    gone = text.body.split(". ")[-1]
    for position, (start, end) in enumerate([(0, 9), (text.body.index(gone), len(text.body))]):
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
        choose_again(version, counts=choice != "count", by=None)
    undone(small)
    assert rows() == before


def test_a_span_that_somebody_placed_since_goes_with_its_words(folder, small):
    import_dataset(folder, "small", new_words="count")
    lost = NuggetSpan.objects.filter(rating__text=report(), start=None).first()
    place_by_words(lost, report().body[-20:])
    undone(small)
    for span in NuggetSpan.objects.filter(rating__text=report(), start__isnull=False):
        assert report().body[span.start : span.end] == span.quote


def test_who_needs_the_new_words_keeps_them(folder, small, cast):
    import_dataset(folder, "small", new_words="count")
    ben = Rater.objects.create(dataset=small, name="ben", kind="human")
    rated = Rating.objects.filter(text=report()).first()
    Rating.objects.record(
        rater=ben.pk, rubric=rated.rubric_id, text=report().pk, question=rated.question_id, grade=0
    )
    campaign = make_campaign(small, cast.worker)
    assert "Rater ben: 1 grades of new words of a text" in reasons(small)
    assert any(
        reason.startswith(f"Campaign {campaign}: ")
        and reason.endswith("items with new words: close or discard it first")
        for reason in reasons(small)
    )
    assert undo(newest_import(), small, None).reasons
    assert Version.objects.count() == 2
    Rating.objects.filter(rater=ben).delete()
    Campaign.objects.update(state="closed")
    undone(small)
    shown = {item.shown_body for item in campaign.items.filter(text=report())}
    assert shown == {new_words()["reports_annotated.jsonl"][0]["response"]}


@pytest.mark.parametrize("grade", [1, None])
def test_a_grade_that_somebody_gave_anew_keeps_the_new_words(folder, small, cast, grade):
    """The rating was there before: it has the time of the answer that it follows now, or is taken back."""
    name = report().system
    first = make_campaign(small, cast.worker)
    label(first, cast.worker, name, 1, 0)
    Campaign.objects.update(state="closed", slug="first")
    import_dataset(folder, "small", new_words="count")
    assert reasons(small) == []
    second = make_campaign(small, cast.worker)
    label(second, cast.worker, name, 1, grade, *([report().body[:7]] if grade else []))
    Campaign.objects.update(state="closed")
    assert f"Campaign {second}: 1 answers to new words of a text" in reasons(small)


def test_words_that_are_others_again_keep_it(folder, small):
    import_dataset(folder, "small", new_words="count")
    change(question(), "What became of the ferry after all?", by=None, why="", counts=True)
    assert reasons(small) == ["Words: 1 that are other ones again since"]


def test_words_that_another_question_has_by_now_stay_its_own(folder, small):
    import_dataset(folder, "small", new_words="count")
    earlier = question().versions.get().body
    other = question().topic.questions.exclude(pk=question().pk).first()
    change(other, earlier, by=None, why="", counts=True)
    assert reasons(small) == ["Words: 1 that another question has by now"]


def test_versions_from_before_know_no_way_back(folder, small):
    import_dataset(folder, "small", new_words="count")
    Version.objects.filter(text=None).update(had={})
    assert reasons(small) == ["Words: 1 from before they could be given back"]


def test_replies_of_judges_count_again_and_new_ones_keep_the_words(folder, small):
    run = fill_lexical(small)
    counting = Attempt.objects.filter(counts=True).count()
    before = rows()
    import_dataset(folder, "small", new_words="set-aside")
    assert Attempt.objects.filter(counts=True).count() < counting
    undone(small)
    assert (rows(), Attempt.objects.filter(counts=True).count()) == (before, counting)
    import_dataset(folder, "small", new_words="set-aside")
    fill_lexical(small)
    assert [reason for reason in reasons(small) if reason.startswith(f"Rater {run.judge.rater}")]


def more_grades() -> dict[str, list]:
    """Of ann, who is there already, of a report that has no new words."""
    return {"annotations/ann.qlabels.jsonl": [t1("bm25", "t-2", [1, 0, 1], {0: "A crack"})]}


def first_grades() -> dict[str, list]:
    """Of ann, of the first question of t-1, of a passage."""
    return {"annotations/ann.qrels.jsonl": [t2("t-1", "t-1:1#2", [2, -1, -1])]}


def graded() -> Text:
    return Text.objects.get(name="bm25_t-2")


@pytest.mark.parametrize("choice", CHOICES)
def test_its_grades_do_not_come_back_from_where_they_were_set_aside(tmp_path, small, choice):
    before = rows()["ratings"]
    import_dataset(write(tmp_path / "new", new_words() | more_grades()), "small", new_words=choice)
    assert Rating.objects.filter(text=graded()).count() == 3
    version = change(graded(), "Other words.", by=None, why="", counts=False)
    assert (
        undoing(newest_import(), small).counts["grades that are set aside with earlier words"] == 3
    )
    undone(small)
    assert rows()["ratings"] == before
    version.refresh_from_db()
    choose_again(version, counts=True, by=None)
    assert rows()["ratings"] == before


def test_its_grades_go_also_after_they_were_set_aside_and_came_back(tmp_path, small):
    before = rows()["ratings"]
    import_dataset(write(tmp_path / "new", more_grades()), "small")
    version = change(graded(), "Other words.", by=None, why="", counts=False)
    choose_again(version, counts=True, by=None)
    assert Rating.objects.filter(text=graded()).count() == 3
    undone(small)
    assert rows()["ratings"] == before


@pytest.mark.parametrize("first", ["the grades", "the words"])
def test_its_grades_do_not_come_back_with_words_of_another_import(tmp_path, folder, small, first):
    """One gave grades of a question; a later one gave it other words, and set them aside."""
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
def test_its_citations_do_not_come_back_with_words_of_another_import(tmp_path, small, first):
    """One gave a report what it cites, and a later one other words: both are undone."""
    text = graded()
    cites = {"start": 0, "end": 7, "cited": [["[1]", "t-2:0#0"]]}
    row = {"topic": "t-2", "system": text.system, "name": text.name, "body": text.body}
    cited = {"reports_cited.jsonl": [row | {"statements": [cites]}]}
    before = rows()
    import_dataset(write(tmp_path / "cited", cited), "small")
    gave_citations = newest_import()
    assert text.citations.count() == 1
    other = {"reports_cited.jsonl": [row | {"body": "Other words.", "statements": []}]}
    import_dataset(write(tmp_path / "other", other), "small", new_words="count")
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
        write(folder.parent / "asked", {"subquestions.jsonl": new_words()["subquestions.jsonl"]}),
        "small",
        new_words="set-aside",
    )
    version = change(report(), "Other words.", by=None, why="", counts=False)
    undone(small)
    assert not Rating.objects.filter(text=report()).exists()
    assert Rating.objects.filter(question=question()).count() == 7 - 2
    version.refresh_from_db()
    choose_again(version, counts=True, by=None)
    assert Rating.objects.filter(text=report()).count() == 4


def test_what_people_withdrew_meanwhile_does_not_come_back(folder, small, cast):
    """It was rated anew while the choice was made otherwise, so it lay aside; then both were withdrawn."""
    name = report().system
    first = make_campaign(small, cast.worker)
    label(first, cast.worker, name, 1, 0)
    close(first, "first")
    import_dataset(folder, "small", new_words="set-aside")
    second = make_campaign(small, cast.worker)
    label(second, cast.worker, name, 1, 1, report().body[:7])
    close(second, "second")
    for version in Version.objects.all():
        choose_again(version, counts=True, by=cast.admin)
    for campaign in (second, first):
        actions.set_aside(campaign.participants.get(), cast.admin)
    mine = Rating.objects.filter(rater__user=cast.worker)
    assert not mine.exists()
    undone(small)
    assert not mine.exists()


def close(campaign, slug) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(state="closed", slug=slug)
