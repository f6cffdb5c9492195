"""Seed of the tests of a judge: a dataset that a judge of the mock model has graded."""

from django.conf import settings

from annotation.models import Dataset, User
from annotation.models.projects import join_main
from crux_site.imports.importing import import_dataset
from judging.engine.fill import pump
from judging.mock_model import MODEL
from tests.browser.sessions import make_sessions
from tests.toolbox.browser_texts import PASSWORD
from tests.toolbox.judge_test_study import as_sent, planned_test
from tests.toolbox.judging_runs import a_judge, a_run
from tests.toolbox.judging_study import Scripted, graded

JUDGE = "mock-judge"


def seed() -> None:
    for name, role in (("ada", "admin"), ("rosa", "researcher")):
        join_main(User.objects.create_user(name, password=PASSWORD, role=role))
    import_dataset(settings.BASE_DIR / "fixtures" / "demo", "coast", title="Coast")
    judge = a_judge(JUDGE, model=MODEL, revision="", label_ids=[])
    run = a_run(judge, Dataset.objects.get(slug="coast"), texts="passages", limit=60)
    pump(run, Scripted(as_sent(judge, 3)), "seed:1")
    test = planned_test(judge, run.dataset, "injection", pairs=20)
    pump(test, Scripted(lambda pair: graded(pair, 3 + pair.question_id % 2)), "seed:1")
    make_sessions()
