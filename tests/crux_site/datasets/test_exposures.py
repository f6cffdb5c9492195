"""Exposure of grades: set by the server, kept by edits, exports and imports."""

import json

import pytest

from annotation.formats import exposures
from annotation.models import Answer, Campaign, Rater, Rating
from annotation.models.rating import Exposure
from crux_site.aggregates import create_aggregate
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from crux_site.versions.restoring import restore
from crux_site.versions.text_edits import edit_text
from evaluation.data.selection import select
from tests.crux_site.imports.import_runs import import_problems
from tests.toolbox.feedback_study import give, make_decided_study
from tests.toolbox.import_study import study, write
from tests.toolbox.prolific_study import Walker
from tests.toolbox.reimport import import_elsewhere

BY_SCRIPT = {"X-Requested-With": "fetch"}
NONE, FEEDBACK = Exposure.NONE, Exposure.FEEDBACK


@pytest.fixture
def second_part(cast):
    """A study with decisions, and the first person at a second part after feedback."""
    campaign, first, second = make_decided_study(cast.admin, texts=4)
    first.client.get(f"/work/in/{campaign.slug}/feedback/")
    walker_again = Walker(first.client, campaign, "first")
    walker_again.arrive(session="sub2")
    walker_again.begin()
    return campaign, walker_again, second


@pytest.fixture
def decided(second_part):
    """The same, with the answers of the second part."""
    campaign, first, second = second_part
    for assignment in first.in_hand():
        give(first, assignment, 1, 0)
    return campaign, first, second


def exposures_of(rater) -> list[int]:
    rated = Rating.objects.filter(rater=rater).order_by("created", "pk")
    return list(rated.values_list("exposure", flat=True))


def test_server_sets_what_a_person_had_seen(decided):
    campaign, first, second = decided
    assert exposures_of(first.participant.rater) == [NONE] * 4 + [FEEDBACK] * 4
    assert exposures_of(second.participant.rater) == [NONE] * 4
    campaign.refresh_from_db()
    assert exposures_of(campaign.adjudicator) == [Exposure.RATERS] * 8
    answers = Answer.objects.filter(
        assignment__participant=first.participant, question__isnull=False
    )
    assert sorted(answers.values_list("exposure", flat=True)) == [NONE] * 4 + [FEEDBACK] * 4


def test_browser_cannot_set_it(second_part):
    _, first, _ = second_part
    assignment = first.in_hand()[0]
    question = assignment.item.asked.first().question_id
    url = f"/work/{assignment.pk}/answers/{question}/"
    sent = {"key": "0b0ffc9c-6a7e-4b6e-9d60-0f3f3b1d3a11", "grade": 0, "exposure": 0, "spans": "[]"}
    assert first.client.post(url, sent, headers=BY_SCRIPT).status_code == 204
    assert Answer.objects.get(key=sent["key"]).exposure == FEEDBACK


def test_aggregates_have_seen_others(decided):
    campaign, _, _ = decided
    create_aggregate(select(campaign.dataset, exposed="included"), "majority")
    aggregate = Rater.objects.get(kind="aggregate")
    assert set(exposures_of(aggregate)) == {Exposure.RATERS}
    assert "not independent" not in aggregate.made_from


def test_aggregate_says_how_many_grades_it_leaves_out(decided):
    campaign, _, _ = decided
    create_aggregate(select(campaign.dataset), "majority")
    description = Rater.objects.get(kind="aggregate").made_from
    assert ", without 4 grades that are not independent, n = " in description


def test_edit_of_a_text_and_its_undo_keep_it(decided, cast):
    _, first, _ = decided
    before = exposures_of(first.participant.rater)
    rated = Rating.objects.filter(rater=first.participant.rater, exposure=FEEDBACK)
    text = rated.first().text
    body = text.body
    Campaign.objects.update(state="closed")
    version = edit_text(text, body + " More.", by=cast.admin, why="typo", counts=False)
    assert len(exposures_of(first.participant.rater)) == len(before) - 2
    text.refresh_from_db()
    assert restore(version, by=cast.admin, seen=text.sha256) == []
    assert sorted(exposures_of(first.participant.rater)) == sorted(before)


