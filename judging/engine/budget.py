"""Limits of a run, prices of tokens, and the estimated cost of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db.models import Avg, QuerySet, Sum
from django.db.models.functions import Length

from annotation.models import Dataset, SubQuestion
from annotation.plurals import n_of
from judging.engine.endpoints import endpoint_named, is_of_project
from judging.engine.planning import Counts, count
from judging.engine.selection import KINDS, Selection
from judging.execution.models import ENDPOINT_SEPARATOR
from judging.grading.pairs import Pair
from judging.grading.prompt import placeholders_of, render
from judging.models import Judge


class Prices(NamedTuple):
    """Prices of a million tokens, read and written."""

    price_in: float = 0
    price_out: float = 0
    currency: str = ""


def prices_of(
    endpoint: str, price_in: float = 0, price_out: float = 0, currency: str = ""
) -> Prices:
    """Return the given prices, or where none is given, those of JUDGE_PRICES.

    A server of a project has the prices that its owner has entered, whatever is given. All 0 where nobody says.
    Raises ImproperlyConfigured for an entry that cannot be read.
    """
    if is_of_project(endpoint):
        row = endpoint_named(endpoint)
        return Prices(row.price_in, row.price_out, row.currency) if row else Prices()
    # Of several servers where they cost the same: a run has one price.
    entries = {settings.JUDGE_PRICES.get(name) for name in endpoint.split(ENDPOINT_SEPARATOR)}
    entry = entries.pop() if len(entries) == 1 else None
    if price_in or price_out or entry is None:
        return Prices(price_in, price_out, currency)
    try:
        read, written, entry_currency = entry.split("/")
        return Prices(float(read), float(written), currency or entry_currency)
    except ValueError:
        raise ImproperlyConfigured(
            f"JUDGE_PRICES: {endpoint}={entry} is not like {endpoint}=0.10/0.40/EUR."
        ) from None


CHARACTERS = 4  # of English to a token, roughly, in the tokenizers of today


@dataclass(frozen=True)
class Estimate:
    """Pairs counted exactly; tokens and money roughly, from the mean length of the texts."""

    counts: Counts
    prompt_tokens: int
    completion_tokens: int
    money: float
    currency: str

    def as_json(self) -> dict[str, Any]:
        return {
            **self.counts.as_json(),
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "money": self.money,
            "currency": self.currency,
        }

    def summary(self) -> str:
        counts = self.counts
        text = (
            f"{n_of(counts.to_send, 'pair', ',')} to send. {counts.there_before:,} already have a grade, "
            f"{counts.copies:,} are copied from a text with the same request, "
            f"{counts.without_words:,} cannot be sent, because a text is missing. "
            f"The run plans {n_of(counts.to_fill, 'pair', ',')}, sent or copied."
        )
        if self.prompt_tokens:
            text += (
                f" About {self.prompt_tokens:,} prompt tokens ({CHARACTERS} characters each) "
                f"and at most {self.completion_tokens:,} reply tokens."
            )
        if self.money:
            text += f" About {self.money:,.2f} {self.currency}".rstrip() + " at these prices."
        return text


def estimate_of(judge: Judge, dataset: Dataset, selection: Selection, prices: Prices) -> Estimate:
    """Estimate the pairs, tokens and money of a run of this selection. Writes nothing.

    A judge without a prompt, the baseline, takes no tokens.
    """
    counts = count(judge, dataset, selection)
    prompt = completion = 0
    if judge.prompt:
        asks_all_questions = "questions" in placeholders_of(judge.spec)
        messages = counts.texts if asks_all_questions else counts.to_send
        sampling = judge.spec.sampling
        prompt = round(messages * _characters(judge, dataset, selection) / CHARACTERS)
        completion = round(messages * sampling.max_tokens * sampling.samples)
    money = (prompt * prices.price_in + completion * prices.price_out) / 1_000_000
    return Estimate(counts, prompt, completion, money, prices.currency)


def _characters(judge: Judge, dataset: Dataset, selection: Selection) -> float:
    """Return the mean length of a prompt, in characters."""
    placeholders = placeholders_of(judge.spec)
    texts = dataset.texts.with_body()
    if selection.texts:
        texts = texts.filter(kind=KINDS[selection.texts])
    body = (texts.aggregate(n=Avg(Length("body")))["n"] or 0) if "text" in placeholders else 0
    questions = _questions(dataset).aggregate(mean=Avg(Length("body")), all=Sum(Length("body")))
    question = questions["mean"] or 0
    if "questions" in placeholders:
        question = (questions["all"] or 0) / max(1, dataset.topics.count())
    empty = render(judge.spec, Pair(0, 0, "", ""))
    frame = sum(len(message["content"]) for message in empty)
    return float(frame + body + question)


def _questions(dataset: Dataset) -> QuerySet[SubQuestion]:
    return SubQuestion.objects.with_words().filter(topic__dataset=dataset)
