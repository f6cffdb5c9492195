"""Pipeline from documents to scored reports, by a plan; each step is idempotent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotation.errors import UserError
from annotation.models import Dataset, Rating
from annotation.plurals import n_of
from building.engine import writings
from building.engine.choosing import resolve_writer, stored
from building.engine.fill import fill
from building.engine.filtering import apply, filter_of
from building.engine.generation_spec import REQUIRED, GenerationSpec, NothingToWriteError
from building.engine.review import accept_rest, open_products
from building.models import Writer, Writing
from building.pipeline_plan import JudgePlan, Plan, ReportPlan, WriterPlan
from building.retrieval.recipe import parse_recipe
from building.run_creation import FROM_FILE, make_run
from building.steps import RecipeContext
from evaluation.models import RetrievalRun
from judging.engine import foreground, runs
from judging.engine.judges import baseline_of, find_judge
from judging.engine.selection import Selection
from judging.models import Judge


class ReviewPendingError(UserError):
    """The next step needs a person; a sentence that says which, and where."""


class PipelineError(UserError):
    """A step that cannot run; a sentence for people."""


def run_plan(dataset: Dataset, plan: Plan, folder: Path) -> Iterator[str]:
    """Run the steps of a plan, and yield a sentence on each.

    Run again, it does what is missing.

    Prompts are files in `folder`, and adapters folders. Raises ReviewPendingError where somebody has to
    decide first, PipelineError, and what the steps raise.
    """
    for task, of_writer in (
        ("passages", plan.passages),
        ("request", plan.request),
        ("questions", plan.questions),
    ):
        if of_writer:
            yield _write(dataset, plan, task, of_writer, GenerationSpec(n=of_writer.n), folder)
    judge = _judge(dataset, plan.judge)
    yield _grade(dataset, judge, plan.judge, "passages")
    if not Rating.objects.of_dataset(dataset).filter(rater=judge.rater).exists():
        raise PipelineError("Nothing is graded: there are no passages, or no sub-questions, yet.")
    if plan.filter:
        proposed = filter_of(dataset, judge.slug, plan.eta)
        yield f"filter: questions without an answering passage, left out: {apply(dataset, proposed):,}"
    required = f"required.{judge.slug}.eta{plan.eta}"
    recipe = f"required(judge={judge.slug}, eta={plan.eta})"
    yield _run(dataset, required, recipe)
    for run in plan.runs:
        yield _run(dataset, run.name, run.recipe)
    for report in plan.reports:
        spec = _report_spec(report, required)
        yield _write(dataset, plan, "report", report, spec, folder)
    if plan.reports:
        yield _grade(dataset, judge, plan.judge, "reports")


def _report_spec(report: ReportPlan, required: str) -> GenerationSpec:
    needs = REQUIRED in (report.k, report.length.removeprefix("match:"))
    return GenerationSpec(
        length=report.length,
        system=report.system,
        run=report.run if report.run != REQUIRED else required,
        k=report.k,
        context_tokens=report.context_tokens,
        required=required if needs else "",
    )


def _write(
    dataset: Dataset, plan: Plan, task: str, part: WriterPlan, spec: GenerationSpec, folder: Path
) -> str:
    prompt = folder / part.prompt if part.prompt else None
    adapter = folder / part.adapter if part.adapter else None
    writer_options = part.writer, part.model, prompt, part.backend, part.revision, adapter
    writer = stored(resolve_writer(task, *writer_options))
    try:
        run = writings.begin(writer, dataset, spec, endpoint=part.endpoint)
    except NothingToWriteError as nothing:
        return _settle(dataset, plan, writer, str(nothing))
    fill(run)
    if run.state != Writing.State.FINISHED:
        raise PipelineError(f"{run.display_name} is {run.get_state_display()}: {run.note}")
    return _settle(dataset, plan, writer, f"{n_of(run.n_planned, 'task', ',')} done.")


def _settle(dataset: Dataset, plan: Plan, writer: Writer, outcome: str) -> str:
    """Return once all of this writer's outputs are reviewed, or accept them by the plan.

    What another writer proposed waits for its own person: no plan asked for it.
    """
    task = writer.task
    for run in Writing.objects.filter(dataset=dataset, writer=writer).order_by("pk"):
        waiting = open_products(run)
        if waiting and plan.accept_unseen:
            n, refused = accept_rest(run, None)
            outcome += f" {n:,} accepted without review."
            outcome += f" {len(refused):,} could not be: {refused[0]}" if refused else ""
        elif waiting:
            raise ReviewPendingError(
                f"{task}: {n_of(len(waiting), 'output', ',')} to review, at "
                f"{run.get_absolute_url()}review/. Then repeat the same command."
            )
    return f"{task}: {outcome}"


def _judge(dataset: Dataset, plan: JudgePlan) -> Judge:
    if not plan.name:
        return baseline_of(dataset)[0]
    judge = find_judge(plan.name, dataset)
    if judge is None:
        raise PipelineError(f"judge.name: there is no judge {plan.name}. Make it under Judges.")
    return judge


def _grade(dataset: Dataset, judge: Judge, plan: JudgePlan, texts: str) -> str:
    run = runs.open_run(judge, dataset)
    if run is None:
        run = runs.start(judge, dataset, Selection(texts=texts), endpoint=plan.endpoint)
    elif run.is_resumable:
        runs.resume(run)
    foreground.fill(run)
    if run.state != run.State.FINISHED:
        raise PipelineError(f"{run.display_name} is {run.get_state_display()}: {run.note}")
    pairs = n_of(run.n_planned, "pair", ",")
    return f"grades of {texts} by {judge.title}: {pairs}, {run.n_there_before:,} there before"


def _run(dataset: Dataset, name: str, recipe: str) -> str:
    # Where it was made, passages and grades had other keys: its fingerprint says nothing here.
    existing = RetrievalRun.objects.filter(
        dataset=dataset, name=name, recipe=str(parse_recipe(recipe))
    )
    if any(FROM_FILE in run.origin for run in existing):
        return f"run {name}: {recipe}, which came in a file"
    result = make_run(
        dataset, name, recipe, RecipeContext(dataset, opens_files=True, asks_servers=True)
    )
    return f"run {result.run}: {recipe}" + ("" if result.is_new else ", which is there")
