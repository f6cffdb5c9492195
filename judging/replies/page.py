"""The reply of one cell: all that made it, and asking its judge once more, never to store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Case, When

from annotation.decimals import printed
from annotation.models import Dataset, NuggetSpan, SubQuestion, Text
from judging.engine.charges import charge, check_budget
from judging.engine.choosing import addresses_of
from judging.engine.judges import fitted
from judging.engine.shown import Shown, shows_no_text
from judging.graders.base import Grader, GraderError
from judging.graders.openai_api import OpenAIGrader
from judging.grading.pairs import Pair, Reply
from judging.grading.prompt import Message, hashes, render
from judging.grading.words import outcome_words
from judging.models import Attempt, Judge

MARKS = 8  # of the stylesheet


@dataclass(frozen=True, slots=True)
class Level:
    """A grade of the rubric, and the probability that the model gave it; None if it did not tell."""

    grade: int
    label: str
    probability: float | None
    is_chosen: bool

    @property
    def shown(self) -> str:
        if self.probability is None:
            return "not told"
        return "< 0.001" if 0 < self.probability < 0.001 else printed(self.probability, 3)

    @property
    def percent(self) -> str:
        """The length of its bar, of 100."""
        return f"{100 * (self.probability or 0):.1f}"


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt as it is rendered now. `is_sent` is None where nobody can tell."""

    messages: list[Message]
    is_sent: bool | None
    says: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """The words that a reply quotes, where they stand in the text and where they do not."""

    located: tuple[NuggetSpan, ...]
    unlocated: tuple[NuggetSpan, ...]

    @property
    def marks(self) -> list[dict[str, Any]]:
        """As the text is marked with them."""
        return [
            {
                "start": span.start,
                "end": span.end,
                "mark": span.position % MARKS + 1,
                "label": span.position + 1,
            }
            for span in self.located
        ]


@dataclass(frozen=True, slots=True)
class Told:
    """An attempt, and what became of it in words."""

    attempt: Attempt
    levels: list[Level]

    @property
    def outcome(self) -> str:
        return outcome_words(self.attempt.state, self.attempt.failure)

    @property
    def has_probabilities(self) -> bool:
        return self.attempt.probabilities is not None


def attempts_at(judge: Judge, text: Text, question: SubQuestion) -> list[Attempt]:
    """All attempts of a judge at a pair: the one that counts first, then the newest first."""
    attempts = Attempt.objects.filter(judge=judge, text=text, question=question)
    return list(attempts.select_related("batch__run").order_by("-counts", "-pk"))


def told(judge: Judge, attempt: Attempt) -> Told:
    values = attempt.probabilities or [None] * len(judge.levels)
    levels = [
        Level(grade, label, probability, grade == attempt.grade)
        for (grade, label), probability in zip(judge.levels, values, strict=False)
    ]
    return Told(attempt, levels)


def prompt_of(judge: Judge, attempt: Attempt, pair: Pair) -> Prompt | None:
    """The prompt of a pair, and whether it is the one that was sent; None for one that reads none."""
    if judge.backend == Judge.Backend.LEXICAL:
        return None
    spec, then = judge.spec, attempt.prompt_hash
    messages = render(spec, pair)
    now = hashes(spec, pair)
    if not then:
        says = (
            "No hash was stored with this reply, so nobody can tell whether this is what was sent."
        )
        return Prompt(messages, None, says)
    if then == now[0]:
        return Prompt(
            messages, True, f"The prompt is the one that was sent: both have hash {then}."
        )
    if then == now[-1]:
        says = f"It was asked alone, as the reply to all questions had no grade for it: both have hash {then}."
        return Prompt(render(spec, pair.alone()), True, says)
    says = (
        f"It differs from the one that was sent, whose hash is {then} and not {now[0]}: the words of the "
        "text, a question, the request or the answer have changed since."
    )
    return Prompt(messages, False, says)


def source_of(judge: Judge, attempt: Attempt, text: Text) -> Text | None:
    """The text whose reply this one copies, asked alike; None for a reply that was asked for."""
    if not attempt.copied:
        return None
    alike = {} if shows_no_text(judge.spec) else {"text__sha256": text.sha256}
    asked = Attempt.objects.filter(
        judge=judge,
        question=attempt.question_id,
        copied=False,
        text__dataset=text.dataset_id,
        **alike,
    ).select_related("text")
    # What was copied as it came is of the same batch; what was copied while planning, of another.
    of_its_batch = Case(When(batch=attempt.batch_id, then=0), default=1)
    first = asked.order_by(of_its_batch, "-counts", "pk").first()
    return first.text if first else None


def evidence_of(judge: Judge, attempt: Attempt, text: Text) -> Evidence:
    """What the reply that counts quotes. `text` is the one it was asked about."""
    if not attempt.counts or attempt.grade is None:
        return Evidence((), ())
    spans = NuggetSpan.objects.filter(
        rating__rater=judge.rater_id,
        rating__rubric=judge.rubric_id,
        rating__text=text,
        rating__question=attempt.question_id,
    ).order_by("position")
    return Evidence(
        tuple(span for span in spans if span.start is not None),
        tuple(span for span in spans if span.start is None),
    )


TIMEOUT = 20  # seconds for one answer: somebody waits for the page
PATIENCE = 20  # and for a server that is silent


def pair_of(judge: Judge, text: Text, question: SubQuestion) -> Pair:
    """The pair as it would be asked now; the text must have words."""
    return Shown(judge.spec, [text.pk], [question.pk]).pair(text.pk, question.pk)


def replay(judge: Judge, dataset: Dataset, pair: Pair, endpoint: str = "") -> Reply:
    """What the judge says about a pair now. Nothing is stored, and no run counts it.

    `endpoint` is a server of the environment or of the dataset's project, whose budget is charged; the baseline
    needs none. Raises GraderError, with a
    sentence, where the judge cannot be asked from here.
    """
    check_budget(endpoint, dataset.project)
    replies = [reply for reply in _grader(judge, dataset, endpoint).replies(iter([pair])) if reply]
    charge(endpoint, dataset.project, replies)
    return replies[0]


def compared(before: Attempt, now: Reply) -> str:
    """How a reply compares with the one that is stored, in words."""
    if before.grade is None and now.grade is None:
        same = before.failure == now.failure
        return "no grade, as before" if same else "no grade, as before, for another reason"
    if now.grade is None:
        return "no grade now, where there was one"
    if before.grade is None:
        return "a grade now, where there was none"
    return "same grade" if now.grade == before.grade else "another grade"


def _grader(judge: Judge, dataset: Dataset, endpoint: str) -> Grader:
    if judge.backend == Judge.Backend.LEXICAL:
        now, grader = fitted(dataset, judge.rubric.slug)
        if now.spec.fingerprint != judge.fingerprint:
            raise GraderError(
                f"The passages have changed since {judge} was made, and its weights with them: it "
                "cannot be asked again."
            )
        return grader
    if judge.backend == Judge.Backend.VLLM:
        raise GraderError(
            f"{judge} runs inside a process of its own, on a machine with a GPU: it cannot be asked "
            "from a page."
        )
    first, *others = addresses_of(endpoint, dataset.project)
    return OpenAIGrader(
        judge.spec,
        first.url,
        key=first.key,
        route=first.route,
        others=others,
        concurrency=1,
        timeout=TIMEOUT,
        patience=PATIENCE,
    )
