"""Round trip of provenance through files: origins, writers and drafts."""

import json
import shutil

import pytest
from django.urls import reverse

from annotation.formats.summary import DatasetImportError
from annotation.models import Dataset, Text
from building.engine.review import accept, reject
from building.engine.sources import source_of
from building.engine.storing import store
from building.engine.writings import messages_of
from building.formats.written import NOTE
from building.models import Draft, Order, Product, Writer, Writing
from building.run_creation import make_run
from building.steps import RecipeContext
from building.writers.base import Ask, Outcome
from building.writing.tasks import TASKS
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from evaluation.models import RetrievalRun
from tests.toolbox.document_texts import DOCUMENT, sample_text
from tests.toolbox.generation_runs import (
    REQUEST,
    a_writer,
    in_tags,
    make_collection,
    products,
    questions,
    started,
)
from tests.toolbox.import_study import contents, empty_database, fingerprint
from tests.toolbox.responses import markup

pytestmark = pytest.mark.django_db
REPORT = f"{sample_text(30)[:-1]} [1]. {sample_text(30, 700)[:-1]} [9]."
OURS = {"origins.jsonl", "writers.jsonl", "written.jsonl"}


def written(task, dataset, *replies, fields=None, **spec):
    """Return the outputs of these replies, one per order, of a writer named after its task."""
    run = started(a_writer(task, f"w-{task}", **fields or {}), dataset, spec=spec)
    for order, raw in zip(run.orders.order_by("number"), replies, strict=False):
        source = source_of(order.topic, order.document, order.inputs)
        ask = Ask(order.pk, 1, TASKS[task], source, messages_of(run.writer, source), 0, 1)
        store(Outcome(ask, raw=raw, finish_reason="stop", prompt_tokens=7), "here:1")
    return products(run)


@pytest.fixture
def built(cast) -> Dataset:
    """A collection with an accepted passage, question and report, and rejected ones."""
    dataset = make_collection("a")
    quoted = " ".join(DOCUMENT.split()[:45])
    first, second, third = written(
        "passages", dataset, in_tags("p", quoted, sample_text(50), sample_text(60, 500)), n=3
    )
    accept(first, cast.admin)
    accept(second, cast.admin, f"Edited. {second.body}")
    reject(third, cast.admin)
    [request] = written("request", dataset, in_tags("r", REQUEST))
    accept(request, None, unseen=True)
    accepted, _, _ = written("questions", dataset, questions(1, 2, 3), n=3)
    accept(accepted, cast.admin)
    make_run(dataset, "lr", "bm25(b=0.5) % 5", RecipeContext(dataset))
    [report] = written("report", dataset, REPORT, run="lr")
    accept(report, cast.admin)
    return dataset


def rows(folder, name):
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def test_collection_comes_back_with_how_it_came_about(tmp_path, built, cast):
    summary = export_folder(built, tmp_path / "first")
    assert set(summary.files) >= OURS
    assert summary.left_out == {"things written that nobody has decided about": 2}
    before = fingerprint()
    same = import_dataset(tmp_path / "first", "built")
    assert fingerprint() == before
    assert not same.changed

    empty_database()
    Writer.objects.all().delete()
    import_dataset(tmp_path / "first", "built")
    imported = Dataset.objects.get(slug="built")
    export_folder(imported, tmp_path / "second")
    assert contents(tmp_path / "second") == contents(tmp_path / "first")

    expected = fingerprint()
    assert not import_dataset(tmp_path / "first", "built").changed
    assert fingerprint() == expected
    assert RetrievalRun.objects.get().origin["from_file"] is True
    decisions = Product.objects.order_by("draft__order__writer__slug", "position")
    assert list(decisions.values_list("draft__order__writer__slug", "decision")) == [
        ("w-passages", "accepted"),
        ("w-passages", "edited"),
        ("w-passages", "rejected"),
        ("w-questions", "accepted"),
        ("w-report", "accepted"),
        ("w-request", "accepted"),
    ]
    passage = Text.objects.get(name="a:0#0")
    assert passage.written_as.draft.order.writer.slug == "w-passages"
    assert passage.document.body[passage.start : passage.end] == passage.body
    order = Order.objects.get(writer__slug="w-report")
    assert Text.objects.get(pk=order.inputs["passages"][0]).name.startswith("a:0#")
    assert Draft.objects.get(order=order).raw == REPORT


@pytest.mark.parametrize(
    "fields",
    [
        {"backend": "vllm", "template_hash": "1" * 64},
        {"backend": "transformers", "adapter": "/adapters/mill", "adapter_hash": "2" * 64},
    ],
    ids=["template", "adapter"],
)
def test_writer_comes_back_with_all_that_makes_it(fields, tmp_path, cast):
    dataset = make_collection("a")
    [question] = written("questions", dataset, questions(1), n=1, fields=fields)
    accept(question, cast.admin)
    export_folder(dataset, tmp_path / "first")
    [row] = rows(tmp_path / "first", "writers.jsonl")
    assert row.items() >= fields.items()
    empty_database()
    Writer.objects.all().delete()
    import_dataset(tmp_path / "first", "built")
    imported = Writer.objects.get()
    assert {name: getattr(imported, name) for name in fields} == fields
    export_folder(Dataset.objects.get(), tmp_path / "second")
    assert contents(tmp_path / "second") == contents(tmp_path / "first")


