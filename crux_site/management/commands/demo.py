"""manage.py demo: fill an empty site with demo data; running it again changes nothing."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.db import transaction

from annotation.builder import drafts
from annotation.management.base import SiteCommand
from annotation.models import Campaign, Dataset, Rater, Rating, Rubric, Text, User
from annotation.models.projects import join_main
from annotation.participation import assigning
from building.engine.choosing import resolve_writer, stored
from building.engine.cited_pairs import make_support
from building.pipeline import run_plan
from building.pipeline_plan import read
from crux_site.demo import crowd
from crux_site.demo.loading import DONE
from crux_site.demo.people import PASSWORD, PEOPLE, WORKERS
from crux_site.imports.importing import import_dataset
from evaluation.certificates.testing import judge_test
from evaluation.data.certificates import certificate_states
from judging import mock_model
from judging.engine.foreground import fill_lexical
from judging.engine.judges import levels_of, make_judge
from judging.grading import prompts
from judging.grading.prompt import rubric_wording
from judging.models import Judge

SLUG = "coastal-demo"
BUILT = "built-demo"
CITED = "built-demo-citations"
CERTIFIED = "certificate-demo"


class Command(SiteCommand):
    help = "Make the demo: accounts, the demo dataset, the baseline's grades, three campaigns."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--no-log-ins",
            action="store_true",
            help="create no account with the known password: workers alone, who cannot log in",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self._print("accounts")
        with_log_ins = not options["no_log_ins"]
        for name, role, _ in PEOPLE if with_log_ins else WORKERS:
            if not User.objects.filter(username=name).exists():
                password = PASSWORD if with_log_ins else None
                join_main(User.objects.create_user(name, password=password, role=role))
        self._print("demo dataset (ours; its labels are demo labels, of no scientific value)")
        folder = settings.BASE_DIR / "fixtures" / "demo"
        summary = import_dataset(folder, SLUG, title="Coastal demo")
        dataset = Dataset.objects.get(slug=SLUG)
        self.stdout.write(
            f"    {summary.totals['topics']} topics, {summary.totals['ratings']} ratings"
        )
        self._print("lexical baseline judge (a baseline, not a model)")
        run = fill_lexical(dataset)
        self.stdout.write(
            f"    {run.n_planned} pairs graded, {run.n_there_before} were there before"
        )
        self._judge()
        self._certificates()
        self._build()
        self._print("campaigns")
        self._campaign(dataset, "answerable", Text.Kind.REPORT, "Report coverage", None)
        self._campaign(dataset, "graded", Text.Kind.PASSAGE, "Passage grading", 2)
        if not Campaign.objects.filter(slug=crowd.SLUG).exists():
            crowd.make_crowd(dataset)
        self._print(DONE)

    def _print(self, message: str) -> None:
        self.stdout.write(f"  {message}")

    def _build(self) -> None:
        """Build a second collection from documents, by baselines alone, without a model."""
        self._print(
            "a collection built from documents (by the extractive baseline, not by a model)"
        )
        folder = settings.BASE_DIR / "fixtures" / "building"
        import_dataset(folder, BUILT, title="Built demo")
        built = Dataset.objects.get(slug=BUILT)
        for message in run_plan(built, read(folder / "plan.toml"), folder):
            self.stdout.write(f"    {message}")
        self._citations(built)
        for task in ("questions", "report"):
            stored(resolve_writer(task, f"{mock_model.MODEL}-{task}", model=mock_model.MODEL))

    def _citations(self, built: Dataset) -> None:
        """Grade the citations of its reports by the baseline.

        Lexical overlap says nothing about support: these grades only fill the pages.
        """
        reports = built.texts.filter(kind=Text.Kind.REPORT).order_by("system")
        systems = list(reports.values_list("system", flat=True).distinct())
        support = make_support(built, systems, CITED, "Citations of the built demo")
        run = fill_lexical(Dataset.objects.get(slug=CITED), slug="lexical-citation-support")
        self.stdout.write(f"    {support.in_words()}")
        self.stdout.write(f"    {run.n_planned} of them graded by the lexical baseline")

    def _certificates(self) -> None:
        """Test simulated judges against three people; one grade is changed after its test."""
        if Dataset.objects.filter(slug=CERTIFIED).exists():
            return
        self._print("certificates of simulated judges (baselines, not models)")
        folder = settings.BASE_DIR / "fixtures" / "judges"
        import_dataset(folder, CERTIFIED, title="Certificate demo")
        dataset = Dataset.objects.get(slug=CERTIFIED)
        for judge in ("close", "lenient", "changed"):  # `noisy` is left for the reader
            judge_test(dataset, rubric="graded", judge=judge).store(by=None)
        changed = dataset.texts.order_by("pk")[0].ratings.filter(rater__name="changed")[0]
        Rating.objects.record(
            rater=changed.rater_id,
            rubric=changed.rubric_id,
            text=changed.text_id,
            question=changed.question_id,
            grade=5 - changed.grade,
        )
        for (rater, _), state in sorted(certificate_states(dataset).items()):
            self.stdout.write(f"    {Rater.objects.get(pk=rater).name}: {state}")

    def _judge(self) -> None:
        """Create a judge for runs that are started in the browser without a model."""
        if Rater.objects.filter(name=mock_model.MODEL, dataset=None).exists():
            return
        self._print("stand-in judge (a baseline too: it grades by words in common)")
        rubric = Rubric.objects.get(slug="graded")
        file = prompts.load("question-first")
        make_judge(
            mock_model.MODEL,
            kind=Rater.Kind.BASELINE,
            rubric=rubric,
            backend=Judge.Backend.OPENAI,
            model=mock_model.MODEL,
            prompt_name=file.name,
            system=file.system,
            prompt=file.prompt,
            wording=rubric_wording([(grade, label) for grade, label in levels_of(rubric)]),
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
        names = [name for name, _, _ in WORKERS]
        workers = User.objects.filter(username__in=names, role=User.Role.WORKER)
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
