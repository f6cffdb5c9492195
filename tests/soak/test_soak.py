"""Random acts of two clients, with all invariants after each step.

`make soak` runs 200 steps of 20 seeds.
"""

import os
from random import Random

import pytest

from annotation.models import ProjectEntry
from tests.soak.acts import REFUSED, Act, plan
from tests.soak.invariants import check
from tests.soak.world import all_grades, make_world
from tests.toolbox.concurrent_clients import at_once

STEPS = int(os.environ.get("SOAK_STEPS", "25"))
SEEDS = range(int(os.environ.get("SOAK_FIRST", "1")), int(os.environ.get("SOAK_SEEDS", "1")) + 1)


@pytest.mark.soak
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_acts_of_two_clients_lose_nothing(seed, tmp_path):
    rng = Random(seed)
    world = make_world(rng, tmp_path)
    for number in range(STEPS):
        before = all_grades(world.dataset)
        newest = ProjectEntry.objects.order_by("pk").last()
        acts = [act for act in (plan(world) for _ in range(rng.choice([1, 2]))) if act]
        outcomes = at_once(*(act.run for act in acts)) if acts else []
        done: list[Act] = []
        for act, outcome in zip(acts, outcomes, strict=True):
            if isinstance(outcome.error, REFUSED):
                continue
            if outcome.error:
                raise AssertionError(f"seed {seed}, step {number}: {act.name}") from outcome.error
            if outcome.value:
                done.append(act)
                world.typed |= {act.typed} - {""}
        entries = ProjectEntry.objects.filter(pk__gt=newest.pk, dataset=world.dataset)
        brought = [act.details["rater"] for act in done if "rater" in act.details]
        imports = list(entries.filter(action="imported").order_by("pk"))
        if len(imports) == len(brought) == 1:  # two concurrent imports cannot be told apart
            world.imported[imports[0].pk] = set(brought)
        try:
            check(world, before, done)
        except AssertionError as error:
            names = "; ".join(act.name for act in acts)
            raise AssertionError(f"seed {seed}, step {number}: {names}") from error
