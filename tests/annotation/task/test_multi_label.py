"""Answers under a multi-label rubric: sets of labels, with and without scripts."""

import json
import re
from uuid import uuid4

import pytest

from annotation.adjudication.differences import differences
from annotation.builder.attention_checks import add_ready_made
from annotation.models import Answer, Campaign, Decision, Rating
from annotation.models.rubric_wording import campaign_wording
from annotation.monitoring.export import files
from annotation.participation.assigning import rater_of
from tests.toolbox.responses import markup
from tests.toolbox.rubric_studies import (
    BODY,
    faults_of_answers,
    kinds_of_facts,
    make_locks_study,
    open_study,
)

BY_SCRIPT = {"X-Requested-With": "fetch"}


@pytest.fixture
def campaign(cast, db) -> Campaign:
    raters = [rater_of(cast.worker), rater_of(cast.other_worker)]
    return open_study(make_locks_study(), faults_of_answers(), raters)


def assignment_of(campaign, user, item=0):
    text = campaign.items.order_by("position")[item]
    return text.assignments.get(participant__rater__user=user)


def send(client, assignment, position=0, headers=None, **values):
    question = assignment.item.asked.get(position=position).question_id
    sent = {"key": uuid4()} | values
    return client.post(f"/work/{assignment.pk}/answers/{question}/", sent, headers=headers)


def test_page_has_a_box_for_each_label_and_for_none(cast, campaign):
    assignment = assignment_of(campaign, cast.worker)
    client = cast.client("worker")
    page = markup(client.get(f"/work/{assignment.pk}/"))
    assert page.count('type="checkbox" name="label"') == 3 * 4
    assert page.index("A part is missing") < page.index("None of these")
    send(client, assignment, label=["1", "4"])
    page = markup(client.get(f"/work/{assignment.pk}/"))
    assert re.findall(r'name="label" value="(\d+)"[^>]*checked', page) == ["1", "4"]


def test_labels_of_a_form_without_scripts_add_up(cast, campaign):
    assignment = assignment_of(campaign, cast.worker)
    client = cast.client("worker")
    assert send(client, assignment, label=["1", "4"]).status_code == 302
    assert Rating.objects.get(rubric__slug="faults").grade == 5
    assert send(client, assignment, label=["0"]).status_code == 302
    assert Rating.objects.get(rubric__slug="faults").grade == 0
    assert send(client, assignment).status_code == 302  # nothing is ticked: no answer
    assert not Rating.objects.filter(rubric__slug="faults").exists()


def test_scripts_send_the_sum(cast, campaign):
    assignment = assignment_of(campaign, cast.worker)
    client = cast.client("worker")
    assert send(client, assignment, grade="6", spans="[]", headers=BY_SCRIPT).status_code == 204
    assert Rating.objects.get(rubric__slug="faults").grade == 6
    refused = send(client, assignment, grade="8", spans="[]", headers=BY_SCRIPT)
    assert (refused.status_code, refused.content.decode()) == (
        422,
        "The labels must be some of those on the page.",
    )


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["0", "2"], "You chose “none of these” and others. Untick one or the other."),
        (["8"], "The labels must be some of those on the page."),
        (["x"], "The labels must be some of those on the page."),
        (["-1", "2"], "The labels must be some of those on the page."),
        (["9" * 5000], "The labels must be some of those on the page."),
    ],
)
def test_labels_that_cannot_be_are_refused(cast, campaign, labels, message):
    assignment = assignment_of(campaign, cast.worker)
    response = send(cast.client("worker"), assignment, label=labels)
    assert response.status_code == 422
    assert message in markup(response)
    assert not Answer.objects.exists()


def test_labels_under_a_rubric_of_one_grade_are_no_grade(cast, db):
    study = open_study(make_locks_study(), kinds_of_facts(), [rater_of(cast.worker)])
    assignment = assignment_of(study, cast.worker)
    send(cast.client("worker"), assignment, label=["1", "2"])
    assert Answer.objects.get().grade is None


