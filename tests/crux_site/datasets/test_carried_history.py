"""text_history.jsonl: a reimported dataset has its earlier wordings and superseded grades."""

import json

import pytest
from django.urls import reverse
from lxml import html

from annotation.models import (
    Campaign,
    Citation,
    Dataset,
    ProjectEntry,
    Rater,
    Rating,
    Rubric,
    RubricLevel,
    SubQuestion,
    Text,
    Version,
)
from annotation.models.rubric_rules import store_rubric
from crux_site.datasets.export import export_folder
from crux_site.history.import_undo import undo
from crux_site.imports.importing import DatasetImportError, import_dataset
from crux_site.versions.text_edits import edit_text, set_grades_valid
from evaluation.data.edited_text_grades import edited_text_grades
from tests.toolbox.factories import REPORT
from tests.toolbox.import_study import contents, fingerprint
from tests.toolbox.reimport import (
    empty_site,
    import_elsewhere,
    make_worked,
    mark,
    rate,
    results,
)
from tests.toolbox.responses import markup

pytestmark = pytest.mark.django_db


def report(dataset: Dataset) -> Text:
    return dataset.texts.get(system="annotated.oracle")


@pytest.fixture
def edited(cast) -> Dataset:
    """A report edited twice and a question once; grades are from before and after.

    dee's only grade, under a rubric of its own, was superseded with the first words.
    """
    dataset = make_worked()
    Campaign.objects.update(state="closed")
    text = report(dataset)
    rubric = Rubric(slug="tone", title="Tone", question="How?", guideline="Listen.", shows=["text"])
    store_rubric(rubric, [RubricLevel(grade=0, label="Cold"), RubricLevel(grade=1, label="Warm")])
    dee = Rater.objects.create(name="dee", kind="human")
    rate(dee, text, 1, rubric="tone")
    ann = Rater.objects.get(name="ann")
    for rating in Rating.objects.filter(text=text, rater=ann):
        mark(rating, "None of the 112", "9 March")
    passage = dataset.texts.get(name="ferry-1:0#0")
    start = text.body.index("None")
    for position, cited in enumerate((passage, None)):
        Citation.objects.create(
            report=text, position=position, start=start, end=start + 20, label="1", cited=cited
        )
    by = cast.researcher
    edit_text(text, REPORT.replace("9 March", "10 March"), by=by, why="a slip", counts=False)
    rate(ann, text, 0, 1, 1)
    for rating in Rating.objects.filter(text=text, rater=ann):
        mark(rating, "112 people")
    edit_text(text, "Corrected. " + text.body.replace("112", "113"), by=by, why="", counts=True)
    question = SubQuestion.objects.get(position=1)
    edit_text(question, "Was anybody injured?", by=None, why="clearer", counts=True)
    rate(Rater.objects.get(name="ben"), text, 1, 0, 1)
    return dataset


def history(dataset: Dataset) -> list[tuple]:
    """The versions, without keys; superseded grades by names."""
    rows = []
    for version in dataset.versions.order_by("number", "body"):
        grades = sorted(
            (
                Rater.objects.get(pk=row["rater"]).name,
                Rubric.objects.get(pk=row["rubric"]).slug,
                Text.objects.get(pk=row["text"]).name,
                SubQuestion.objects.get(pk=row["question"]).position,
                json.dumps({**row, **dict.fromkeys(KEYS)}, sort_keys=True),
            )
            for row in version.set_aside
        )
        had = json.dumps(
            {name: version.had[name] for name in ("start", "end") if name in version.had}
        )
        values = ("number", "body", "why", "counts", "n_ratings", "replaced", "changed_by")
        rows.append((*(getattr(version, name) for name in values), grades, had))
    return rows


KEYS = ("rater", "rubric", "text", "question", "key")


def grades(dataset: Dataset) -> list[tuple]:
    names = ("rater__name", "rubric__slug", "text__name", "question__position")
    spans = ("spans__start", "spans__end", "spans__quote", "spans__source_quote", "spans__located")
    spans += ("spans__earlier_positions",)
    ratings = Rating.objects.filter(text__dataset=dataset, text__kind="report")
    return sorted(ratings.values_list(*names, "grade", *spans), key=str)


def shown_versions(client) -> str:
    """Return the text of the page of versions, without the list of pages beside it."""
    page = markup(client.get(reverse("versions", args=["ferry"])))
    return html.fromstring(page).get_element_by_id("main").text_content()


