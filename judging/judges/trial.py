"""A draft judge tried on some pairs before it is made: beside people and another judge. Nothing is stored."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.core.exceptions import ImproperlyConfigured
from django.db.models import Count, Max, Min

from annotation.http import is_key
from annotation.models import Dataset, Project, Rater, Rating, Rubric, SubQuestion, Text
from judging.engine.budget import prices_of
from judging.engine.charges import charge, check_budget
from judging.engine.choosing import addresses_of
from judging.engine.planning import Counts, kinds_of
from judging.engine.selection import Selection
from judging.engine.shown import Shown, answers_shown
from judging.graders.base import GraderError, OtherModelReplied
from judging.graders.openai_api import OpenAIGrader
from judging.grading.pairs import Reply
from judging.grading.prompt import shown_by
from judging.grading.spec import Spec
from judging.grading.words import outcome_words
from judging.judges.preview import Picked
from judging.models import Judge

PAIRS = 20
LOOKED_AT = 400  # pairs, of which those that the prompt can be filled in for are tried
SECONDS = 45  # for all of it: somebody waits for the page
PATIENCE = 15  # for a server that is silent
AT_ONCE = 8
DIFFER, TOPIC = "differ", "topic"

Key = tuple[int, int]  # of a text and a question


@dataclass(frozen=True)
class Row:
    """One pair: what people and the other judge gave it, and what the draft replied, if it did."""

    text: Text
    question: SubQuestion
    people: list[int]
    other: int | None
    reply: Reply | None

    @property
    def outcome(self) -> str:
        """Why the draft gave no grade; "" where it did."""
        if self.reply is None:
            return "no answer in time"
        failure = self.reply.failure
        return outcome_words(self.reply.state, failure) if failure else ""


@dataclass(frozen=True)
class Agreement:
    """Of `n` grades of others on pairs that the draft graded, how many equal its own or are within one."""

    n: int
    equal: int
    near: int


@dataclass(frozen=True)
class Projection:
    """What all pairs of the dataset would take at the mean of those tried. `why` there is no money."""

    n: int
    prompt_tokens: int
    completion_tokens: int
    money: float | None
    currency: str
    why: str


@dataclass(frozen=True)
class Trial:
    """What came of it. `stopped` says why the server could not be asked to the end.

    `named` is how its reply names the model where that stopped it, else "".
    """

    dataset: Dataset
    rubric: Rubric
    other: Judge | None
    rows: list[Row]
    seconds: float
    stopped: str
    projection: Projection | None
    named: str = ""

    @property
    def replies(self) -> list[Reply]:
        return [row.reply for row in self.rows if row.reply]

    @property
    def n_graded(self) -> int:
        return sum(reply.grade is not None for reply in self.replies)

    @property
    def prompt_tokens(self) -> int:
        return sum(reply.prompt_tokens for reply in self.replies)

    @property
    def completion_tokens(self) -> int:
        return sum(reply.completion_tokens for reply in self.replies)

    @property
    def with_people(self) -> Agreement:
        """Each rating counts: two people on one pair count twice."""
        return _agreement((row, grade) for row in self.rows for grade in row.people)

    @property
    def with_other(self) -> Agreement:
        return _agreement((row, row.other) for row in self.rows if row.other is not None)


def try_out(
    spec: Spec, rubric: Rubric, endpoint: str, picked: Picked, sent: Mapping[str, str]
) -> Trial:
    """Ask the server about PAIRS pairs of the picked dataset, for SECONDS at most.

    `sent` says which ("pairs": DIFFER or TOPIC) and beside whom ("other": the key of a judge). Raises
    GraderError where there is nothing to ask, or nobody.
    """
    project = picked.dataset.project
    check_budget(endpoint, project)
    if spec.backend != Judge.Backend.OPENAI:
        raise GraderError("Only a model behind a server can be tried from a page.")
    if sent.get("pairs") == TOPIC:
        keys, none = _of_topic(picked), "This topic has no pair with words."
    else:
        keys = _differing(picked.dataset, rubric)
        none = f"Nobody has graded a pair of {picked.dataset} under {rubric} yet."
    if not keys:
        raise GraderError(none)
    keys = _that_can_be_asked(spec, keys)[:PAIRS]
    if not keys:
        raise GraderError("None of these pairs has an answer, which the prompt shows.")
    pk = sent.get("other", "")
    other = Judge.objects.filter(pk=pk, rubric=rubric).first() if is_key(pk) else None
    rows = _rows(keys, rubric, other)
    replies, seconds, stopped, named = _ask(spec, endpoint, project, rows)
    charge(endpoint, project, list(replies.values()))
    done = [
        Row(
            row.text,
            row.question,
            row.people,
            row.other,
            replies.get((row.text.pk, row.question.pk)),
        )
        for row in rows
    ]
    projection = _projection(spec, picked.dataset, endpoint, list(replies.values()))
    return Trial(picked.dataset, rubric, other, done, seconds, stopped, projection, named)


def _differing(dataset: Dataset, rubric: Rubric) -> list[Key]:
    """The pairs on which people who rated on their own are furthest apart, then those of most people."""
    apart = Max("grade") - Min("grade") if rubric.has_order else Count("grade", distinct=True)
    rated = (
        Rating.objects.of_dataset(dataset)
        .filter(rubric=rubric, rater__kind=Rater.Kind.HUMAN, text__body__isnull=False)
        .exclude(rater__is_adjudicator=True)
        .exclude(question__body="")
        .order_by()
        .values_list("text", "question")
        .annotate(apart=apart, n=Count("pk"))
        .order_by("-apart", "-n", "text", "question")
    )
    return [(text, question) for text, question, *_ in rated[:LOOKED_AT]]


def _of_topic(picked: Picked) -> list[Key]:
    """The first pairs of the picked topic, from the picked text on."""
    if picked.topic is None or picked.text is None:
        return []
    texts = picked.topic.texts.with_body().filter(pk__gte=picked.text.pk).order_by("pk")
    questions = list(
        picked.topic.questions.with_words().order_by("position").values_list("pk", flat=True)
    )
    keys = texts.values_list("pk", flat=True)[:PAIRS]
    return [(text, question) for text in keys for question in questions]


def _that_can_be_asked(spec: Spec, keys: list[Key]) -> list[Key]:
    """The pairs that have all that the prompt shows."""
    answers = answers_shown(spec, {text for text, _ in keys})
    return keys if answers is None else [key for key in keys if key in answers]


def _rows(keys: list[Key], rubric: Rubric, other: Judge | None) -> list[Row]:
    texts = Text.objects.in_bulk([text for text, _ in keys])
    questions = SubQuestion.objects.select_related("topic").in_bulk(
        [question for _, question in keys]
    )
    people: dict[Key, list[int]] = {key: [] for key in keys}
    others: dict[Key, int] = {}
    ratings = (
        Rating.objects.filter(rubric=rubric, text__in=texts, question__in=questions)
        .order_by("rater__name", "pk")
        .values_list("text", "question", "grade", "rater", "rater__kind")
    )
    for text, question, grade, rater, kind in ratings:
        if (text, question) not in people:
            continue
        if kind == Rater.Kind.HUMAN:
            people[text, question].append(grade)
        elif other and rater == other.rater_id:
            others[text, question] = grade
    return [Row(texts[t], questions[q], people[t, q], others.get((t, q)), None) for t, q in keys]


def _ask(
    spec: Spec, endpoint: str, project: Project, rows: list[Row]
) -> tuple[dict[Key, Reply], float, str, str]:
    """The replies that came in time, the seconds, why no more could be asked, and the model that it names."""
    first, *others = addresses_of(endpoint, project)
    grader = OpenAIGrader(
        spec,
        first.url,
        key=first.key,
        route=first.route,
        others=others,
        concurrency=AT_ONCE,
        timeout=SECONDS,
        patience=PATIENCE,
    )
    keys = [(row.text.pk, row.question.pk) for row in rows]
    shown = Shown(spec, {text for text, _ in keys}, {question for _, question in keys})
    pairs = [shown.pair(*key) for key in keys]
    replies: dict[Key, Reply] = {}
    began = time.monotonic()
    coming = grader.replies(iter(pairs))
    stopped = named = ""
    try:
        for reply in coming:  # None about once a second, while nothing comes
            if reply:
                replies[reply.pair.text_id, reply.pair.question_id] = reply
            if time.monotonic() - began > SECONDS and len(replies) < len(rows):
                stopped = f"Not everything was answered within {SECONDS} seconds."
                break
    except OtherModelReplied as error:
        named = error.named
        stopped = (
            f"The server answers as {named}. If that is the model you mean, try again: it is filled in under "
            f"“Replies name the model as”. It was asked for {spec.model}."
        )
    except GraderError as error:
        stopped = str(error)
    finally:
        coming.close()
    return replies, time.monotonic() - began, stopped, named


def _agreement(grades: Iterable[tuple[Row, int]]) -> Agreement:
    gaps = [
        abs(row.reply.grade - grade)
        for row, grade in grades
        if row.reply and row.reply.grade is not None
    ]
    return Agreement(len(gaps), sum(gap == 0 for gap in gaps), sum(gap <= 1 for gap in gaps))


def _projection(
    spec: Spec, dataset: Dataset, endpoint: str, replies: list[Reply]
) -> Projection | None:
    """None where the server told no tokens."""
    # Those that failed before they were read took none.
    told = [reply for reply in replies if reply.prompt_tokens]
    if not told:
        return None
    asked = [len(kind.questions) for kind in kinds_of(spec, dataset, Selection(), Counts())]
    n = sum(asked)
    times = n / len(told)
    if "questions" in shown_by(spec):
        # A message takes as much for one question of a text as for all.
        times = len(asked) / len({reply.pair.text_id for reply in told})
    read = times * sum(reply.prompt_tokens for reply in told)
    written = times * sum(reply.completion_tokens for reply in told)
    money, currency, why = None, "", "the site knows no price of this server"
    try:
        prices = prices_of(endpoint)
    except ImproperlyConfigured as error:
        why = str(error)
    else:
        if prices.price_in or prices.price_out:
            money = (read * prices.price_in + written * prices.price_out) / 1_000_000
            currency = prices.currency
    return Projection(n, round(read), round(written), money, currency, why)
