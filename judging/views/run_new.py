"""A new run of a judge: counted first, then started."""

from django.db import transaction
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation.http import AuthenticatedRequest, admins_only, is_key
from annotation.models import Dataset
from judging import estimate, runs, tasks
from judging.forms.judges import focus
from judging.forms.runs import BASELINE, RunForm, judges_for
from judging.models import Judge, JudgeRun
from judging.selection import SelectionError


@require_http_methods(["GET", "HEAD", "POST"])
@admins_only
def judge_run_new(request: AuthenticatedRequest) -> HttpResponseBase:
    """Say who grades what, see what that takes, and start it."""
    slug = request.POST.get("dataset") or request.GET.get("dataset", "")
    dataset = get_object_or_404(Dataset, slug=slug.replace("\x00", ""))
    form = RunForm(request.POST or None, dataset=dataset, initial=_beginning(request, dataset))
    counted = open_run = None
    if form.is_valid():
        judge = form.chosen()
        try:
            if "start" in request.POST:
                return redirect(_started(request, form, judge))
            counted = estimate.of(judge, dataset, form.selection(), form.prices())
        except SelectionError as error:
            form.add_error(None, str(error))
        except runs.RunRefused as error:
            form.add_error(None, str(error))
            open_run = runs.open_run(judge, dataset)
    if form.is_bound:
        focus(form)
    context = {
        "form": form,
        "dataset": dataset,
        "counted": counted,
        "open_run": open_run,
        "room": "judges",
    }
    status = 422 if form.is_bound and form.errors else 200
    return render(request, "judging/run_new.html", context, status=status)


@transaction.atomic
def _started(request: AuthenticatedRequest, form: RunForm, judge: Judge) -> JudgeRun:
    run = runs.start(
        judge, form.dataset, form.selection(), created_by=request.user, **form.options()
    )
    transaction.on_commit(lambda: tasks.wake(run))
    return run


def _beginning(request: AuthenticatedRequest, dataset: Dataset) -> dict[str, str]:
    """The judge that the address names, if it may judge here; else the baseline."""
    wanted = request.GET.get("judge", "")
    known = is_key(wanted) and judges_for(dataset).filter(pk=wanted).exists()
    return {"judge": wanted if known else BASELINE}
