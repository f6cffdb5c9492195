"""Life cycle of a generation run, from plan to end; other states are a model run's."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Count, F, QuerySet, Sum
from django.db.models.functions import Now

from annotation.models import Dataset, Text, Topic, User
from annotation.plurals import n_of
from annotation.prepared import insert_new
from building.engine.generation_spec import (
    ON_PASSAGES,
    REPORTS,
    GenerationSpec,
    NothingToWriteError,
    SpecError,
    run_of,
)
from building.engine.sources import of_no_topic, planned_orders, source_of
from building.models import Order, Product, Writer, Writing
from building.writing.tasks import TASKS, Message, Source, render
from judging.engine.budget import CHARACTERS, Prices, prices_of
from judging.engine.charges import budget_for
from judging.execution.leases import any_unfinished, free
from judging.execution.limits import MAX_PAIRS
from judging.execution.models import Leased
from judging.execution.states import RunStateError, State, check, move, over_budget, rows
from judging.llm.messages import prompt_hash

AT_ONCE = 10_000  # orders of an insert
CONTEXT_ORIGINS = (
    "origins"  # in the selection of a run: those of its passages, as they were planned
)
LIMITS = {"max_messages": MAX_PAIRS}  # as in states.MAXIMA


class Row(NamedTuple):
    """The columns of an order in which it differs from the others; `inputs` are JSON."""

    topic_id: int
    document_id: int | None
    inputs: str
    n_left_out: int
    messages_hash: str
    sample: int


@dataclass
class Plan:
    """Planned orders of a generation run; `left_out` counts reasons for skipped ones."""

    orders: list[Row] = field(default_factory=list)
    n_there_before: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    first: list[Message] = field(default_factory=list)
    prompt_tokens: int = 0
    """Estimate."""
    completion_tokens: int = 0
    """Upper bound."""

    def in_words(self) -> str:
        text = n_of(len(self.orders), "task", ",") if self.orders else "No tasks"
        if self.n_there_before:
            text += f"; {self.n_there_before:,} done before by this writer"
        for reason, n in self.left_out.items():
            text += f"; {n:,} left out: {reason}"
        if self.prompt_tokens:
            text += (
                f". About {self.prompt_tokens:,} prompt tokens, at most "
                f"{self.completion_tokens:,} reply tokens"
            )
        return f"{text}."


def plan(writer: Writer, dataset: Dataset, spec: GenerationSpec) -> Plan:
    """Plan a generation run without writing. Raises SpecError, SelectionError."""
    spec.check(writer.task, dataset)
    task, writer_spec = TASKS[writer.task], writer.spec
    reports = _reports(writer, dataset, spec) if writer.task in REPORTS else set()
    result = Plan()
    before, ordered = _ordered_before(writer, dataset), set[tuple[int, str, int]]()
    if writer.task in ON_PASSAGES and not spec.topics and (n := of_no_topic(dataset)):
        result.left_out["its passage has no topic"] += n
    for candidate in planned_orders(task, dataset, spec):
        if candidate.why_not:
            result.left_out[candidate.why_not] += 1
            continue
        source = source_of(candidate.topic, candidate.document, candidate.inputs)
        messages = messages_of(writer, source)
        digest = prompt_hash(messages)
        inputs = json.dumps(candidate.inputs)
        for sample in range(spec.samples):
            key = (candidate.topic.pk, digest, sample)
            if key in before:
                result.n_there_before += 1
                continue
            if report_name(candidate.topic, sample) in reports:
                result.left_out["the system already has a report: name another system"] += 1
                continue
            if key in ordered:  # two documents with the same body
                result.left_out["an identical task exists"] += 1
                continue
            ordered.add(key)
            result.orders.append(
                Row(
                    candidate.topic.pk,
                    candidate.document.pk if candidate.document else None,
                    inputs,
                    candidate.n_left_out,
                    digest,
                    sample,
                )
            )
            result.first = result.first or messages
            if not writer_spec.is_extractive:
                characters = sum(len(message["content"]) for message in messages)
                result.prompt_tokens += characters // CHARACTERS
                cap = candidate.inputs.get("max_tokens") or writer_spec.sampling.max_tokens
                result.completion_tokens += cap
    return result


def system_of(writer: Writer, spec: GenerationSpec) -> str:
    """Return the system of a report: as specified, else from the writer and the run."""
    return spec.system or (f"{writer}.{spec.run}" if spec.run else writer.slug)


def report_name(topic: Topic, sample: int) -> str:
    """Return the name of a report within its system."""
    return topic.name + (f"#{sample}" if sample else "")


def _reports(writer: Writer, dataset: Dataset, spec: GenerationSpec) -> set[str]:
    """Return the names of the system's existing reports.

    Another report of such a name could not be accepted.
    """
    system = system_of(writer, spec)
    if writer.is_baseline and system.split(".", 1)[0] != writer.slug:
        raise SpecError(f"The system of a baseline must begin with “{writer}.”; or leave it empty.")
    max_length = Text._meta.get_field("system").max_length or 0
    if len(system) > max_length:
        raise SpecError(
            f"The name of the system, {system}, is longer than {max_length} characters: enter a shorter one."
        )
    existing = dataset.texts.filter(kind=Text.Kind.REPORT, system=system)
    return set(existing.values_list("name", flat=True))


def messages_of(writer: Writer, source: Source) -> list[Message]:
    """Render the messages for a writer; a baseline gets a model's, but reads the source alone."""
    task = TASKS[writer.task]
    return render(task, writer.system, writer.prompt or task.prompt, source)


