"""manage.py judge DATASET --judge SLUG: a judge fills the rating matrix, in the foreground."""

import json
from argparse import Action, ArgumentParser, Namespace
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from annotation.models import Dataset
from judging.engine import budget, planning, runs, states
from judging.engine.budget import prices_of
from judging.engine.choosing import addresses_of
from judging.engine.foreground import fill
from judging.engine.judges import BASELINES, SLUG, baseline_of, find_judge
from judging.engine.leases import is_abroad
from judging.engine.progress import failures_of, progress_of
from judging.engine.selection import Selection, SelectionError
from judging.graders.base import GraderError
from judging.management.options import add_selection, dataset_of, selection_of
from judging.models import Batch, Judge, JudgeRun
from judging.models.run import PARTED_BY

# What a run is told, beside which pairs.
TOLD = (
    *("endpoint", "concurrency", "reply_seconds"),
    *("max_pairs", "max_tokens", "max_money", "price_in", "price_out"),
)

# What says in a sentence why it cannot be done.
REFUSALS = (
    SelectionError,
    states.RunRefused,
    GraderError,
    planning.PlannedElsewhere,
    ImproperlyConfigured,
)


class _Parted(Action):
    """An option that may be given several times, as one word."""

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, option: str | None = None
    ) -> None:
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, f"{before}{PARTED_BY}{values}" if before else values)


