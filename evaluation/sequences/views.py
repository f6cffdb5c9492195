"""Views of label sequences: plans and their start, and the result of a sequence."""

from __future__ import annotations

from functools import partial

from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Dataset
from evaluation.data.selection import SelectionError, one_of
from evaluation.http import parse_carried, selection_error_page
from evaluation.labelling.query import label_params
from evaluation.models import LabelSequence
from evaluation.result_tables import table_file
from evaluation.sequences.page import SequencePage, interval_table
from evaluation.sequences.planning import NothingToLabelError, plans_for, store
from evaluation.sequences.query import PlanQuery, plan_query
from evaluation.sequences.state import state_of

CHANGED = "No sequence was started, because the reports changed in the meantime. Try again."


def _parse_params(dataset: Dataset, params: QueryDict) -> PlanQuery:
    return plan_query(dataset, params, **label_params(params))


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def label_sequences(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Show both plans for a question; on POST store one of them and lead to its campaign."""
    dataset = get_object_or_404(Dataset, slug=slug)
    params = request.POST if request.method == "POST" else request.GET
    try:
        query = parse_carried(params, partial(_parse_params, dataset))
        plans, refusal = plans_for(query), ""
        plan = params.get("plan") and one_of("plan", params["plan"], LabelSequence.Plan.values)
    except NothingToLabelError as error:
        plans, plan, refusal = None, None, str(error)
    except SelectionError as error:
        return selection_error_page(request, dataset, str(error))
    if request.method == "POST":
        if plans is None or not plan:
            return selection_error_page(request, dataset, refusal or "Choose a plan.")
        try:
            sequence = store(plans, LabelSequence.Plan(plan), request.user)
        except (NothingToLabelError, IntegrityError) as error:
            reason = str(error) if isinstance(error, NothingToLabelError) else CHANGED
            messages.error(request, reason)
            return redirect("label_sequences", slug)
        if request.user.runs_campaigns and state_of(sequence).next_pairs(set()):
            url = reverse("campaign_of_pairs", args=[slug])
            return redirect(f"{url}?of=sequence&sequence={sequence.pk}")
        return redirect(sequence)
    context = {
        "room": "datasets",
        "dataset": dataset,
        "choice": query,
        "selection": query.selection,
        "plans": plans,
        "refusal": refusal,
        "sequences": dataset.label_sequences.defer("units").select_related(
            "judge", "rubric", "created_by", "dataset"
        ),
    }
    return render(request, "evaluation/sequences/label_sequences.html", context)


@require_safe
@researchers_only
def label_sequence(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponse:
    """Show the state of a sequence, its curve, and the text for a methods section."""
    sequence = _sequence(slug, pk)
    context = {
        "room": "datasets",
        "dataset": sequence.dataset,
        "sequence": sequence,
        "page": SequencePage(state_of(sequence)),
    }
    return render(request, "evaluation/sequences/label_sequence.html", context)


@require_safe
@researchers_only
def label_sequence_table(
    request: AuthenticatedRequest, slug: str, pk: int, file_format: str
) -> HttpResponse:
    """Return all intervals of a sequence as a file; LaTeX has those of the page."""
    sequence = _sequence(slug, pk)
    page = SequencePage(state_of(sequence))
    return table_file(
        request,
        file_format,
        interval_table(page, is_short=file_format == "tex"),
        name=f"{slug}-sequence-{pk}",
        caption=f"Sequence {pk} of {sequence.dataset.title}: {sequence.question}",
    )


def _sequence(slug: str, pk: int) -> LabelSequence:
    sequences = LabelSequence.objects.select_related("dataset", "judge", "rubric", "created_by")
    return get_object_or_404(sequences, dataset__slug=slug, pk=pk)
