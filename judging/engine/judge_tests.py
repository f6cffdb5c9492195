"""Tests of a judge: what may be tested, what a test costs, and its start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from annotation.errors import UserError
from annotation.models import Dataset, User
from annotation.plurals import n_of
from judging.engine import runs
from judging.engine.budget import CHARACTERS, Prices
from judging.engine.judge_test_pairs import Sample, draw_sample
from judging.engine.selection import Selection
from judging.grading.pairs import group_by_message
from judging.grading.prompt import render
from judging.grading.variants import SUMMARIES, TITLES, JudgeTest, refusal_of, varied_spec
from judging.models import Judge, JudgeRun

PAIRS = 50
MAX_PAIRS = 5_000
REPEATS = 3
MIN_REPEATS, MAX_REPEATS = 2, 10
MAX_SEED = 2**31 - 1


class JudgeTestError(UserError):
    """A test that cannot be started; the message can be shown to a person."""

    status = 422


@dataclass(frozen=True)
class JudgeTestRequest:
    """A test with the size of its sample; `repeats` is read for repeat tests alone."""

    test: str
    pairs: int = PAIRS
    repeats: int = REPEATS
    seed: int = 0

    @property
    def n_repeats(self) -> int:
        return self.repeats if self.test == JudgeTest.REPEAT else 1

    @property
    def selection(self) -> Selection:
        """Return the size and the seed of the sample, as the run stores them."""
        return Selection(limit=self.pairs, seed=self.seed)

    def check(self) -> None:
        """Raises JudgeTestError, which names the value that cannot be."""
        if self.test not in TITLES:
            raise JudgeTestError(f"test: one of {', '.join(JudgeTest)}, not {self.test!r}.")
        limits = {
            "pairs": (self.pairs, 1, MAX_PAIRS),
            "repeats": (self.repeats, MIN_REPEATS, MAX_REPEATS),
            "seed": (self.seed, 0, MAX_SEED),
        }
        for name, (value, low, high) in limits.items():
            if not low <= value <= high:
                raise JudgeTestError(f"{name}: a number from {low} to {high:,}, not {value}.")


@dataclass(frozen=True)
class JudgeTestEstimate:
    """Requests of a test, counted exactly; tokens and money roughly, from its prompts."""

    pairs: int
    repeats: int
    n_unchanged: int
    requests: int
    prompt_tokens: int
    completion_tokens: int
    money: float
    currency: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def summary(self) -> str:
        text = f"{n_of(self.requests, 'request', ',')}: {n_of(self.pairs, 'pair', ',')}"
        text += f", {self.repeats} times each." if self.repeats > 1 else "."
        if self.n_unchanged:
            text += f" {n_of(self.n_unchanged, 'pair', ',')} left out, as the test would not change the prompt."
        text += (
            f" About {self.prompt_tokens:,} prompt tokens ({CHARACTERS} characters each) "
            f"and at most {self.completion_tokens:,} reply tokens."
        )
        if self.money:
            text += f" About {self.money:,.2f} {self.currency}".rstrip() + " at these prices."
        return text


def offered_tests(judge: Judge) -> Iterator[tuple[JudgeTest, str]]:
    """Yield each test with the reason why this judge cannot be tested so; "" if it can."""
    for test in JudgeTest:
        yield test, refusal_of(test, judge.spec)


def estimate_test(
    judge: Judge, dataset: Dataset, request: JudgeTestRequest, prices: Prices
) -> JudgeTestEstimate:
    """Estimate the requests, tokens and money of a test; nothing is stored.

    Raises JudgeTestError.
    """
    sample = _sample(judge, dataset, request)
    spec, sampling = varied_spec(request.test, judge.spec), judge.spec.sampling
    messages = [render(spec, pairs[0]) for pairs in group_by_message(iter(sample.pairs))]
    n_characters = sum(len(part["content"]) for message in messages for part in message)
    requests = len(messages) * request.n_repeats
    prompt = round(n_characters * request.n_repeats / CHARACTERS)
    completion = requests * sampling.max_tokens * sampling.samples
    money = (prompt * prices.price_in + completion * prices.price_out) / 1_000_000
    return JudgeTestEstimate(
        pairs=len(sample.pairs),
        repeats=request.n_repeats,
        n_unchanged=sample.n_unchanged,
        requests=requests,
        prompt_tokens=prompt,
        completion_tokens=completion,
        money=money,
        currency=prices.currency,
    )


def start_test(
    judge: Judge,
    dataset: Dataset,
    request: JudgeTestRequest,
    *,
    created_by: User | None = None,
    **options: Any,
) -> JudgeRun:
    """Create the run of a test, in planning; see `runs.start` for its options and errors.

    Raises JudgeTestError for a number that cannot be, a test that does not fit the judge, and where the
    judge has no graded pair that the test can ask again.
    """
    _sample(judge, dataset, request)
    return runs.start(
        judge,
        dataset,
        request.selection,
        created_by=created_by,
        test=request.test,
        repeats=request.n_repeats,
        **options,
    )


def _sample(judge: Judge, dataset: Dataset, request: JudgeTestRequest) -> Sample:
    """Draw the sample of a test. Raises JudgeTestError if it is refused or empty."""
    request.check()
    if reason := refusal_of(request.test, judge.spec):
        raise JudgeTestError(f"test: {reason}")
    sample = draw_sample(judge, dataset, request.test, request.pairs, request.seed)
    if sample.pairs:
        return sample
    if sample.n_unchanged:
        title, summary = TITLES[JudgeTest(request.test)], SUMMARIES[JudgeTest(request.test)]
        raise JudgeTestError(
            f"The test “{title}” ({summary}) changes the prompt of none of the "
            f"{n_of(sample.n_unchanged, 'pair', ',')} that {judge} has graded in {dataset.slug}."
        )
    raise JudgeTestError(
        f"{judge} has graded no pair of {dataset.slug} whose text and question are the same today: start a "
        "judge run first."
    )
