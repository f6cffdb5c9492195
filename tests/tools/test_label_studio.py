"""Label Studio is served with what we export, people work in it, and its own exports are read back."""

import uuid

import pytest
from playwright.sync_api import expect

from annotation.models import Dataset, NuggetSpan
from crux_site.imports.importing import ImportFailed, import_dataset
from tests.crux_site.datasets.test_tools import (
    export,
    make_small,
    objects,
    span,
    table,
    without_ratings,
)
from tests.tools.label_studio import LabelStudio, Project, asked, mark, of_grade, save
from tests.tools.test_readers import setup_of_the_docs

pytestmark = pytest.mark.django_db
PASSAGE = "passage//t-1:9%239"
GRADED = f"t-1/0/{PASSAGE}"  # by ann, who gave a 5, among others
OTHER = f"t-1/1/{PASSAGE}"
WHOSE = ("rater", "rater_kind", "rubric")
OF_WHAT = ("topic", "question_index", "text_kind", "system", "text")
LEFT = "answers that were skipped, discarded or left as drafts in a tool: no row"
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
    """What we export of the small study, under the setup of the docs."""
    export("small", "label-studio", tmp_path / "tasks.json")
    return Project(studio, setup_of_the_docs(), tmp_path / "tasks.json")


def choice(grade: int, rubric: str = "graded") -> dict:
    return result("choices", rubric, {"choices": [str(grade)]})


def marked(words: str, nth: int = 0) -> dict:
    place = span(words, nth)
    value = {"start": place["start"], "end": place["end"], "text": words, "labels": ["graded"]}
    return result("labels", "nugget-spans", value)


def result(kind: str, name: str, value: dict) -> dict:
    about = {"id": uuid.uuid4().hex[:10], "type": kind, "from_name": name}
    return about | {"to_name": "text", "value": value}


def rated(dataset: Dataset) -> dict[tuple, tuple]:
    """Of each rating, by what it is of and whose: the grade, and the spans."""
    names = WHOSE + OF_WHAT
    return {
        tuple(row[name] for name in names): (row["grade"], row["spans"]) for row in table(dataset)
    }


def of(rater: str, place: int, rubric: str = "graded") -> tuple:
    return (rater, "human", rubric, "t-1", place, "passage", "", "t-1:9#9")


def annotate(client, project: Project, pair: str, *results: dict, **more) -> None:
    address = f"/api/tasks/{project.task(pair)['id']}/annotations/"
    asked(client.post(address, json={"result": list(results), **more}))


def work(studio: LabelStudio, project: Project, name: str) -> None:
    """Somebody grades a pair, skips it another time, begins a third, and changes the grade that ann gave."""
    person = studio.joined(f"{name}@mill.org")
    said = [choice(3), marked("🚢", 2), marked("عبّارة"), choice(0, "answerable")]
    annotate(person, project, OTHER, *said)
    annotate(person, project, OTHER, choice(1), was_cancelled=True)
    third = project.task(f"t-1/2/{PASSAGE}")["id"]
    asked(person.post(f"/api/tasks/{third}/drafts", json={"result": [choice(1)]}))
    first = project.task(GRADED)["annotations"][0]
    changed = {"result": [choice(4), *first["result"][1:]]}
    asked(person.patch(f"/api/annotations/{first['id']}/", json=changed))


def with_a_four(ratings: dict[tuple, tuple]) -> dict[tuple, tuple]:
    """As that change has them: the spans stay."""
    grade, spans = ratings[of("ann", 0)]
    assert (grade, len(spans)) == (5, 2)
    return ratings | {of("ann", 0): (4, spans)}


def told(summary) -> dict[str, int]:
    return {str(what): n for what, n in summary.mapped.items()}


def test_its_whole_export_brings_back_all_that_was_there_and_all_that_is_new(
    studio, project, small, tmp_path
):
    work(studio, project, "eve")
    path = project.whole_export(tmp_path / "whole.json")
    expected = with_a_four(rated(small))
    without_ratings(small)
    summary = import_dataset(path, "small", form="label-studio")
    found = rated(small)
    assert {key: found[key] for key in expected} == expected
    assert {key: found[key][0] for key in found.keys() - expected.keys()} == {
        of("eve-mill-org", 1): 3,
        of("eve-mill-org", 1, "answerable"): 0,
    }
    assert places("eve-mill-org") == [place_of("🚢", 2), place_of("عبّارة")]
    assert told(summary)[LEFT] == 2
    assert not import_dataset(path, "small", form="label-studio").changed


def places(rater: str) -> list[tuple]:
    fields = ("start", "end", "quote")
    found = NuggetSpan.objects.filter(rating__rater__name=rater).order_by("rating", "position")
    return list(found.values_list(*fields))


def place_of(words: str, nth: int = 0) -> tuple:
    return tuple(span(words, nth).values())


def test_a_changed_grade_is_told_where_the_one_from_before_is_and_that_stays(
    studio, project, small, tmp_path
):
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


def test_its_plain_export_has_people_and_predictions_by_number(studio, project, small, tmp_path):
    """Those who had graded before are called as ever, and somebody new by the account's number."""
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
    assert told(summary)[LEFT] == 2
    assert told(summary)[NUMBER_ALONE] == predictions > 0


def test_its_short_export_is_refused(project, small, tmp_path):
    path = project.export("JSON_MIN", tmp_path / "short.json")
    with pytest.raises(ImportFailed, match="data: is missing"):
        import_dataset(path, "small", form="label-studio")


def test_its_page_counts_places_as_we_do(studio, project, small, tmp_path):
    """By the mouse, behind emoji, an accent, words from right to left and line ends of Windows."""
    with studio.page("hal@mill.org") as page:
        page.goto(project.page_of(GRADED))
        page.get_by_label("Create an annotation").click()
        of_grade(page, 2).check()
        mark(page, "sank.", "It")
        mark(page, "sank twice, 🚢")
        mark(page, "عبّارة هالدن")
        mark(page, "e\u0301 🚢")
        save(page)
    before = rated(small)
    path = project.whole_export(tmp_path / "whole.json")
    summary = import_dataset(path, "small", form="label-studio")
    new = rated(small)
    assert {key: new[key][0] for key in new.keys() - before.keys()} == {of("hal-mill-org", 0): 2}
    assert {key: new[key] for key in before} == before
    assert not summary.conflicts
    assert places("hal-mill-org") == [
        place_of("sank.\r\nIt"),
        place_of("sank twice, 🚢"),
        place_of("عبّارة هالدن"),
        place_of("e\u0301 🚢"),
    ]


def test_what_was_marked_stays_when_its_page_changes_the_grade(studio, project, small, tmp_path):
    ann = project.task(GRADED)["annotations"][0]["id"]
    expected = with_a_four(rated(small))
    with studio.page("ida@mill.org") as page:
        page.goto(f"{project.page_of(GRADED)}&annotation={ann}")
        expect(of_grade(page, 5)).to_be_checked(timeout=60_000)
        of_grade(page, 4).check()
        save(page)
    without_ratings(small)
    path = project.whole_export(tmp_path / "whole.json")
    import_dataset(path, "small", form="label-studio")
    assert rated(small) == expected
