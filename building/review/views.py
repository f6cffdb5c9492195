"""Views to review outputs: accept, edit, reject."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.http import AuthenticatedRequest, owners_only, researchers_only
from building.engine.review import ReviewError, accept, accept_rest, open_products, reject
from building.models import Order, Product, Writing
from building.review.page import next_open, page_of
from building.writing.tasks import TASKS

AT_ONCE = 2_000  # products that are accepted while somebody waits


def _writing(slug: str, pk: int) -> Writing:
    runs = Writing.objects.select_related("writer", "dataset")
    return get_object_or_404(runs, pk=pk, dataset__slug=slug)


@require_safe
@researchers_only
def review(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Redirect to the first order with an open output, or the first order."""
    run = _writing(slug, pk)
    waiting = open_products(run).select_related("draft__order").first()
    first = waiting.draft.order if waiting else _written(run)
    if first is None:
        messages.info(request, f"{run} has no outputs yet.")
        return redirect(run)
    return redirect("task_review", slug, pk, first.number)


def _written(run: Writing) -> Order | None:
    return run.orders.filter(drafts__products__isnull=False).order_by("number").first()


@require_safe
@researchers_only
def order(request: AuthenticatedRequest, slug: str, pk: int, number: int) -> HttpResponse:
    """Show an order with its source and outputs."""
    run = _writing(slug, pk)
    current = get_object_or_404(
        run.orders.select_related("topic", "document", "run"), number=number
    )
    context = {
        "room": "datasets",
        "dataset": run.dataset,
        "run": run,
        "task": TASKS[run.writer.task],
        "page": page_of(current),
        "n_waiting": open_products(run).count(),
    }
    return render(request, "building/review/order.html", context)


@require_POST
@owners_only
def decide(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Accept or reject an output, and go to the next open order."""
    products = Product.objects.select_related("draft__order__run__dataset")
    product = get_object_or_404(products, pk=pk, draft__order__run__dataset__slug=slug)
    order = product.draft.order
    decision = request.POST.get("decision", "")
    body = request.POST.get("words", product.body).replace("\r\n", "\n").replace("\x00", "")
    try:
        if decision == "accept" and body.strip():
            accept(product, request.user, body)
        elif decision == "reject":
            reject(product, request.user)
        else:
            messages.error(request, "Accept the output with a text, or reject it.")
    except ReviewError as error:
        messages.error(request, str(error))
        if decision == "accept" and body.strip() != product.body.strip():
            messages.info(request, f"Your text is not stored: {body}")
        return redirect("task_review", slug, order.run_id, order.number)
    number = next_open(order) or order.number
    return redirect("task_review", slug, order.run_id, number)


@require_POST
@owners_only
def accept_the_rest(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponseBase:
    """Accept all unreviewed outputs, marked as unseen."""
    run = _writing(slug, pk)
    n, refused = accept_rest(run, request.user, AT_ONCE)
    messages.success(request, f"Accepted without review: {n:,}.")
    if n_remaining := open_products(run).count() - len(refused):
        messages.info(
            request,
            f"{n_remaining:,} more are to be reviewed: repeat the action, or on the server: "
            f"manage.py write {slug} --join {pk} --accept-all",
        )
    for reason in refused[:5]:
        messages.error(request, reason)
    return redirect(run)
