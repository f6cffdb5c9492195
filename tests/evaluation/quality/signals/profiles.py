"""Profile of a rater without any signal, and changes of it."""

from dataclasses import replace

import numpy as np

from evaluation.quality.signals.gold import accuracy, weight
from evaluation.quality.signals.marks import marks
from evaluation.quality.signals.pace import pace
from evaluation.quality.signals.profile import Profile, Tally, flags
from evaluation.quality.signals.runs import straight
from evaluation.stats.estimate import Estimate
from evaluation.stats.feedback_effect import FeedbackEffect
from evaluation.stats.intra_rater import IntraRater

NOTHING = Estimate(None, "undefined, because nothing was done", 0)
CALM = Profile(
    name="wil",
    answers=Tally(0, 0, 0),
    items=Tally(0, 0, 0),
    pace=pace(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, bool)),
    kappa=NOTHING,
    equal=NOTHING,
    n_others=0,
    intra_rater=IntraRater(NOTHING, NOTHING),
    feedback=FeedbackEffect(NOTHING, NOTHING, NOTHING),
    majority=NOTHING,
    gold=accuracy(0, 0),
    gold_exact=0,
    weight=weight(0, 0),
    checks=accuracy(0, 0),
    checks_open=0,
    straight=straight([]),
    marks=marks([]),
    task_consistencies=(),
)


def flag_words(typical=None, **changes):
    return [flag.words for flag in flags(replace(CALM, **changes), typical)]
