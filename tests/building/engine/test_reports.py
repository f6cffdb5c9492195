"""Reports in the collection: of which system, and with which citations."""

import pytest

from annotation.models import Citation, Text
from building.engine import writings
from building.engine.choosing import baseline_of
from building.engine.generation_spec import GenerationSpec, SpecError
from building.engine.review import ReviewError, accept
from building.models import Product
from tests.toolbox.generation_runs import a_writer, add_run, make_collection, started, store_replies

pytestmark = pytest.mark.django_db
# Passages of the context are [1] a:0#0, [2] a:0#1 and [3] a:0#2.
REPLY = (
    "The ferry lost its steering in March [1]. Nobody was hurt on board [2][7]. "
    "The company had ordered new seals, and they never came [1, 3]. It was a long night for all."
)


@pytest.fixture
def dataset():
    dataset = make_collection("a", request="What happened?")
    add_run(dataset)
    return dataset


def reported(dataset, reply=REPLY, task="report", **spec):
    spec = spec or {"run": "bm25"}
    return store_replies(started(a_writer(task), dataset, spec=spec), reply)


def cited(text):
    """(words of the statement, label, name of what it cites) in order."""
    rows = text.citations.order_by("position").select_related("cited")
    return [(text.body[c.start : c.end], c.label, c.cited.name if c.cited else None) for c in rows]


def test_citations_are_kept_as_written_and_those_of_nothing_too(dataset):
    (product,) = reported(dataset)
    accept(product, None)
    report = Text.objects.get(kind="report")
    assert (report.system, report.name, report.topic.name) == ("writer.bm25", "a", "a")
    assert "[" not in report.body
    assert cited(report) == [
        ("The ferry lost its steering in March.", "1", "a:0#0"),
        ("Nobody was hurt on board.", "2", "a:0#1"),
        ("Nobody was hurt on board.", "7", None),
        ("The company had ordered new seals, and they never came.", "1", "a:0#0"),
        ("The company had ordered new seals, and they never came.", "3", "a:0#2"),
    ]
    assert Citation.objects.exclude(cited=None).count() == 4


def test_edited_report_keeps_what_its_unchanged_sentences_cite(dataset):
    (product,) = reported(dataset)
    body = product.body.replace("Nobody was hurt on board.", "All were well.")
    accept(product, None, f"To begin with: {body}")
    report = Text.objects.get(kind="report")
    # The first sentence stands within another now, and is still there word for word.
    assert [(quote, label) for quote, label, _ in cited(report)] == [
        ("The ferry lost its steering in March.", "1"),
        ("The company had ordered new seals, and they never came.", "1"),
        ("The company had ordered new seals, and they never came.", "3"),
    ]


def test_passages_that_are_called_by_numbers_are_cited_by_their_place(dataset):
    """A context is numbered from 1, whatever its passages are called."""
    for index, name in ((0, "2"), (1, "1")):
        Text.objects.filter(name=f"a:0#{index}").update(name=name)
    (product,) = reported(dataset)
    accept(product, None)
    by_label = {label: name for _, label, name in cited(Text.objects.get(kind="report"))}
    assert by_label == {"1": "2", "2": "1", "3": "a:0#2", "7": None}


def test_report_of_the_request_alone_is_of_its_writer_and_cites_nothing(dataset):
    (product,) = reported(dataset, REPLY.replace("[", "(").replace("]", ")"), "direct", length="")
    accept(product, None)
    report = Text.objects.get(kind="report")
    assert (report.system, report.name) == ("writer", "a")
    assert cited(report) == []


def test_system_has_one_report_per_topic(dataset):
    run = started(a_writer("report"), dataset, spec={"run": "bm25", "k": "1"})
    (first,) = store_replies(run, REPLY)
    run.orders.all()
    type(run).objects.update(state="finished")
    (second,) = store_replies(started(run.writer, dataset, spec={"run": "bm25", "k": "2"}), REPLY)
    accept(first, None)
    with pytest.raises(ReviewError, match=r"a already has a report of writer\.bm25"):
        accept(second, None)
    assert Product.objects.get(pk=second.pk).is_open


def test_other_lengths_of_a_run_are_reports_of_a_system_of_their_own(dataset):
    run = started(a_writer("report"), dataset, spec={"run": "bm25", "k": "1"})
    (first,) = store_replies(run, REPLY)
    accept(first, None)
    type(run).objects.update(state="finished")
    spec = GenerationSpec(run="bm25", k="2")
    plan = writings.plan(run.writer, dataset, spec).in_words()
    assert "1 left out: the system already has a report: name another system" in plan
    named_spec = {"run": "bm25", "k": "2", "system": "short.k2"}
    (second,) = store_replies(started(run.writer, dataset, spec=named_spec), REPLY)
    accept(second, None)
    systems = Text.objects.filter(kind="report").order_by("pk").values_list("system", "name")
    assert list(systems) == [("writer.bm25", "a"), ("short.k2", "a")]


@pytest.mark.parametrize(
    ("task", "system", "message"),
    [
        ("report", "two words", "may have letters, digits and .* not “two words”"),
        ("report", "s" * 121, "longer than 120 characters: enter a shorter one"),
        ("questions", "mine", "Only reports have a system"),
    ],
)
def test_invalid_system_name_is_refused(dataset, task, system, message):
    with pytest.raises(SpecError, match=message):
        writings.plan(a_writer(task), dataset, GenerationSpec(run="bm25", system=system))


def test_system_of_a_baseline_has_its_name(dataset):
    baseline = baseline_of("report")
    with pytest.raises(SpecError, match=r"must begin with “extractive-report\.”"):
        writings.plan(baseline, dataset, GenerationSpec(run="bm25", system="gpt"))
    spec = GenerationSpec(run="bm25", system="extractive-report.k2")
    assert len(writings.plan(baseline, dataset, spec).orders) == 1


def test_samples_are_reports_of_names_of_their_own(dataset):
    for product in store_replies(
        started(a_writer("report"), dataset, spec={"run": "bm25", "samples": 2}), REPLY, REPLY
    ):
        accept(product, None)
    names = Text.objects.filter(kind="report").order_by("name").values_list("name", flat=True)
    assert list(names) == ["a", "a#1"]


def test_offsets_are_code_points_and_fit_the_body(dataset):
    reply = REPLY.replace("steering", "steering 👩‍🚒🇳🇴 é\u0301").replace(". ", ".\n\n")
    (product,) = reported(dataset, reply)
    accept(product, None)
    report = Text.objects.get(kind="report")
    first = cited(report)[0][0]
    assert first.startswith("The ferry lost its steering 👩‍🚒🇳🇴 é\u0301 in March")
    for start, end, _ in product.statements:
        assert report.body[start:end].strip() == report.body[start:end] != ""
