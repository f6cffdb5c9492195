"""Making writers, and choosing what writes for them, where this machine has what it needs."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug

from annotation.unique import check_again_if_taken
from building.models import Writer, Writing
from building.tuning.adapter import adapter_hash
from building.tuning.refusals import TuningRefused
from building.writers.base import WriterAtWork
from building.writers.extractive_writer import ExtractiveWriter
from building.writers.openai_writer import OpenAIWriter
from building.writers.spec import EXTRACTIVE
from building.writers.transformers_writer import TransformersWriter
from building.writers.vllm_writer import VllmWriter
from building.writing.tasks import TASKS, check_prompt
from building.writing.typed_line import PROMPT
from building.writing.wording import Wording, read
from evaluation.data.selection import one_of
from judging.engine import states
from judging.engine.choosing import addresses_of

EXTRACTIVE_MODEL = "sentences of the source, picked by rule"


class WriterRefused(ValueError):
    """A writer that cannot be made; the message can be shown to a person."""


def writer_as(slug: str, **fields: Any) -> Writer:
    """The writer of this name where nothing in it is different, or else a new one, which is not stored yet.

    `fields` are those of Writer; a prompt is the task's own where none is given. Raises WriterRefused for
    a prompt or a name that cannot be used, and if a writer of another name is the same.
    """
    task = TASKS[fields["task"]]
    _check_name(slug)
    writer = Writer(slug=slug, **fields)
    if not writer.spec.is_extractive:
        if not writer.prompt:
            writer.prompt, writer.system = task.prompt, writer.system or task.system
        if problems := check_prompt(task, writer.prompt, writer.system):
            raise WriterRefused(" ".join(problems))
    fingerprint = writer.spec.fingerprint
    if there := Writer.objects.filter(fingerprint=fingerprint, slug=slug).first():
        return there
    _check_new(fingerprint, slug)
    return writer


def _check_new(fingerprint: str, slug: str) -> None:
    if there := Writer.objects.filter(fingerprint=fingerprint).first():
        raise WriterRefused(_is_there(there))
    if Writer.objects.filter(slug=slug).exists():
        raise WriterRefused(f"The name {slug} is taken: writers never change, so choose another.")


def writer_called(
    task: str,
    slug: str,
    model: str = "",
    prompt: Path | None = None,
    backend: str = "",
    revision: str = "",
    adapter: Path | None = None,
) -> Writer:
    """The writer that is meant: the baseline, one by its name, or one of a model.

    A new one, where a model is given for it, is not stored yet, and asks a server where no backend is
    given. `prompt` is a file with its wording, `adapter` the folder of what was trained on top of the model.
    Raises WriterRefused, SelectionError, PromptBroken, OSError, UnicodeDecodeError.
    """
    of_new = {"Where a model runs": backend, "A revision": revision, "A prompt": prompt}
    for what, given in {**of_new, "An adapter": adapter}.items():
        if given and not model:
            raise WriterRefused(f"{what} is a new writer's: say which model it asks, too.")
    if model and not slug:
        raise WriterRefused("A model is asked by a writer: give the writer a name, too.")
    if not slug:
        return baseline_of(task)
    if model:
        wording = _wording(task, prompt, adapter)
        return writer_as(
            slug,
            task=task,
            backend=backend or Writer.Backend.OPENAI,
            model=model,
            revision=revision,
            system=wording.system,
            prompt=wording.prompt,
            sampling=asdict(TASKS[task].sampling),
            **_of_adapter(adapter, backend),
        )
    names = Writer.objects.filter(task=task).values_list("slug", flat=True)
    return Writer.objects.get(slug=one_of(f"writer of {task}", slug, names))


def _wording(task: str, prompt: Path | None, adapter: Path | None) -> Wording:
    """What a file says; else the string that a model was tuned on, or the task's own words."""
    if prompt:
        return read(prompt.read_text(encoding="utf-8"))
    return Wording("", PROMPT) if adapter and task == "pairs" else TASKS[task].wording


def _of_adapter(folder: Path | None, backend: str) -> dict[str, str]:
    """Raises WriterRefused for a folder that holds none."""
    if folder is None:
        return {}
    if backend != Writer.Backend.TRANSFORMERS:
        raise WriterRefused(
            "An adapter is loaded by transformers in process: --backend transformers."
        )
    path = str(folder.resolve())
    if len(path) > (most := Writer._meta.get_field("adapter").max_length or 0):
        raise WriterRefused(f"The path of an adapter has at most {most} characters.")
    try:
        return {"adapter": path, "adapter_hash": adapter_hash(folder)}
    except TuningRefused as error:
        raise WriterRefused(str(error)) from None


def make_writer(slug: str, **fields: Any) -> Writer:
    """Store a new writer. Raises WriterRefused as `writer_as` does, and if this very one is there."""
    writer = writer_as(slug, **fields)
    if writer.pk:
        raise WriterRefused(_is_there(writer))
    return stored(writer)


def stored(writer: Writer) -> Writer:
    """The writer, stored if it is not. Raises WriterRefused where somebody was quicker."""
    if not writer.pk:
        with check_again_if_taken(partial(_check_new, writer.spec.fingerprint, writer.slug)):
            writer.save(force_insert=True)
    return writer


def _check_name(slug: str) -> None:
    try:
        validate_slug(slug)
    except ValidationError:
        raise WriterRefused(f"{slug}: letters, digits, - and _ alone make a name.") from None
    if len(slug) > (most := Writer._meta.get_field("slug").max_length or 0):
        raise WriterRefused(f"The name of a writer has at most {most} characters.")
    if slug.startswith(f"{EXTRACTIVE}-"):
        raise WriterRefused(f"Names that begin with {EXTRACTIVE}- are those of baselines.")


def _is_there(writer: Writer) -> str:
    return f"This is the writer {writer}: nothing in it is different."


def baseline_of(task: str) -> Writer:
    """The baseline that writes without a model, made if it is not there."""
    writer, _ = Writer.objects.get_or_create(
        slug=f"{EXTRACTIVE}-{task}",
        defaults={"task": task, "backend": EXTRACTIVE, "model": EXTRACTIVE_MODEL},
    )
    return writer


def at_work(run: Writing) -> WriterAtWork:
    """What writes for a run. Raises GraderError for an endpoint that is not known here."""
    spec = run.writer.spec
    if spec.is_extractive:
        return ExtractiveWriter()
    if run.writer.backend == Writer.Backend.VLLM:
        return VllmWriter(spec, engine_args=settings.JUDGE_VLLM_ARGS, in_flight=run.concurrency)
    if run.writer.backend == Writer.Backend.TRANSFORMERS:
        return TransformersWriter(spec)
    return OpenAIWriter(
        spec,
        addresses_of(run.endpoint),
        on_aside=partial(states.put_server_aside, run),
        concurrency=run.concurrency,
    )
