"""Forms of a new writer and a new generation run."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from django import forms

from annotation.models import Dataset, User
from building.engine.choosing import baseline_of, make_writer
from building.engine.generation_spec import GenerationSpec, writers_of_statements
from building.models import Writer
from building.writers.spec import EXTRACTIVE
from building.writing.lengths import CONTEXT_TOKENS
from building.writing.pairs import KINDS
from building.writing.tasks import Task, check_prompt
from evaluation.models import RetrievalRun
from judging.execution import limits
from judging.forms import endpoints_for, offer

PROMPT = {"rows": 16, "spellcheck": "false"}


class WriterForm(forms.Form):
    """A model with a prompt for one task."""

    slug = forms.SlugField(max_length=120, label="Name", help_text="letters, digits, - and _")
    backend = forms.ChoiceField(
        choices=[
            (choice.value, choice.label) for choice in (Writer.Backend.OPENAI, Writer.Backend.VLLM)
        ],
        label="Backend",
        help_text="vLLM in process: the worker needs vLLM, and loads the model with JUDGE_VLLM_ARGS",
    )
    model = forms.CharField(max_length=250, help_text="the model’s name at the server or for vLLM")
    revision = forms.CharField(
        max_length=250, required=False, help_text="version of the weights, if you know it"
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
        help_text="maximum length of a reply if no length is requested",
    )

    def __init__(self, data: Any = None, *, task: Task, user: User) -> None:
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
        if not user.is_admin:  # a model in process runs on the site's own machines
            offer(self, "backend", [(Writer.Backend.OPENAI.value, Writer.Backend.OPENAI.label)])
        placeholders = ", ".join(f"{{{name}}}" for name in sorted(task.allowed))
        self.fields["prompt"].help_text = f"allowed placeholders: {placeholders}"

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name in ("prompt", "system"):  # a browser ends lines in another way than files do
            cleaned[name] = cleaned.get(name, "").replace("\r\n", "\n")
        if cleaned.get("prompt"):
            for problem in check_prompt(self.task, cleaned["prompt"], cleaned.get("system", "")):
                self.add_error("prompt", problem)
        return cleaned

    def made(self, **fields: Any) -> Writer:
        """Store the writer that the form describes. Raises WriterError."""
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
    """Form of a generation run: specification, server and budget.

    An owner chooses among the servers of the project, and writers that need none of the site's machines.
    """

    writer = forms.ChoiceField()
    topics = forms.CharField(
        required=False,
        help_text="names, separated by spaces; empty: all",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
    )
    n = forms.IntegerField(min_value=1, max_value=100, required=False, label="Outputs per task")
    run = forms.ChoiceField(label="Retrieval run", help_text="its passages are the context")
    k = forms.CharField(
        required=False,
        label="Passages in the context",
        help_text="a number, or “required” for the size of the required subset; empty: all that fit",
    )
    context_tokens = forms.IntegerField(
        min_value=1,
        max_value=1_000_000,
        initial=CONTEXT_TOKENS,
        label="Maximum tokens of the context",
    )
    required = forms.ChoiceField(
        required=False,
        label="Run of the required subsets",
        help_text="created by the recipe required(judge=…)",
    )
    length = forms.CharField(
        required=False,
        initial="words:300",
        help_text="words:300, tokens:512, match:required or match:reference",
    )
    system = forms.CharField(
        required=False,
        max_length=120,
        help_text="name of the system of these reports; empty: writer and run",
    )
    types = forms.CharField(
        initial=" ".join(KINDS),
        label="Types of questions",
        help_text=f"some of {', '.join(KINDS)}, separated by spaces; one question of each type "
        "for each passage",
    )
    statements = forms.ChoiceField(
        required=False,
        label="From the statements of",
        help_text="each question is then based on one statement of its passage",
    )
    samples = forms.IntegerField(min_value=1, max_value=100, initial=1, label="Samples per task")
    endpoint = forms.ChoiceField(
        required=False,
        label="Server",
        help_text="for a model on a server; models in process and the baseline need none",
    )
    concurrency = forms.IntegerField(
        min_value=1, max_value=limits.MAX_CONCURRENCY, initial=64, label="Concurrent requests"
    )
    max_messages = forms.IntegerField(
        min_value=1, max_value=limits.MAX_PAIRS, required=False, label="Maximum messages"
    )
    max_tokens = forms.IntegerField(
        min_value=1, max_value=limits.MAX_TOKENS, required=False, label="Maximum tokens"
    )
    max_money = forms.FloatField(
        min_value=0.01, max_value=limits.MAX_MONEY, required=False, label="Maximum cost"
    )
    price_in = forms.FloatField(
        min_value=0,
        max_value=limits.MAX_PRICE,
        initial=0,
        required=False,
        label="Price of prompt tokens",
        help_text="per million; 0: from JUDGE_PRICES",
    )
    price_out = forms.FloatField(
        min_value=0,
        max_value=limits.MAX_PRICE,
        initial=0,
        required=False,
        label="Price of reply tokens",
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
    _COUNTED_TASKS = ("passages", "questions", "nuggets")
    _OF_TYPES = ("types", "statements")

    def __init__(self, *args: Any, task: Task, dataset: Dataset, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.task, self.dataset = task, dataset
        for name in self._unused_fields(task):
            del self.fields[name]
        baseline = [] if task.name == "direct" else [("", "the extractive baseline")]
        writers = Writer.objects.visible_to(user).filter(task=task.name).exclude(backend=EXTRACTIVE)
        if not user.is_admin:
            writers = writers.filter(backend=Writer.Backend.OPENAI)
        offer(self, "writer", baseline + [(writer.slug, writer.title) for writer in writers])
        self.fields["writer"].required = not baseline
        offer(self, "endpoint", endpoints_for(user, dataset.project))
        runs = [(name, name) for name in _runs(dataset)]
        if "run" in self.fields:
            offer(self, "run", runs)
            offer(self, "required", [("", "none"), *runs])
        if "statements" in self.fields:
            statement_writers = writers_of_statements(dataset)
            offer(
                self,
                "statements",
                [("", "only the passage"), *((name, name) for name in statement_writers)],
            )

    def _unused_fields(self, task: Task) -> tuple[str, ...]:
        unused: tuple[str, ...] = () if task.name in self._COUNTED_TASKS else ("n",)
        if task.name != "pairs":
            unused = (*unused, *self._OF_TYPES)
        if task.name == "direct":
            return (*unused, *self._OF_CONTEXT)
        return unused if task.name == "report" else (*unused, *self._OF_CONTEXT, *self._OF_REPORTS)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "writer" in cleaned and "endpoint" in cleaned:
            self._check_endpoint(cleaned["writer"], cleaned["endpoint"])
        return cleaned

    def _check_endpoint(self, slug: str, endpoint: str) -> None:
        writer = Writer.objects.filter(slug=slug).first()
        if writer and writer.backend == Writer.Backend.OPENAI and not endpoint:
            self.add_error("endpoint", "This writer needs a server: choose one.")
        if writer and writer.is_in_process and endpoint:
            backend = writer.get_backend_display()
            self.add_error("endpoint", f"{backend} needs no server: choose none.")

    def chosen(self) -> Writer:
        slug = self.cleaned_data["writer"]
        return Writer.objects.get(slug=slug) if slug else baseline_of(self.task.name)

    def spec(self) -> GenerationSpec:
        cleaned = self.cleaned_data
        field_names = (
            *("length", "run", "k", "context_tokens", "required", "samples", "system"),
            "statements",
        )
        values = {name: cleaned[name] for name in field_names if cleaned.get(name)}
        if "types" in cleaned:
            values["types"] = tuple(cleaned["types"].split())
        return GenerationSpec(
            topics=tuple(cleaned["topics"].split()), n=cleaned.get("n") or 0, **values
        )

    def options(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        options = {name: cleaned[name] for name in self.OPTIONS}
        return options | {name: cleaned[name] or 0 for name in ("price_in", "price_out")}


class BudgetForm(forms.Form):
    """Budget with which a generation run resumes."""

    max_messages = WritingForm.base_fields["max_messages"]
    max_tokens = WritingForm.base_fields["max_tokens"]
    max_money = WritingForm.base_fields["max_money"]


def _runs(dataset: Dataset) -> list[str]:
    return list(RetrievalRun.objects.filter(dataset=dataset).values_list("name", flat=True))