def _ordered_before(writer: Writer, dataset: Dataset) -> set[tuple[int, str, int]]:
    """Return the keys of this writer's orders that are done, or will be."""
    if not writer.pk:
        return set()
    orders = Order.objects.filter(writer=writer, topic__dataset=dataset)
    settled = orders.exclude(pk__in=_given_up(writer, dataset))
    return set(settled.values_list("topic_id", "messages_hash", "sample"))


def _given_up(writer: Writer, dataset: Dataset) -> QuerySet[Order]:
    """Return the orders that a cancelled or stopped run never sent."""
    ended = (State.CANCELLED, State.STOPPED)
    return Order.objects.filter(
        free(), writer=writer, topic__dataset=dataset, run__state__in=ended, drafts=None
    )


def start(
    writer: Writer,
    dataset: Dataset,
    spec: GenerationSpec,
    *,
    created_by: User | None = None,
    **options: Any,
) -> Writing:
    """Start a new generation run with all its orders.

    `options` are fields of Writing: endpoint, budget.

    What an earlier writing was cancelled before it asked for is taken over. Raises what `plan` raises,
    NothingToWriteError, and RunStateError for a number or an address that cannot be, while another
    writing of this writer is open, and where the budget of the project, whose server it uses, does not
    allow it.
    """
    run = Writing(
        writer=writer,
        dataset=dataset,
        selection=spec.as_json(),
        created_by=created_by,
        state=State.RUNNING,
        started=Now(),
        **options,
    )
    run.price_in, run.price_out, run.currency = prices_of(
        run.endpoint, run.price_in, run.price_out, run.currency
    )
    check(run, LIMITS)
    new_plan = plan(writer, dataset, spec)
    if spec.run:
        # The run may be removed, and another take its name, before somebody accepts the reports.
        run.selection[CONTEXT_ORIGINS] = run_of(dataset, spec.run).origins
    if not new_plan.orders and open_writing(writer, dataset) is None:
        raise NothingToWriteError(new_plan.in_words())
    run.n_planned, run.n_there_before = len(new_plan.orders), new_plan.n_there_before
    try:
        with transaction.atomic():
            run.project_budget = budget_for(run)
            run.save()
            _create_orders(run, new_plan)
    except IntegrityError:
        raise RunStateError(_open_message(run)) from None
    return run


def begin(writer: Writer, dataset: Dataset, spec: GenerationSpec, **options: Any) -> Writing:
    """Resume this writer's open run of the same specification, or start a new one.

    Raises what `start` does.
    """
    run = open_writing(writer, dataset)
    if run is None or GenerationSpec.from_json(run.selection) != spec:
        return start(writer, dataset, spec, **options)
    if run.is_resumable:
        resume(run, **{name: value for name, value in options.items() if value})
    return run


