"""Requirements of a retrieval run, estimated without reading passages or asking servers."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from annotation.models import Dataset, Text
from building.asking.listwise import windows
from building.indexes import PAGE_LIMIT, is_indexed
from building.retrieval.recipe import Recipe, Stage
from building.steps import KINDS
from building.steps.options import SERVER, STATIC, STRIDE, WINDOW
from building.steps.recipe_context import DEEP
from evaluation.models import RetrievalRun


@dataclass(frozen=True)
class Needs:
    """Requirement sentences, and the command if a page cannot make the run, else ""."""

    says: list[str]
    command: str
    there: RetrievalRun | None
    """A run of the same line, which is the same run where the data is as it was."""


def needs_of(dataset: Dataset, recipe: Recipe, name: str = "") -> Needs:
    passages = dataset.texts.with_body().filter(kind=Text.Kind.PASSAGE).count()
    topics = dataset.topics.count()
    stages = list(_stages(recipe))
    sentences, is_long = [], False
    if any(KINDS[stage.name].reads_index for stage, _ in stages) and not is_indexed(dataset):
        sentences.append(f"The {passages:,} passages have no current index; it is built first.")
        is_long = passages > PAGE_LIMIT
    if any(stage.name == "anserini" for stage, _ in stages):
        sentences.append("Lucene is started and indexes the passages if needed.")
        is_long = is_long or passages > PAGE_LIMIT
    for stage, depth in stages:
        if server_request := _server_request(stage, depth, passages, topics):
            sentences.append(server_request)
    if any(_is_for_commands(stage) for stage, _ in stages):
        sentences.append(
            "A step needs a server or a file, which pages do not support: create the run with a command."
        )
        is_long = True
    return Needs(
        sentences,
        _command(dataset, recipe, name) if is_long else "",
        RetrievalRun.objects.filter(dataset=dataset, recipe=str(recipe)).first(),
    )


def _stages(recipe: Recipe) -> Iterator[tuple[Stage, int]]:
    """Yield all steps, nested ones too, each with the number of its input texts per topic."""
    depth = DEEP
    for stage in recipe.stages:
        for part in stage.arguments:
            yield from _stages(part)
        yield stage, depth
        depth = min(stage.cut or DEEP, depth)


def _server_request(stage: Stage, depth: int, passages: int, topics: int) -> str:
    """Describe the most that a step asks a server; "" for a step without one."""
    options = dict(stage.options)
    if SERVER not in KINDS[stage.name].options or (
        stage.name == "mmr" and not SERVER.words(options)
    ):
        return ""
    server = SERVER.words(options) or "a server"
    if stage.name == "rerank":
        return f"{server} computes the scores of at most {topics * depth:,} passages."
    if stage.name == "listwise":
        window, stride = WINDOW.read("listwise", options), STRIDE.read("listwise", options)
        n = len(list(windows(depth, window, stride))) if 0 < stride < window else 0
        return f"{server} ranks at most {topics * n:,} lists of {window:,} passages."
    return (
        f"{server} computes vectors: {passages:,} of passages, except those stored, and "
        f"{topics:,} of requests."
    )


def _is_for_commands(stage: Stage) -> bool:
    options, chosen = KINDS[stage.name].options, dict(stage.options)
    if SERVER in options or STATIC in options:
        return True
    return any(option.is_file and option.key in chosen for option in options)


def _command(dataset: Dataset, recipe: Recipe, name: str) -> str:
    quoted_name = shlex.quote(name) if name else "NAME"
    return f"manage.py retrieve {dataset.slug} --name {quoted_name} --recipe {shlex.quote(str(recipe))}"
