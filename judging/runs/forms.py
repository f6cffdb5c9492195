"""Forms of a new judge run, and of its budget."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Count, Q, QuerySet

from annotation.models import Dataset, User
from judging.engine.budget import Prices, prices_of
from judging.engine.judges import SLUG, baseline_of
from judging.engine.selection import KINDS, Selection, SelectionError, rankings
from judging.execution import limits
from judging.forms import endpoints_for, offer
from judging.models import Judge

BASELINE = "baseline"


def judges_for(dataset: Dataset, user: User) -> QuerySet[Judge]:
    """Return judges that a user sees and that may judge this dataset.

    Archived ones and the baseline are left out.
    """
    of_dataset = Q(rater__dataset=None) | Q(rater__dataset=dataset)
    judges = Judge.objects.visible_to(user).filter(of_dataset, archived=None)
    judges = judges.exclude(backend=Judge.Backend.LEXICAL)
    return judges.select_related("rater", "rubric")


def pairs_field(label: str, **kwargs: Any) -> forms.IntegerField:
    return forms.IntegerField(
        min_value=1, max_value=limits.MAX_PAIRS, required=False, label=label, **kwargs
    )


class BudgetForm(forms.Form):
    """Limits at which a run stops.

    A worker checks them with each batch, so a little more may be spent.
    """

    max_pairs = pairs_field("Maximum pairs sent", help_text="empty: no limit")
    max_tokens = forms.IntegerField(
        min_value=1,
        max_value=limits.MAX_TOKENS,
        required=False,
        label="Maximum tokens",
        help_text="prompt and reply; empty: no limit",
    )
    max_money = forms.FloatField(
        min_value=0.01,
        max_value=limits.MAX_MONEY,
        required=False,
        label="Maximum cost",
        help_text="empty: no limit",
    )
    reply_seconds = forms.IntegerField(
        min_value=1,
        max_value=limits.MAX_REPLY_SECONDS,
        required=False,
        label="Maximum seconds for a reply",
        help_text="then the request is retried; empty: chosen by the judge’s tokens and its server",
    )


class RunForm(BudgetForm):
    """Form of a judge run: judge, selection of texts, server, budget."""

    judge = forms.ChoiceField()
    texts = forms.ChoiceField(required=False)
    run = forms.ChoiceField(
        required=False, label="Retrieval run", help_text="only texts in this run"
    )
    depth = pairs_field("Depth", help_text="only the first ranks of the retrieval run; empty: all")
    topics = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})
    )
    limit = pairs_field(
        "Maximum pairs planned",
        help_text="for a trial; copies for texts of equal words are added; empty: all",
    )
    endpoint = forms.ChoiceField(
        required=False,
        label="Server",
        help_text="for a judge on a server",
    )
    concurrency = forms.IntegerField(
        min_value=1,
        max_value=limits.MAX_CONCURRENCY,
        initial=64,
        label="Concurrent requests",
        help_text="at most, for each worker; fewer while the server accepts fewer",
    )
    workers = forms.IntegerField(
        min_value=1,
        max_value=limits.MAX_WORKERS,
        initial=1,
        help_text="at most; each worker is a process of manage.py judge_worker",
    )
    price_in = forms.FloatField(
        min_value=0,
        max_value=limits.MAX_PRICE,
        initial=0,
        label="Price of prompt tokens",
        help_text="per million; 0: from JUDGE_PRICES",
    )
    price_out = forms.FloatField(
        min_value=0,
        max_value=limits.MAX_PRICE,
        initial=0,
        label="Price of reply tokens",
        help_text="per million",
    )
    currency = forms.RegexField(
        "^[A-Z]{3}$",
        required=False,
        error_messages={"invalid": "Three capital letters, such as EUR."},
        help_text="three letters, such as EUR",
    )

    GROUPS = (
        ("Judge", ("judge", "endpoint", "concurrency", "reply_seconds", "workers")),
        ("Texts", ("texts", "run", "depth", "topics", "limit")),
    )
    BUDGET = ("max_pairs", "max_tokens", "max_money", "price_in", "price_out", "currency")

    def __init__(self, *args: Any, dataset: Dataset, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset = dataset
        self.user = user
        choices = [
            (str(judge.pk), f"{judge.title}: {judge.model}, {judge.rubric}")
            for judge in judges_for(dataset, user)
        ]
        offer(self, "judge", [(BASELINE, f"{SLUG}: the baseline, by words in common"), *choices])
        n_by_kind = dataset.texts.with_body().order_by().values_list("kind").annotate(Count("pk"))
        counts: dict[str, int] = dict(n_by_kind)
        kinds = [
            (name, f"{name} ({counts.get(kind, 0):,} with words)") for name, kind in KINDS.items()
        ]
        offer(self, "texts", [("", "all"), *kinds])
        offer(self, "run", [("", "none"), *((name, name) for name in rankings().names(dataset))])
        offer(self, "endpoint", endpoints_for(user, dataset.project))
        if not user.is_admin:
            for name in Prices._fields:  # those of the server hold, as its owner has entered them
                del self.fields[name]
        n = dataset.topics.count()
        first = dataset.topics.order_by("position").first()
        such = f", such as {first.name}" if first else ""
        self.fields["topics"].help_text = f"one name per line{such}; empty: all {n:,}"

    @property
    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        return [(title, [self[name] for name in names]) for title, names in self.GROUPS]

    @property
    def budget(self) -> list[forms.BoundField]:
        return [self[name] for name in self.BUDGET if name in self.fields]

    def clean_topics(self) -> tuple[str, ...]:
        lines = (line.strip() for line in self.cleaned_data["topics"].splitlines())
        names = tuple(dict.fromkeys(line for line in lines if line))
        try:
            Selection(topics=names).check(self.dataset)
        except SelectionError as error:
            raise ValidationError(str(error)) from None
        return names

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("depth") and not cleaned.get("run") and "run" not in self.errors:
            self.add_error("depth", "A depth needs a retrieval run, as it counts ranks.")
        if cleaned.get("max_money") and not any(self.prices()[:2]):
            self.add_error("max_money", "Enter the prices of tokens: a limit of cost needs them.")
        self._check_endpoint()
        return cleaned

    def _check_endpoint(self) -> None:
        chosen, endpoint = self.cleaned_data.get("judge"), self.cleaned_data.get("endpoint")
        if not chosen or "endpoint" in self.errors:
            return
        backend = (
            Judge.Backend.LEXICAL
            if chosen == BASELINE
            else Judge.objects.values_list("backend", flat=True).get(pk=chosen)
        )
        if backend == Judge.Backend.VLLM and not self.user.is_admin:
            self.add_error(
                "judge", "This judge runs on the site's own GPU: only an admin can start it."
            )
        if backend == Judge.Backend.OPENAI and not endpoint:
            self.add_error("endpoint", "This judge needs a server: choose one.")
        if backend != Judge.Backend.OPENAI and endpoint:
            subject = "The baseline" if backend == Judge.Backend.LEXICAL else "vLLM in process"
            self.add_error("endpoint", f"{subject} needs no server: choose none.")

    def prices(self) -> Prices:
        """Return the typed prices, or those of the server in this site's table."""
        value_of = self.cleaned_data.get
        return prices_of(
            value_of("endpoint") or "",
            value_of("price_in") or 0,
            value_of("price_out") or 0,
            value_of("currency") or "",
        )

    def chosen(self) -> Judge:
        """Return the chosen judge; the baseline is created if these texts have none yet."""
        if self.cleaned_data["judge"] == BASELINE:
            return baseline_of(self.dataset)[0]
        return judges_for(self.dataset, self.user).get(pk=self.cleaned_data["judge"])

    def selection(self) -> Selection:
        names = ("texts", "topics", "run", "depth", "limit")
        return Selection(**{name: self.cleaned_data[name] for name in names})

    def options(self) -> dict[str, Any]:
        """Return the fields of JudgeRun for server and budget."""
        names = (
            *("endpoint", "concurrency", "reply_seconds", "workers"),
            *("max_pairs", "max_tokens", "max_money", "price_in", "price_out", "currency"),
        )
        return {name: self.cleaned_data[name] for name in names if name in self.fields}
