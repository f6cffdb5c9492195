"""manage.py demo: fill an empty site with the demo study, people and work. A second run keeps all."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import transaction

from annotation.builder import drafts
from annotation.models import Campaign, Dataset, Rater, Rubric, Text, User
from annotation.models.projects import join_main
from annotation.participation import assigning
from building.engine.choosing import stored, writer_called
from building.engine.cited_pairs import make_support
from building.path import walk
from building.plan import read
from crux_site.demo import crowd
from crux_site.demo.people import PASSWORD, PEOPLE
from crux_site.imports.importing import import_dataset
from judging import stand_in
from judging.engine.foreground import fill_lexical
from judging.engine.judges import levels_of, make_judge
from judging.grading import prompts
from judging.grading.prompt import wording_of
from judging.models import Judge

SLUG = "coastal-demo"
BUILT = "built-demo"
CITED = "built-demo-citations"


class Command(BaseCommand):
    help = "Make the demo: accounts, the demo dataset, the baseline's grades, three campaigns."

    def handle(self, *args: Any, **options: Any) -> None:
        self._say("accounts")
        for name, role, _ in PEOPLE:
            if not User.objects.filter(username=name).exists():
                join_main(User.objects.create_user(name, password=PASSWORD, role=role))
        self._say("demo dataset (ours; its labels are demo labels, of no scientific value)")
        folder = settings.BASE_DIR / "fixtures" / "demo"
        summary = import_dataset(folder, SLUG, title="Coastal demo")
        dataset = Dataset.objects.get(slug=SLUG)
        self.stdout.write(
            f"    {summary.totals['topics']} topics, {summary.totals['ratings']} ratings"
        )
        self._say("lexical baseline judge (a baseline, not a model)")
        run = fill_lexical(dataset)
        self.stdout.write(
            f"    {run.n_planned} pairs graded, {run.n_there_before} were there before"
        )
        self._judge()
        self._build()
        self._say("campaigns")
        self._campaign(dataset, "answerable", Text.Kind.REPORT, "Report coverage", None)
        self._campaign(dataset, "graded", Text.Kind.PASSAGE, "Passage grading", 2)
        if not Campaign.objects.filter(slug=crowd.SLUG).exists():
            crowd.make_crowd(dataset)

    def _say(self, what: str) -> None:
        self.stdout.write(f"  {what}")

    def _build(self) -> None:
        """A second collection, made here from documents: without a model, by baselines alone."""
        self._say("a collection built from documents (by the extractive baseline, not by a model)")
        folder = settings.BASE_DIR / "fixtures" / "building"
        import_dataset(folder, BUILT, title="Built demo")
        built = Dataset.objects.get(slug=BUILT)
        for words in walk(built, read(folder / "plan.toml"), folder):
            self.stdout.write(f"    {words}")
        self._citations(built)
        for task in ("questions", "report"):
            stored(writer_called(task, f"{stand_in.MODEL}-{task}", model=stand_in.MODEL))

    def _citations(self, built: Dataset) -> None:
        """What its reports cite, graded by the baseline: words in common say nothing about support."""
        reports = built.texts.filter(kind=Text.Kind.REPORT).order_by("system")
        systems = list(reports.values_list("system", flat=True).distinct())
        made = make_support(built, systems, CITED, "Citations of the built demo")
        run = fill_lexical(Dataset.objects.get(slug=CITED), called="lexical-citation-support")
        self.stdout.write(f"    {made.in_words()}")
        self.stdout.write(f"    {run.n_planned} of them graded by the lexical baseline")

    def _judge(self) -> None:
        """A judge for runs that are started in the browser, where there is no model."""
        if Rater.objects.filter(name=stand_in.MODEL, dataset=None).exists():
            return
        self._say("stand-in judge (a baseline too: it grades by words in common)")
        rubric = Rubric.objects.get(slug="graded")
        file = prompts.load("question-first")
        make_judge(
            stand_in.MODEL,
            kind=Rater.Kind.BASELINE,
            rubric=rubric,
            backend=Judge.Backend.OPENAI,
            model=stand_in.MODEL,
            prompt_name=file.name,
            system=file.system,
            prompt=file.prompt,
            wording=wording_of([(grade, label) for grade, label in levels_of(rubric)]),
            sampling={"max_tokens": file.max_tokens},
            parser=file.parser,
        )

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
        drafts.open_campaign(campaign, list(texts), raters)
