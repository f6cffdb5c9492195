"""Round trip through Label Studio.

It is served with our export, people work in it, and its own exports are imported.
"""

import uuid

import pytest
from playwright.sync_api import expect

from annotation.models import Dataset, NuggetSpan
from crux_site.imports.importing import DatasetImportError, import_dataset
from tests.toolbox.tool_exports import export, make_small, objects, span, table, without_ratings
from tests.tools.label_studio import LabelStudio, Project, checked_json, grade_input, mark, save
from tests.tools.label_studio_setup import setup_of_the_docs

pytestmark = pytest.mark.django_db
PASSAGE = "passage//t-1:9%239"
GRADED = f"t-1/0/{PASSAGE}"  # by ann, who gave a 5, among others
UNGRADED = f"t-1/1/{PASSAGE}"
RATER_FIELDS = ("rater", "rater_kind", "rubric")
PAIR_FIELDS = ("topic", "question_index", "text_kind", "system", "text")
SKIPPED = "answers that were skipped, discarded or left as drafts in a tool: no row"
NUMBER_ALONE = "predictions of which a tool's export has the number alone: no row"


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    running = LabelStudio(tmp_path_factory.mktemp("studio") / "log")
    running.start()
    yield running
    running.kill()


@pytest.fixture
def small(tmp_path) -> Dataset:
    return make_small(tmp_path / "small")


@pytest.fixture
def project(studio, small, tmp_path) -> Project:
    """Create a project with our export of the small study, under the setup of the docs."""
    export("small", "label-studio", tmp_path / "tasks.json")
    return Project(studio, setup_of_the_docs(), tmp_path / "tasks.json")


def choice(grade: int, rubric: str = "graded") -> dict:
    return result("choices", rubric, {"choices": [str(grade)]})


def marked(phrase: str, nth: int = 0) -> dict:
    position = span(phrase, nth)
    value = {
        "start": position["start"],
        "end": position["end"],
        "text": phrase,
        "labels": ["graded"],
    }
    return result("labels", "nugget-spans", value)


def result(kind: str, name: str, value: dict) -> dict:
    about = {"id": uuid.uuid4().hex[:10], "type": kind, "from_name": name}
    return about | {"to_name": "text", "value": value}


def rated(dataset: Dataset) -> dict[tuple, tuple]:
    """Return grade and spans of each rating, by rater and pair."""
    names = RATER_FIELDS + PAIR_FIELDS
    return {
        tuple(row[name] for name in names): (row["grade"], row["spans"]) for row in table(dataset)
    }


def rating_key(rater: str, position: int, rubric: str = "graded") -> tuple:
    return (rater, "human", rubric, "t-1", position, "passage", "", "t-1:9#9")


def annotate(client, project: Project, pair: str, *results: dict, **more) -> None:
    address = f"/api/tasks/{project.task(pair)['id']}/annotations/"
    checked_json(client.post(address, json={"result": list(results), **more}))


def work(studio: LabelStudio, project: Project, name: str) -> None:
    """Work as a new annotator.

    Grades a pair, skips it another time, begins a third, and changes the grade that ann gave.
    """
    person = studio.joined(f"{name}@mill.org")
    results = [choice(3), marked("🚢", 2), marked("عبّارة"), choice(0, "answerable")]
    annotate(person, project, UNGRADED, *results)
    annotate(person, project, UNGRADED, choice(1), was_cancelled=True)
    third = project.task(f"t-1/2/{PASSAGE}")["id"]
    checked_json(person.post(f"/api/tasks/{third}/drafts", json={"result": [choice(1)]}))
    first = project.task(GRADED)["annotations"][0]
    changed = {"result": [choice(4), *first["result"][1:]]}
    checked_json(person.patch(f"/api/annotations/{first['id']}/", json=changed))


def with_a_four(ratings: dict[tuple, tuple]) -> dict[tuple, tuple]:
    """Return the ratings after that change: the spans stay."""
    grade, spans = ratings[rating_key("ann", 0)]
    assert (grade, len(spans)) == (5, 2)
    return ratings | {rating_key("ann", 0): (4, spans)}


def mapped_counts(summary) -> dict[str, int]:
    return {str(reason): n for reason, n in summary.mapped.items()}


