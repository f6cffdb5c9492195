from dataclasses import replace

import numpy as np
import pytest

from evaluation.quality.signals.gold import accuracy
from evaluation.quality.signals.pace import pace
from evaluation.quality.signals.profile import flags
from evaluation.quality.signals.runs import straight
from evaluation.quality.signals.task_consistency import TaskConsistency
from evaluation.stats.estimate import Estimate
from tests.evaluation.quality.signals.profiles import CALM, flag_words


def test_rater_without_work_is_not_flagged():
    assert flag_words(typical=60.0) == []


def test_flags_have_their_numbers():
    assert flag_words(checks=accuracy(1, 2)) == ["1 of 2 attention checks passed"]
    assert flag_words(gold=accuracy(2, 5)) == ["2 of 5 gold answers right"]
    assert flag_words(kappa=Estimate(-0.1, None, 40)) == ["κ −0.10 with the others, n = 40"]
    assert flag_words(straight=straight([0] * 30)) == ["0 in 100% of 30 answers"]
    [flag] = flags(replace(CALM, straight=straight([3] * 30)), None, name_of={3: "a + b"}.get)
    assert flag.words == "a + b in 100% of 30 answers"
    (run,) = flag_words(straight=straight([0, 1] * 20 + [0] * 20 + [1] * 20))
    assert run == "20 times 0 in a row, by chance 1 in over 1,000"
    same = TaskConsistency(("answerable", "oracle"), 70, 72)
    assert flag_words(task_consistencies=(same,)) == ["70 of 72 verdicts as in answerable oracle"]


@pytest.mark.parametrize(
    "changes",
    [
        {"checks": accuracy(2, 2)},
        {"gold": accuracy(1, 4)},
        {"kappa": Estimate(0.0, None, 19)},
        {"straight": straight([0] * 19)},
        {"task_consistencies": (TaskConsistency(("answerable", "oracle"), 19, 19),)},
        {"task_consistencies": (TaskConsistency(("answerable", "oracle"), 94, 100),)},
    ],
)
def test_few_answers_raise_no_flag(changes):
    assert flag_words(**changes) == []


@pytest.mark.parametrize(
    ("excess_ms", "text"),
    [
        (60_000, []),
        (1_557_000, ["26 min more active time than the server’s clock allows"]),
    ],
)
def test_time_that_the_server_did_not_see_pass_is_flagged_from_a_minute_on(excess_ms, text):
    assert flag_words(pace=replace(CALM.pace, excess_ms=excess_ms)) == text


def test_quick_is_beside_what_is_usual():
    quick = pace(np.full(3, 10_000), np.ones(3, np.int64), np.ones(3, bool))
    assert flag_words(typical=60.0, pace=quick) == ["10 s an item; typical: 60 s"]
    assert flag_words(typical=20.0, pace=quick) == []
    assert flag_words(pace=quick) == []
