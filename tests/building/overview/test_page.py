"""The steps on one page: how much there is, what is missing, what waits."""

import pytest

from annotation.models import Dataset, SubQuestion, Text
from building.overview.page import steps
from tests.toolbox.generation_pages import ROOT, SCRIPT, a_writing
from tests.toolbox.generation_runs import add_run, make_collection
from tests.toolbox.responses import markup

pytestmark = pytest.mark.django_db


def of(dataset):
    return {step.name: (step.n, step.missing, step.waiting) for step in steps(dataset)}


def test_empty_dataset_has_zero_counts(cast):
    Dataset.objects.create(slug="built", title="Empty")
    response = cast.client("admin").get(ROOT)
    assert {step.n for step in response.context["steps"]} == {0}
    assert {step.missing for step in response.context["steps"]} == {""}
    assert "There are no generation runs." in markup(response)


def test_steps_report_what_is_missing():
    dataset = make_collection("a", "b", "c")
    add_run(dataset, n=1)
    a = dataset.topics.get(name="a")
    Text.objects.filter(name="a:0#0").update(document=a.documents.get())
    Text.objects.create(dataset=dataset, topic=a, kind="passage", name="wordless")
    Text.objects.create(
        dataset=dataset, topic=a, kind="report", system="s", name="a", body="A report."
    )
    dataset.topics.filter(name="b").update(request="What?")
    SubQuestion.objects.create(topic=a, position=0, body="Who?")
    SubQuestion.objects.create(topic=a, position=1, body="", filtered_because="no words")
    assert of(dataset) == {
        "documents": (3, "", 0),
        "passages": (3, "2 documents have no passage", 0),
        "requests": (1, "2 topics have no request", 0),
        "sub-questions": (1, "2 topics have no sub-question", 0),
        "grades of passages by judges": (0, "", 0),
        "questions filtered": (0, "", 0),
        "retrieval runs": (1, "", 0),
        "reports": (1, "", 0),
        "typed questions with answers": (0, "", 0),
    }


def test_open_outputs_are_counted_here_and_at_their_run(cast):
    run = a_writing("questions")
    assert of(run.dataset)["sub-questions"] == (0, "2 topics have no sub-question", 20)
    page = markup(cast.client("researcher").get(ROOT))
    assert f'<a href="{ROOT}writings/{run.pk}/review/">20</a>' in page
    assert "(baseline)" in page
    assert "new-writing" not in page
    assert f"{ROOT}new-writing/questions/" in markup(cast.client("admin").get(ROOT))


def test_reports_of_both_kinds_wait_at_one_step():
    run = a_writing("report")
    assert of(run.dataset)["reports"] == (0, "", 2)


def test_other_datasets_are_not_counted():
    a_writing("questions", make_collection(slug="other"))
    dataset = make_collection()
    assert of(dataset)["sub-questions"] == (0, "2 topics have no sub-question", 0)


def test_names_are_words_and_no_markup(cast):
    dataset = make_collection(SCRIPT)
    Dataset.objects.update(title=SCRIPT)
    a_writing("questions", dataset)
    assert SCRIPT not in cast.client("admin").get(ROOT).content.decode()
