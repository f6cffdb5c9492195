"""manage.py judge DATASET --judge SLUG: grade missing pairs in the foreground."""

import json
from argparse import Action, ArgumentParser, Namespace
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError
from tqdm import tqdm

from annotation.management.base import SiteCommand
from annotation.models import Dataset
from annotation.plurals import n_of
from crux_site.judge_tests.page import result_of
from judging.engine import budget, judge_tests, runs
from judging.engine.budget import prices_of
from judging.engine.foreground import fill
from judging.engine.grader_choice import addresses_of
from judging.engine.judge_tests import JudgeTestRequest, estimate_test, start_test
from judging.engine.judges import BASELINES, SLUG, baseline_of, find_judge
from judging.engine.progress import failures_of, progress_of
from judging.engine.selection import Selection
from judging.execution import states
from judging.execution.leases import is_exported
from judging.execution.models import ENDPOINT_SEPARATOR
from judging.grading.variants import JudgeTest
from judging.management.options import add_selection, dataset_of, selection_of
from judging.models import Batch, Judge, JudgeRun

# Options of a run besides its pairs.
RUN_OPTIONS = (
    *("endpoint", "concurrency", "reply_seconds"),
    *("max_pairs", "max_tokens", "max_money", "price_in", "price_out"),
)


TEST_NUMBERS = (
    ("pairs", judge_tests.PAIRS, "size of the sample"),
    ("repeats", judge_tests.REPEATS, "requests about each pair, of the test repeat"),
    ("seed", 0, "of the sample"),
)


class _JoinedOption(Action):
    """Option that may be repeated; the values are joined to one string."""

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, option: str | None = None
    ) -> None:
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, f"{before}{ENDPOINT_SEPARATOR}{values}" if before else values)


