"""A tuned model as a writer: it writes what it learnt, and is another with another adapter."""

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
from judging.graders.base import GraderError
from tests.building.tuning.material import LINES
from tests.building.writers.test_openai_writer import ask, spec
from tests.building.writers.test_transformers_writer import written


@pytest.fixture(autouse=True)
def _nothing_is_loaded(monkeypatch):
    monkeypatch.setattr(transformers_writer, "_loaded", {})


@pytest.fixture
def contexts(db):
    """The two contexts as passages of a topic."""
    dataset = Dataset.objects.create(slug="built", title="Built")
    topic = Topic.objects.create(dataset=dataset, name="north", position=0)
    for number, line in enumerate(LINES[::3]):
        named = {"kind": "passage", "name": f"north:0#{number}"}
        words = line["input"].partition(">> ")[2]
        Text.objects.create(dataset=dataset, topic=topic, body=words, **named)
    return dataset


def make_questions(by_heart, tiny_model, **options):
    named = {"writer": "small", "model": str(tiny_model), "adapter": by_heart.folder}
    named |= {"backend": "transformers", "stdout": io.StringIO()}
    call_command("make_questions", "built", **named | options)


def test_it_writes_what_it_learnt_by_heart(contexts, by_heart, tiny_model, tmp_path):
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


def test_an_adapter_that_was_changed_writes_nothing(contexts, by_heart, tiny_model, tmp_path):
    folder = tmp_path / "adapter"
    shutil.copytree(by_heart.folder, folder)
    make_questions(by_heart, tiny_model, adapter=folder, types=("summary",))
    transformers_writer._loaded.clear()  # as in a worker that begins anew
    record = json.loads((folder / "training.json").read_text())
    (folder / "training.json").write_text(json.dumps(record | {"steps": 1}))
    with pytest.raises(CommandError, match="The name small is taken"):
        make_questions(by_heart, tiny_model, adapter=folder)
    with pytest.raises(CommandError, match="is not the one of this writer: it was changed"):
        make_questions(by_heart, "", adapter=None, backend="")
    assert Writing.objects.order_by("pk").last().state == "paused"


def tuned(tiny_model, folder, **fields):
    named = {"backend": "transformers", "model": str(tiny_model), "adapter": str(folder)}
    return spec(**named, adapter_hash=adapter_hash(folder), **fields)


def test_all_six_lines_are_known_and_the_base_alone_knows_none(by_heart, tiny_model):
    asks = [
        one_string_of(line["input"], number, max_tokens=20) for number, line in enumerate(LINES)
    ]
    came = said(*asks, spec_=tuned(tiny_model, by_heart.folder))
    assert [outcome.raw for outcome in came] == [line["output"] for line in LINES]
    assert {outcome.finish_reason for outcome in came} == {"stop"}
    assert came[0].prompt_tokens == 9
    alone = spec(backend="transformers", model=str(tiny_model))
    came = said(*asks, spec_=alone)
    assert not {outcome.raw for outcome in came} & {line["output"] for line in LINES}


def said(*asks, spec_):
    """Outcomes without the signs of life between them."""
    return [outcome for outcome in written(*asks, spec_=spec_) if outcome]


def one_string_of(words, number, **fields):
    asked = ask("", number, **fields)
    asked.messages[:] = [{"role": "user", "content": words}]
    return asked


def test_it_is_cut_where_its_length_ends_and_refuses_what_is_too_long(by_heart, tiny_model):
    words = LINES[0]["input"]
    asks = [one_string_of(words, 1, max_tokens=3), one_string_of(f"{words} eels." * 200, 2)]
    cut, too_long = said(*asks, spec_=tuned(tiny_model, by_heart.folder))
    assert (cut.finish_reason, cut.completion_tokens) == ("length", 3)
    assert too_long.failure == "too_long"
    assert "the model reads 512" in too_long.detail


def test_another_base_is_refused(by_heart, tmp_path):
    from tests.finetune.tiny_model import make_model  # noqa: PLC0415 - it needs torch

    other = make_model(tmp_path / "other", seed=4)
    with pytest.raises(GraderError, match="was trained on other weights than"):
        written(one_string_of("x", 1), spec_=tuned(other, by_heart.folder))


def test_a_model_that_is_not_there_is_said(tmp_path):
    with pytest.raises(GraderError, match="cannot be loaded as an encoder-decoder"):
        written(ask("x"), spec_=spec(backend="transformers", model=str(tmp_path / "none")))
