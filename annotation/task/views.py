"""Views of the item page: answering, submitting and skipping one item."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.http import AuthenticatedRequest, View, is_by_script
from annotation.models import (
    Answer,
    Assignment,
    AttentionCheck,
    Item,
    Message,
    Part,
    Participant,
    Rubric,
    SubQuestion,
)
from annotation.models.rubric_wording import campaign_wording
from annotation.participation import active_time, prerequisites, workflow
from annotation.participation.skips import no_more_skips_message, skips_of
from annotation.participation.time_left import minutes_left
from annotation.participation.withdrawal import end_message
from annotation.prepared import PreparedObjects
from annotation.row_versions import VERSION
from annotation.task import saving
from annotation.task.cards import AnswerConflict, AnswerSummary, QuestionCard, RefusedForm
from annotation.task.contradictions import contradiction_text, contradiction_texts
from annotation.task.forms import (
    AnswerForm,
    Remark,
    SkipForm,
    problems,
    ticked_spans,
    with_grade_of_labels,
)
from annotation.task.page import item_cards, labels_of, links_of, page_context
from annotation.task.queue import parse_queue, replay
from annotation.task.saving import item_to_answer
from annotation.task.script_messages import MESSAGES

_NEWS = PreparedObjects(
    lambda participant, campaign, newest_read: Message.objects.for_reading(
        Participant(pk=participant, campaign_id=campaign)
    ).filter(pk__gt=newest_read),
    3,
)


def _requires_prerequisites(view: Callable[..., HttpResponseBase]) -> View:
    """Decorate an item view: refuse it while a prerequisite is missing."""

    @wraps(view)
    def guarded(request: AuthenticatedRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except prerequisites.PrerequisiteError as error:
            if is_by_script(request):
                return _plain_text_422(str(error))
            if request.method == "POST":
                messages.error(request, str(error))
            return redirect(error.url)

    return guarded


@never_cache  # or Back would show the answers as they stood before
@require_safe
@_requires_prerequisites
def work(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Show one item: the text on one side, its questions on the other."""
    assignment = _get_own_assignment(request, pk)
    if workflow.has_ended(assignment.participant):
        return redirect("study_end", assignment.participant.campaign.slug)
    active_time.note_opening(assignment)
    return _page(request, assignment)


@require_POST
@_requires_prerequisites
def answer(
    request: AuthenticatedRequest, pk: int, question_pk: int, rubric: str = ""
) -> HttpResponseBase:
    """Save the answer to one question of an item under the campaign's or a further rubric."""
    assignment = item_to_answer(request.user, pk, question_pk)
    rubrics = assignment.participant.campaign.further_rubrics
    further = get_object_or_404(rubrics, slug=rubric) if rubric else None
    return _save(request, assignment, SubQuestion(pk=question_pk), further)


@require_POST
@_requires_prerequisites
def check_answer(request: AuthenticatedRequest, pk: int, check_pk: int) -> HttpResponseBase:
    """Save the answer to the attention check of an item."""
    assignment = _get_own_assignment(request, pk)
    if assignment.check_asked_id != check_pk:
        raise Http404("This item does not ask that.")
    return _save(request, assignment, AttentionCheck(pk=check_pk))


@require_POST
def answer_queue(request: AuthenticatedRequest) -> HttpResponseBase:
    """Replay the queue of a browser: answers and item ends in order, one result for each."""
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
    answered_question = (question, further)
    if not form.is_valid():
        return _report_refusal(request, assignment, problems(form), "refused", answered_question)
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
            remark=form.remark,
        )
    except (saving.AnswerConflictError, saving.ReusedKeyError) as error:
        if is_by_script(request) and isinstance(error, saving.AnswerConflictError):
            return JsonResponse(_answer_json(error.newest), status=409)
        if is_by_script(request) or error.newest is None:
            return _report_refusal(request, assignment, str(error), "refused", answered_question)
        if not error.is_equal:
            return _report_conflict(request, assignment, form, error.newest, answered_question)
        saved = error.newest
    except saving.AnswerError as error:
        return _report_refusal(request, assignment, str(error), "refused", answered_question)
    notice = _late_notice(saved)
    if is_by_script(request):
        if saved.reopens:
            return JsonResponse({"reopened": assignment.get_absolute_url()})
        return JsonResponse({"says": notice}) if notice else HttpResponse(status=204)
    card = _card(item_cards(assignment), *answered_question)
    labels = _labels(assignment, [card, *card.contradicts]) if card.contradicts else {}
    for other_card in card.contradicts:
        messages.warning(request, contradiction_text(card, other_card, labels), "warned")
    if notice:
        messages.warning(request, notice, "warned")
    else:
        messages.success(request, _("Question %(number)s is saved.") % {"number": card.number})
    return redirect(f"{assignment.get_absolute_url()}#q-{card.number}")


