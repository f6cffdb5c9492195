"""Page of the reply of one cell of the rating matrix, and its repetition."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Rater, Rating, SubQuestion, Text
from annotation.models.rating import raters_of
from annotation.origins import JudgeModel, family_marks
from judging.engine.endpoints import choices_for
from judging.grading.pairs import Pair, Reply
from judging.llm.errors import BackendError
from judging.models import Attempt, Judge
from judging.replies.page import (
    attempt_details,
    attempts_at,
    compared,
    evidence_of,
    pair_of,
    prompt_of,
    replay,
    source_of,
)

State = dict[str, Any]


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def reply(
    request: AuthenticatedRequest, rater_id: int, text_id: int, question_id: int
) -> HttpResponse:
    """Show the reply of a judge about a pair; a POST asks it again, and stores nothing."""
    text = get_object_or_404(Text.objects.select_related("dataset__project", "topic"), pk=text_id)
    of_dataset = [rater.pk for rater in raters_of(text.dataset).values()]
    of_site = Judge.objects.visible_to(request.user).filter(rater__dataset=None)
    visible = Q(pk__in=of_dataset) | Q(judge__in=of_site)
    rater = get_object_or_404(Rater.objects.filter(visible), pk=rater_id)
    question = get_object_or_404(
        SubQuestion.objects.select_related("topic"), topic__dataset=text.dataset_id, pk=question_id
    )
    judges = Judge.objects.visible_to(request.user).select_related("rater", "rubric")
    judge = judges.filter(rater=rater).first()
    attempts = attempts_at(judge, text, question) if judge else []
    context: State = {
        "room": "judges",
        "rater": rater,
        "judge": judge,
        "dataset": text.dataset,
        "text": text,
        "question": question,
    }
    if judge:
        models = [JudgeModel(judge.title, judge.model, judge.family)]
        context["family_marks"] = family_marks(models, text.origins)
    if judge is None or not attempts:
        return _none(request, context)
    context |= _reply_context(judge, attempts, text, question)
    context["may_ask"] = request.user.owns
    context["endpoints"] = (
        choices_for(request.user, text.dataset.project) if request.user.owns else []
    )
    if request.method == "POST":
        return _replayed(request, judge, attempts[0], context)
    return render(request, "judging/replies/reply.html", context)


def _none(request: AuthenticatedRequest, context: State) -> HttpResponse:
    """Show a cell without an attempt; it may have a grade, imported from a file."""
    rated = Rating.objects.filter(
        rater=context["rater"], text=context["text"], question=context["question"]
    )
    ratings = rated.select_related("rubric").prefetch_related("rubric__levels")
    context["grades"] = [rating.rubric.name_of(rating.grade) for rating in ratings]
    return render(request, "judging/replies/none.html", context, status=404)


def _reply_context(
    judge: Judge, attempts: list[Attempt], text: Text, question: SubQuestion
) -> State:
    attempt = attempts[0]
    source = source_of(judge, attempt, text)
    pair = pair_of(judge, source or text, question)  # as it was asked
    run = attempt.batch.run
    return {
        "details": attempt_details(judge, attempt),
        "others": [attempt_details(judge, earlier) for earlier in attempts[1:]],
        "prompt": prompt_of(judge, attempt, pair),
        "source": source,
        "evidence": evidence_of(judge, attempt, source or text),
        "pair": pair,
        "needs_endpoint": judge.backend == Judge.Backend.OPENAI,
        "endpoint": run.endpoint,
    }


def _replayed(
    request: AuthenticatedRequest, judge: Judge, attempt: Attempt, context: State
) -> HttpResponse:
    if not context["may_ask"]:
        raise PermissionDenied(
            "Only admins and owners of the project can repeat a request, because it may cost money."
        )
    endpoint = request.POST.get("endpoint", "")
    if context["needs_endpoint"] and endpoint not in dict(context["endpoints"]):
        context["trouble"] = f"There is no endpoint “{endpoint}”."
        return render(request, "judging/replies/reply.html", context, status=400)
    pair: Pair = context["pair"]
    context["endpoint"] = endpoint
    try:
        new = replay(judge, context["dataset"], pair, endpoint)
    except BackendError as error:
        context["trouble"] = str(error)
    else:
        context["now"] = _new_context(judge, attempt, new)
    return render(request, "judging/replies/reply.html", context)


def _new_context(judge: Judge, attempt: Attempt, new: Reply) -> State:
    """Return the context of the new reply next to the stored one.

    It is converted to an unsaved attempt, so that both are displayed alike.
    """
    unsaved = Attempt(
        state=new.state.value,
        failure=new.failure.value if new.failure else "",
        grade=new.grade,
        raw=new.raw,
        reasoning=new.reasoning,
        detail=new.detail,
        probabilities=None if new.probabilities is None else list(new.probabilities),
        expected_grade=new.expected_grade,
        label_mass=new.label_mass,
        prompt_tokens=new.prompt_tokens,
        completion_tokens=new.completion_tokens,
    )
    return {
        "details": attempt_details(judge, unsaved),
        "compared": compared(attempt, new),
        "is_same_raw": new.raw == attempt.raw,
        "evidence": new.evidence,
    }
