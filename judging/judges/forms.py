"""Form of a new judge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from annotation.models import Project, Rubric, User
from judging.engine.judges import SLUG, levels_of
from judging.forms import endpoints_for, offer
from judging.grading import prompts
from judging.grading.parse import PARSERS
from judging.grading.presets import CONSTRAINTS, PRESETS, constraint
from judging.grading.prompt import rubric_wording
from judging.grading.spec import Spec
from judging.judges.checks import problems_of
from judging.llm.sampling import Sampling
from judging.models import Judge

CUSTOM_PROMPT = "own words"
LONG = 9_000_000_000_000_000  # a whole number that JSON and databases keep as it is


class TextField(forms.CharField):
    """Text kept unchanged, except for the line ends of browsers."""

    widget = forms.Textarea(attrs={"spellcheck": "false"})

    def __init__(self, rows: int, **kwargs: Any) -> None:
        super().__init__(strip=False, **kwargs)
        self.widget.attrs["rows"] = rows

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n").replace("\r", "\n")


class Ids(forms.CharField):
    """Whole numbers separated by commas or spaces."""

    def to_python(self, value: Any) -> list[int]:  # type: ignore[override]
        tokens = str(super().to_python(value)).replace(",", " ").split()
        if wrong := [token for token in tokens if not token.isdecimal() or len(token) > 9]:
            raise ValidationError(f"{wrong[0]!r} is not a token id: enter whole numbers.")
        return [int(token) for token in tokens]


class Settings(forms.CharField):
    """JSON object, empty for none."""

    def to_python(self, value: Any) -> dict[str, Any]:  # type: ignore[override]
        text = str(super().to_python(value))
        if not text:
            return {}
        try:
            settings = json.loads(text)
            encoded = json.dumps(settings, allow_nan=False, ensure_ascii=False).encode().decode()
        except (ValueError, RecursionError) as error:
            raise ValidationError(f"This is not valid JSON: {error}") from None
        if not isinstance(settings, dict):
            raise ValidationError(
                "This is JSON, but not an object: it begins with { and ends with }."
            )
        if "\\u0000" in encoded:
            raise ValidationError("NUL characters are not allowed.")
        return settings


class JudgeForm(forms.Form):
    """Form with all that the fingerprint covers, a name, and a server to ask."""

    slug = forms.SlugField(
        max_length=120,
        label="Name",
        help_text="letters, digits, hyphens; it names the judge in all tables and files and "
        "cannot be changed later",
    )
    rubric = forms.ModelChoiceField(
        Rubric.objects.offered(), to_field_name="slug", empty_label=None, initial="graded"
    )
    project = forms.ChoiceField(
        required=False, help_text="its members can see the judge, and its owners can run it"
    )
    is_site_wide = forms.BooleanField(
        required=False,
        label="Visible to every researcher of the site",
        help_text="otherwise only to admins and members of the projects where it runs",
    )
    prompt_file = forms.ChoiceField(label="Prompt of this site", required=False)
    system = TextField(8, required=False, help_text="empty: no system message is sent")
    prompt = TextField(
        16,
        help_text="{text}, {question}, {answer} and {request} are required if the rubric shows them; "
        "{rubric} and {grades} are optional. {questions} asks about all questions of a text at once",
    )
    wording = TextField(
        7, required=False, help_text="the text for {rubric}; empty: the levels of the rubric"
    )
    parser = forms.ChoiceField(
        choices=[(name, parser.title(name)) for name, parser in PARSERS.items()],
        label="Parser of replies",
        help_text="you can try other parsers later, on the page of the judge",
    )
    failure_policy = forms.ChoiceField(
        choices=Judge.FailurePolicy.choices,
        required=False,
        label="Reply without a grade",
        help_text="in both cases it is stored and counted as a failure; an error never counts as 0",
    )
    backend = forms.ChoiceField(
        choices=[choice for choice in Judge.Backend.choices if choice[0] != Judge.Backend.LEXICAL],
        label="Backend",
    )
    model = forms.CharField(max_length=250, help_text="the model’s name at the server or for vLLM")
    endpoint = forms.ChoiceField(
        label="Server for tests",
        required=False,
        help_text="for detection and trials here; each run chooses its own server",
    )
    revision = forms.CharField(
        max_length=250, required=False, help_text="commit or version; the same name can change"
    )
    reply_model = forms.CharField(
        max_length=250,
        required=False,
        label="Model name in replies",
        help_text="if it differs from the name above, such as the model of a deployment; empty: the same name",
    )
    template_hash = forms.CharField(
        max_length=64, required=False, label="Hash of the chat template", help_text="empty: unknown"
    )
    label_ids = Ids(
        required=False,
        label="Token ids of the grades",
        help_text="one for each grade, lowest first; empty: unknown",
    )
    temperature = forms.FloatField(min_value=0, max_value=5, initial=0.0)
    top_p = forms.FloatField(min_value=0, max_value=1, initial=1.0, label="Top p")
    max_tokens = forms.IntegerField(
        min_value=1, max_value=100_000, initial=1, label="Maximum number of tokens"
    )
    seed = forms.IntegerField(
        min_value=0, max_value=LONG, required=False, initial=0, help_text="empty: no seed is sent"
    )
    samples = forms.IntegerField(
        min_value=1,
        max_value=100,
        initial=1,
        required=False,
        help_text="number of replies to each request: the most frequent grade counts, and the "
        "shares of the grades are the probabilities",
    )
    logprobs = forms.BooleanField(
        required=False,
        initial=True,
        label="Request probabilities",
        help_text="needed for expected grades; some servers do not provide them",
    )
    extra = Settings(
        required=False,
        label="Further settings of the request",
        help_text='JSON, sent unchanged, such as {"chat_template_kwargs": {"enable_thinking": false}}; '
        'null leaves a parameter out, such as {"temperature": null}',
    )

    preset = forms.ChoiceField(
        choices=[("", "none"), *((name, preset.title) for name, preset in PRESETS.items())],
        required=False,
        label="Kind of server",
    )
    constraint = forms.ChoiceField(
        choices=[("", "no fixed format"), *CONSTRAINTS.items()],
        required=False,
        label="Reply format",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rubrics = Rubric.objects.offered().visible_to(user)
        self.fields["rubric"].queryset = rubrics  # type: ignore[attr-defined] # a ModelChoiceField
        self.owned = list(Project.objects.owned_by(user))
        choices = [(project.slug, project.title) for project in self.owned]
        offer(self, "project", [("", "none"), *choices] if user.is_admin else choices)
        if not user.is_admin:
            del self.fields["is_site_wide"]
        files = [(name, prompts.load(name).title) for name in prompts.names()]
        offer(self, "prompt_file", [("", "none"), *files])
        offer(self, "endpoint", endpoints_for(user, *self.owned))

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        if slug == SLUG or slug.startswith(f"{SLUG}-"):
            raise ValidationError("Names with this beginning are reserved for baselines.")
        return slug

    def clean_reply_model(self) -> str:
        name: str = self.cleaned_data["reply_model"]
        # A name that changes nothing makes no other judge.
        return "" if name.casefold() == self.cleaned_data.get("model", "").casefold() else name

    def clean_samples(self) -> int:
        return self.cleaned_data["samples"] or 1

    def clean_project(self) -> str:
        slug: str = self.cleaned_data["project"]
        if not slug and "is_site_wide" not in self.fields:
            raise ValidationError("Choose one of your projects.")
        return slug

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("rubric"):
            self._check_wording(cleaned["rubric"])
        for field, problem in problems_of(cleaned):
            self.add_error(field, problem)
        return cleaned

    def _check_wording(self, rubric: Rubric) -> None:
        rubric_text = self.cleaned_data.get("wording", "")
        if not rubric_text.strip():
            self.cleaned_data["wording"] = rubric_text_of(rubric)
            return
        for foreign in Rubric.objects.exclude(pk=rubric.pk):
            if rubric_text == rubric_text_of(foreign):
                self.add_error("wording", f"This is the wording of {foreign}, not of {rubric}.")

    def fields_of_judge(self) -> dict[str, Any]:
        """Return the fields of Judge, except rater and levels, of a valid form."""
        cleaned = self.cleaned_data
        sampling = ("temperature", "top_p", "max_tokens", "seed", "logprobs", "extra")
        straight = (
            *("rubric", "backend", "model", "revision", "system", "prompt", "wording"),
            *("reply_model", "template_hash", "label_ids", "parser", "is_site_wide"),
        )
        samples = {"n": cleaned["samples"]} if cleaned["samples"] > 1 else {}
        values = {name: cleaned[name] for name in sampling}
        cleaned.setdefault("is_site_wide", False)
        return {
            "failure_policy": cleaned["failure_policy"] or Judge.FailurePolicy.MISSING,
            **{name: cleaned[name] for name in straight},
            "prompt_name": name_of_prompt(cleaned["system"], cleaned["prompt"]),
            "sampling": values | {"extra": cleaned["extra"] | samples},
        }

    def chosen_project(self) -> Project | None:
        """Return the project in which the judge of this valid form is visible.

        None: the projects where it runs.
        """
        slug = self.cleaned_data["project"]
        return next((project for project in self.owned if project.slug == slug), None)

    def fingerprint(self) -> str:
        """Return the fingerprint of the judge that this valid form describes."""
        return self.draft().spec.fingerprint

    def draft(self) -> Judge:
        """Return the judge that this valid form describes, not stored."""
        fields = self.fields_of_judge()
        return Judge(levels=levels_of(fields["rubric"]), **fields)


def rubric_text_of(rubric: Rubric) -> str:
    """Return the levels of a rubric as a prompt shows them."""
    return rubric_wording(
        (level.grade, f"{level.name} ({level.label})" if level.name else level.label)
        for level in rubric.levels.all()
    )


def name_of_prompt(system: str, prompt: str) -> str:
    """Return the name of the prompt file with these texts, or OWN_WORDS."""
    for name in prompts.names():
        file = prompts.load(name)
        if (file.system, file.prompt) == (system, prompt):
            return name
    return CUSTOM_PROMPT


def of_file(name: str) -> dict[str, Any]:
    """Return the form values of a shipped prompt file. Raises PromptFileError."""
    file = prompts.load(name)
    return {
        "prompt_file": name,
        "system": file.system,
        "prompt": file.prompt,
        "parser": file.parser,
        "max_tokens": file.max_tokens,
        "failure_policy": file.failures,
        # The first token of a reply about several questions is the grade of none.
        **({"logprobs": False} if PARSERS[file.parser].reads_several else {}),
    }


def of_preset(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the form values of the chosen kind of server.

    The form may be half filled in.
    """
    preset = PRESETS[typed["preset"]]
    max_tokens = str(typed.get("max_tokens", ""))
    sampling = preset.sampling(
        int(max_tokens) if max_tokens.isdecimal() and len(max_tokens) < 7 else 1
    )
    filled = _of_sampling(sampling)
    del filled["samples"]  # those are the judge's, whatever the server
    return filled | {"parser": preset.parser} if preset.parser else filled


