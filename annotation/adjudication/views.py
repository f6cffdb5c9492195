"""Views of adjudication: the list of differences, and the page that decides one pair."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_safe

from annotation.adjudication.decisions import (
    AdjudicationConflictError,
    AdjudicationError,
    RaterAnswer,
    decide,
    rater_answers,
)
from annotation.adjudication.differences import Difference, Pair, differences, kinds_of
from annotation.adjudication.forms import DecisionForm, FilterForm, WithdrawalForm
from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Campaign, Decision, ItemQuestion, Text
from annotation.models.rubric_wording import campaign_wording
from annotation.task.forms import selected_options
from annotation.task.page import scale_of

PER_PAGE = 50


@require_safe
@researchers_only
def adjudication(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """List the pairs on which raters differ, the strongest first."""
    campaign = get_object_or_404(Campaign.objects.select_related("rubric", "dataset"), slug=slug)
    filter_form = _filter_form(request, campaign)
    if not filter_form.is_valid():
        context = {"campaign": campaign, "wanted": filter_form, "room": "campaigns", "query": ""}
        return render(request, "annotation/adjudication/adjudication.html", context, status=422)
    all_differences = _differences(campaign, filter_form)
    page = Paginator(all_differences, PER_PAGE).get_page(request.GET.get("page"))
    query = _query(filter_form)
    context = {
        "room": "campaigns",
        "campaign": campaign,
        "wanted": filter_form,
        "differences": all_differences,
        "n_decided": sum(difference.decided is not None for difference in all_differences),
        "first_open": next(
            (difference for difference in all_differences if difference.decided is None), None
        ),
        "page": page,
        "rows": _rows(campaign, list(page)),
        "filtered": f"?{query}" if query else "",
        "query": f"{query}&" if query else "",
    }
    return render(request, "annotation/adjudication/adjudication.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def adjudicate(
    request: AuthenticatedRequest, slug: str, item_pk: int, question_pk: int
) -> HttpResponseBase:
    """Page of one pair: all raters' answers and spans side by side, and the form that decides."""
    item_question = get_object_or_404(
        ItemQuestion.objects.select_related(
            *("item__campaign__rubric", "item__campaign__adjudicator"),
            *("item__text__topic", "item__text__dataset", "question__topic"),
        ),
        item__campaign__slug=slug,
        item=item_pk,
        question=question_pk,
    )
    item, question = item_question.item, item_question.question
    text = item.as_shown()
    if text.body is None:
        raise Http404("The dataset does not contain this text.")
    if request.method != "POST":
        return _page(request, item_question)
    if "withdraw" in request.POST:
        return _withdraw(request, item_question)
    voice = None
    if voice_key := request.POST.get("take"):
        voice = next(
            (
                candidate
                for candidate in rater_answers(item, question)
                if candidate.key == voice_key
            ),
            None,
        )
        if voice is None:
            problem = "This rater has changed the answer since you opened the page. Check it again."
            typed = DecisionForm(request.POST, text=text, rubric=item.campaign.rubric)
            typed.is_valid()
            return _page(request, item_question, typed, [problem], status=409)
    data = _data_of_voice(request.POST, voice) if voice else request.POST
    form = DecisionForm(data, text=text, rubric=item.campaign.rubric)
    if not form.is_valid():
        problems = [str(message) for errors in form.errors.values() for message in errors]
        return _page(request, item_question, form, problems, status=422)
    sent = form.cleaned_data
    try:
        decide(
            item,
            question,
            key=sent["key"],
            grade=sent["grade"],
            spans=sent["span_list"],
            note=sent["note"],
            by=request.user,
            base=sent["base"],
        )
    except AdjudicationError as error:
        return _page(request, item_question, form, [str(error)], status=422)
    except AdjudicationConflictError as error:
        problem = f"{_conflict_message(error)} Save again to replace it."
        return _page(request, item_question, form, [problem], status=409, shows_newest=True)
    source = f", as {voice.letter} answered" if voice else ""
    decided = item.campaign.rubric.name_of(sent["grade"])
    messages.success(request, f"Decided: {decided}{source}.")
    return redirect(_next_url(request, item_question))


