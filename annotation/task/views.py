"""The rater's pages: one item under the rubric, saving it, handing it in."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.http import AuthenticatedRequest, View, is_by_script
from annotation.models import Answer, Assignment, AttentionCheck, Item, Rubric, SubQuestion
from annotation.models.wording import shown
from annotation.participation import active_time, gate, journey
from annotation.participation.skips import no_more, skips_of
from annotation.task import saving
from annotation.task.forms import AnswerForm, SkipForm, problems
from annotation.task.page import Asked, RefusedForm, asked_of, links_of, page_context
from annotation.task.queue import parse_queue, replay
from annotation.task.saving import item_to_answer
from annotation.task.script_words import WORDS


def _gated(view: Callable[..., HttpResponseBase]) -> View:
    """An address of an item. Before what has to come first it shows and takes nothing."""

    @wraps(view)
    def guarded(request: AuthenticatedRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except gate.NotYetError as error:
            if is_by_script(request):
                return _plain(str(error))
            if request.method == "POST":
                messages.error(request, str(error))
            return redirect(error.url)

    return guarded


@never_cache  # or Back would show the answers as they stood before
@require_safe
@_gated
def work(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """One item: the text on one side, its questions on the other."""
    assignment = _own(request, pk)
    if step := journey.before_work(assignment.participant):
        return redirect(step)
    active_time.note_opening(assignment)
    return _page(request, assignment)


@require_POST
@_gated
def answer(
    request: AuthenticatedRequest, pk: int, question_pk: int, rubric: str = ""
) -> HttpResponseBase:
    """Save the answer to one question of an item, at once: under the campaign's rubric, or a further one."""
    assignment = item_to_answer(request.user, pk, question_pk)
    rubrics = assignment.participant.campaign.further_rubrics
    further = get_object_or_404(rubrics, slug=rubric) if rubric else None
    return _save(request, assignment, SubQuestion(pk=question_pk), further)


@require_POST
@_gated
def check_answer(request: AuthenticatedRequest, pk: int, check_pk: int) -> HttpResponseBase:
    """Save the answer to the attention check of an item."""
    assignment = _found(_mine(request).filter(check_asked__pk=check_pk), pk)
    return _save(request, assignment, AttentionCheck(pk=check_pk))


@require_POST
def answer_queue(request: AuthenticatedRequest) -> HttpResponseBase:
    """Take the queue of a browser: answers and item ends, in order, each with a result of its own."""
    return JsonResponse({"results": replay(request, parse_queue(request.body))})


def _save(
    request: AuthenticatedRequest,
    assignment: Assignment,
    question: SubQuestion | AttentionCheck,
    further: Rubric | None = None,
) -> HttpResponseBase:
    campaign = assignment.participant.campaign
    campaign.activate_language()
    text = assignment.item.as_shown()
    form = AnswerForm(request.POST, text=text, rubric=further or campaign.rubric)
    asked = (question, further)
    if not form.is_valid():
        return _refused(request, assignment, problems(form), "refused", asked)
    try:
        saved = saving.save_answer(
            assignment,
            question,
            key=form.cleaned_data["key"],
            grade=form.cleaned_data["grade"],
            spans=form.cleaned_data["span_list"],
            rubric=further,
            base=form.cleaned_data["base"],
            knows_base="base" in request.POST,
            active_ms=form.cleaned_data["active_ms"],
            altered=form.cleaned_data["altered"],
        )
    except saving.AnswerRefusedError as error:
        return _refused(request, assignment, str(error), "refused", asked)
    except saving.ConflictError as error:
        return JsonResponse(_said(error.newest), status=409)
    says = _why_kept(saved)
    if is_by_script(request):
        if saved.reopens:
            return JsonResponse({"reopened": assignment.get_absolute_url()})
        return JsonResponse({"says": says}) if says else HttpResponse(status=204)
    number = _number(assignment, *asked)
    if says:
        messages.warning(request, says, "warned")
    else:
        messages.success(request, _("Question %(number)s is saved.") % {"number": number})
    return redirect(f"{assignment.get_absolute_url()}#q-{number}")


