"""Request bodies that start and resume judge runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.api.bodies import (
    StrictBody,
    StrictBoolean,
    StrictFloat,
    StrictInteger,
    StrictSlug,
    StrictString,
)
from annotation.api.errors import Problem, RequestError
from judging.engine import judge_tests
from judging.engine.selection import KINDS, Selection
from judging.execution import limits
from judging.grading.variants import TITLES
from judging.models import Judge

LIMITS = ("max_pairs", "max_tokens", "max_money", "reply_seconds")
SELECTION = ("texts", "topics", "run", "depth", "limit", "retry")
OPTIONS = ("endpoint", "concurrency", "workers", "price_in", "price_out", "currency")


@extend_schema_field({"type": "number", "exclusiveMinimum": 0, "maximum": limits.MAX_MONEY})
class MoneyToSpend(StrictFloat):
    """Amount of money above 0: serializers have no exclusive lower bound."""

    default_error_messages = {"nothing": "Ensure this value is greater than 0."}

    def to_internal_value(self, data: Any) -> float:
        money = super().to_internal_value(data)
        if money <= 0:
            self.fail("nothing")
        return money


class BudgetBody(StrictBody):
    """Limits at which a run stops.

    A field that is left out sets no limit, or leaves the limit as it was.
    """

    max_pairs = StrictInteger(
        min_value=1,
        max_value=limits.MAX_PAIRS,
        default=None,
        allow_null=True,
        help_text="Pairs sent.",
    )
    max_tokens = StrictInteger(
        min_value=1,
        max_value=limits.MAX_TOKENS,
        default=None,
        allow_null=True,
        help_text="Both kinds together.",
    )
    max_money = MoneyToSpend(
        max_value=limits.MAX_MONEY, default=None, allow_null=True, help_text="At the run's prices."
    )
    reply_seconds = StrictInteger(
        min_value=1,
        max_value=limits.MAX_REPLY_SECONDS,
        default=None,
        allow_null=True,
        help_text="Seconds that a reply may take; without it by the judge and its server.",
    )

    @property
    def limits(self) -> dict[str, Any]:
        """Return the limits that were sent."""
        values = self.validated_data
        return {name: values[name] for name in LIMITS if values[name] is not None}


class ServedBody(BudgetBody):
    """A judge, a dataset, a server, and limits."""

    judge = StrictSlug(max_length=120, help_text="The name of a judge.")
    dataset = StrictSlug(max_length=120, help_text="The slug of a dataset.")
    endpoint = StrictString(
        max_length=120,
        allow_blank=True,
        default="",
        help_text="A name of JUDGE_ENDPOINTS, or project:SLUG/NAME for a server of the dataset's project.",
    )
    concurrency = StrictInteger(
        min_value=1,
        max_value=limits.MAX_CONCURRENCY,
        default=64,
        help_text="Requests at once, of each worker.",
    )
    workers = StrictInteger(
        min_value=1, max_value=limits.MAX_WORKERS, default=1, help_text="Background workers."
    )
    price_in = StrictFloat(
        min_value=0, max_value=limits.MAX_PRICE, default=0, help_text="Of a million prompt tokens."
    )
    price_out = StrictFloat(
        min_value=0,
        max_value=limits.MAX_PRICE,
        default=0,
        help_text="Of a million completion tokens.",
    )
    currency = StrictString(r"^[A-Z]{3}\Z", allow_blank=True, default="")

    @property
    def options(self) -> dict[str, Any]:
        return {name: self.validated_data[name] for name in OPTIONS} | self.limits

    def check_endpoint(self, judge: Judge, endpoints: Sequence[str]) -> None:
        """Raise RequestError for an endpoint that the site does not name.

        No request chooses a URL.
        """
        endpoint = self.validated_data["endpoint"]
        needs = judge.backend == Judge.Backend.OPENAI
        if (needs or endpoint) and endpoint not in endpoints:
            names = ", ".join(endpoints) or "none"
            message = f"there is no endpoint called {endpoint!r}; there are: {names}"
            raise RequestError([Problem(None, "endpoint", message)])


class StartBody(ServedBody):
    """A judge, a dataset, and a selection of its texts."""

    texts = serializers.ChoiceField(
        choices=[*KINDS], allow_blank=True, default="", help_text="One kind of texts; empty: all."
    )
    topics = serializers.ListField(
        child=StrictString(max_length=200),
        max_length=1000,
        default=[],
        help_text="Names of topics; none: all.",
    )
    run = StrictString(
        max_length=120,
        allow_blank=True,
        default="",
        help_text="Only texts that this retrieval run ranks.",
    )
    depth = StrictInteger(
        min_value=1,
        max_value=limits.MAX_PAIRS,
        default=None,
        allow_null=True,
        help_text="With a run: its first ranks alone.",
    )
    limit = StrictInteger(
        min_value=1,
        max_value=limits.MAX_PAIRS,
        default=None,
        allow_null=True,
        help_text="Plan to ask this many pairs at most.",
    )
    retry = StrictBoolean(default=False, help_text="Only pairs whose reply carried no grade.")

    @property
    def selection(self) -> Selection:
        values = {name: self.validated_data[name] for name in SELECTION}
        return Selection(**values | {"topics": tuple(values["topics"])})


class JudgeTestBody(ServedBody):
    """A judge, a dataset, and a test with the size of its sample."""

    test = serializers.ChoiceField(choices=[*TITLES.items()])
    pairs = StrictInteger(
        min_value=1,
        max_value=judge_tests.MAX_PAIRS,
        default=judge_tests.PAIRS,
        help_text="Pairs that the judge has graded, drawn at random; all if there are fewer.",
    )
    repeats = StrictInteger(
        min_value=judge_tests.MIN_REPEATS,
        max_value=judge_tests.MAX_REPEATS,
        default=judge_tests.REPEATS,
        help_text="Requests about each pair; only the test `repeat` uses them.",
    )
    seed = StrictInteger(
        min_value=0, max_value=judge_tests.MAX_SEED, default=0, help_text="Of the sample."
    )

    @property
    def test_request(self) -> judge_tests.JudgeTestRequest:
        names = ("test", "pairs", "repeats", "seed")
        return judge_tests.JudgeTestRequest(**{name: self.validated_data[name] for name in names})
