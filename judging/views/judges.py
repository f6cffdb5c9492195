"""Judges: all of them, and one with everything that makes it and all that it has said."""

from django.db.models import Count
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from annotation.models.raters import name_in
from judging import tallies
from judging.models import Attempt, Judge
from judging.preview import pick, preview

RUNS_SHOWN = 20


@require_safe
@researchers_only
def judges(request: AuthenticatedRequest) -> HttpResponseBase:
    """All judges, the newest first, with what each has said so far; then those that came in files."""
    said, last = tallies.by_judge(), tallies.last_runs()
    listed = Judge.objects.select_related("rater__dataset", "rubric").order_by("-id")
    rows = [(one, said.get(one.pk, tallies.NOTHING), last.get(one.pk)) for one in listed]
    context = {
        "rows": rows,
        "imported": tallies.imported(),
        "datasets": Dataset.objects.all(),
        "room": "judges",
    }
    return render(request, "judging/judges.html", context)


@require_safe
@researchers_only
def judge(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """One judge, with a look at what it is sent about any pair."""
    judges = Judge.objects.select_related("rater__dataset", "rubric", "created_by")
    found = get_object_or_404(judges, pk=pk)
    runs = found.runs.select_related("dataset", "created_by")
    shown = list(runs[:RUNS_SHOWN])
    said = tallies.by_run(shown)
    own = found.rater.dataset
    picked = None
    if found.prompt:
        picked = pick(request.GET, [own] if own else list(Dataset.objects.all()))
    context = {
        "judge": found,
        "tally": tallies.by_judge().get(found.pk, tallies.NOTHING),
        "datasets": [
            (one, name_in(one, found.rater), tally) for one, tally in tallies.by_dataset(found)
        ],
        "runs": [(run, said.get(run.pk, tallies.NOTHING)) for run in shown],
        "n_runs": runs.count(),
        "kinds": Attempt.objects.filter(batch__run__judge=found)
        .exclude(state="graded")
        .order_by()
        .values_list("failure")
        .annotate(n=Count("pk"))
        .order_by("-n", "failure"),
        "picked": picked,
        "all_datasets": Dataset.objects.all(),
        "sent": preview(found.spec, picked),
        "room": "judges",
    }
    return render(request, "judging/judge.html", context)
