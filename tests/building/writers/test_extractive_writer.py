"""The baseline as a writer, and what makes a writer another one."""

from dataclasses import replace

import pytest

from building.engine.choosing import WriterError, baseline_of, make_writer
from building.models import Writer
from building.writers.base import Ask
from building.writers.extractive_writer import ExtractiveWriter
from building.writers.spec import WriterSpec
from building.writing.tasks import TASKS, Source
from judging.grading.spec import STAND_IN
from judging.llm.sampling import Sampling
from judging.models import ImmutableError
from tests.toolbox.document_texts import DOCUMENT
from tests.toolbox.generation_runs import PROMPTS, a_writer


def outcome(task: str, source: Source):
    ask = Ask(1, 1, TASKS[task], source, [], 0, 1)
    (only,) = ExtractiveWriter().outcomes(iter([ask]))
    return only


@pytest.mark.parametrize("task", ["passages", "request", "questions"])
def test_baseline_reply_parses_into_the_task(task):
    source = Source(document=DOCUMENT, n=2)
    result = outcome(task, source)
    assert (result.failure, result.finish_reason, result.prompt_tokens) == ("", "stop", 0)
    written = TASKS[task].read(result.raw, result.finish_reason, source)
    assert written.failure is None
    assert written.products


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("source", [Source(), Source(document=" \n"), Source(request="What?")])
def test_from_nothing_it_refuses(task, source):
    result = outcome(task, source)
    assert TASKS[task].read(result.raw, result.finish_reason, source).failure == "refused"


SPEC = WriterSpec("questions", "openai", "m", sampling=Sampling(0.7, 0.95, 600))


@pytest.mark.parametrize(
    "change",
    [
        {"task": "request"},
        {"backend": "extractive"},
        {"backend": "vllm"},
        {"template_hash": "0" * 64},
        {"model": "n"},
        {"revision": "2"},
        {"system": " "},
        {"prompt": "x"},
        {"sampling": Sampling(0.7, 0.95, 601)},
    ],
)
def test_changed_field_changes_the_fingerprint(change):
    assert replace(SPEC, **change).fingerprint != SPEC.fingerprint
    assert replace(SPEC).fingerprint == SPEC.fingerprint


def test_writers_of_before_templates_were_pinned_are_the_same():
    assert SPEC.fingerprint == "bd666243fba52cfec0f16138a9090ef13b247544cc8a7acc3d7d6f2f1bacd2cf"


@pytest.mark.django_db
def test_writer_never_changes():
    writer = a_writer()
    writer.model = "other"
    with pytest.raises(ImmutableError, match="cannot be changed"):
        writer.save()
    assert Writer.objects.get().spec.fingerprint == writer.fingerprint


@pytest.mark.django_db
def test_baseline_is_one_and_is_called_so():
    assert baseline_of("questions") == baseline_of("questions")
    assert baseline_of("questions").title == "extractive-questions (baseline)"
    assert a_writer(slug="s", model=STAND_IN).title == "s (baseline)"
    assert a_writer(slug="m", model="m").title == "m"


@pytest.mark.django_db
def test_writer_without_a_prompt_has_the_tasks_own():
    writer = make_writer("own", task="questions", backend="openai", model="m")
    assert writer.prompt == TASKS["questions"].prompt
    assert writer.system == TASKS["questions"].system
    second = make_writer("two", task="questions", backend="openai", model="m", system="Mine.")
    assert second.system == "Mine."


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("slug", "fields", "message"),
    [
        ("w", {"prompt": "{request}"}, "does not show the document"),
        ("w", {"prompt": PROMPTS["questions"], "system": "{nobody}"}, "not a placeholder"),
        ("w w", {}, "letters, digits"),
        ("", {}, "letters, digits"),
        ("x" * 121, {}, "at most 120"),
        ("extractive-w", {}, "are those of baselines"),
        ("there", {"model": "other"}, "The name there is taken"),
        ("again", {"model": "m"}, "The writer there has exactly the same settings"),
    ],
)
def test_invalid_writer_is_refused(slug, fields, message):
    make_writer("there", task="questions", backend="openai", model="m")
    with pytest.raises(WriterError, match=message):
        make_writer(slug, **{"task": "questions", "backend": "openai", "model": "n"} | fields)
    assert Writer.objects.count() == 1