class Command(SiteCommand):
    help = (
        "Grade the pairs that a judge lacks. Ctrl-C pauses; the same command goes on. "
        "Several processes, on several machines, may share one run with --join."
    )
    expected_errors = (ImproperlyConfigured,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="its slug")
        parser.add_argument("--judge", default=SLUG, help="a judge's name (default: the baseline)")
        add_selection(parser)
        parser.add_argument(
            "--test",
            choices=[*JudgeTest],
            help="test the judge: send pairs again that it has graded; no grade is stored as a rating",
        )
        for name, default, label in TEST_NUMBERS:
            parser.add_argument(
                f"--{name}", type=int, help=f"with --test: {label} (default: {default})"
            )
        parser.add_argument("--join", type=int, metavar="RUN", help="work on this judge run")
        parser.add_argument("--cancel", type=int, metavar="RUN", help="end this judge run")
        parser.add_argument(
            "--endpoint",
            action=_JoinedOption,
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
        parser.add_argument("--price-in", type=float, help="price of a million prompt tokens")
        parser.add_argument("--price-out", type=float, help="price of a million completion tokens")
        parser.add_argument("--dry-run", action="store_true", help="count and estimate alone")
        parser.add_argument("--json", action="store_true", help="the result as one line of JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = dataset_of(options)
        selection = selection_of(options)
        request = _test_request(options, selection)
        if options["cancel"]:
            run = _run_of(dataset, options["cancel"])
            states.cancel(run)
            self._tell(run, options)
            return
        if options["join"]:
            run = _joined_run(dataset, options["join"])
        else:
            judge = _judge_of(dataset, options["judge"])
            selection.check(dataset)
            if options["dry_run"]:
                self._estimate(judge, dataset, request or selection, options)
                return
            run = self._run(judge, dataset, request or selection, options)
        self._fill(run, options)

    def _estimate(
        self,
        judge: Judge,
        dataset: Dataset,
        requested: Selection | JudgeTestRequest,
        options: dict[str, Any],
    ) -> None:
        typed = (options["price_in"] or 0, options["price_out"] or 0)
        prices = prices_of(options["endpoint"], *typed)
        estimate: budget.Estimate | judge_tests.JudgeTestEstimate
        if isinstance(requested, JudgeTestRequest):
            estimate = estimate_test(judge, dataset, requested, prices)
        else:
            estimate = budget.estimate_of(judge, dataset, requested, prices)
        self.stdout.write(json.dumps(estimate.as_json()) if options["json"] else estimate.summary())

    def _run(
        self,
        judge: Judge,
        dataset: Dataset,
        requested: Selection | JudgeTestRequest,
        options: dict[str, Any],
    ) -> JudgeRun:
        fields = {name: options[name] for name in RUN_OPTIONS if options[name] not in (None, "")}
        test = requested.test if isinstance(requested, JudgeTestRequest) else ""
        run = runs.open_run(judge, dataset, test) or _stopped_run(judge, dataset, test)
        if run is None or not _is_same(run, requested):
            _check_endpoint(judge, options["endpoint"], dataset)
            if isinstance(requested, JudgeTestRequest):
                return start_test(judge, dataset, requested, **fields)
            return runs.start(judge, dataset, requested, **fields)
        if is_exported(run):
            raise CommandError(_exported_message(run))
        if run.is_resumable:
            _check_endpoint(judge, options["endpoint"] or run.endpoint, dataset)
            runs.resume(run, **fields)
        elif changed := [name for name, value in fields.items() if getattr(run, name) != value]:
            option = changed[0].replace("_", "-")
            raise CommandError(
                f"Judge run {run.pk} is {run.get_state_display()} with another --{option}: "
                f"pause it first, or work on it as it is with --join {run.pk}."
            )
        self._print(options, f"going on with judge run {run.pk}")
        return run

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
            self._print(options, f"left judge run {run.pk}; every reply so far is kept")
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
            if run.test:
                counts["result"] = result_of(run).as_json()
            self.stdout.write(json.dumps(counts))
        elif options["verbosity"]:
            kind = " (a baseline, not a model)" if run.judge.is_baseline else ""
            failed = "".join(f"; {n:,} {failure}" for failure, n in failures.items())
            self.stdout.write(
                f"judge run {run.pk} of {run.judge.slug}{kind} is {run.get_state_display()}: "
                f"{n_of(progress.n_graded, 'pair', ',')} graded, {run.n_there_before:,} were there before, "
                f"{run.n_without_words:,} lack the words that the prompt shows{failed}. {run.note}".rstrip()
            )
            if run.test:
                self.stdout.write("\n".join(result_of(run).lines()))
            for reason in run.put_aside.values():
                self.stdout.write(f"A server was dropped: {reason}")
            if not progress.tells_tokens and (run.max_tokens or run.max_money):
                self._print(
                    options, "No reply tells its tokens: only a budget of pairs can stop it."
                )

    def _print(self, options: dict[str, Any], message: str) -> None:
        if not options["json"] and options["verbosity"]:
            self.stderr.write(message)


def _judge_of(dataset: Dataset, slug: str) -> Judge:
    if slug in BASELINES:
        return baseline_of(dataset, slug)[0]
    judge = find_judge(slug, dataset)
    if judge is None:
        names = ", ".join(
            Judge.objects.filter(rater__dataset=None).values_list("rater__name", flat=True)
        )
        raise CommandError(
            f"There is no judge {slug!r}; there are: {', '.join(BASELINES)}, {names}.".replace(
                ", .", "."
            )
        )
    return judge


def _test_request(options: dict[str, Any], selection: Selection) -> JudgeTestRequest | None:
    """Return the requested test; None without one.

    Raises CommandError, JudgeTestError.
    """
    numbers = {name: options[name] for name, _, _ in TEST_NUMBERS if options[name] is not None}
    if not options["test"]:
        if numbers:
            raise CommandError(f"--{next(iter(numbers))} is for a test: name one with --test.")
        return None
    if chosen := selection.as_json():
        raise CommandError(
            f"A test draws from all graded pairs: --{next(iter(chosen))} is not for it. See --pairs."
        )
    request = JudgeTestRequest(options["test"], **numbers)
    request.check()
    return request


def _is_same(run: JudgeRun, requested: Selection | JudgeTestRequest) -> bool:
    """Return whether a run is the one that is requested, so that it can go on."""
    if isinstance(requested, Selection):
        return bool(run.selection == requested.as_json())
    return (run.repeats, run.selection) == (requested.n_repeats, requested.selection.as_json())


def _stopped_run(judge: Judge, dataset: Dataset, test: str) -> JudgeRun | None:
    """Return the newest run of a judge if its budget is spent, else None.

    A budget is for a run, not for a command.
    """
    newest = JudgeRun.objects.filter(judge=judge, dataset=dataset, test=test).first()
    return newest if newest and newest.state == JudgeRun.State.STOPPED else None


def _check_endpoint(judge: Judge, endpoint: str, dataset: Dataset) -> None:
    """Raise BackendError before a run is created for a model server that is unknown here."""
    if judge.backend == Judge.Backend.OPENAI:
        addresses_of(endpoint, dataset.project)


def _run_of(dataset: Dataset, pk: int) -> JudgeRun:
    run = JudgeRun.objects.filter(pk=pk, dataset=dataset).first()
    if run is None:
        raise CommandError(f"{dataset.slug} has no judge run {pk}.")
    return run


def _joined_run(dataset: Dataset, pk: int) -> JudgeRun:
    run = _run_of(dataset, pk)
    if run.is_resumable:
        raise CommandError(
            f"Judge run {pk} is {run.get_state_display()}: give the command that began it again, or "
            "resume it in the browser."
        )
    if is_exported(run):
        raise CommandError(_exported_message(run))
    return run


def _exported_message(run: JudgeRun) -> str:
    return f"Judge run {run.pk} was exported and waits for judge_import. Cancel it to have its pairs back."
