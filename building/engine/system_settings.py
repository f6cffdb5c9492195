"""Settings of a generated system: model, retriever and number of passages."""

from __future__ import annotations

from typing import Any

from annotation.models import Dataset
from building.engine.generation_spec import GenerationSpec
from building.engine.writings import system_of
from building.models import Writer
from evaluation.models import RetrievalRun, System


def record_settings(dataset: Dataset, writer: Writer, spec: GenerationSpec) -> None:
    """Record the settings under the system's name, unless there are some already."""
    name = system_of(writer, spec)
    if not System.objects.filter(dataset=dataset, name=name).exists():
        settings = _settings(dataset, writer, spec)
        System.objects.get_or_create(dataset=dataset, name=name, defaults={"settings": settings})


def _settings(dataset: Dataset, writer: Writer, spec: GenerationSpec) -> dict[str, Any]:
    settings: dict[str, Any] = {"llm": writer.slug if writer.is_baseline else writer.model}
    run = RetrievalRun.objects.filter(dataset=dataset, name=spec.run).first()
    if run is None:
        return settings
    settings["retriever"] = run.recipe.partition("%")[0].strip() or run.name
    settings["k"] = int(spec.k) if spec.k.isdecimal() else spec.k or "all"
    models = [step["model"] for step in run.origin.get("steps", ()) if "model" in step]
    return settings | ({"embedding": " + ".join(models)} if models else {})
