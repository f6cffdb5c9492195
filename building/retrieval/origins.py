"""Models of a retrieval run, from the provenance of its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from annotation.origins import RERANKED, RETRIEVED, Origin, identity, origin

_LEXICAL = {"bm25": "bm25", "anserini": "bm25"}  # Lucene's is the same
_DENSE = ("static", "embed")
OriginsOf = Callable[[str], Iterable[Origin]]


def origins_of_steps(
    steps: Iterable[Mapping[str, Any]], of_run: OriginsOf, of_judge: OriginsOf
) -> list[Origin]:
    """Return the models that retrieved and reranked, each once.

    Lexical steps are named after their method. `of_run` gives the origins of a run that a step reads, and
    `of_judge` the model of a judge by whose grades a step ranks.
    """
    entries = _origins_of_steps(steps, of_run, of_judge)
    return list({identity(entry): entry for entry in entries}.values())


def _origins_of_steps(
    steps: Iterable[Mapping[str, Any]], of_run: OriginsOf, of_judge: OriginsOf
) -> Iterator[Origin]:
    for step in steps:
        for part in step["of"]:
            yield from _origins_of_steps(part, of_run, of_judge)
        name = step["step"]
        if name in _LEXICAL:
            yield origin(RETRIEVED, _LEXICAL[name])
        elif name == "run":
            yield from of_run(step["name"])
        elif name == "xquad":
            yield origin(RERANKED, name)
        elif "judge" in step:
            yield from of_judge(step["judge"])
        elif "model" in step:
            yield origin(RETRIEVED if name in _DENSE else RERANKED, step["model"])
