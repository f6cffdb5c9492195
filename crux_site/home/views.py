"""First page of the site: Home of a researcher, or the work of everybody else."""

from typing import Any

from django.db.models import Count, IntegerField, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from annotation.http import AuthenticatedRequest
from annotation.models import Dataset, Project, Text, Topic
from crux_site.home.row import dataset_row
from crux_site.home.work import finished, running, to_review

MAX_LISTED = 5  # links of a list; the others are counted


@vary_on_headers("HX-Request")
@require_safe
def home(request: AuthenticatedRequest) -> HttpResponseBase:
    """Home of researchers; others go to their work.

    `?dataset=SLUG` computes the row of one dataset, for htmx that row alone: fifty would take long at once.
    """
    user = request.user
    if not user.is_researcher:
        return redirect("work_home")
    visible = (
        Dataset.objects.visible_to(user)
        .select_related("project")
        .annotate(n_topics=_number_of(Topic), n_texts=_number_of(Text))
    )
    slug = request.GET.get("dataset")
    row = dataset_row(get_object_or_404(visible, slug=slug), user) if slug else None
    if row and request.htmx:
        return render(request, "crux_site/home/_dataset.html", {"row": row})
    datasets = list(visible)
    context: dict[str, Any] = {
        "room": "datasets",
        "datasets": datasets,
        "row": row,
        "projects": Project.objects.visible_to(user),
        "owned_projects": Project.objects.owned_by(user),
        "max_listed": MAX_LISTED,
    }
    if datasets:
        context |= {
            "runs_any": Dataset.objects.run_by(user).exists(),
            "review": to_review(user),
            "running": running(user),
            "finished": finished(user),
        }
    return render(request, "crux_site/home/home.html", context)


def _number_of(model: type[Topic] | type[Text]) -> Coalesce:
    """Return a subquery that counts the rows of a dataset; joins would multiply them."""
    rows = model.objects.filter(dataset=OuterRef("pk")).order_by().values("dataset")
    counted = rows.annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