class Command(BaseCommand):
    help = (
        "Grade the pairs that a judge lacks. Ctrl-C pauses; the same command goes on. "
        "Several processes, on several machines, may share one run with --join."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="its slug")
        parser.add_argument("--judge", default=SLUG, help="a judge's name (default: the baseline)")
        add_selection(parser)
        parser.add_argument("--join", type=int, metavar="RUN", help="work on this judge run")
        parser.add_argument("--cancel", type=int, metavar="RUN", help="end this judge run")
        parser.add_argument(
            "--endpoint",
            action=_Parted,
            default="",
            help="a name of JUDGE_ENDPOINTS, or a URL; several times for several servers",
        )
        parser.add_argument(
            "--concurrency", type=int, help="requests at once, at most (default: 64)"
        )
        parser.add_argument(
            "--reply-seconds",
            type=int,
            help="that a reply may take (default: by the judge's tokens and its server)",
        )
        parser.add_argument("--max-pairs", type=int, help="stop after so many pairs asked")
        parser.add_argument("--max-tokens", type=int, help="read and written")
        parser.add_argument("--max-money", type=float, help="at these prices:")
        parser.add_argument("--price-in", type=float, help="of a million prompt tokens")
        parser.add_argument("--price-out", type=float, help="of a million written tokens")
        parser.add_argument("--dry-run", action="store_true", help="count and estimate alone")
        parser.add_argument("--json", action="store_true", help="the result as one line of JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = dataset_of(options)
        selection = selection_of(options)
        try:
            if options["cancel"]:
                run = _run_of(dataset, options["cancel"])
                states.cancel(run)
                self._tell(run, options)
                return
            if options["join"]:
                run = _joined(dataset, options["join"])
            else:
                judge = _judge(dataset, options["judge"])
                selection.check(dataset)
                if options["dry_run"]:
                    self._estimate(judge, dataset, selection, options)
                    return
                run = self._run(judge, dataset, selection, options)
            self._fill(run, options)
        except REFUSALS as error:
            raise CommandError(str(error)) from None

    def _estimate(
        self, judge: Judge, dataset: Dataset, selection: Selection, options: dict[str, Any]
    ) -> None:
        typed = (options["price_in"] or 0, options["price_out"] or 0)
        prices = prices_of(options["endpoint"], *typed)
        estimate = budget.estimate_of(judge, dataset, selection, prices)
        self.stdout.write(
            json.dumps(estimate.as_json()) if options["json"] else estimate.in_words()
        )

    def _run(
        self, judge: Judge, dataset: Dataset, selection: Selection, options: dict[str, Any]
    ) -> JudgeRun:
        fields = {name: options[name] for name in TOLD if options[name] not in (None, "")}
        there = runs.open_run(judge, dataset) or _stopped(judge, dataset)
        if there is None or there.selection != selection.as_json():
            _check_endpoint(judge, options["endpoint"], dataset)
            return runs.start(judge, dataset, selection, **fields)
        if is_abroad(there):
            raise CommandError(_abroad(there))
        if there.is_resumable:
            _check_endpoint(judge, options["endpoint"] or there.endpoint, dataset)
            runs.resume(there, **fields)
        elif other := [name for name, value in fields.items() if getattr(there, name) != value]:
            option = other[0].replace("_", "-")
            raise CommandError(
                f"Judge run {there.pk} is {there.get_state_display()} with another --{option}: "
                f"pause it first, or work on it as it is with --join {there.pk}."
            )
        self._say(options, f"going on with judge run {there.pk}")
        return there

    def _fill(self, run: JudgeRun, options: dict[str, Any]) -> None:
        bar: tqdm[Any] = tqdm(
            unit=" pairs", disable=options["json"] or not options["verbosity"], file=self.stderr
        )

        def show(batch: Batch) -> None:
            bar.total, bar.n = run.n_planned, runs.n_done(run)  # whoever did it
            bar.refresh()

        try:
            fill(run, show)
        except KeyboardInterrupt:
            if not options["join"] and run.is_running:
                states.pause(run, "stopped by hand")
            self._say(options, f"left judge run {run.pk}; every reply so far is kept")
        finally:
            bar.close()
        run.refresh_from_db()
        self._tell(run, options)

    def _tell(self, run: JudgeRun, options: dict[str, Any]) -> None:
        progress = progress_of(run)
        failures = {kind.failure: kind.n for kind in failures_of(run)}
        if options["json"]:
            counts = {
                "run": run.pk,
                "state": run.state,
                "note": run.note,
                "judge": run.judge.slug,
                "fingerprint": run.judge.fingerprint,
                "there_before": run.n_there_before,
                "without_words": run.n_without_words,
                "failures": failures,
                "put_aside": run.put_aside,
                **progress.as_json(),
            }
            self.stdout.write(json.dumps(counts))
        elif options["verbosity"]:
            kind = " (a baseline, not a model)" if run.judge.is_baseline else ""
            failed = "".join(f"; {n:,} {failure}" for failure, n in failures.items())
            self.stdout.write(
                f"judge run {run.pk} of {run.judge.slug}{kind} is {run.get_state_display()}: "
                f"{progress.n_graded:,} pairs graded, {run.n_there_before:,} were there before, "
                f"{run.n_without_words:,} lack the words that the prompt shows{failed}. {run.note}".rstrip()
            )
            for why in run.put_aside.values():
                self.stdout.write(f"A server was put aside: {why}")
            if not progress.tells_tokens and (run.max_tokens or run.max_money):
                self._say(options, "No reply tells its tokens: only a budget of pairs can stop it.")

    def _say(self, options: dict[str, Any], what: str) -> None:
        if not options["json"] and options["verbosity"]:
            self.stderr.write(what)


def _judge(dataset: Dataset, slug: str) -> Judge:
    if slug in BASELINES:
        return baseline_of(dataset, slug)[0]
    judge = find_judge(slug, dataset)
    if judge is None:
        known = ", ".join(
            Judge.objects.filter(rater__dataset=None).values_list("rater__name", flat=True)
        )
        raise CommandError(
            f"There is no judge {slug!r}; there are: {', '.join(BASELINES)}, {known}.".replace(
                ", .", "."
            )
        )
    return judge


def _stopped(judge: Judge, dataset: Dataset) -> JudgeRun | None:
    """The newest run of a judge, if its budget is spent: a budget is for a run, and not for a command."""
    newest = JudgeRun.objects.filter(judge=judge, dataset=dataset).first()
    return newest if newest and newest.state == JudgeRun.State.STOPPED else None


def _check_endpoint(judge: Judge, endpoint: str, dataset: Dataset) -> None:
    """Raises GraderError before a run is made for a server that this machine does not know."""
    if judge.backend == Judge.Backend.OPENAI:
        addresses_of(endpoint, dataset.project)


def _run_of(dataset: Dataset, pk: int) -> JudgeRun:
    run = JudgeRun.objects.filter(pk=pk, dataset=dataset).first()
    if run is None:
        raise CommandError(f"{dataset.slug} has no judge run {pk}.")
    return run


def _joined(dataset: Dataset, pk: int) -> JudgeRun:
    run = _run_of(dataset, pk)
    if run.is_resumable:
        raise CommandError(
            f"Judge run {pk} is {run.get_state_display()}: give the command that began it again, or "
            "resume it in the browser."
        )
    if is_abroad(run):
        raise CommandError(_abroad(run))
    return run


def _abroad(run: JudgeRun) -> str:
    return f"Judge run {run.pk} was exported and waits for judge_import. Cancel it to have its pairs back."
