"""The attempts of a judge, or of one run, as files."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import Http404, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from annotation.models.projects import visibility_filter
from judging.attempts.export import FORMATS
from judging.models import Attempt, Judge, JudgeRun


@require_safe
@researchers_only
def judge_attempts(request: AuthenticatedRequest, pk: int, form: str) -> StreamingHttpResponse:
    """Of all datasets that the reader sees, or of the one that `dataset` names."""
    judges = Judge.objects.visible_to(request.user).select_related("rater", "rubric")
    judge = get_object_or_404(judges, pk=pk)
    attempts = judge.attempts.filter(visibility_filter("text__dataset", request.user))
    name = f"{judge.slug}-attempts"
    if slug := request.GET.get("dataset"):
        dataset = get_object_or_404(Dataset.objects.visible_to(request.user), slug=slug)
        attempts = attempts.filter(text__dataset=dataset)
        name = f"{dataset.slug}-{name}"
    return _sent(judge, attempts, name, form)


@require_safe
@researchers_only
def run_attempts(request: AuthenticatedRequest, pk: int, form: str) -> StreamingHttpResponse:
    runs = JudgeRun.objects.select_related("judge__rater", "judge__rubric")
    run = get_object_or_404(runs, pk=pk)
    attempts = Attempt.objects.filter(batch__run=run)
    return _sent(run.judge, attempts, f"judge-run-{run.pk}-attempts", form)


def _sent(judge: Judge, attempts: QuerySet[Attempt], name: str, form: str) -> StreamingHttpResponse:
    if form not in FORMATS:
        raise Http404(f"There is no format {form!r}. There are: {', '.join(FORMATS)}.")
    content_type, lines = FORMATS[form]
    return StreamingHttpResponse(
        lines(judge, attempts),
        content_type=content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}.{form}"'},
    )
