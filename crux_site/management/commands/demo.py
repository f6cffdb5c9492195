"""manage.py demo: fill an empty site with the demo study, people and work. A second run keeps all."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import transaction

from annotation import assigning
from annotation.models import Campaign, Dataset, Rubric, Text, User
from crux_site import demo_crowd
from crux_site.importing import import_dataset
from judging.fill import fill_lexical

SLUG = "coastal-demo"
PASSWORD = "crux-demo"  # noqa: S105 - of a demo on one's own machine, printed on the screen
PEOPLE = (
    ("admin", User.Role.ADMIN),
    ("researcher", User.Role.RESEARCHER),
    ("worker1", User.Role.WORKER),
    ("worker2", User.Role.WORKER),
)


class Command(BaseCommand):
    help = "Make the demo: accounts, the demo dataset, the baseline's grades, three campaigns."

    def handle(self, *args: Any, **options: Any) -> None:
        self._say("accounts")
        for name, role in PEOPLE:
            if not User.objects.filter(username=name).exists():
                User.objects.create_user(name, password=PASSWORD, role=role)
        self._say("demo dataset (ours; its labels are demo labels, of no scientific value)")
        folder = settings.BASE_DIR / "fixtures" / "demo"
        summary = import_dataset(folder, SLUG, title="Coastal demo")
        dataset = Dataset.objects.get(slug=SLUG)
        self.stdout.write(
            f"    {summary.totals['topics']} topics, {summary.totals['ratings']} ratings"
        )
        self._say("lexical baseline judge (a baseline, not a model)")
        filled = fill_lexical(dataset)
        self.stdout.write(
            f"    {filled.graded} pairs graded, {filled.there_before} were there before"
        )
        self._say("campaigns")
        self._campaign(dataset, "answerable", Text.Kind.REPORT, "Report coverage", None)
        self._campaign(dataset, "graded", Text.Kind.PASSAGE, "Passage grading", 2)
        if not Campaign.objects.filter(slug=demo_crowd.SLUG).exists():
            demo_crowd.make_crowd(dataset)

    def _say(self, what: str) -> None:
        self.stdout.write(f"  {what}")

    @transaction.atomic
    def _campaign(
        self, dataset: Dataset, rubric: str, kind: str, title: str, questions: int | None
    ) -> None:
        slug = f"demo-{rubric}"
        if Campaign.objects.filter(slug=slug).exists():
            return
        workers = User.objects.filter(username__startswith="worker", role=User.Role.WORKER)
        campaign = Campaign(
            dataset=dataset,
            rubric=Rubric.objects.get(slug=rubric),
            slug=slug,
            title=title,
            questions_per_item=questions,
            seed=1,
        )
        texts = dataset.texts.with_body().filter(kind=kind).order_by("topic__position", "id")
        raters = [assigning.rater_of(worker) for worker in workers]
        assigning.open_campaign(campaign, list(texts), raters)
