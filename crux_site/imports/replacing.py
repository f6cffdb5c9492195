"""A retrieval run, a rater of files, or the reports of a system, replaced by what files have under its name."""

from typing import NoReturn

from annotation.formats.summary import ImportFailed, ImportSummary, Problem, Replaced, shown
from annotation.models import Dataset
from crux_site.contents.things import KINDS, Thing
from crux_site.removal import Removal, words_for


def thing_called(dataset: Dataset, kind: str, name: str) -> Thing | None:
    """What can be replaced; None where the dataset has nothing of this kind and name, or is it itself."""
    thing = KINDS.get(kind)
    if thing is None or thing.CONTENT is None or name not in thing.names(dataset):
        return None
    return thing(dataset, name)


def let_go(dataset: Dataset, which: str, summary: ImportSummary) -> Thing:
    """Remove what `which` names by its kind and name, as `run:bm25`. In a transaction, before files are read.

    Raises ImportFailed where there is none, and where something stands on it: with each reason.
    """
    kind, _, name = which.partition(":")
    thing = thing_called(dataset, kind, name)
    if thing is None:
        kinds = ", ".join(f"{kind}:NAME" for kind, of in KINDS.items() if of.CONTENT)
        _refuse(summary, shown(which), f"{dataset.slug} has none such to replace ({kinds})")
    going = thing.going()
    if going.reasons:
        _refuse(summary, str(thing), *(f"it cannot go: {reason}" for reason in going.reasons))
    going.removal.delete()
    summary.replaced = Replaced(str(thing), going.counts)
    return thing


def check_came(thing: Thing, summary: ImportSummary) -> None:
    """Count what the files brought in its place. Raises ImportFailed where that is nothing under its name."""
    if thing.CONTENT is None or summary.replaced is None:
        return
    summary.replaced.came = Removal(thing.rows()).counts()
    content = words_for(thing.CONTENT)
    if content not in summary.replaced.came:
        _refuse(summary, str(thing), f"the files bring no {content} under this name")


def _refuse(summary: ImportSummary, which: str, *reasons: str) -> NoReturn:
    summary.errors = [Problem(which, 0, "", reason) for reason in reasons]
    raise ImportFailed(summary.errors, summary)
