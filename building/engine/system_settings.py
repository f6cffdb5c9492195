"""How a system that was written here is set: its model, where its passages come from, and how many."""

from __future__ import annotations

from typing import Any

from annotation.models import Dataset
from building.engine.wanted import Wanted
from building.engine.writings import system_of
from building.models import Writer
from evaluation.models import RetrievalRun, System


def tell_settings(dataset: Dataset, writer: Writer, wanted: Wanted) -> None:
    """Keep them under the system's name, unless something is told of it already."""
    name = system_of(writer, wanted)
    if not System.objects.filter(dataset=dataset, name=name).exists():
        settings = _settings(dataset, writer, wanted)
        System.objects.get_or_create(dataset=dataset, name=name, defaults={"settings": settings})


def _settings(dataset: Dataset, writer: Writer, wanted: Wanted) -> dict[str, Any]:
    settings: dict[str, Any] = {"llm": writer.slug if writer.is_baseline else writer.model}
    run = RetrievalRun.objects.filter(dataset=dataset, name=wanted.run).first()
    if run is None:
        return settings
    settings["retriever"] = run.recipe.partition("%")[0].strip() or run.name
    settings["k"] = int(wanted.k) if wanted.k.isdecimal() else wanted.k or "all"
    models = [step["model"] for step in run.origin.get("steps", ()) if "model" in step]
    return settings | ({"embedding": " + ".join(models)} if models else {})