def test_whole_export_restores_old_ratings_and_adds_new_ones(studio, project, small, tmp_path):
    work(studio, project, "eve")
    path = project.whole_export(tmp_path / "whole.json")
    expected = with_a_four(rated(small))
    without_ratings(small)
    summary = import_dataset(path, "small", form="label-studio")
    imported = rated(small)
    assert {key: imported[key] for key in expected} == expected
    assert {key: imported[key][0] for key in imported.keys() - expected.keys()} == {
        rating_key("eve-mill-org", 1): 3,
        rating_key("eve-mill-org", 1, "answerable"): 0,
    }
    assert stored_positions("eve-mill-org") == [position_of("🚢", 2), position_of("عبّارة")]
    assert mapped_counts(summary)[SKIPPED] == 2
    assert not import_dataset(path, "small", form="label-studio").changed


def stored_positions(rater: str) -> list[tuple]:
    fields = ("start", "end", "quote")
    spans = NuggetSpan.objects.filter(rating__rater__name=rater).order_by("rating", "position")
    return list(spans.values_list(*fields))


def position_of(phrase: str, nth: int = 0) -> tuple:
    return tuple(span(phrase, nth).values())


def test_changed_grade_is_reported_as_conflict_and_not_stored(studio, project, small, tmp_path):
    work(studio, project, "fay")
    before = rated(small)
    summary = import_dataset(
        project.whole_export(tmp_path / "whole.json"), "small", form="label-studio"
    )
    (conflict,) = summary.conflicts
    assert conflict.line > 0
    assert (conflict.rater, conflict.stored, conflict.other) == ("ann", "5", "4")
    assert {key: rated(small)[key] for key in before} == before
    assert summary.created["ratings"] == 2


def test_plain_export_has_people_and_predictions_by_number(studio, project, small, tmp_path):
    """Earlier raters keep their names, and a new one is named by the account's number."""
    work(studio, project, "gus")
    path = project.export("JSON", tmp_path / "plain.json")
    predictions = sum(len(task["predictions"]) for task in objects(path))
    people = {key for key in rated(small) if key[1] == "human"}
    without_ratings(small)
    summary = import_dataset(path, "small", form="label-studio")
    new = rated(small).keys() - people
    assert len(rated(small)) == len(people) + len(new)
    (name,) = {key[0] for key in new}
    assert name.isdigit()
    assert mapped_counts(summary)[SKIPPED] == 2
    assert mapped_counts(summary)[NUMBER_ALONE] == predictions > 0


def test_short_export_is_refused(project, small, tmp_path):
    path = project.export("JSON_MIN", tmp_path / "short.json")
    with pytest.raises(DatasetImportError, match="data: is missing"):
        import_dataset(path, "small", form="label-studio")


def test_page_counts_positions_as_we_do(studio, project, small, tmp_path):
    """By mouse, after emoji, an accent, right-to-left words and Windows line ends."""
    with studio.page("hal@mill.org") as page:
        page.goto(project.page_of(GRADED))
        page.get_by_label("Create an annotation").click()
        grade_input(page, 2).check()
        mark(page, "sank.", "It")
        mark(page, "sank twice, 🚢")
        mark(page, "عبّارة هالدن")
        mark(page, "e\u0301 🚢")
        save(page)
    before = rated(small)
    path = project.whole_export(tmp_path / "whole.json")
    summary = import_dataset(path, "small", form="label-studio")
    new = rated(small)
    assert {key: new[key][0] for key in new.keys() - before.keys()} == {
        rating_key("hal-mill-org", 0): 2
    }
    assert {key: new[key] for key in before} == before
    assert not summary.conflicts
    assert stored_positions("hal-mill-org") == [
        position_of("sank.\r\nIt"),
        position_of("sank twice, 🚢"),
        position_of("عبّارة هالدن"),
        position_of("e\u0301 🚢"),
    ]


def test_spans_stay_when_the_page_changes_the_grade(studio, project, small, tmp_path):
    ann = project.task(GRADED)["annotations"][0]["id"]
    expected = with_a_four(rated(small))
    with studio.page("ida@mill.org") as page:
        page.goto(f"{project.page_of(GRADED)}&annotation={ann}")
        expect(grade_input(page, 5)).to_be_checked(timeout=60_000)
        grade_input(page, 4).check()
        save(page)
    without_ratings(small)
    path = project.whole_export(tmp_path / "whole.json")
    import_dataset(path, "small", form="label-studio")
    assert rated(small) == expected