def _late_notice(answer: Answer) -> str:
    """Return the message for an answer that is stored and does not count; empty if it counts."""
    if answer.late == Answer.Late.CLOSED:
        return _("Your answer is kept, but no longer counts: the study is closed.")
    if answer.late == Answer.Late.NO:
        return ""
    participant = Participant.objects.get(pk=answer.assignment.participant_id)
    if reason := end_message(participant):
        return " ".join([_("Your answer is kept, but does not count."), reason])
    return _("Your answer is kept, but no longer counts: other people have this text now.")


@never_cache
@require_safe
@_requires_prerequisites
def state(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Return the newest answers of an item as JSON.

    For a page that has been away: another device may have been here.
    """
    assignment = _get_own_assignment(request, pk)
    newest = {
        (answer.question_id, answer.check_asked_id, answer.rubric_id): answer
        for answer in assignment.answers.select_related("rubric").order_by("id")
    }
    has_notes = any(answer.note for answer in newest.values())
    explained = {
        card.url: [other_card.number for other_card in card.explained_cards]
        for card in (item_cards(assignment) if has_notes else ())
    }
    return JsonResponse(
        {
            "state": assignment.state,
            "closed": not assignment.participant.campaign.counts_answers(),
            "answers": [
                _answer_json(answer) | {"explained_cards": explained.get(_answer_url(answer), [])}
                for answer in newest.values()
            ],
        }
    )


def _answer_url(answer: Answer) -> str:
    name, pk = (
        ("answer", answer.question_id)
        if answer.question_id
        else ("check_answer", answer.check_asked_id)
    )
    return reverse(
        name, args=[answer.assignment_id, pk, *([answer.rubric.slug] if answer.rubric else [])]
    )


def _answer_json(answer: Answer) -> dict[str, object]:
    """Return an answer as JSON for a page's script; its URL identifies the question."""
    return {
        "url": _answer_url(answer),
        "key": str(answer.key),
        "grade": answer.grade,
        "spans": answer.spans,
        "note": answer.note,
        "confidence": answer.confidence,
        "at": answer.created.isoformat(timespec="seconds"),
    }


@require_POST
@_requires_prerequisites
def submit(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Submit an item, or list its questions that are left."""
    assignment = _get_own_assignment(request, pk)
    if missing := [card for card in item_cards(assignment) if not card.is_done]:
        return _list_missing(request, assignment, missing)
    try:
        saving.submit(assignment, _milliseconds(request))
    except saving.UnfinishedError as error:
        return _list_missing(request, assignment, error.missing)
    except saving.AnswerError as error:
        return _report_refusal(request, assignment, str(error), "not_handed_in")
    return _redirect_to_next(request, assignment)


def _list_missing(
    request: AuthenticatedRequest, assignment: Assignment, missing: list[QuestionCard]
) -> HttpResponseBase:
    """List the questions that are left, and the answers that contradict each other."""
    if is_by_script(request):
        texts = contradiction_texts(missing, _labels(assignment, missing))
        context = {"missing": missing, "contradictions": texts}
        return render(request, "annotation/task/_missing.html", context, status=422)
    return _page(request, assignment, missing=missing, status=422)


def _labels(assignment: Assignment, cards: list[QuestionCard]) -> dict[int, dict[int, str]]:
    rubric_wording = campaign_wording(assignment.participant.campaign, assignment.item.text.kind)
    return labels_of({card.rubric for card in cards}, rubric_wording)


@require_POST
@_requires_prerequisites
def skip(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Skip an item with a note, and go on with the next."""
    assignment = _get_own_assignment(request, pk)
    form = SkipForm(request.POST)
    if not form.is_valid():
        return _refuse_skip(request, assignment, form)
    sent = form.cleaned_data
    known_version = request.POST.get(VERSION, "")
    try:
        saving.skip(assignment, sent["note"], broken=sent["broken"], known_version=known_version)
    except saving.AnswerError as error:
        return _report_refusal(request, assignment, str(error), "not_skipped")
    return _redirect_to_next(request, assignment)


def _refuse_skip(
    request: AuthenticatedRequest, assignment: Assignment, form: SkipForm
) -> HttpResponseBase:
    """Report an invalid skip; a page without scripts has the typed note again."""
    if is_by_script(request):
        return _plain_text_422(problems(form))
    messages.error(request, str(MESSAGES["not_skipped"]).format(problem=problems(form)))
    version = request.POST.get(VERSION, saving.skip_version(assignment))
    assignment.note = str(form["note"].value() or "")
    assignment.reported_broken = bool(form["broken"].value())
    return _page(request, assignment, status=422, refused_skip_version=version)


_OWN_ASSIGNMENT = PreparedObjects(
    lambda user, pk: (
        Assignment.objects.filter(pk=pk, participant__rater__user=user)
        .select_related(
            *("item__text__topic", "participant__campaign__rubric", "participant__rater"),
            *("part", "check_asked"),
        )
        .annotate(prerequisite=prerequisites.missing_prerequisite())
        .order_by()
    ),
    2,
)


def _get_own_assignment(request: AuthenticatedRequest, pk: int) -> Assignment:
    """Return the reader's own assignment; another person's looks as if it did not exist."""
    assignments = _OWN_ASSIGNMENT.objects(request.user.pk, pk)
    if not assignments:
        raise Http404("This item is not yours.")
    [assignment] = assignments
    if assignment.part:
        assignment.part.participant = assignment.participant
    assignment.participant.campaign.activate_language()
    return prerequisites.require_prerequisites(assignment, assignment.prerequisite)


def _milliseconds(request: AuthenticatedRequest) -> int:
    sent = request.POST.get("active_ms", "")
    return min(int(sent), AnswerForm.DAY_MS) if sent.isdecimal() and len(sent) < 12 else 0


def _card(
    cards: list[QuestionCard], question: SubQuestion | AttentionCheck, further: Rubric | None
) -> QuestionCard:
    """Return the card of a question under the campaign's own rubric or a further one."""
    return next(
        card
        for card in cards
        if card.question == question and (card.rubric if card.is_further else None) == further
    )


def _page(
    request: AuthenticatedRequest,
    assignment: Assignment,
    missing: list[QuestionCard] | None = None,
    status: int = 200,
    cards: list[QuestionCard] | None = None,
    refused_skip_version: str = "",
) -> HttpResponseBase:
    campaign = assignment.participant.campaign
    position = workflow.item_position(assignment)
    context = page_context(
        campaign,
        assignment.item.as_shown(),
        cards or item_cards(assignment),
        links_of(assignment, position.previous),
        number=position.number,
        of=position.of,
        is_practice=assignment.item.purpose == Item.Purpose.TRAINING,
        missing=missing or [],
    )
    participant, part = assignment.participant, assignment.part
    can_finish = not workflow.is_part_over(assignment)
    news = _NEWS.objects(participant.pk, campaign.pk, participant.seen_message)
    context |= {
        "assignment": assignment,
        "is_over": not can_finish,
        "minutes_left": minutes_left(part) if can_finish else None,
        "is_part_returned": bool(part and part.outcome == Part.Outcome.RETURNED),
        "is_skip_refused": bool(refused_skip_version),
        # A refused form knows no newer note than before.
        "skip_version": refused_skip_version or saving.skip_version(assignment),
        # A script would take the values of a refused form for saved ones.
        "has_no_scripts": any(card.refused for card in context["asked"]),
        "skips": skips_of(participant, part),
        "no_more_skips": no_more_skips_message(participant.campaign.rubric),
        "part_ends": part.expires if part and not part.outcome else None,
        "news": news,
        "news_until": news[-1].pk if news else None,
    }
    return render(request, "annotation/task/work.html", context, status=status)


def _redirect_to_next(request: AuthenticatedRequest, assignment: Assignment) -> HttpResponseBase:
    url = workflow.url_after_item(assignment)
    if is_by_script(request):
        return JsonResponse({"next": url})
    return redirect(url)


def _report_refusal(
    request: AuthenticatedRequest,
    assignment: Assignment,
    problem: str,
    message_key: str,
    answered_question: tuple[SubQuestion | AttentionCheck, Rubric | None] | None = None,
) -> HttpResponseBase:
    """Report a problem where the person is looking.

    `message_key` is the key of a script's message. `answered_question` is the question that was
    answered, and the further rubric under which it was: its form comes back with its values.
    """
    if is_by_script(request):
        return _plain_text_422(problem)
    message = str(MESSAGES[message_key]).format(problem=problem)
    if answered_question is None:
        messages.error(request, message)
        return redirect(assignment)
    assignment = _get_own_assignment(request, assignment.pk)
    cards = item_cards(assignment)
    card = _card(cards, *answered_question)
    _refuse_form(request, assignment, card, message, request.POST.get("base", card.key))
    return _page(request, assignment, status=422, cards=cards)


def _refuse_form(
    request: AuthenticatedRequest,
    assignment: Assignment,
    card: QuestionCard,
    message: str,
    base: str,
    conflict: AnswerConflict | None = None,
) -> None:
    """Put the sent values into the form of a card, with the reason why they are not saved."""
    card.refused = RefusedForm(
        message,
        base,
        with_grade_of_labels(request.POST, card.rubric).get("grade", ""),
        ticked_spans(assignment.item.as_shown().body or "", request.POST.getlist("keep")),
        request.POST.get("quotes", ""),
        conflict,
    )
    card.note = request.POST.get("note", card.note)
    card.confidence = request.POST.get("confidence", card.confidence)


def _report_conflict(
    request: AuthenticatedRequest,
    assignment: Assignment,
    form: AnswerForm,
    newest: Answer,
    answered_question: tuple[SubQuestion | AttentionCheck, Rubric | None],
) -> HttpResponseBase:
    """Show a sent answer beside a newer one; nothing is saved before the person chooses.

    The form knows of the newer answer now, so it replaces it when it is sent once more.
    """
    assignment = _get_own_assignment(request, assignment.pk)
    cards = item_cards(assignment)
    card = _card(cards, *answered_question)
    sent = form.cleaned_data
    quotes = [span.quote for span in sent["span_list"]]
    remark = form.remark or Remark(newest.note, newest.confidence)
    conflict = AnswerConflict(
        _summary(assignment, card, sent["grade"], quotes, *remark),
        _summary(
            assignment,
            card,
            newest.grade,
            [span["quote"] for span in newest.spans],
            newest.note,
            newest.confidence,
        ),
        newest.created,
    )
    problem = _("This question was answered in another place too. Which answer counts?")
    message = str(MESSAGES["refused"]).format(problem=problem)
    _refuse_form(request, assignment, card, message, str(newest.key), conflict)
    return _page(request, assignment, status=409, cards=cards)


def _summary(
    assignment: Assignment,
    card: QuestionCard,
    grade: int | None,
    quotes: list[str],
    note: str,
    confidence: str,
) -> AnswerSummary:
    rubric_wording = campaign_wording(assignment.participant.campaign, assignment.item.text.kind)
    item_wording = rubric_wording.further[card.rubric.slug] if card.is_further else rubric_wording
    label = dict(Answer.Confidence.choices).get(confidence, "")
    grade_text = item_wording.grade_text(grade) or str(MESSAGES["no_grade"])
    return AnswerSummary(grade_text, tuple(quotes), note, str(label))


def _plain_text_422(problem: str) -> HttpResponse:
    return HttpResponse(problem, status=422, content_type="text/plain; charset=utf-8")


@require_safe
def feedback(request: AuthenticatedRequest, pk: int) -> HttpResponseBase:
    """Show the reader's answers to a training or gold text beside the expected ones."""
    assignment = get_object_or_404(
        Assignment.objects.select_related("item__text", "participant__campaign__rubric", "part"),
        pk=pk,
        participant__rater__user=request.user,
    )
    if not workflow.has_feedback(assignment):
        raise Http404("This item has no feedback.")
    if assignment.state != Assignment.State.SUBMITTED:
        return redirect(assignment)
    campaign = assignment.participant.campaign
    campaign.activate_language()
    cards = item_cards(assignment)
    rubric_wording = campaign_wording(campaign, assignment.item.text.kind)
    rubrics = [card.rubric for card in cards]
    compared = []
    for card in cards:
        card_wording = (
            rubric_wording.further[card.rubric.slug] if card.is_further else rubric_wording
        )
        level_labels = {
            "given": card_wording.grade_text(card.grade),
            "wanted": card_wording.grade_text(card.expected),
        }
        compared.append({"card": card, "asks": card_wording.question, **level_labels})
    context = {
        "campaign": campaign,
        "assignment": assignment,
        "is_practice": assignment.item.purpose == Item.Purpose.TRAINING,
        "text": assignment.item.as_shown(),
        "shows_text": any(rubric.shows_text for rubric in rubrics),
        "takes_spans": any(rubric.span_from is not None for rubric in rubrics),
        "several": len(set(rubrics)) > 1,
        "compared": compared,
        "known": sum(card.expected is not None for card in cards),
        "agreed": sum(card.grade == card.expected for card in cards if card.expected is not None),
        "marks": [
            {"start": span["start"], "end": span["end"], "mark": card.mark, "label": card.number}
            for card in cards
            for span in card.expected_spans
        ],
        "onwards": workflow.next_url(assignment),
        "is_over": workflow.is_part_over(assignment),
    }
    return render(request, "annotation/task/feedback.html", context)