def of_constraint(typed: Mapping[str, Any], grades: list[int]) -> dict[str, Any]:
    """Return the further settings with the chosen form of reply.

    Raises ValidationError for no JSON.
    """
    extra = JudgeForm.base_fields["extra"].clean(typed["extra"])
    for name in ("structured_outputs", "guided_choice", "response_format"):
        extra.pop(name, None)
    if typed["constraint"]:
        extra |= constraint(typed["constraint"], grades)
    filled = {"extra": json.dumps(extra, ensure_ascii=False) if extra else ""}
    return filled | ({"parser": "rating-json-2"} if "json" in typed["constraint"] else {})


def _of_sampling(sampling: Sampling) -> dict[str, Any]:
    extra = dict(sampling.extra)
    samples = extra.pop("n") if sampling.samples > 1 else 1
    return {
        **{name: getattr(sampling, name) for name in ("temperature", "top_p", "max_tokens")},
        "seed": sampling.seed,
        "logprobs": sampling.logprobs,
        "samples": samples,
        "extra": json.dumps(extra, ensure_ascii=False) if extra else "",
    }


def of_judge(judge: Judge) -> dict[str, Any]:
    """Return the form values of a judge, without its name."""
    return {
        "rubric": judge.rubric.slug,
        **{name: getattr(judge, name) for name in ("system", "prompt", "wording", "parser")},
        "failure_policy": judge.failure_policy,
        **{name: getattr(judge, name) for name in ("backend", "model", "revision")},
        "template_hash": judge.template_hash,
        "reply_model": judge.reply_model,
        "label_ids": format_ids(judge.label_ids),
        **_of_sampling(judge.spec.sampling),
        "prompt_file": judge.prompt_name if judge.prompt_name in prompts.names() else "",
    }


def of_post(sent: QueryDict) -> dict[str, Any]:
    """Return the values typed so far, to show the form again without error messages."""
    values = {name: sent.get(name, "") for name in JudgeForm.base_fields}
    typed: dict[str, Any] = {name: value.replace("\x00", "") for name, value in values.items()}
    return typed | {name: name in sent for name in ("logprobs", "is_site_wide")}


def spec_of(typed: Mapping[str, Any]) -> Spec:
    """Return as much of a spec as messages need, from a form that may be half filled in."""
    rubric = Rubric.objects.filter(slug=typed.get("rubric", "")).first() or Rubric.objects.first()
    levels = levels_of(rubric) if rubric else []
    texts = {
        name: str(typed.get(name, "")).replace("\r\n", "\n")
        for name in ("system", "prompt", "wording")
    }
    return Spec(
        rubric="",
        levels=tuple((grade, label) for grade, label in levels),
        backend="",
        model="",
        system=texts["system"],
        prompt=texts["prompt"],
        wording=texts["wording"] or (rubric_text_of(rubric) if rubric else ""),
        sampling=Sampling(),
    )


def format_ids(ids: list[int] | tuple[int, ...]) -> str:
    return ", ".join(map(str, ids))
