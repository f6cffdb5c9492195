"""Form that starts a test of a judge."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.models import Dataset, User
from judging.engine.judge_tests import (
    MAX_PAIRS,
    MAX_REPEATS,
    MAX_SEED,
    MIN_REPEATS,
    PAIRS,
    REPEATS,
    JudgeTestRequest,
    offered_tests,
)
from judging.forms import endpoints_for, offer
from judging.grading.variants import SUMMARIES, TITLES
from judging.models import Judge, JudgeRun


class JudgeTestForm(forms.Form):
    """Form of a test: kind, size of the sample, repeats, server."""

    test = forms.ChoiceField()
    pairs = forms.IntegerField(
        min_value=1, max_value=MAX_PAIRS, initial=PAIRS, help_text="at most, drawn at random"
    )
    repeats = forms.IntegerField(
        min_value=MIN_REPEATS,
        max_value=MAX_REPEATS,
        initial=REPEATS,
        help_text="of each pair; only the test Repeat uses them",
    )
    seed = forms.IntegerField(min_value=0, max_value=MAX_SEED, initial=0, help_text="of the sample")
    endpoint = forms.ChoiceField(
        required=False, label="Server", help_text="for a judge on a server"
    )

    def __init__(self, *args: Any, judge: Judge, dataset: Dataset, user: User, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.judge, self.user = judge, user
        offered = [test for test, refusal in offered_tests(judge) if not refusal]
        offer(self, "test", [(test, f"{TITLES[test]}: {SUMMARIES[test]}") for test in offered])
        endpoints = endpoints_for(user, dataset.project)
        offer(self, "endpoint", endpoints)
        self.fields["endpoint"].initial = _usual_endpoint(judge, dataset, endpoints)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        backend, endpoint = self.judge.backend, cleaned.get("endpoint")
        if backend == Judge.Backend.VLLM and not self.user.is_admin:
            self.add_error(
                None, "This judge runs on the site's own GPU: only an admin can test it."
            )
        if "endpoint" not in self.errors:
            if backend == Judge.Backend.OPENAI and not endpoint:
                self.add_error("endpoint", "This judge needs a server: choose one.")
            if backend != Judge.Backend.OPENAI and endpoint:
                self.add_error("endpoint", "vLLM in process needs no server: choose none.")
        return cleaned

    def request(self) -> JudgeTestRequest:
        names = ("test", "pairs", "repeats", "seed")
        return JudgeTestRequest(**{name: self.cleaned_data[name] for name in names})


def _usual_endpoint(judge: Judge, dataset: Dataset, choices: list[tuple[str, str]]) -> str:
    """Return the server of the newest run, or the only one; "" if there are several."""
    references = [reference for reference, _ in choices if reference]
    if judge.backend != Judge.Backend.OPENAI:
        return ""
    newest = JudgeRun.objects.filter(judge=judge, dataset=dataset, endpoint__in=references).first()
    if newest:
        return newest.endpoint
    return references[0] if len(references) == 1 else ""