def _why_kept(answer: Answer) -> str:
    """What to tell whoever gave an answer that is kept and does not count; empty where it counts."""
    if answer.late == Answer.Late.CLOSED:
        return _("Your answer is kept, but no longer counts: the study is closed.")
    if answer.late == Answer.Late.TAKEN_BACK:
        return _("Your answer is kept, but no longer counts: the time for this text ended.")
    if answer.late == Answer.Late.SET_ASIDE:
        return _("Your answer is kept, but does not count: please ask the researchers.")
    return ""


@never_cache
@require_safe
@_gated
def state(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """The newest answers of an item, for a page that has been away: another device may have been here."""
    assignment = _own(request, pk)
    newest = {
        (answer.question_id, answer.check_asked_id, answer.rubric_id): answer
        for answer in assignment.answers.select_related("rubric").order_by("id")
    }
    return JsonResponse(
        {
            "state": assignment.state,
            "closed": not assignment.participant.campaign.counts_answers(),
            "answers": [_said(answer) for answer in newest.values()],
        }
    )


def _said(answer: Answer) -> dict[str, object]:
    """An answer as a page's script takes it up: the address tells which question it is to."""
    name, pk = (
        ("answer", answer.question_id)
        if answer.question_id
        else ("check_answer", answer.check_asked_id)
    )
    return {
        "url": reverse(
            name,
            args=[answer.assignment_id, pk, *([answer.rubric.slug] if answer.rubric else [])],
        ),
        "key": str(answer.key),
        "grade": answer.grade,
        "spans": answer.spans,
        "at": answer.created.isoformat(timespec="seconds"),
    }


@require_POST
@_gated
def submit(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Hand an item in, or say what it still lacks."""
    assignment = _own(request, pk)
    missing = [asked for asked in asked_of(assignment) if not asked.is_done]
    if missing:
        if is_by_script(request):
            context = {"missing": missing}
            return render(request, "annotation/task/_missing.html", context, status=422)
        return _page(request, assignment, missing=missing, status=422)
    try:
        saving.submit(assignment, _milliseconds(request))
    except saving.AnswerRefusedError as error:
        return _refused(request, assignment, str(error), "not_handed_in")
    return _onwards(request, assignment)


@require_POST
@_gated
def skip(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Put an item aside with a note, and go on with the next."""
    assignment = _own(request, pk)
    form = SkipForm(request.POST)
    if not form.is_valid():
        return _refused(request, assignment, problems(form), "not_skipped")
    try:
        saving.skip(assignment, form.cleaned_data["note"], broken=form.cleaned_data["broken"])
    except saving.AnswerRefusedError as error:
        return _refused(request, assignment, str(error), "not_skipped")
    return _onwards(request, assignment)


def _mine(request: AuthenticatedRequest) -> QuerySet[Assignment]:
    """The reader's own assignments; another person's is not there, as far as they can tell."""
    return Assignment.objects.filter(participant__rater__user=request.user).select_related(
        "item__text", "participant__campaign__rubric"
    )


def _found(mine: QuerySet[Assignment], pk: int) -> Assignment:
    assignment: Any = get_object_or_404(mine.annotate(waits_for=gate.waits_for()), pk=pk)
    assignment.participant.campaign.activate_language()
    return gate.passed(assignment, assignment.waits_for)


def _own(request: AuthenticatedRequest, pk: int) -> Assignment:
    more = ("item__text__topic", "participant__rater", "part", "check_asked")
    return _found(_mine(request).select_related(*more), pk)


def _milliseconds(request: AuthenticatedRequest) -> int:
    sent = request.POST.get("active_ms", "")
    return min(int(sent), AnswerForm.DAY_MS) if sent.isdecimal() and len(sent) < 12 else 0


def _number(
    assignment: Assignment, question: SubQuestion | AttentionCheck, further: Rubric | None
) -> str:
    """As the page calls it, under the campaign's own rubric or a further one."""
    return _card(asked_of(assignment), question, further).number


def _card(
    cards: list[Asked], question: SubQuestion | AttentionCheck, further: Rubric | None
) -> Asked:
    return next(
        card
        for card in cards
        if card.question == question and (card.rubric if card.is_further else None) == further
    )


def _page(
    request: AuthenticatedRequest,
    assignment: Assignment,
    missing: list[Asked] | None = None,
    status: int = 200,
    cards: list[Asked] | None = None,
) -> HttpResponseBase:
    campaign = assignment.participant.campaign
    order = journey.in_hand(assignment)
    place = order.index(assignment.pk)
    context = page_context(
        campaign,
        assignment.item.as_shown(),
        cards or asked_of(assignment),
        links_of(assignment, order[place - 1] if place else None),
        place=place + 1,
        of=len(order),
        is_practice=assignment.item.purpose == Item.Purpose.TRAINING,
        missing=missing or [],
    )
    participant, part = assignment.participant, assignment.part
    news = list(campaign.messages_sent.filter(pk__gt=participant.seen_message))
    context |= {
        "assignment": assignment,
        "is_over": journey.is_over(assignment),
        "skips": skips_of(participant, part),
        "no_more_skips": no_more(participant.campaign.rubric),
        "part_ends": part.expires if part and not part.outcome else None,
        "news": news,
        "news_until": news[-1].pk if news else None,
    }
    return render(request, "annotation/task/work.html", context, status=status)


def _onwards(request: AuthenticatedRequest, assignment: Assignment) -> HttpResponseBase:
    url = journey.after_item(assignment)
    if is_by_script(request):
        return JsonResponse({"next": url})
    return redirect(url)


def _refused(
    request: AuthenticatedRequest,
    assignment: Assignment,
    problem: str,
    what: str,
    asked: tuple[SubQuestion | AttentionCheck, Rubric | None] | None = None,
) -> HttpResponseBase:
    """Say what is wrong, where the person is looking. `what` names the words of a script for it.

    `asked` is the question that was answered, and the further rubric under which it was: its form comes back
    with what was typed into it.
    """
    if is_by_script(request):
        return _plain(problem)
    told = str(WORDS[what]).format(problem=problem)
    if asked is None:
        messages.error(request, told)
        return redirect(assignment)
    assignment = _own(request, assignment.pk)
    cards = asked_of(assignment)
    card = _card(cards, *asked)
    card.refused = RefusedForm(
        told,
        request.POST.get("grade", ""),
        tuple(request.POST.getlist("keep")),
        request.POST.get("quotes", ""),
    )
    return _page(request, assignment, status=422, cards=cards)


def _plain(problem: str) -> HttpResponse:
    return HttpResponse(problem, status=422, content_type="text/plain; charset=utf-8")


@require_safe
def feedback(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """What was said about a text to practise on, beside what was expected."""
    assignment = get_object_or_404(
        Assignment.objects.select_related("item__text", "participant__campaign__rubric", "part"),
        pk=pk,
        participant__rater__user=request.user,
        item__purpose=Item.Purpose.TRAINING,
    )
    if assignment.state != Assignment.State.SUBMITTED:
        return redirect(assignment)
    campaign = assignment.participant.campaign
    campaign.activate_language()
    asked = asked_of(assignment)
    words = shown(campaign, assignment.item.text.kind)
    rubrics = [card.rubric for card in asked]
    compared = []
    for card in asked:
        of_card = words.further[card.rubric.slug] if card.is_further else words
        labels = of_card.labels()
        of_both = {"label": labels.get(card.grade), "wanted": labels.get(card.expected)}
        compared.append({"card": card, "asks": of_card.question, **of_both})
    context = {
        "campaign": campaign,
        "assignment": assignment,
        "text": assignment.item.as_shown(),
        "shows_text": any(rubric.shows_text for rubric in rubrics),
        "takes_spans": any(rubric.span_from is not None for rubric in rubrics),
        "several": len(set(rubrics)) > 1,
        "compared": compared,
        "known": sum(card.expected is not None for card in asked),
        "agreed": sum(card.grade == card.expected for card in asked if card.expected is not None),
        "marks": [
            {"start": span["start"], "end": span["end"], "mark": card.mark, "label": card.number}
            for card in asked
            for span in card.expected_spans
        ],
        "onwards": journey.onwards(assignment),
        "is_over": journey.is_over(assignment),
    }
    return render(request, "annotation/task/feedback.html", context)