def test_import_of_an_export_keeps_it(decided, tmp_path):
    campaign, first, second = decided
    names = [first.participant.rater.name, second.participant.rater.name]
    before = [exposures_of(walker.participant.rater) for walker in (first, second)]
    lines = [json.loads(line) for line in exposures.lines(campaign.dataset)]
    wholes = {line["rater"]: line["exposure"] for line in lines if "text" not in line}
    assert set(wholes.values()) == {"none", "raters"}
    assert len([line for line in lines if line.get("text")]) == 4  # those after feedback
    dataset = import_elsewhere(campaign.dataset, tmp_path / "first")
    imported = [
        sorted(Rating.objects.filter(rater__name=name).values_list("exposure", flat=True))
        for name in names
    ]
    assert imported == [sorted(values) for values in before]
    export_folder(dataset, tmp_path / "second")
    first_file, second_file = (tmp_path / name / "exposures.jsonl" for name in ("first", "second"))
    assert first_file.read_bytes() == second_file.read_bytes()
    assert not import_dataset(tmp_path / "first", dataset.slug).changed


RATING = {
    "rater": "eve",
    "kind": "human",
    "rubric": "question-type",
    "text": "t-1:0#1",
    "question_index": 1,
    "grade": 2,
    "topic": "t-1",
}
LINE = {"rater": "eve", "rubric": "question-type", "exposure": "judge"}
ABOUT = {"text": "t-1:0#1", "topic": "t-1", "question_index": 1}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        (LINE | {"exposure": "all"}, "exposure", "should be 'none', 'judge', 'raters'"),
        (LINE | {"rater": "nobody"}, "rater", "'nobody' is not in the dataset"),
        (LINE | {"rubric": "nothing"}, "rubric", "there is no rubric 'nothing'"),
        (LINE | ABOUT | {"text": "t-9"}, "text", "'t-9' is not in the dataset"),
        (LINE | ABOUT | {"topic": "t-9"}, "topic", "'t-9' is not in the dataset"),
        (LINE | ABOUT | {"question_index": 9}, "question_index", "counted from 0"),
        (LINE | {"text": "t-1:0#1", "topic": "t-1"}, "question_index", "is missing"),
        (LINE | {"topic": "t-1"}, "topic", "this line names no text"),
        (LINE | {"question_index": 0}, "question_index", "this line names no text"),
        (LINE | ABOUT | {"text_kind": "report"}, "text", "'t-1:0#1' is not in the dataset"),
    ],
)
def test_lines_that_name_nothing_are_refused(tmp_path, line, field, message):
    files = study() | {"ratings.jsonl": [RATING], "exposures.jsonl": [line]}
    (problem,) = import_problems(write(tmp_path, files))
    assert (problem.file, problem.line, problem.field) == ("exposures.jsonl", 1, field)
    assert message in problem.message


@pytest.mark.django_db
def test_exposure_of_a_line_of_ratings_and_of_the_file(tmp_path, cast):
    files = study() | {
        "ratings.jsonl": [
            RATING | {"exposure": "both"},
            RATING | {"question_index": 0},
            RATING | {"rater": "sam"},
        ],
        "exposures.jsonl": [LINE | {"rater": "sam"}, LINE | {"exposure": "none"} | ABOUT],
    }
    import_dataset(write(tmp_path, files), "small")
    stored = Rating.objects.filter(rubric__slug="question-type")
    assert set(stored.values_list("rater__name", "question__position", "exposure")) == {
        ("eve", 0, Exposure.UNKNOWN),
        ("eve", 1, Exposure.NONE),  # exposures.jsonl is read last
        ("sam", 1, Exposure.JUDGE),
    }
    response = cast.client("admin").get("/api/v1/datasets/small/ratings/?rater=sam")
    assert response.json()["results"][0]["exposure"] == "judge"
