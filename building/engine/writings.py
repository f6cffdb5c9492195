"""A writing from its plan to its end; its other states are those of any run of a model."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Count, F, QuerySet, Sum
from django.db.models.functions import Now

from annotation.models import Dataset, Text, Topic, User
from annotation.prepared import insert_new
from building.engine.sources import of_no_topic, planned, source_of
from building.engine.wanted import ON_PASSAGES, REPORTS, NothingToWrite, Wanted, WantedError
from building.models import Order, Product, Writer, Writing
from building.writing.tasks import TASKS, Message, Source, render
from judging.engine.budget import CHARACTERS, PAIRS, prices_of
from judging.engine.leases import any_left, free
from judging.engine.states import RunRefused, State, check, move, over_budget, rows
from judging.grading.prompt import prompt_hash
from judging.models.leased import Leased

AT_ONCE = 10_000  # orders of an insert
MOST = {"max_messages": PAIRS}  # as in states.MOST


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
    """What a writing would ask. `left_out` counts why other things are not written."""

    orders: list[Row] = field(default_factory=list)
    n_there_before: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    first: list[Message] = field(default_factory=list)
    prompt_tokens: int = 0
    """Roughly."""
    completion_tokens: int = 0
    """At most."""

    def in_words(self) -> str:
        words = f"{len(self.orders):,} to write" if self.orders else "Nothing to write"
        if self.n_there_before:
            words += f"; {self.n_there_before:,} this writer has written before"
        for why, n in self.left_out.items():
            words += f"; {n:,} left out: {why}"
        if self.prompt_tokens:
            words += f". About {self.prompt_tokens:,} prompt tokens, at most {self.completion_tokens:,} written"
        return f"{words}."


def plan(writer: Writer, dataset: Dataset, wanted: Wanted) -> Plan:
    """What a writing would ask; writes nothing. Raises WantedError, SelectionError."""
    wanted.check(writer.task, dataset)
    task, spec = TASKS[writer.task], writer.spec
    reports = _reports(writer, dataset, wanted) if writer.task in REPORTS else set()
    made = Plan()
    before, ordered = _before(writer, dataset), set[tuple[int, str, int]]()
    if writer.task in ON_PASSAGES and not wanted.topics and (n := of_no_topic(dataset)):
        made.left_out["its passage is of no topic"] += n
    for each in planned(task, dataset, wanted):
        if each.why_not:
            made.left_out[each.why_not] += 1
            continue
        source = source_of(each.topic, each.document, each.inputs)
        messages = messages_of(writer, source)
        digest = prompt_hash(messages)
        inputs = json.dumps(each.inputs)
        for sample in range(wanted.samples):
            key = (each.topic.pk, digest, sample)
            if key in before:
                made.n_there_before += 1
                continue
            if report_name(each.topic, sample) in reports:
                made.left_out["the system has a report of it: name another system"] += 1
                continue
            if key in ordered:  # two documents of the same words
                made.left_out["the same is asked for already"] += 1
                continue
            ordered.add(key)
            made.orders.append(
                Row(
                    each.topic.pk,
                    each.document.pk if each.document else None,
                    inputs,
                    each.n_left_out,
                    digest,
                    sample,
                )
            )
            made.first = made.first or messages
            if not spec.is_extractive:
                characters = sum(len(message["content"]) for message in messages)
                made.prompt_tokens += characters // CHARACTERS
                cap = each.inputs.get("max_tokens") or spec.sampling.max_tokens
                made.completion_tokens += cap
    return made


def system_of(writer: Writer, wanted: Wanted) -> str:
    """Of what system a report is: as it was named, or its writer and the run that it was written from."""
    return wanted.system or (f"{writer}.{wanted.run}" if wanted.run else writer.slug)


def report_name(topic: Topic, sample: int) -> str:
    """What a report is called among those of its system."""
    return topic.name + (f"#{sample}" if sample else "")


def _reports(writer: Writer, dataset: Dataset, wanted: Wanted) -> set[str]:
    """What the reports of the system are called that are there: another of that name could not be accepted."""
    system = system_of(writer, wanted)
    if writer.is_baseline and system.split(".", 1)[0] != writer.slug:
        raise WantedError(
            f"A baseline is called a baseline everywhere: its system begins with “{writer}.”, or is left empty."
        )
    most = Text._meta.get_field("system").max_length or 0
    if len(system) > most:
        raise WantedError(
            f"Reports would be of the system {system}, which is longer than {most} characters: name a "
            "shorter one."
        )
    there = dataset.texts.filter(kind=Text.Kind.REPORT, system=system)
    return set(there.values_list("name", flat=True))


def messages_of(writer: Writer, source: Source) -> list[Message]:
    """What a writer is told; a baseline is told what a model would be, though it reads the source alone."""
    task = TASKS[writer.task]
    return render(task, writer.system, writer.prompt or task.prompt, source)


def _before(writer: Writer, dataset: Dataset) -> set[tuple[int, str, int]]:
    """What was ordered from this writer, which may not be stored yet, and is done, or will be."""
    if not writer.pk:
        return set()
    orders = Order.objects.filter(writer=writer, topic__dataset=dataset)
    settled = orders.exclude(pk__in=_given_up(writer, dataset))
    return set(settled.values_list("topic_id", "messages_hash", "sample"))


def _given_up(writer: Writer, dataset: Dataset) -> QuerySet[Order]:
    """What a writing was cancelled, or stopped, before it asked for."""
    ended = (State.CANCELLED, State.STOPPED)
    return Order.objects.filter(
        free(), writer=writer, topic__dataset=dataset, run__state__in=ended, drafts=None
    )


def start(
    writer: Writer,
    dataset: Dataset,
    wanted: Wanted,
    *,
    created_by: User | None = None,
    **options: Any,
) -> Writing:
    """A new writing with all its orders, running. `options` are fields of Writing: endpoint, budget.

    What an earlier writing was cancelled before it asked for is taken over. Raises what `plan` raises,
    NothingToWrite, and RunRefused for a number or an address that cannot be, and while another writing of
    this writer is open.
    """
    run = Writing(
        writer=writer,
        dataset=dataset,
        selection=wanted.as_json(),
        created_by=created_by,
        state=State.RUNNING,
        started=Now(),
        **options,
    )
    run.price_in, run.price_out, run.currency = prices_of(
        run.endpoint, run.price_in, run.price_out, run.currency
    )
    check(run, MOST)
    made = plan(writer, dataset, wanted)
    if not made.orders and open_writing(writer, dataset) is None:
        raise NothingToWrite(made.in_words())
    run.n_planned, run.n_there_before = len(made.orders), made.n_there_before
    try:
        with transaction.atomic():
            run.save()
            _order(run, made)
    except IntegrityError:
        raise RunRefused(_still_open(run)) from None
    return run


def begin(writer: Writer, dataset: Dataset, wanted: Wanted, **options: Any) -> Writing:
    """The open writing of this writer that is asked for the same, going on, or else a new one.

    Raises what `start` does.
    """
    run = open_writing(writer, dataset)
    if run is None or Wanted.from_json(run.selection) != wanted:
        return start(writer, dataset, wanted, **options)
    if run.is_resumable:
        resume(run, **{name: value for name, value in options.items() if value})
    return run


def _order(run: Writing, made: Plan) -> None:
    _take_over(run)
    alike = Order(run=run, writer=run.writer)
    own = {"number", *Row._fields}
    columns = [field.attname for field in Order._meta.concrete_fields if not field.primary_key]
    same = {name: getattr(alike, name) for name in columns if name not in own}
    rows = [(*same.values(), number, *planned) for number, planned in enumerate(made.orders, 1)]
    names = (*same, "number", *Row._fields)
    for start in range(0, len(rows), AT_ONCE):
        some = rows[start : start + AT_ONCE]
        if insert_new(Order, names, some) < len(some):
            raise IntegrityError("An order is there already.")


def _take_over(run: Writing) -> None:
    """Leave what others gave up to this writing: they planned so many fewer."""
    given_up = _given_up(run.writer, run.dataset)
    for of, n in given_up.order_by().values_list("run").annotate(Count("pk")):
        Writing.objects.filter(pk=of).update(n_planned=F("n_planned") - n)
    given_up.delete()


def open_writing(writer: Writer, dataset: Dataset) -> Writing | None:
    return Writing.objects.filter(writer=writer, dataset=dataset, state__in=Writing.OPEN).first()


def _still_open(run: Writing) -> str:
    there = open_writing(run.writer, run.dataset)
    if there is None:
        return f"A writing of {run.writer} was open until just now: try again."
    return f"{there.called} of {run.writer} is still open: resume or cancel it first."


def resume(run: Writing, **options: Any) -> None:
    """Let workers go on, with a new budget or endpoint where one is given. Raises RunRefused."""
    before = run.state
    if not run.is_resumable:
        raise RunRefused(f"{run.called} is {run.get_state_display()}: nothing to resume.")
    for name, value in options.items():
        setattr(run, name, value)
    check(run, MOST)
    if reason := over_budget(run):
        raise RunRefused(f"{reason} Give it a larger one to go on.")
    try:
        with transaction.atomic():
            move(run, (State(before),), State.RUNNING, "", ended=None, put_aside={}, **options)
    except IntegrityError:
        raise RunRefused(_still_open(run)) from None


def ask_again(run: Writing) -> int:
    """Ask once more for what a finished writing failed at; returns for how many. Raises RunRefused."""
    if run.state != State.FINISHED:
        raise RunRefused(f"{run.called} is {run.get_state_display()}: let it finish first.")
    try:
        with transaction.atomic():
            failed = run.orders.exclude(failure="")
            n = failed.update(state=Leased.State.OPEN, owner="", tries_left=F("tries_left") + 1)
            if not n:
                raise RunRefused(f"{run.called} has nothing that failed.")
            move(run, (State.FINISHED,), State.RUNNING, "", ended=None, put_aside={})
    except IntegrityError:
        raise RunRefused(_still_open(run)) from None
    return n


def finish_if_done(run: Writing) -> None:
    """Set a running writing finished once no order is left."""
    run.refresh_from_db()
    if run.is_running and not any_left(run):
        rows(run).filter(state=State.RUNNING).update(state=State.FINISHED, ended=Now())
        run.refresh_from_db()


def told(run: Writing) -> dict[str, Any]:
    """A writing in numbers."""
    products = Product.objects.filter(draft__order__run=run)
    spent = run.spent()
    return {
        "writing": run.pk,
        "state": run.state,
        "note": run.note,
        "planned": run.n_planned,
        "there_before": run.n_there_before,
        "done": run.orders.filter(state=Leased.State.DONE).count(),
        "failed": run.orders.exclude(failure="").count(),
        "missing": run.orders.aggregate(n=Sum("missing", default=0))["n"],
        "drafts": spent.asked,
        "products": products.count(),
        "open": products.filter(decision=Product.Decision.PROPOSED).count(),
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
        "money": run.money(spent.prompt_tokens, spent.completion_tokens),
    }