def test_wording_of_an_open_campaign_names_sets(cast, campaign):
    rubric_wording = campaign_wording(Campaign.objects.get(pk=campaign.pk))
    assert rubric_wording.label_of(3) == "A part is missing + Something is false"
    assert (rubric_wording.label_of(0), rubric_wording.label_of(None)) == ("none of these", "")
    labels = {1: "A part is missing", 2: "Something is false", 4: "It cannot be understood"}
    assert rubric_wording.labels() == labels | {0: "none of these"}


def test_further_rubric_of_labels_keeps_its_scale(cast, db):
    study = open_study(
        make_locks_study(), kinds_of_facts(), [rater_of(cast.worker)], further=[faults_of_answers()]
    )
    further = campaign_wording(Campaign.objects.get(pk=study.pk)).further["faults"]
    assert further.label_of(5) == "A part is missing + It cannot be understood"
    assignment = assignment_of(study, cast.worker)
    question = assignment.item.asked.get(position=0).question_id
    url = f"/work/{assignment.pk}/answers/{question}/faults/"
    cast.client("worker").post(url, {"key": uuid4(), "label": ["2", "4"]})
    assert Rating.objects.get(rubric__slug="faults").grade == 6
    export = {name: b"".join(lines).decode() for name, lines in files(study, anonymous=True)}
    assert "faults: label 1,en-gb,A part is missing" in export["words.csv"]


def test_attention_check_asks_for_one_label(cast, db):
    draft = Campaign.objects.create(
        dataset=make_locks_study(), rubric=faults_of_answers(), slug="draft", title="Draft"
    )
    check = add_ready_made(draft)
    assert check.expected in {0, 1, 2, 4}
    assert f"please choose “{campaign_wording(draft).label_of(check.expected)}”" in check.body


def test_sets_are_adjudicated(cast, campaign):
    for user, grade in ((cast.worker, "3"), (cast.other_worker, "6")):
        assignment = assignment_of(campaign, user)
        name = "worker" if user == cast.worker else "other_worker"
        send(cast.client(name), assignment, grade=grade, spans="[]", headers=BY_SCRIPT)
    (difference,) = differences(campaign)
    assert (difference.grades, difference.kinds) == ((3, 6), ("label",))
    assert difference.far == pytest.approx(1 - 1 / 3)  # one label of three is in both
    item, question = difference.pair
    client = cast.client("admin")
    url = f"/campaigns/faults/adjudication/{item}/{question}/"
    page = markup(client.get(url))
    assert page.count('type="checkbox" name="label"') == 4
    text = campaign.items.get(pk=item).text
    decision = {"key": uuid4(), "base": "", "note": "", "text_sha256": text.sha256}
    assert client.post(url, decision).status_code == 422
    assert client.post(url, decision | {"label": ["1", "2", "4"]}).status_code == 302
    assert Decision.objects.get().grade == 7
    page = markup(client.get("/campaigns/faults/adjudication/"))
    assert "A part is missing + Something is false" in page


def test_label_needs_highlights_where_the_rubric_says_so(cast, db):
    rubric = faults_of_answers(span_from=1)
    study = open_study(make_locks_study(), rubric, [rater_of(cast.worker)])
    assignment = assignment_of(study, cast.worker)
    client = cast.client("worker")
    quote = "nine weeks"
    span = {"start": BODY.index(quote), "end": BODY.index(quote) + len(quote), "quote": quote}
    send(client, assignment, grade="2", spans=json.dumps([span]), headers=BY_SCRIPT)
    send(client, assignment, 1, grade="2", spans="[]", headers=BY_SCRIPT)
    send(client, assignment, 2, grade="0", spans="[]", headers=BY_SCRIPT)
    page = markup(client.get(f"/work/{assignment.pk}/"))
    states = [f'data-state="{state}"' for state in ("answered", "needs-span", "absent")]
    positions = [page.index(state, page.index(f'id="q-{n}"')) for n, state in enumerate(states, 1)]
    assert positions == sorted(positions)
