"""Trial of a draft judge on some pairs, compared with people and another judge.

Nothing is stored.
"""

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
from judging.engine.grader_choice import addresses_of
from judging.engine.pair_loader import PairLoader, answers_in_prompt
from judging.engine.planning import Counts, kinds_of
from judging.engine.selection import Selection
from judging.graders.chat import OpenAIGrader
from judging.grading.labels import outcome_label
from judging.grading.pairs import Reply
from judging.grading.prompt import placeholders_of
from judging.grading.spec import Spec
from judging.judges.preview import Picked
from judging.llm.errors import BackendError, ReplyModelMismatchError
from judging.models import Judge

PAIRS = 20
LOOKED_AT = 400  # pairs, of which those that the prompt can be filled in for are tried
SECONDS = 45  # for all of it: somebody waits for the page
RETRY_SECONDS = 15  # for a server that is silent
AT_ONCE = 8
DIFFER, TOPIC = "differ", "topic"

Key = tuple[int, int]  # of a text and a question


@dataclass(frozen=True)
class Row:
    """Pair with the grades of people and of the other judge, and the draft's reply, if any."""

    text: Text
    question: SubQuestion
    people: list[int]
    other: int | None
    reply: Reply | None

    @property
    def outcome(self) -> str:
        """Return the reason why the draft gave no grade; "" where it did."""
        if self.reply is None:
            return "no answer in time"
        failure = self.reply.failure
        return outcome_label(self.reply.state, failure) if failure else ""


@dataclass(frozen=True)
class Agreement:
    """Agreement of the draft with `n` grades of others: equal, or within one grade.

    Only pairs that the draft graded count.
    """

    n: int
    equal: int
    near: int


@dataclass(frozen=True)
class Projection:
    """Projected tokens and money for all pairs of the dataset, at the mean of the trial.

    `why` there is no money.
    """

    n: int
    prompt_tokens: int
    completion_tokens: int
    money: float | None
    currency: str
    why: str


