"""Review rules: thresholds from which a part is flagged before approval."""

import pytest

from annotation.models import Campaign
from annotation.monitoring.part_records import PartRecord
from annotation.participation.skips import Skips


@pytest.mark.parametrize(
    ("rule", "of_part", "reason"),
    [
        # Of 8 texts 2 were skipped, as many as may be: a quarter.
        ({}, {}, []),
        ({"look_skipped_percent": 25}, {}, []),
        ({"look_skipped_percent": 24}, {}, ["2 of 8 texts were skipped, more than 24%."]),
        ({"look_skipped_percent": 50}, {"skips": Skips(3, 2, 8)}, []),
        ({}, {"skips": Skips(3, 2, 8)}, ["3 of 8 texts were skipped; the study allows 2."]),
        # Prolific lets two failed checks count in a study of 5 minutes or more.
        ({}, {"checks": (0, 1)}, []),
        ({}, {"checks": (0, 2)}, ["0 of 2 attention checks passed."]),
        ({"minutes_per_part": 5}, {"checks": (1, 2)}, []),
        ({"minutes_per_part": 4}, {"checks": (1, 2)}, ["1 of 2 attention checks passed."]),
        ({"minutes_per_part": None}, {"checks": (1, 2)}, []),
        ({"look_checks_missed": 1, "minutes_per_part": 4}, {"checks": (1, 2)}, []),
        ({"look_checks_missed": 2}, {"checks": (0, 2)}, []),
        ({}, {"gold": (3, 5)}, []),
        ({"look_gold_percent": 61}, {"gold": (3, 5)}, ["3 of 5 gold answers right."]),
        ({"look_gold_answers": 6}, {"gold": (0, 5)}, []),
        # Of 20 stated minutes 4 were active.
        ({"look_active_percent": 20}, {}, []),
        ({"look_active_percent": 21}, {}, ["4.0 active minutes, of 20 stated."]),
        ({"look_active_percent": 0}, {"active_ms": 0}, []),
    ],
)
def test_part_is_flagged_by_the_campaigns_review_rules(rule, of_part, reason):
    common_fields = {"skips": Skips(2, 2, 8), "active_ms": 240_000}
    part = PartRecord("pid", "sub", "st", "done", "C", participant=1, **common_fields | of_part)
    assert list(part.review_reasons(Campaign(**{"minutes_per_part": 20} | rule))) == reason
