"""Words for the selection of a page, for the line above its numbers."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.plurals import n_of
from evaluation.data.columns import Column
from evaluation.data.query import Phrase
from evaluation.data.selection import Selection

MAX_NAMES = 3  # raters that the line names; of more it gives the number


def selection_phrases(selection: Selection) -> Iterator[Phrase]:
    """Yield the rubric, raters, campaign, judge, eta, majority and split of a selection."""
    yield Phrase(selection.rubric.title)
    yield Phrase(_raters(selection.raters, selection.everyone))
    if selection.campaigns or selection.campaign:
        yield Phrase(selection.campaign.title if selection.campaign else "all campaigns")
    if selection.judges:
        judge = selection.judge
        yield Phrase(f"judge {judge.title}", has_judge=True) if judge else Phrase("no judge")
        if judge and selection.etas:
            yield Phrase(f"answerable from grade {selection.eta}")
    if selection.majority != "strict":
        yield Phrase("majority: more than for any other grade")
    if selection.by:
        yield Phrase(f"split by {selection.by.rubric.title}, {selection.by.rater.title}")


def _raters(chosen: tuple[Column, ...], everyone: tuple[Column, ...]) -> str:
    are_people = all(rater.is_person for rater in chosen) and len(chosen) > 1
    number = f"{len(chosen)} people" if are_people else n_of(len(chosen), "rater")
    if len(chosen) == len(everyone) or not chosen or len(chosen) > MAX_NAMES:
        return number if len(chosen) == len(everyone) else f"{number} of {len(everyone)}"
    return ", ".join(rater.title for rater in chosen)
