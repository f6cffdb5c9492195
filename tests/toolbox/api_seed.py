"""Seed data for the server of the random API requests."""

from django.conf import settings

from annotation.models import ApiToken, Dataset, Rubric, User
from annotation.models.people import digest_of_token
from crux_site.imports.importing import import_dataset
from judging.engine import runs
from judging.engine.foreground import fill_lexical
from judging.engine.judges import make_judge
from judging.engine.selection import Selection
from judging.models import JudgeRun

ADMIN = "a" * 40  # the token


def seed() -> None:
    """Create an admin with a token, and the demo study with judges and a run in each state."""
    user = User.objects.create_user("ada", password="pass-word-1", role="admin")
    ApiToken.objects.create(user=user, name="random", digest=digest_of_token(ADMIN))
    import_dataset(settings.BASE_DIR / "fixtures" / "demo", "coastal-demo")
    dataset = Dataset.objects.get()
    rubric = Rubric.objects.get(slug="graded")
    fill_lexical(dataset)
    judge = make_judge("big-model", rubric=rubric, backend="openai", model="big", prompt="{text}")
    for state in ("cancelled", "stopped", "paused"):
        runs.start(judge, dataset, Selection(), endpoint="local")
        JudgeRun.objects.filter(state="planning").update(state=state)
