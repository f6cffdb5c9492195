"""Scoring rules: differences of the paper and the authors' code, decided in one place.

`PAPER` is the default. `AUTHORS` gives the numbers that the authors' code of the paper prints
(their repository at 9cc30c4), and differs in five things:

1. **The required subset.** Paper: the passage that answers most open questions, ties to the first.
   Authors: each counts 0.1 more if it has any rating above 0 on an open question. (What answers one
   has such a rating, so that at an eta above 0 both pick the same.)
2. **Passages of other topics.** Paper: their grades count, where the source rated them. Authors:
   they count as rated 0 throughout, whatever their grades are, and are never unrated.
3. **A retrieval context of which nothing is rated.** Paper: undefined. Authors: it answers
   nothing, 0. (One that is rated in part has a value under both, and its unrated cells are counted.
   A report that nobody rated is undefined under both.)
4. **A text whose words are not there.** Paper: the number of tokens is undefined, and density with
   it. Authors: it counts as long as the dataset's passages are on average.
5. **The rank at which alpha-nDCG, recall, MAP and nDCG stop** if a context is shorter than the
   cut-off. Paper: at the cut-off, as trec_eval and ndeval do, so that the ideal goes on. Authors:
   at the end of the context.

They differ in two defaults as well. The cut-off where none is asked for. Paper: a run is read as far as
the topic's Z* is long, so that systems are compared at one depth. Authors: all of a run, as in their
files. And a topic of which a run has no results. Paper: it counts as 0, as with trec_eval -c. Authors:
it is missing, for their means are over the topics of the run's file.

Under both, P* holds the passages of the topic that the source rated (see pools.py), and a question
counts if one of them answers it.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.metrics.required_subset import Variant


@dataclass(frozen=True, slots=True)
class Rules:
    """Set of scoring rules; the numbers are those of the list above."""

    name: str
    subset: Variant
    """1: which required subset."""
    visitors_are_zero: bool
    """2: passages of other topics count as rated 0."""
    unrated_is_nothing: bool
    """3: a retrieval context of which nothing is rated has a coverage of 0."""
    mean_stands_in: bool
    """4: a text without words is as long as the mean passage."""
    stops_at_size: bool
    """5: ranks beyond the context do not count."""
    as_long_as_oracle: bool
    """Where no cut-off is asked for, a run is read as far as Z* is long."""
    absent_is_zero: bool
    """Where nothing else is asked for, a topic without results counts as 0 for a run."""


PAPER = Rules(
    name="paper",
    subset="greedy_marginal",
    visitors_are_zero=False,
    unrated_is_nothing=False,
    mean_stands_in=False,
    stops_at_size=False,
    as_long_as_oracle=True,
    absent_is_zero=True,
)
AUTHORS = Rules(
    name="authors",
    subset="authors",
    visitors_are_zero=True,
    unrated_is_nothing=True,
    mean_stands_in=True,
    stops_at_size=True,
    as_long_as_oracle=False,
    absent_is_zero=False,
)
RULES = {rules.name: rules for rules in (PAPER, AUTHORS)}