@dataclass(frozen=True)
class Trial:
    """Result of a trial.

    `stopped` says why the server could not be asked to the end. `named` is how its reply names the
    model where that stopped it, else "".
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
    def agreement_with_people(self) -> Agreement:
        """Return the agreement with people; two people on one pair count twice."""
        return _agreement((row, grade) for row in self.rows for grade in row.people)

    @property
    def agreement_with_other(self) -> Agreement:
        return _agreement((row, row.other) for row in self.rows if row.other is not None)


def try_out(
    spec: Spec, rubric: Rubric, endpoint: str, picked: Picked, sent: Mapping[str, str]
) -> Trial:
    """Ask the server about PAIRS pairs of the picked dataset, for SECONDS at most.

    `sent` says which ("pairs": DIFFER or TOPIC) and beside whom ("other": the key of a judge). Raises
    BackendError where there is nothing to ask, or nobody.
    """
    project = picked.dataset.project
    check_budget(endpoint, project)
    if spec.backend != Judge.Backend.OPENAI:
        raise BackendError("Only a model on a server can be tried on a page.")
    if sent.get("pairs") == TOPIC:
        keys, none = _of_topic(picked), "This topic has no pair with a stored text."
    else:
        keys = _differing(picked.dataset, rubric)
        none = f"{picked.dataset} has no grades by people under {rubric} yet."
    if not keys:
        raise BackendError(none)
    keys = _that_can_be_asked(spec, keys)[:PAIRS]
    if not keys:
        raise BackendError("The prompt needs an answer, but none of these pairs has one.")
    pk = sent.get("other", "")
    other_judge = Judge.objects.filter(pk=pk, rubric=rubric).first() if is_key(pk) else None
    rows = _rows(keys, rubric, other_judge)
    replies, seconds, stopped, reply_model = _ask(spec, endpoint, project, rows)
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
    return Trial(
        picked.dataset, rubric, other_judge, done, seconds, stopped, projection, reply_model
    )


def _differing(dataset: Dataset, rubric: Rubric) -> list[Key]:
    """Return pairs by disagreement of independent human raters, then by number of raters."""
    disagreement = (
        Max("grade") - Min("grade") if rubric.has_order else Count("grade", distinct=True)
    )
    rated = (
        Rating.objects.of_dataset(dataset)
        .filter(rubric=rubric, rater__kind=Rater.Kind.HUMAN, text__body__isnull=False)
        .exclude(rater__is_adjudicator=True)
        .exclude(question__body="")
        .order_by()
        .values_list("text", "question")
        .annotate(apart=disagreement, n=Count("pk"))
        .order_by("-apart", "-n", "text", "question")
    )
    return [(text, question) for text, question, *_ in rated[:LOOKED_AT]]


def _of_topic(picked: Picked) -> list[Key]:
    """Return the first pairs of the chosen topic, from the chosen text on."""
    if picked.topic is None or picked.text is None:
        return []
    texts = picked.topic.texts.with_body().filter(pk__gte=picked.text.pk).order_by("pk")
    questions = list(
        picked.topic.questions.with_words().order_by("position").values_list("pk", flat=True)
    )
    keys = texts.values_list("pk", flat=True)[:PAIRS]
    return [(text, question) for text in keys for question in questions]


def _that_can_be_asked(spec: Spec, keys: list[Key]) -> list[Key]:
    """Return the pairs that have all that the prompt shows."""
    answers = answers_in_prompt(spec, {text for text, _ in keys})
    return keys if answers is None else [key for key in keys if key in answers]


def _rows(keys: list[Key], rubric: Rubric, other_judge: Judge | None) -> list[Row]:
    texts = Text.objects.in_bulk([text for text, _ in keys])
    questions = SubQuestion.objects.select_related("topic").in_bulk(
        [question for _, question in keys]
    )
    people: dict[Key, list[int]] = {key: [] for key in keys}
    other_grades: dict[Key, int] = {}
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
        elif other_judge and rater == other_judge.rater_id:
            other_grades[text, question] = grade
    return [
        Row(texts[t], questions[q], people[t, q], other_grades.get((t, q)), None) for t, q in keys
    ]


def _ask(
    spec: Spec, endpoint: str, project: Project, rows: list[Row]
) -> tuple[dict[Key, Reply], float, str, str]:
    """Ask the server; return the replies, seconds, reason to stop, and replying model.

    Only replies that came in time are returned.
    """
    first, *more = addresses_of(endpoint, project)
    grader = OpenAIGrader(
        spec,
        first.url,
        key=first.key,
        route=first.route,
        other_addresses=more,
        concurrency=AT_ONCE,
        timeout=SECONDS,
        retry_seconds=RETRY_SECONDS,
    )
    keys = [(row.text.pk, row.question.pk) for row in rows]
    loader = PairLoader(spec, {text for text, _ in keys}, {question for _, question in keys})
    pairs = [loader.pair(*key) for key in keys]
    replies: dict[Key, Reply] = {}
    began = time.monotonic()
    stream = grader.replies(iter(pairs))
    stopped = reply_model = ""
    try:
        for reply in stream:  # None about once a second, while nothing comes
            if reply:
                replies[reply.pair.text_id, reply.pair.question_id] = reply
            if time.monotonic() - began > SECONDS and len(replies) < len(rows):
                stopped = f"Some pairs have no reply after {SECONDS} seconds."
                break
    except ReplyModelMismatchError as error:
        reply_model = error.named
        stopped = (
            f"The server replied with the model {reply_model}, not {spec.model}. If this is "
            "the intended model, try again: the name is filled in under “Model name in replies”."
        )
    except BackendError as error:
        stopped = str(error)
    finally:
        stream.close()
    return replies, time.monotonic() - began, stopped, reply_model


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
    """Project tokens and money; None if the server reports no tokens."""
    # Those that failed before they were read took none.
    counted = [reply for reply in replies if reply.prompt_tokens]
    if not counted:
        return None
    questions_per_text = [
        len(kind.questions) for kind in kinds_of(spec, dataset, Selection(), Counts())
    ]
    n = sum(questions_per_text)
    times = n / len(counted)
    if "questions" in placeholders_of(spec):
        # A message takes as much for one question of a text as for all.
        times = len(questions_per_text) / len({reply.pair.text_id for reply in counted})
    read = times * sum(reply.prompt_tokens for reply in counted)
    written = times * sum(reply.completion_tokens for reply in counted)
    money, currency, reason = None, "", "this server has no price"
    try:
        prices = prices_of(endpoint)
    except ImproperlyConfigured as error:
        reason = str(error)
    else:
        if prices.price_in or prices.price_out:
            money = (read * prices.price_in + written * prices.price_out) / 1_000_000
            currency = prices.currency
    return Projection(n, round(read), round(written), money, currency, reason)