def test_history_is_reimported(cast, edited, tmp_path):
    rosa = cast.client("researcher")
    before, numbers = history(edited), results(rosa, edited)
    assert [len(version[7]) for version in before] == [13, 0, 0]
    sentences = str(edited_text_grades(edited).sentences)
    page = shown_versions(rosa)
    reimported = import_elsewhere(edited, tmp_path / "out")
    assert history(reimported) == before
    new_results = results(rosa, reimported)
    for name in numbers:
        assert new_results[name] == numbers[name], name
    assert str(edited_text_grades(reimported).sentences) == sentences
    assert shown_versions(rosa) == page
    export_folder(reimported, tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "out")


def test_superseded_grade_keys_are_exported(edited, tmp_path):
    version = edited.versions.exclude(set_aside=[]).get()
    keys = {name for row in version.set_aside for name in row} - {"key"}
    had = set(version.had)
    reimported = import_elsewhere(edited, tmp_path / "out")
    version = reimported.versions.exclude(set_aside=[]).get()
    assert {name for row in version.set_aside for name in row} == keys
    assert set(version.had) == had


def test_superseded_grades_count_again_as_at_the_original(cast, edited, tmp_path):
    export_folder(edited, tmp_path / "out")
    set_grades_valid(
        edited.versions.get(text=report(edited), number=1), counts=True, by=cast.researcher
    )
    at_the_original = grades(edited)
    empty_site()
    import_dataset(tmp_path / "out", "ferry")
    reimported = Dataset.objects.get(slug="ferry")
    set_grades_valid(
        reimported.versions.get(text=report(reimported), number=1), counts=True, by=cast.researcher
    )
    assert grades(reimported) == at_the_original


def test_import_of_the_same_history_again_changes_nothing(edited, tmp_path):
    export_folder(edited, tmp_path / "out")
    before = fingerprint()
    assert not import_dataset(tmp_path / "out", "ferry").changed
    assert fingerprint() == before


def test_import_with_history_can_be_undone(cast, edited, tmp_path):
    reimported = import_elsewhere(edited, tmp_path / "out")
    entry = ProjectEntry.objects.get(dataset=reimported, action="imported")
    undone = undo(entry, reimported, cast.admin)
    assert not undone.reasons
    assert not Version.objects.exists()
    assert not reimported.texts.exists()


def broken(path, change) -> None:
    """Change the first line of the history."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    change(lines[0])
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _cut_span(line: dict) -> None:
    line["superseded"][0]["spans"][0] |= {"start": 0, "end": 3}


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        (lambda line: line.update(number=7), "number", "expected 1"),
        (lambda line: line.update(number=0), "number", "greater than or equal to 1"),
        (lambda line: line.update(text="gone"), "text", "is not in the dataset"),
        (lambda line: line.update(topic="ferry-1"), "text", "a text or of a question"),
        (lambda line: line.pop("text"), "text", "is missing"),
        (lambda line: line.update(replaced="yesterday"), "replaced", "isoformat"),
        (lambda line: line.update(counts="no"), "counts", "boolean"),
        (
            lambda line: line["superseded"][1].update(rater="eve"),
            "superseded.1.rater",
            "raters.jsonl",
        ),
        (lambda line: line["superseded"][1].update(rubric="no"), "rubric", "no rubric"),
        (lambda line: line["superseded"][1].update(grade=9), "superseded.1.grade", "no grade"),
        (
            lambda line: line["superseded"][1].update(question_index=9),
            "superseded.1.question_index",
            "4 questions",
        ),
        (lambda line: line["superseded"][1].update(topic="x"), "superseded.1.topic", "not in"),
        (_cut_span, "superseded.0.spans.0", "the text says"),
        (
            lambda line: line["superseded"][0]["spans"][0].update(located="unlocated"),
            "superseded.0.spans.0",
            "or neither",
        ),
        (lambda line: line["had"]["citations"][0].update(end=0), "had.citations.0.end", "behind"),
    ],
)
def test_broken_history_changes_nothing_and_is_named(edited, tmp_path, change, field, message):
    export_folder(edited, tmp_path / "out")
    empty_site()
    broken(tmp_path / "out" / "text_history.jsonl", change)
    before = fingerprint()
    with pytest.raises(DatasetImportError) as raised:
        import_dataset(tmp_path / "out", "ferry")
    problem = raised.value.problems[0]
    assert (problem.file, problem.line, problem.field) == ("text_history.jsonl", 1, field)
    assert message in problem.message
    assert fingerprint() == before


def test_other_words_under_a_number_are_refused(edited, tmp_path):
    export_folder(edited, tmp_path / "out")
    broken(tmp_path / "out" / "text_history.jsonl", lambda line: line.update(body="Other words."))
    with pytest.raises(DatasetImportError, match="version 1 has other words here"):
        import_dataset(tmp_path / "out", "ferry")
