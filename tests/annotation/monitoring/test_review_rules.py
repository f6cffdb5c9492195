"""Review rules: thresholds from which a part is flagged before approval."""

import pytest

from annotation.models import Campaign, LogEntry
from annotation.monitoring.part_records import PartRecord
from annotation.participation.skips import Skips
from tests.toolbox.prolific_study import make_study

URL = "/campaigns/crowd/reconcile/"


@pytest.fixture
def study(db) -> Campaign:
    return make_study(texts=12)


@pytest.mark.parametrize(
    ("rule", "of_part", "reason"),
    [
        # Of 8 texts 2 were skipped, as many as may be: a quarter.
        ({}, {}, []),
        ({"look_skipped_percent": 25}, {}, []),
        ({"look_skipped_percent": 24}, {}, ["2 of 8 texts were skipped, more than 24%."]),
        ({"look_skipped_percent": 50}, {"skips": Skips(3, 2, 8)}, []),
        ({}, {"skips": Skips(3, 2, 8)}, ["3 of 8 texts were skipped; the study allows 2."]),
        ({}, {"checks": (1, 2)}, ["1 of 2 attention checks passed."]),
        ({"look_checks_missed": 1}, {"checks": (1, 2)}, []),
        ({"look_checks_missed": 1}, {"checks": (0, 2)}, ["0 of 2 attention checks passed."]),
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
    assert list(part.looks(Campaign(minutes_per_part=20, **rule))) == reason


REVIEWED = {
    "look_skipped_percent": "",
    "look_checks_missed": 0,
    "look_gold_percent": 60,
    "look_gold_answers": 3,
    "look_active_percent": 10,
}


def test_rules_of_a_running_study_are_changed_and_logged(cast, study):
    admin = cast.client("admin")
    assert "under 10% of the stated minutes active" in admin.get(URL).content.decode()
    changed = REVIEWED | {"look_skipped_percent": 30, "look_active_percent": 25}
    assert admin.post(f"{URL}rules/", changed).url == URL
    study.refresh_from_db()
    assert (study.look_skipped_percent, study.look_active_percent) == (30, 25)
    [entry] = LogEntry.objects.all()
    assert (entry.action, entry.by) == ("changed look rules", cast.admin)
    assert entry.detail == "look_skipped_percent empty to 30, look_active_percent 10 to 25"
    page = admin.get(URL).content.decode()
    assert "more than 30% of the texts skipped" in page
    assert "under 25% of the stated minutes active" in page
    admin.post(f"{URL}rules/", changed)  # the same again is no change
    assert LogEntry.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("look_skipped_percent", "101"),
        ("look_checks_missed", "-1"),
        ("look_checks_missed", "40000"),
        ("look_gold_percent", ""),
        ("look_gold_answers", "0"),
        ("look_active_percent", "much"),
    ],
)
def test_rules_that_make_no_sense_are_refused(cast, study, name, value):
    response = cast.client("admin").post(f"{URL}rules/", REVIEWED | {name: value})
    assert response.status_code == 422
    page = response.content.decode()
    assert f'id="id_{name}_error"' in page
    assert "under 60% of 3 gold answers or more right" in page  # as they are stored
    assert not LogEntry.objects.exists()


def test_rules_are_for_admins_and_are_sent(cast, study):
    assert cast.client("researcher").post(f"{URL}rules/", REVIEWED).status_code == 403
    assert cast.client("worker").post(f"{URL}rules/", REVIEWED).status_code == 403
    assert cast.client("admin").get(f"{URL}rules/").status_code == 405
    assert (
        cast.client("admin").post("/campaigns/none/reconcile/rules/", REVIEWED).status_code == 404
    )
