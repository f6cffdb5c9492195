"""Seed of the judging pages' own server: a dataset, judges, and runs in some states."""

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from annotation.models import Dataset, User
from annotation.models.projects import join_main
from crux_site.imports.importing import import_dataset
from judging.engine import runs
from judging.engine.foreground import fill_lexical
from judging.execution import leases, states
from judging.models import Shard
from tests.browser.sessions import make_sessions
from tests.toolbox.browser_texts import PASSWORD
from tests.toolbox.judging_runs import a_judge, a_run, filled

SLOW = "slow"  # the judge behind the scripted server


def seed() -> None:
    for name, role in (("ada", "admin"), ("rosa", "researcher")):
        join_main(User.objects.create_user(name, password=PASSWORD, role=role))
    import_dataset(settings.BASE_DIR / "fixtures" / "demo", "coast", title="Coast")
    coast = Dataset.objects.get(slug="coast")
    fill_lexical(coast, "passages")
    stopped = a_run(a_judge("stopped"), coast, max_pairs=100, price_in=0.5, currency="EUR")
    filled(stopped)
    running = a_run(a_judge("going", revision="2"), coast, max_pairs=100)
    filled(running)
    runs.resume(running, max_pairs=None)
    leases.take(running, "gpu-1:7")
    Shard.objects.filter(run=running, state="leased").update(
        expires=timezone.now() + timedelta(hours=9)
    )
    states.pause(a_run(a_judge("paused", revision="3"), coast), "Paused by ada.")
    a_judge(SLOW, revision="4")
    make_sessions()
