"""What making a run takes, as far as that is known without reading passages or asking anybody."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from annotation.models import Dataset, Text
from building.asking.listwise import windows
from building.indexes import AT_A_LOOK, is_indexed
from building.retrieval.recipe import Recipe, Stage
from building.steps import KINDS
from building.steps.kitchen import DEEP
from building.steps.options import SERVER, STATIC, STRIDE, WINDOW
from evaluation.models import RetrievalRun


@dataclass(frozen=True)
class Needs:
    """Sentences; and the command that makes the run where a page does not, else ""."""

    says: list[str]
    command: str
    there: RetrievalRun | None
    """A run of the same line, which is the same run where the data is as it was."""


def needs_of(dataset: Dataset, recipe: Recipe, name: str = "") -> Needs:
    passages = dataset.texts.with_body().filter(kind=Text.Kind.PASSAGE).count()
    topics = dataset.topics.count()
    stages = list(_stages(recipe))
    says, is_long = [], False
    if any(KINDS[stage.name].reads_index for stage, _ in stages) and not is_indexed(dataset):
        says.append(
            f"The {passages:,} passages are not indexed as they are now: that is done first."
        )
        is_long = passages > AT_A_LOOK
    if any(stage.name == "anserini" for stage, _ in stages):
        says.append("Lucene is started, and indexes the passages where it has not.")
        is_long = is_long or passages > AT_A_LOOK
    for stage, depth in stages:
        if asked := _asked(stage, depth, passages, topics):
            says.append(asked)
    if any(_is_for_commands(stage) for stage, _ in stages):
        says.append(
            "A step asks a server or opens a file, which a page does not: a command makes the run."
        )
        is_long = True
    return Needs(
        says,
        _command(dataset, recipe, name) if is_long else "",
        RetrievalRun.objects.filter(dataset=dataset, recipe=str(recipe)).first(),
    )


def _stages(recipe: Recipe) -> Iterator[tuple[Stage, int]]:
    """All steps, those in brackets too, each with how many texts it is given of a topic."""
    depth = DEEP
    for stage in recipe.stages:
        for part in stage.arguments:
            yield from _stages(part)
        yield stage, depth
        depth = min(stage.cut or DEEP, depth)


def _asked(stage: Stage, depth: int, passages: int, topics: int) -> str:
    """What a step asks a server for, at most; "" for one that asks none."""
    options = dict(stage.options)
    if SERVER not in KINDS[stage.name].options or (
        stage.name == "mmr" and not SERVER.words(options)
    ):
        return ""
    server = SERVER.words(options) or "a server"
    if stage.name == "rerank":
        return f"{server} is asked for the scores of {topics * depth:,} passages at most."
    if stage.name == "listwise":
        window, stride = WINDOW.read("listwise", options), STRIDE.read("listwise", options)
        n = len(list(windows(depth, window, stride))) if 0 < stride < window else 0
        return f"{server} is asked for {topics * n:,} orders of {window:,} passages at most."
    return (
        f"{server} is asked for vectors: {passages:,} of passages, but for those that it gave before, and "
        f"{topics:,} of requests."
    )


def _is_for_commands(stage: Stage) -> bool:
    options, given = KINDS[stage.name].options, dict(stage.options)
    if SERVER in options or STATIC in options:
        return True
    return any(option.is_file and option.key in given for option in options)


def _command(dataset: Dataset, recipe: Recipe, name: str) -> str:
    named = shlex.quote(name) if name else "NAME"
    return f"manage.py retrieve {dataset.slug} --name {named} --recipe {shlex.quote(str(recipe))}"
