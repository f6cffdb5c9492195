"""What starts a judge run, and what lets one go on."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.conf import settings
from pydantic import Field

from annotation.api.bodies import WHOLE, Body, Words
from annotation.api.errors import Problem, Refused
from judging.engine import budget
from judging.engine.selection import Selection
from judging.models import Judge

Slug = Annotated[str, Field(pattern=r"^[-a-zA-Z0-9_]+$", min_length=1, max_length=120)]
Count = Annotated[int, Field(ge=1, le=budget.PAIRS), WHOLE]
Money = Annotated[float, Field(ge=0, le=budget.PRICE, allow_inf_nan=False)]


class Budget(Body):
    """Where a run stops by itself. Without a field there is no such limit, or it stays as it was."""

    max_pairs: Annotated[Count | None, Field(description="Pairs sent.")] = None
    max_tokens: Annotated[
        Annotated[int, Field(ge=1, le=budget.TOKENS), WHOLE] | None,
        Field(description="Both kinds together."),
    ] = None
    max_money: Annotated[
        Annotated[float, Field(gt=0, le=budget.MONEY, allow_inf_nan=False)] | None,
        Field(description="At the run's prices."),
    ] = None

    @property
    def fields(self) -> dict[str, Any]:
        """Those that were given."""
        values = {name: getattr(self, name) for name in Budget.model_fields}
        return {name: value for name, value in values.items() if value is not None}


class Start(Budget):
    """A judge, a dataset, and which of its texts."""

    judge: Annotated[Slug, Field(description="The name of a judge.")]
    dataset: Annotated[Slug, Field(description="The slug of a dataset.")]
    texts: Annotated[
        Literal["", "passages", "reports", "reference"],
        Field(description="One kind of texts; empty: all."),
    ] = ""
    topics: Annotated[
        list[Annotated[Words, Field(min_length=1, max_length=200)]],
        Field(max_length=1000, description="Names of topics; none: all."),
    ] = []
    run: Annotated[
        Words, Field(max_length=120, description="Only texts that this retrieval run ranks.")
    ] = ""
    depth: Annotated[Count | None, Field(description="With a run: its first ranks alone.")] = None
    limit: Annotated[Count | None, Field(description="Plan to ask this many pairs at most.")] = None
    retry: Annotated[bool, Field(description="Only pairs whose reply carried no grade.")] = False
    endpoint: Annotated[
        Words, Field(max_length=120, description="A name that JUDGE_ENDPOINTS of this site has.")
    ] = ""
    concurrency: Annotated[
        int,
        Field(ge=1, le=budget.CONCURRENCY, description="Requests at once, of each worker."),
        WHOLE,
    ] = 64
    workers: Annotated[
        int, Field(ge=1, le=budget.WORKERS, description="Background workers."), WHOLE
    ] = 1
    price_in: Annotated[Money, Field(description="Of a million prompt tokens.")] = 0
    price_out: Annotated[Money, Field(description="Of a million completion tokens.")] = 0
    currency: Annotated[str, Field(pattern=r"^([A-Z]{3})?$")] = ""

    @property
    def selection(self) -> Selection:
        return Selection(
            texts=self.texts,
            topics=tuple(self.topics),
            run=self.run,
            depth=self.depth,
            limit=self.limit,
            retry=self.retry,
        )

    @property
    def options(self) -> dict[str, Any]:
        names = ("endpoint", "concurrency", "workers", "price_in", "price_out", "currency")
        return {name: getattr(self, name) for name in names} | self.fields

    def check_endpoint(self, judge: Judge) -> None:
        """Raises Refused for an endpoint that the site does not name: no request chooses a URL."""
        needs = judge.backend == Judge.Backend.OPENAI
        if (needs or self.endpoint) and self.endpoint not in settings.JUDGE_ENDPOINTS:
            known = ", ".join(settings.JUDGE_ENDPOINTS) or "none"
            message = f"there is no endpoint called {self.endpoint!r}; there are: {known}"
            raise Refused([Problem(None, "endpoint", message)])
