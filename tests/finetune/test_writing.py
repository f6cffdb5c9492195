"""Tuned model as a writer: memorized output, and identity by adapter."""

import io
import json
import shutil

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Dataset, Text, Topic
from building.models import Draft, Writer, Writing
from building.tuning.adapter import adapter_hash
from building.writers import transformers_writer
from crux_site.imports.importing import import_dataset
from judging.llm.errors import BackendError
from tests.toolbox.training_lines import LINES
from tests.toolbox.writer_requests import ask, transformers_outcomes, writer_spec


@pytest.fixture(autouse=True)
def _nothing_is_loaded(monkeypatch):
    monkeypatch.setattr(transformers_writer, "_loaded", {})


@pytest.fixture
def contexts(db):
    """The two contexts as passages of a topic."""
    dataset = Dataset.objects.create(slug="built", title="Built")
    topic = Topic.objects.create(dataset=dataset, name="north", position=0)
    for number, line in enumerate(LINES[::3]):
        fields = {"kind": "passage", "name": f"north:0#{number}"}
        context = line["input"].partition(">> ")[2]
        Text.objects.create(dataset=dataset, topic=topic, body=context, **fields)
    return dataset


def make_questions(by_heart, tiny_model, **options):
    defaults = {"writer": "small", "model": str(tiny_model), "adapter": by_heart.folder}
    defaults |= {"backend": "transformers", "stdout": io.StringIO()}
    call_command("make_questions", "built", **defaults | options)


def test_tuned_model_reproduces_its_training_lines(contexts, by_heart, tiny_model, tmp_path):
    out, lines = tmp_path / "pairs.jsonl", tmp_path / "lines.jsonl"
    make_questions(by_heart, tiny_model, accept_all=True, out=out)
    drafts = Draft.objects.order_by("order__number").values_list("raw", flat=True)
    assert list(drafts) == [line["output"] for line in LINES]
    writer = Writer.objects.get()
    assert (writer.backend, writer.adapter_hash) == ("transformers", by_heart.record["adapter"])
    # Its pairs come in like anybody's, and go out as the lines that it was trained on.
    import_dataset(out, "pairs", form="qac")
    call_command("export_dataset", "pairs", "--format", "t5", "--out", str(lines))
    assert [json.loads(line) for line in lines.read_text().splitlines()] == LINES


def test_adapter_that_was_changed_writes_nothing(contexts, by_heart, tiny_model, tmp_path):
    folder = tmp_path / "adapter"
    shutil.copytree(by_heart.folder, folder)
    make_questions(by_heart, tiny_model, adapter=folder, types=("summary",))
    transformers_writer._loaded.clear()  # as in a worker that begins again
    record = json.loads((folder / "training.json").read_text())
    (folder / "training.json").write_text(json.dumps(record | {"steps": 1}))
    with pytest.raises(CommandError, match="The name small is taken"):
        make_questions(by_heart, tiny_model, adapter=folder)
    with pytest.raises(CommandError, match="is not the one of this writer: it was changed"):
        make_questions(by_heart, "", adapter=None, backend="")
    assert Writing.objects.order_by("pk").last().state == "paused"


def tuned(tiny_model, folder, **fields):
    fields_of_model = {"backend": "transformers", "model": str(tiny_model), "adapter": str(folder)}
    return writer_spec(**fields_of_model, adapter_hash=adapter_hash(folder), **fields)


def test_all_six_lines_are_known_and_the_base_alone_knows_none(by_heart, tiny_model):
    asks = [
        one_string_of(line["input"], number, max_tokens=20) for number, line in enumerate(LINES)
    ]
    outcomes = outcomes_of(*asks, spec_=tuned(tiny_model, by_heart.folder))
    assert [outcome.raw for outcome in outcomes] == [line["output"] for line in LINES]
    assert {outcome.finish_reason for outcome in outcomes} == {"stop"}
    assert outcomes[0].prompt_tokens == 9
    untuned = writer_spec(backend="transformers", model=str(tiny_model))
    outcomes = outcomes_of(*asks, spec_=untuned)
    assert not {outcome.raw for outcome in outcomes} & {line["output"] for line in LINES}


def outcomes_of(*asks, spec_):
    """Outcomes without the signs of life between them."""
    return [outcome for outcome in transformers_outcomes(*asks, spec_=spec_) if outcome]


def one_string_of(text, number, **fields):
    request = ask("", number, **fields)
    request.messages[:] = [{"role": "user", "content": text}]
    return request


def test_output_is_truncated_and_overlong_input_refused(by_heart, tiny_model):
    prompt = LINES[0]["input"]
    asks = [one_string_of(prompt, 1, max_tokens=3), one_string_of(f"{prompt} eels." * 200, 2)]
    cut, too_long = outcomes_of(*asks, spec_=tuned(tiny_model, by_heart.folder))
    assert (cut.finish_reason, cut.completion_tokens) == ("length", 3)
    assert too_long.failure == "too_long"
    assert "the model reads 512" in too_long.detail


def test_adapter_on_another_base_is_refused(by_heart, tmp_path):
    from tests.finetune.tiny_model import make_model  # noqa: PLC0415 - it needs torch

    second = make_model(tmp_path / "other", seed=4)
    with pytest.raises(BackendError, match="was trained on other weights than"):
        transformers_outcomes(one_string_of("x", 1), spec_=tuned(second, by_heart.folder))


def test_model_that_is_not_there_is_said(tmp_path):
    with pytest.raises(BackendError, match="cannot be loaded as an encoder-decoder"):
        transformers_outcomes(
            ask("x"), spec_=writer_spec(backend="transformers", model=str(tmp_path / "none"))
        )
