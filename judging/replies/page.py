"""Reply of one cell, with all that produced it, and its repetition without storing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Case, When

from annotation.decimals import printed
from annotation.models import Dataset, NuggetSpan, SubQuestion, Text
from annotation.text.equal_texts import wording_key, wording_keys
from judging.engine.charges import charge, check_budget
from judging.engine.grader_choice import addresses_of
from judging.engine.judges import fit_baseline
from judging.engine.pair_loader import PairLoader, omits_text
from judging.graders.base import Grader
from judging.graders.chat import OpenAIGrader
from judging.grading.labels import outcome_label
from judging.grading.pairs import Pair, Reply
from judging.grading.prompt import hashes, render
from judging.llm.errors import BackendError
from judging.llm.messages import Message
from judging.models import Attempt, Judge

MARKS = 8  # of the stylesheet


@dataclass(frozen=True, slots=True)
class Level:
    """Grade of the rubric with the probability that the model gave it, None if not told."""

    grade: int
    label: str
    probability: float | None
    is_chosen: bool

    @property
    def shown(self) -> str:
        if self.probability is None:
            return "not reported"
        return "< 0.001" if 0 < self.probability < 0.001 else printed(self.probability, 3)

    @property
    def percent(self) -> str:
        """Return the length of its bar, of 100."""
        return f"{100 * (self.probability or 0):.1f}"


@dataclass(frozen=True, slots=True)
class Prompt:
    """Prompt as rendered now.

    `is_sent` is None where nobody can tell.
    """

    messages: list[Message]
    is_sent: bool | None
    says: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Quotes of a reply, those located in the text and those that are not."""

    located: tuple[NuggetSpan, ...]
    unlocated: tuple[NuggetSpan, ...]

    @property
    def marks(self) -> list[dict[str, Any]]:
        """Return the marks of the located quotes in the text."""
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
class AttemptDetails:
    """Attempt with the probabilities of its levels."""

    attempt: Attempt
    levels: list[Level]

    @property
    def outcome(self) -> str:
        return outcome_label(self.attempt.state, self.attempt.failure)

    @property
    def has_probabilities(self) -> bool:
        return self.attempt.probabilities is not None


def attempts_at(judge: Judge, text: Text, question: SubQuestion) -> list[Attempt]:
    """Return all attempts of a judge at a pair: the one that counts, then the newest first."""
    attempts = Attempt.objects.filter(judge=judge, text=text, question=question)
    return list(attempts.select_related("batch__run").order_by("-counts", "-pk"))


def attempt_details(judge: Judge, attempt: Attempt) -> AttemptDetails:
    values = attempt.probabilities or [None] * len(judge.levels)
    levels = [
        Level(grade, label, probability, grade == attempt.grade)
        for (grade, label), probability in zip(judge.levels, values, strict=False)
    ]
    return AttemptDetails(attempt, levels)


def prompt_of(judge: Judge, attempt: Attempt, pair: Pair) -> Prompt | None:
    """Return the prompt of a pair, and whether it is the sent one; None for the baseline."""
    if judge.backend == Judge.Backend.LEXICAL:
        return None
    spec, sent_hash = judge.spec, attempt.prompt_hash
    messages = render(spec, pair)
    current = hashes(spec, pair)
    if not sent_hash:
        message = "No hash is stored with this reply, so this prompt cannot be compared with the sent one."
        return Prompt(messages, None, message)
    if sent_hash == current[0]:
        return Prompt(
            messages, True, f"This is the prompt that was sent: both have hash {sent_hash}."
        )
    if sent_hash == current[-1]:
        message = (
            "This question was sent alone, because the reply to all questions had no grade "
            f"for it: both have hash {sent_hash}."
        )
        return Prompt(render(spec, pair.alone()), True, message)
    message = (
        f"The sent prompt had hash {sent_hash}, this one has {current[0]}: the text, a "
        "question, the request or the answer was edited since."
    )
    return Prompt(messages, False, message)


def source_of(judge: Judge, attempt: Attempt, text: Text) -> Text | None:
    """Return the text whose reply this attempt copies; None for an attempt that was asked."""
    if not attempt.copied:
        return None
    same_text: dict[str, Any] = {}
    if not omits_text(judge.spec):
        of_topic = wording_keys(Text.objects.filter(dataset=text.dataset_id, topic=text.topic_id))
        prompt_text = wording_key(text.body or "")
        same_text["text__in"] = [pk for pk, key in of_topic.items() if key == prompt_text]
    sources = Attempt.objects.filter(
        judge=judge,
        question=attempt.question_id,
        copied=False,
        text__dataset=text.dataset_id,
        **same_text,
    ).select_related("text")
    # What was copied as it came is of the same batch; what was copied while planning, of another.
    of_its_batch = Case(When(batch=attempt.batch_id, then=0), default=1)
    first = sources.order_by(of_its_batch, "-counts", "pk").first()
    return first.text if first else None


def evidence_of(judge: Judge, attempt: Attempt, text: Text) -> Evidence:
    """Return the quotes of the attempt that counts.

    `text` is the one it was asked about.
    """
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
RETRY_SECONDS = 20  # and for a server that is silent


def pair_of(judge: Judge, text: Text, question: SubQuestion) -> Pair:
    """Return the pair as it would be asked now; the text must have a body."""
    return PairLoader(judge.spec, [text.pk], [question.pk]).pair(text.pk, question.pk)


def replay(judge: Judge, dataset: Dataset, pair: Pair, endpoint: str = "") -> Reply:
    """Ask the judge about a pair again. Nothing is stored, and no run counts it.

    `endpoint` is a server of the environment or of the dataset's project, whose budget is charged; the baseline
    needs none. Raises BackendError, with a
    sentence, where the judge cannot be asked from here.
    """
    check_budget(endpoint, dataset.project)
    replies = [reply for reply in _grader(judge, dataset, endpoint).replies(iter([pair])) if reply]
    charge(endpoint, dataset.project, replies)
    return replies[0]


def compared(before: Attempt, new: Reply) -> str:
    """Describe how a new reply differs from the stored one."""
    if before.grade is None and new.grade is None:
        same = before.failure == new.failure
        return "no grade, as before" if same else "no grade, as before, for another reason"
    if new.grade is None:
        return "no grade now, but a grade before"
    if before.grade is None:
        return "a grade now, but none before"
    return "same grade" if new.grade == before.grade else "another grade"


def _grader(judge: Judge, dataset: Dataset, endpoint: str) -> Grader:
    if judge.backend == Judge.Backend.LEXICAL:
        current, grader = fit_baseline(dataset, judge.rubric.slug)
        if current.spec.fingerprint != judge.fingerprint:
            raise BackendError(
                f"The request cannot be repeated: the passages, and so the weights of {judge}, "
                "have changed since it was created."
            )
        return grader
    if judge.backend == Judge.Backend.VLLM:
        raise BackendError(
            f"The request cannot be repeated on a page: {judge} runs in a process of its own on a "
            "machine with a GPU."
        )
    first, *more = addresses_of(endpoint, dataset.project)
    return OpenAIGrader(
        judge.spec,
        first.url,
        key=first.key,
        route=first.route,
        other_addresses=more,
        concurrency=1,
        timeout=TIMEOUT,
        retry_seconds=RETRY_SECONDS,
    )