def _create_orders(run: Writing, new_plan: Plan) -> None:
    _take_over(run)
    template = Order(run=run, writer=run.writer)
    varying = {"number", *Row._fields}
    columns = [field.attname for field in Order._meta.concrete_fields if not field.primary_key]
    shared = {name: getattr(template, name) for name in columns if name not in varying}
    rows = [
        (*shared.values(), number, *planned) for number, planned in enumerate(new_plan.orders, 1)
    ]
    names = (*shared, "number", *Row._fields)
    for start in range(0, len(rows), AT_ONCE):
        batch = rows[start : start + AT_ONCE]
        if insert_new(Order, names, batch) < len(batch):
            raise IntegrityError("A task exists already.")


def _take_over(run: Writing) -> None:
    """Delete abandoned orders of earlier runs, and lower those runs' planned counts."""
    given_up = _given_up(run.writer, run.dataset)
    for run_id, n in given_up.order_by().values_list("run").annotate(Count("pk")):
        Writing.objects.filter(pk=run_id).update(n_planned=F("n_planned") - n)
    given_up.delete()


def open_writing(writer: Writer, dataset: Dataset) -> Writing | None:
    return Writing.objects.filter(writer=writer, dataset=dataset, state__in=Writing.OPEN).first()


def _open_message(run: Writing) -> str:
    open_run = open_writing(run.writer, run.dataset)
    if open_run is None:
        return f"A generation run of {run.writer} has just ended: try again."
    return f"{open_run.display_name} of {run.writer} is still open: resume or cancel it first."


def resume(run: Writing, **options: Any) -> None:
    """Resume a generation run, with a new budget or endpoint if given. Raises RunStateError."""
    before = run.state
    if not run.is_resumable:
        raise RunStateError(
            f"{run.display_name} is {run.get_state_display()}, so it cannot be resumed."
        )
    if options.get("endpoint", run.endpoint) != run.endpoint:
        prices = {name: options[name] for name in Prices._fields if name in options}
        options |= prices_of(options["endpoint"], **prices)._asdict()
    for name, value in options.items():
        setattr(run, name, value)
    check(run, LIMITS)
    try:
        with transaction.atomic():
            options["project_budget"] = budget_for(run)
            if reason := over_budget(run):
                raise RunStateError(f"{reason} Set a larger budget to continue.")
            move(run, (State(before),), State.RUNNING, "", ended=None, put_aside={}, **options)
    except IntegrityError:
        raise RunStateError(_open_message(run)) from None


def retry_failed(run: Writing) -> int:
    """Retry the failed orders of a finished run; return their number. Raises RunStateError."""
    if run.state != State.FINISHED:
        raise RunStateError(
            f"{run.display_name} is {run.get_state_display()}: wait until it is finished."
        )
    try:
        with transaction.atomic():
            failed = run.orders.exclude(failure="")
            n = failed.update(state=Leased.State.OPEN, owner="", tries_left=F("tries_left") + 1)
            if not n:
                raise RunStateError(f"{run.display_name} has no failed tasks.")
            move(run, (State.FINISHED,), State.RUNNING, "", ended=None, put_aside={})
    except IntegrityError:
        raise RunStateError(_open_message(run)) from None
    return n


def finish_if_done(run: Writing) -> None:
    """Mark a running generation run as finished once no order is left."""
    run.refresh_from_db()
    if run.is_running and not any_unfinished(run):
        rows(run).filter(state=State.RUNNING).update(state=State.FINISHED, ended=Now())
        run.refresh_from_db()


def progress_of(run: Writing) -> dict[str, Any]:
    """Return the progress counts of a generation run."""
    products = Product.objects.filter(draft__order__run=run)
    usage = run.spending()
    return {
        "writing": run.pk,
        "state": run.state,
        "note": run.note,
        "planned": run.n_planned,
        "there_before": run.n_there_before,
        "done": run.orders.filter(state=Leased.State.DONE).count(),
        "failed": run.orders.exclude(failure="").count(),
        "missing": run.orders.aggregate(n=Sum("missing", default=0))["n"],
        "drafts": usage.requests,
        "products": products.count(),
        "open": products.filter(decision=Product.Decision.PROPOSED).count(),
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "money": run.money(usage.prompt_tokens, usage.completion_tokens),
    }