def _withdraw(request: AuthenticatedRequest, item_question: ItemQuestion) -> HttpResponseBase:
    """Withdraw a decision: the pair is open again, and the adjudicator's rating is deleted."""
    form = WithdrawalForm(request.POST)
    if not form.is_valid():
        problems = [str(message) for errors in form.errors.values() for message in errors]
        return _page(request, item_question, problems=problems, status=422, withdrawal=form)
    try:
        decide(
            item_question.item,
            item_question.question,
            grade=None,
            spans=[],
            by=request.user,
            **form.cleaned_data,
        )
    except AdjudicationError as error:
        return _page(request, item_question, problems=[str(error)], status=422, withdrawal=form)
    except AdjudicationConflictError as error:
        problem = _conflict_message(error)
        return _page(request, item_question, problems=[problem], status=409, withdrawal=form)
    messages.success(request, "The decision is withdrawn. The question is open again.")
    return redirect(request.get_full_path())


def _conflict_message(error: AdjudicationConflictError) -> str:
    action = "withdrawn" if error.newest.grade is None else "decided"
    return f"{error.newest.by or 'Somebody'} has {action} this question in the meantime: see the history."


def _data_of_voice(sent: QueryDict, voice: RaterAnswer) -> QueryDict:
    """Return form data with a rater's grade and spans in place of the sent ones.

    The note stays.
    """
    data = sent.copy()
    data["grade"], data["quotes"] = str(voice.grade), ""
    data.setlist("label", [])
    data.setlist("keep", [f"{span['start']}:{span['end']}" for span in voice.words])
    return data


def _page(
    request: AuthenticatedRequest,
    item_question: ItemQuestion,
    form: DecisionForm | None = None,
    problems: list[str] | None = None,
    status: int = 200,
    *,
    shows_newest: bool = False,
    withdrawal: WithdrawalForm | None = None,
) -> HttpResponseBase:
    """Render the page of a pair; a refused form displays what was sent.

    With `shows_newest` the page names the newest decision, so that its form replaces it.
    """
    item, question, text = (
        item_question.item,
        item_question.as_shown(),
        item_question.item.as_shown(),
    )
    campaign = item.campaign
    filter_form = _filter_form(request, campaign)
    shows_names = filter_form.is_valid() and filter_form.cleaned_data["names"]
    all_voices = rater_answers(item, question)
    history = list(
        Decision.objects.filter(item=item, question=question).select_related("by").order_by("-pk")
    )
    newest = history[0] if history else None
    base = newest.key if newest else None
    counted = newest if newest and newest.grade is not None else None
    pairs = [difference.pair for difference in _differences(campaign, filter_form)]
    index = pairs.index((item.pk, question.pk)) if (item.pk, question.pk) in pairs else None
    ticked = _ticked_positions(text, form, counted)
    query = _query(filter_form)
    grade = form.data.get("grade", "") if form else str(counted.grade) if counted else ""
    rubric_wording = campaign_wording(campaign, text.kind)
    context = {
        "campaign": campaign,
        "item": item,
        "text": text,
        "text_label": f"Text of the {text.get_kind_display()}",
        "other_words": item_question.other_words_url(),
        "question": question,
        "rubric": campaign.rubric,
        "asked": item_question,
        "asks": rubric_wording.question,
        "scale": scale_of(campaign.rubric, rubric_wording),
        "voices": [
            replace(voice, label=rubric_wording.label_of(voice.grade)) for voice in all_voices
        ],
        "marking": [voice for voice in all_voices if voice.spans],
        "shows_names": shows_names,
        "other_names": _query(filter_form, names="" if shows_names else "on"),
        "choices": _span_choices(text, all_voices, ticked),
        "chosen": selected_options(grade, campaign.rubric),
        "note": form.data.get("note", "") if form else counted.note if counted else "",
        "quotes": form.data.get("quotes", "") if form else "",
        # A form with an error displays what was typed: it still knows no newer decision.
        "base": (form.cleaned_data.get("base") if form and not shows_newest else base) or "",
        "withdrawal": withdrawal,
        "key": uuid4(),
        "problems": problems or [],
        "counted": counted,
        "history": [(decision, rubric_wording.label_of(decision.grade)) for decision in history],
        "spans": [span for voice in all_voices for span in _marks(voice, shows_names)],
        "place": None if index is None else index + 1,
        "of": len(pairs),
        "previous": pairs[index - 1] if index else None,
        "next": pairs[index + 1] if index is not None and index + 1 < len(pairs) else None,
        "filtered": f"?{query}" if query else "",
    }
    return render(request, "annotation/adjudication/adjudicate.html", context, status=status)


def _filter_form(request: AuthenticatedRequest, campaign: Campaign) -> FilterForm:
    return FilterForm(request.GET, campaign.rubric)


