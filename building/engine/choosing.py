"""Create writers, and choose the backend that runs them on this machine."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug

from annotation.errors import UserError
from annotation.unique import check_again_if_taken
from building.models import Writer, Writing
from building.tuning.adapter import adapter_hash
from building.writers.base import WriterBackend
from building.writers.extractive_writer import ExtractiveWriter
from building.writers.openai_writer import OpenAIWriter
from building.writers.spec import EXTRACTIVE
from building.writers.transformers_writer import TransformersWriter
from building.writers.vllm_writer import VllmWriter
from building.writing.prompt_files import PromptText, read
from building.writing.tasks import TASKS, check_prompt
from building.writing.typed_line import PROMPT
from evaluation.data.selection import one_of
from judging.engine.grader_choice import addresses_of
from judging.execution import states

EXTRACTIVE_MODEL = "sentences of the source, picked by rule"


class WriterError(UserError):
    """A writer that cannot be created; the message can be shown to a person."""


def writer_as(slug: str, **fields: Any) -> Writer:
    """Return the identical writer of this name, or a new unsaved one.

    `fields` are those of Writer; a prompt is the task's own where none is given. Raises WriterError for
    a prompt or a name that cannot be used, and if a writer of another name is the same.
    """
    task = TASKS[fields["task"]]
    _check_name(slug)
    writer = Writer(slug=slug, **fields)
    if not writer.spec.is_extractive:
        if not writer.prompt:
            writer.prompt, writer.system = task.prompt, writer.system or task.system
        if problems := check_prompt(task, writer.prompt, writer.system):
            raise WriterError(" ".join(problems))
    fingerprint = writer.spec.fingerprint
    if existing := Writer.objects.filter(fingerprint=fingerprint, slug=slug).first():
        return existing
    _check_new(fingerprint, slug)
    return writer


def _check_new(fingerprint: str, slug: str) -> None:
    if existing := Writer.objects.filter(fingerprint=fingerprint).first():
        raise WriterError(_duplicate_message(existing))
    if Writer.objects.filter(slug=slug).exists():
        raise WriterError(f"The name {slug} is taken by another writer: choose another name.")


def resolve_writer(
    task: str,
    slug: str,
    model: str = "",
    prompt: Path | None = None,
    backend: str = "",
    revision: str = "",
    adapter: Path | None = None,
) -> Writer:
    """Resolve the writer: the baseline, one by its name, or a new one for a model.

    A new one, where a model is given for it, is not stored yet, and asks a server where no backend is
    given. `prompt` is a file with its wording, `adapter` the folder of what was trained on top of the model.
    Raises WriterError, SelectionError, PromptError, OSError, UnicodeDecodeError.
    """
    of_new = {"Where a model runs": backend, "A revision": revision, "A prompt": prompt}
    for label, value in {**of_new, "An adapter": adapter}.items():
        if value and not model:
            raise WriterError(f"{label} belongs to a new writer: name its model, too.")
    if model and not slug:
        raise WriterError("A new writer needs a name, too.")
    if not slug:
        return baseline_of(task)
    if model:
        prompt_text = _prompt_text(task, prompt, adapter)
        return writer_as(
            slug,
            task=task,
            backend=backend or Writer.Backend.OPENAI,
            model=model,
            revision=revision,
            system=prompt_text.system,
            prompt=prompt_text.prompt,
            sampling=asdict(TASKS[task].sampling),
            **_adapter_fields(adapter, backend),
        )
    names = Writer.objects.filter(task=task).values_list("slug", flat=True)
    return Writer.objects.get(slug=one_of(f"writer of {task}", slug, names))


def _prompt_text(task: str, prompt: Path | None, adapter: Path | None) -> PromptText:
    """Return the prompt of a file, else of a tuned model's task, else the task's default."""
    if prompt:
        return read(prompt.read_text(encoding="utf-8"))
    return PromptText("", PROMPT) if adapter and task == "pairs" else TASKS[task].wording


def _adapter_fields(folder: Path | None, backend: str) -> dict[str, str]:
    """Return the adapter fields of a writer.

    Raises WriterError, and TuningError for no adapter.
    """
    if folder is None:
        return {}
    if backend != Writer.Backend.TRANSFORMERS:
        raise WriterError(
            "An adapter is loaded by transformers in process: --backend transformers."
        )
    path = str(folder.resolve())
    if len(path) > (max_length := Writer._meta.get_field("adapter").max_length or 0):
        raise WriterError(f"The path of an adapter has at most {max_length} characters.")
    return {"adapter": path, "adapter_hash": adapter_hash(folder)}


def make_writer(slug: str, **fields: Any) -> Writer:
    """Store a new writer.

    Raises WriterError as `writer_as` does, and if an identical writer exists.
    """
    writer = writer_as(slug, **fields)
    if writer.pk:
        raise WriterError(_duplicate_message(writer))
    return stored(writer)


def stored(writer: Writer) -> Writer:
    """Save the writer if it is new. Raises WriterError if another process was first."""
    if not writer.pk:
        with check_again_if_taken(partial(_check_new, writer.spec.fingerprint, writer.slug)):
            writer.save(force_insert=True)
    return writer


def _check_name(slug: str) -> None:
    try:
        validate_slug(slug)
    except ValidationError:
        raise WriterError(f"{slug}: letters, digits, - and _ alone make a name.") from None
    if len(slug) > (max_length := Writer._meta.get_field("slug").max_length or 0):
        raise WriterError(f"The name of a writer has at most {max_length} characters.")
    if slug.startswith(f"{EXTRACTIVE}-"):
        raise WriterError(f"Names that begin with {EXTRACTIVE}- are those of baselines.")


def _duplicate_message(writer: Writer) -> str:
    return f"The writer {writer} has exactly the same settings."


def baseline_of(task: str) -> Writer:
    """Return the extractive baseline of a task; create it if needed."""
    writer, _ = Writer.objects.get_or_create(
        slug=f"{EXTRACTIVE}-{task}",
        defaults={"task": task, "backend": EXTRACTIVE, "model": EXTRACTIVE_MODEL},
    )
    return writer


def backend_of(run: Writing) -> WriterBackend:
    """Return the backend that runs a generation run's writer.

    Raises BackendError for an endpoint that is not configured here.
    """
    spec = run.writer.spec
    if spec.is_extractive:
        return ExtractiveWriter()
    if run.writer.backend == Writer.Backend.VLLM:
        return VllmWriter(spec, engine_args=settings.JUDGE_VLLM_ARGS, in_flight=run.concurrency)
    if run.writer.backend == Writer.Backend.TRANSFORMERS:
        return TransformersWriter(spec)
    return OpenAIWriter(
        spec,
        addresses_of(run.endpoint, run.dataset.project),
        on_aside=partial(states.put_server_aside, run),
        concurrency=run.concurrency,
    )
