"""A new writer, and a new writing, as an admin describes them."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from django import forms

from annotation.models import Dataset
from building.engine.choosing import baseline_of, make_writer
from building.engine.wanted import Wanted, writers_of_statements
from building.models import Writer
from building.writers.spec import EXTRACTIVE
from building.writing.lengths import CONTEXT_TOKENS
from building.writing.pairs import KINDS
from building.writing.tasks import Task, check_prompt
from evaluation.models import RetrievalRun
from judging.engine import budget
from judging.forms import endpoints, offer

PROMPT = {"rows": 16, "spellcheck": "false"}


class WriterForm(forms.Form):
    """A model under a prompt for one task."""

    slug = forms.SlugField(max_length=120, label="Name", help_text="letters, digits, - and _")
    backend = forms.ChoiceField(
        choices=[(each.value, each.label) for each in (Writer.Backend.OPENAI, Writer.Backend.VLLM)],
        label="Where the model runs",
        help_text="in process: the worker needs vLLM, and loads the model as JUDGE_VLLM_ARGS says",
    )
    model = forms.CharField(max_length=250, help_text="its name, as the server or vLLM knows it")
    revision = forms.CharField(
        max_length=250, required=False, help_text="which weights, as far as you know"
    )
    template_hash = forms.CharField(
        max_length=64, required=False, label="Hash of the chat template", help_text="empty: unknown"
    )
    system = forms.CharField(
        required=False, label="System message", widget=forms.Textarea(attrs={**PROMPT, "rows": 3})
    )
    prompt = forms.CharField(widget=forms.Textarea(attrs=PROMPT))
    temperature = forms.FloatField(min_value=0, max_value=2)
    top_p = forms.FloatField(min_value=0.01, max_value=1)
    max_tokens = forms.IntegerField(
        min_value=1,
        max_value=32_000,
        help_text="where a reply is cut, unless a length is asked for",
    )

    def __init__(self, data: Any = None, *, task: Task) -> None:
        sampling = task.sampling
        initial = {
            "system": task.system,
            "prompt": task.prompt,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
        }
        super().__init__(data, initial=initial)
        self.task = task
        shown = ", ".join(f"{{{name}}}" for name in sorted(task.allowed))
        self.fields["prompt"].help_text = f"it may show {shown}"

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name in ("prompt", "system"):  # a browser ends lines in another way than files do
            cleaned[name] = cleaned.get(name, "").replace("\r\n", "\n")
        if cleaned.get("prompt"):
            for problem in check_prompt(self.task, cleaned["prompt"], cleaned.get("system", "")):
                self.add_error("prompt", problem)
        return cleaned

    def made(self, **fields: Any) -> Writer:
        """The writer that the form describes, stored. Raises WriterRefused."""
        cleaned = dict(self.cleaned_data)
        sampled = {name: cleaned.pop(name) for name in ("temperature", "top_p", "max_tokens")}
        return make_writer(
            cleaned.pop("slug"),
            task=self.task.name,
            sampling=asdict(replace(self.task.sampling, **sampled)),
            **cleaned,
            **fields,
        )


class WritingForm(forms.Form):
    """What a writer of a task shall write, where it is, and within what budget."""

    writer = forms.ChoiceField()
    topics = forms.CharField(
        required=False,
        help_text="names, parted by spaces; empty: all",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
    )
    n = forms.IntegerField(min_value=1, max_value=100, required=False, label="How many of each")
    run = forms.ChoiceField(label="Retrieval run", help_text="whose passages are the context")
    k = forms.CharField(
        required=False,
        label="Passages of a context",
        help_text="a number, or “required” for as many as the required subset has; empty: all that fit",
    )
    context_tokens = forms.IntegerField(
        min_value=1,
        max_value=1_000_000,
        initial=CONTEXT_TOKENS,
        label="Tokens of a context, at most",
    )
    required = forms.ChoiceField(
        required=False,
        label="Run of the required subsets",
        help_text="one made by the recipe required(judge=…)",
    )
    length = forms.CharField(
        required=False,
        initial="words:300",
        help_text="words:300, tokens:512, match:required or match:reference",
    )
    system = forms.CharField(
        required=False,
        max_length=120,
        help_text="what these reports are called; empty: by the writer and the run",
    )
    types = forms.CharField(
        initial=" ".join(KINDS),
        label="Types of questions",
        help_text=f"some of {', '.join(KINDS)}, parted by spaces; one question of each on each passage",
    )
    statements = forms.ChoiceField(
        required=False,
        label="From the statements of",
        help_text="each question is then made from one of its passage’s statements, any of them",
    )
    samples = forms.IntegerField(min_value=1, max_value=100, initial=1, label="Texts of each")
    endpoint = forms.ChoiceField(
        required=False,
        label="Server",
        help_text="for a model behind one; models in process and the baseline need none",
    )
    concurrency = forms.IntegerField(
        min_value=1, max_value=budget.CONCURRENCY, initial=64, label="Requests at once"
    )
    max_messages = forms.IntegerField(
        min_value=1, max_value=budget.PAIRS, required=False, label="Messages, at most"
    )
    max_tokens = forms.IntegerField(
        min_value=1, max_value=budget.TOKENS, required=False, label="Tokens, at most"
    )
    max_money = forms.FloatField(
        min_value=0.01, max_value=budget.MONEY, required=False, label="Money, at most"
    )
    price_in = forms.FloatField(
        min_value=0,
        max_value=budget.PRICE,
        initial=0,
        required=False,
        label="Price of reading",
        help_text="of a million prompt tokens; 0: by JUDGE_PRICES",
    )
    price_out = forms.FloatField(
        min_value=0, max_value=budget.PRICE, initial=0, required=False, label="Price of writing"
    )

    OPTIONS = (
        "endpoint",
        "concurrency",
        "max_messages",
        "max_tokens",
        "max_money",
        "price_in",
        "price_out",
    )
    _OF_CONTEXT = ("run", "k", "context_tokens", "required")
    _OF_REPORTS = ("length", "system")
    _OF_SEVERAL = ("passages", "questions", "nuggets")
    _OF_TYPES = ("types", "statements")

    def __init__(self, *args: Any, task: Task, dataset: Dataset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.task, self.dataset = task, dataset
        for name in self._without(task):
            del self.fields[name]
        baseline = [] if task.name == "direct" else [("", "the extractive baseline")]
        writers = Writer.objects.filter(task=task.name).exclude(backend=EXTRACTIVE)
        offer(self, "writer", baseline + [(each.slug, each.title) for each in writers])
        self.fields["writer"].required = not baseline
        offer(self, "endpoint", endpoints())
        runs = [(name, name) for name in _runs(dataset)]
        if "run" in self.fields:
            offer(self, "run", runs)
            offer(self, "required", [("", "none"), *runs])
        if "statements" in self.fields:
            noted = writers_of_statements(dataset)
            offer(
                self, "statements", [("", "the passage alone"), *((name, name) for name in noted)]
            )

    def _without(self, task: Task) -> tuple[str, ...]:
        gone: tuple[str, ...] = () if task.name in self._OF_SEVERAL else ("n",)
        if task.name != "pairs":
            gone = (*gone, *self._OF_TYPES)
        if task.name == "direct":
            return (*gone, *self._OF_CONTEXT)
        return gone if task.name == "report" else (*gone, *self._OF_CONTEXT, *self._OF_REPORTS)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "writer" in cleaned and "endpoint" in cleaned:
            self._check_endpoint(cleaned["writer"], cleaned["endpoint"])
        return cleaned

    def _check_endpoint(self, slug: str, endpoint: str) -> None:
        writer = Writer.objects.filter(slug=slug).first()
        if writer and writer.backend == Writer.Backend.OPENAI and not endpoint:
            self.add_error("endpoint", "A model is asked at a server: say which.")
        if writer and writer.is_in_process and endpoint:
            where = writer.get_backend_display()
            self.add_error("endpoint", f"{where} asks no server: choose none.")

    def chosen(self) -> Writer:
        slug = self.cleaned_data["writer"]
        return Writer.objects.get(slug=slug) if slug else baseline_of(self.task.name)

    def wanted(self) -> Wanted:
        cleaned = self.cleaned_data
        named = (
            *("length", "run", "k", "context_tokens", "required", "samples", "system"),
            "statements",
        )
        given = {name: cleaned[name] for name in named if cleaned.get(name)}
        if "types" in cleaned:
            given["types"] = tuple(cleaned["types"].split())
        return Wanted(topics=tuple(cleaned["topics"].split()), n=cleaned.get("n") or 0, **given)

    def options(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        options = {name: cleaned[name] for name in self.OPTIONS}
        return options | {name: cleaned[name] or 0 for name in ("price_in", "price_out")}


class BudgetForm(forms.Form):
    """With which budget a writing goes on."""

    max_messages = WritingForm.base_fields["max_messages"]
    max_tokens = WritingForm.base_fields["max_tokens"]
    max_money = WritingForm.base_fields["max_money"]


def _runs(dataset: Dataset) -> list[str]:
    return list(RetrievalRun.objects.filter(dataset=dataset).values_list("name", flat=True))