def test_imported_run_is_marked_and_not_written_again(tmp_path, built, cast):
    export_folder(built, tmp_path / "out")
    empty_database()
    import_dataset(tmp_path / "out", "built")
    client = cast.client("researcher")
    page = markup(client.get(reverse("run_provenance", args=["built", "lr"])))
    assert "Imported from a file. Recipe in the file: " in page
    assert "bm25(b=0.5) % 5" in page
    for writing in Writing.objects.all():
        assert NOTE in markup(client.get(writing.get_absolute_url()))
        assert client.get(reverse("building", args=["built"])).status_code == 200
        review = reverse("writing_review", args=["built", writing.pk])
        assert cast.client("admin").get(review, follow=True).status_code == 200
    order = Order.objects.get(writer__slug="w-questions")
    source = source_of(order.topic, None, order.inputs)
    assert "Aurora" in source.document


def test_output_that_exists_here_too_stays_and_is_reported(tmp_path, built):
    export_folder(built, tmp_path / "out")
    file = tmp_path / "out" / "written.jsonl"
    lines = rows(tmp_path / "out", "written.jsonl")
    lines[0]["draft"]["number"] = 2
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    before = fingerprint()
    summary = import_dataset(tmp_path / "out", "built")
    assert fingerprint() == before
    assert summary.n_differences == 1


def changed(name, field, value):
    def change(line):
        *path, last = field.split(".")
        for key in path:
            line = line[int(key) if key.isdecimal() else key]
        line[last] = value

    return name, change


BROKEN = [
    (changed("origins.jsonl", "run", "gone"), "run", "there is no run 'gone'"),
    (changed("origins.jsonl", "recipe", "bm25 %"), "recipe", "a whole number from 1"),
    (changed("origins.jsonl", "origin.requests", "x"), "fingerprint", "is not that of these"),
    (changed("origins.jsonl", "origin.steps.0.k1", 2), "fingerprint", "is not that of these"),
    (changed("origins.jsonl", "origin.steps.0.k1", "\0"), "origin.steps.0.k1", "NUL"),
    (changed("origins.jsonl", "origin.seconds", "1"), "origin.seconds", "number"),
    (changed("origins.jsonl", "origin.steps", []), "origin.steps", "at least 1"),
    (
        changed("writers.jsonl", "prompt", "Another."),
        "fingerprint",
        "is not that of this writer",
    ),
    (changed("writers.jsonl", "task", "poem"), "task", "is none of passages"),
    (changed("writers.jsonl", "writer", "a b"), "writer", "match pattern"),
    (changed("writers.jsonl", "sampling.top_p", "1"), "sampling.top_p", "is no number"),
    (changed("written.jsonl", "writer", "nobody"), "writer", "there is no writer 'nobody'"),
    (changed("written.jsonl", "topic", "z"), "topic", "topic 'z' is not in the dataset"),
    (changed("written.jsonl", "document", "a:9"), "document", "'a:9' is not in the dataset"),
    (
        changed("written.jsonl", "document", None),
        "document",
        "is what passages are written from",
    ),
    (changed("written.jsonl", "message", "x"), "message", "match pattern"),
    (changed("written.jsonl", "draft.number", 0), "draft.number", "greater than or equal to 1"),
    (changed("written.jsonl", "products.0.decision", "proposed"), "decision", "is none of"),
    (changed("written.jsonl", "products.0.edited", "x"), "edited", "of what was edited"),
    (
        changed("written.jsonl", "products.0.decided", "2026-01-01T00:00"),
        "products.0.decided",
        "time zone",
    ),
    (changed("written.jsonl", "products.0.decided", "soon"), "products.0.decided", "isoformat"),
    (changed("written.jsonl", "products.0.text.name", "a:7#7"), "text", "'a:7#7' is not in"),
    (
        changed("written.jsonl", "products.0.text.name", "a:0#1"),
        "text",
        "something else became",
    ),
    (changed("written.jsonl", "products.0.question", 7), "question", "a has no question 7"),
    (
        changed("written.jsonl", "products.0.statements", [[0, 9_999, []]]),
        "statements",
        "are parts",
    ),
    (changed("written.jsonl", "products.1.position", 0), "products", "two have one position"),
    (changed("passages.jsonl", "document", "a:9"), "document", "'a:9' is not in the dataset"),
    (changed("passages.jsonl", "end", 99_999), "start", "is no part of"),
    (changed("passages.jsonl", "end", None), "start", "come together"),
    (changed("passages.jsonl", "start", 0), "start", "the document has other words there"),
]


def test_line_that_is_wrong_is_named_and_nothing_is_changed(tmp_path, built, subtests):
    export_folder(built, tmp_path / "whole")
    empty_database()
    Writer.objects.all().delete()
    for number, ((name, change), field, message) in enumerate(BROKEN):
        with subtests.test(field=field, says=message):
            folder = shutil.copytree(tmp_path / "whole", tmp_path / str(number))
            lines = rows(folder, name)
            change(lines[0])
            (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
            with pytest.raises(DatasetImportError) as raised:
                import_dataset(folder, "built")
            problem = raised.value.problems[0]
            assert (problem.file, problem.line, problem.field) == (name, 1, field), problem
            assert message in problem.message
            assert not Dataset.objects.exists()
            assert not Writer.objects.exists()