def _differences(campaign: Campaign, filter_form: FilterForm) -> list[Difference]:
    """Return the differences that the URL's filter selects; all where the filter is invalid."""
    if not filter_form.is_valid():
        return differences(campaign)
    return differences(
        campaign, filter_form.cleaned_data["kind"], filter_form.cleaned_data["state"]
    )


def _query(filter_form: FilterForm, **changes: str) -> str:
    if not filter_form.is_valid():
        return ""
    names = "on" if filter_form.cleaned_data["names"] else ""
    params = {**filter_form.cleaned_data, "names": names, **changes}
    return urlencode({name: value for name, value in params.items() if value})


def _rows(campaign: Campaign, rows: list[Difference]) -> list[dict[str, Any]]:
    """Join the rows with their texts and questions, which are read for this page's rows alone."""
    kinds = kinds_of(campaign.rubric)
    rubric_wording = campaign_wording(campaign)

    def name_of(grade: int | None) -> int | str | None:
        return grade if not campaign.rubric.is_nominal else rubric_wording.label_of(grade) or grade

    item_questions = ItemQuestion.objects.select_related("item__text", "question__topic").filter(
        item__in=[row.item for row in rows], question__in=[row.question for row in rows]
    )
    by_pair = {(row.item_id, row.question_id): row for row in item_questions}
    return [
        {
            "difference": row,
            "item": by_pair[row.pair].item,
            "question": by_pair[row.pair].as_shown(),
            "grades": [name_of(grade) for grade in row.grades],
            "decided": name_of(row.decided),
            "kinds": [kinds[kind] for kind in row.kinds],
        }
        for row in rows
    ]


def _ticked_positions(text: Text, form: DecisionForm | None, counted: Decision | None) -> set[Pair]:
    """Return the ticked positions: as sent, else as in the decision that counts."""
    if form is None:
        return {(span["start"], span["end"]) for span in counted.spans} if counted else set()
    # Those that were copied stay in their field, and what is no place in the text is dropped.
    positions = set()
    for value in form.sent.getlist("keep"):
        start, _, end = value.partition(":")
        if start.isdecimal() and end.isdecimal() and len(value) < 20:
            positions.add((int(start), int(end)))
    return {(start, end) for start, end in positions if 0 <= start < end <= len(text.body or "")}


def _span_choices(
    text: Text, all_voices: list[RaterAnswer], ticked: set[Pair]
) -> list[dict[str, Any]]:
    """List all selectable spans in the order of the text, each with the raters who marked it."""
    voices_at: dict[Pair, list[RaterAnswer]] = {position: [] for position in ticked}
    for voice in all_voices:
        for span in voice.spans:
            voices_at.setdefault((span["start"], span["end"]), []).append(voice)
    return [
        {
            "value": f"{start}:{end}",
            "quote": (text.body or "")[start:end],
            "voices": voices_at[start, end],
            "is_kept": (start, end) in ticked,
        }
        for start, end in sorted(voices_at)
    ]


def _marks(voice: RaterAnswer, shows_names: bool) -> list[dict[str, Any]]:
    """Return a rater's spans as marks for the server's and the browser's rendering."""
    rater_label = voice.name if shows_names else f"Rater {voice.letter}"
    return [
        {
            "rater": voice.letter,
            "start": span["start"],
            "end": span["end"],
            "mark": voice.mark,
            "label": voice.letter,
            "says": f"{rater_label} marked this line",
            "href": f"#voice-{voice.letter}",
        }
        for span in voice.spans
    ]


def _next_url(request: AuthenticatedRequest, item_question: ItemQuestion) -> str:
    """Return the URL of the next undecided pair of the list; of the list if none is left."""
    campaign = item_question.item.campaign
    filter_form = _filter_form(request, campaign)
    query = _query(filter_form)
    kind = filter_form.cleaned_data["kind"] if filter_form.is_valid() else ""
    all_differences = differences(campaign, kind)
    pairs = [difference.pair for difference in all_differences]
    pair = (item_question.item_id, item_question.question_id)
    index = pairs.index(pair) if pair in pairs else 0
    next_difference = next(
        (
            difference
            for difference in all_differences[index:] + all_differences[:index]
            if difference.decided is None
        ),
        None,
    )
    if next_difference is None:
        url = reverse("adjudication", args=[campaign.slug])
    else:
        url = reverse("adjudicate", args=[campaign.slug, *next_difference.pair])
    return f"{url}?{query}" if query else url
