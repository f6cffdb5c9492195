"""Adjudication: where raters differ, and the page on which an expert decides."""

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
    DecidedMeanwhileError,
    DecisionRefusedError,
    Voice,
    decide,
    voices,
)
from annotation.adjudication.differences import Difference, Pair, differences, kinds_of
from annotation.adjudication.forms import DecisionForm, FilterForm, WithdrawalForm
from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import Campaign, Decision, ItemQuestion, Text
from annotation.models.wording import shown

PER_PAGE = 50


@require_safe
@researchers_only
def adjudication(request: AuthenticatedRequest, slug: str) -> HttpResponseBase:
    """The pairs on which raters differ, the strongest first."""
    campaign = get_object_or_404(Campaign.objects.select_related("rubric", "dataset"), slug=slug)
    wanted = _wanted(request, campaign)
    if not wanted.is_valid():
        context = {"campaign": campaign, "wanted": wanted, "room": "campaigns", "query": ""}
        return render(request, "annotation/adjudication/adjudication.html", context, status=422)
    all_differences = _differences(campaign, wanted)
    page = Paginator(all_differences, PER_PAGE).get_page(request.GET.get("page"))
    query = _query(wanted)
    context = {
        "room": "campaigns",
        "campaign": campaign,
        "wanted": wanted,
        "differences": all_differences,
        "n_decided": sum(difference.decided is not None for difference in all_differences),
        "first_open": next(
            (difference for difference in all_differences if difference.decided is None), None
        ),
        "page": page,
        "rows": _with_words(campaign, list(page)),
        "filtered": f"?{query}" if query else "",
        "query": f"{query}&" if query else "",
    }
    return render(request, "annotation/adjudication/adjudication.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def adjudicate(
    request: AuthenticatedRequest, slug: str, item_pk: int, question_pk: int
) -> HttpResponseBase:
    """One pair: everybody's answer and words side by side, and the form that decides."""
    asked = get_object_or_404(
        ItemQuestion.objects.select_related(
            *("item__campaign__rubric", "item__campaign__adjudicator"),
            *("item__text__topic", "item__text__dataset", "question__topic"),
        ),
        item__campaign__slug=slug,
        item=item_pk,
        question=question_pk,
    )
    item, question = asked.item, asked.question
    text = item.as_shown()
    if text.body is None:
        raise Http404("The words of this text are not here.")
    if request.method != "POST":
        return _page(request, asked)
    if "withdraw" in request.POST:
        return _withdraw(request, asked)
    voice = None
    if take := request.POST.get("take"):
        voice = next(
            (candidate for candidate in voices(item, question) if candidate.key == take), None
        )
        if voice is None:
            problem = "That rater has answered anew since the page was opened. Look again."
            return _page(request, asked, problems=[problem], status=409)
    data = _taken(request.POST, voice) if voice else request.POST
    form = DecisionForm(data, text=text, rubric=item.campaign.rubric)
    if not form.is_valid():
        problems = [str(message) for errors in form.errors.values() for message in errors]
        return _page(request, asked, form, problems, status=422)
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
    except DecisionRefusedError as error:
        return _page(request, asked, form, [str(error)], status=422)
    except DecidedMeanwhileError as error:
        problem = f"{_meanwhile(error)} Decide again to replace that."
        return _page(request, asked, form, [problem], status=409)
    as_who = f", as {voice.letter} answered" if voice else ""
    messages.success(request, f"Decided: {sent['grade']}{as_who}.")
    return redirect(_onwards(request, asked))


def _withdraw(request: AuthenticatedRequest, asked: ItemQuestion) -> HttpResponseBase:
    """Take back what was decided: the pair is open again, and the adjudicator's rating goes."""
    form = WithdrawalForm(request.POST)
    if not form.is_valid():
        problems = [str(message) for errors in form.errors.values() for message in errors]
        return _page(request, asked, problems=problems, status=422)
    try:
        decide(
            asked.item, asked.question, grade=None, spans=[], by=request.user, **form.cleaned_data
        )
    except DecisionRefusedError as error:
        return _page(request, asked, problems=[str(error)], status=422)
    except DecidedMeanwhileError as error:
        return _page(request, asked, problems=[_meanwhile(error)], status=409)
    messages.success(request, "The decision is withdrawn: this question is open again.")
    return redirect(request.get_full_path())


def _meanwhile(error: DecidedMeanwhileError) -> str:
    did = "withdrawn" if error.newest.grade is None else "decided"
    return f"{error.newest.by or 'Somebody'} has {did} this meanwhile, see the history."


def _taken(sent: QueryDict, voice: Voice) -> QueryDict:
    """The form with a rater's grade and words in place of those that were chosen; the note stays."""
    data = sent.copy()
    data["grade"], data["quotes"] = str(voice.grade), ""
    data.setlist("keep", [f"{span['start']}:{span['end']}" for span in voice.words])
    return data


def _page(
    request: AuthenticatedRequest,
    asked: ItemQuestion,
    form: DecisionForm | None = None,
    problems: list[str] | None = None,
    status: int = 200,
) -> HttpResponseBase:
    item, question, text = asked.item, asked.as_shown(), asked.item.as_shown()
    campaign = item.campaign
    wanted = _wanted(request, campaign)
    shows_names = wanted.is_valid() and wanted.cleaned_data["names"]
    all_voices = voices(item, question)
    history = list(
        Decision.objects.filter(item=item, question=question).select_related("by").order_by("-pk")
    )
    newest = history[0] if history else None
    counted = newest if newest and newest.grade is not None else None
    pairs = [difference.pair for difference in _differences(campaign, wanted)]
    index = pairs.index((item.pk, question.pk)) if (item.pk, question.pk) in pairs else None
    kept = _kept(text, form, counted)
    query = _query(wanted)
    words = shown(campaign, text.kind)
    labels = words.labels()
    context = {
        "campaign": campaign,
        "item": item,
        "text": text,
        "text_label": f"Text of the {text.get_kind_display()}",
        "other_words": asked.other_words_url(),
        "question": question,
        "rubric": campaign.rubric,
        "asked": asked,
        "asks": words.question,
        "levels": words.levels,
        "voices": [replace(voice, label=labels.get(voice.grade, "")) for voice in all_voices],
        "marking": [voice for voice in all_voices if voice.spans],
        "shows_names": shows_names,
        "other_names": _query(wanted, names="" if shows_names else "on"),
        "choices": _choices(text, all_voices, kept),
        "grade": form.data.get("grade", "") if form else str(counted.grade) if counted else "",
        "note": form.data.get("note", "") if form else counted.note if counted else "",
        "quotes": form.data.get("quotes", "") if form else "",
        "base": newest.key if newest else "",
        "key": uuid4(),
        "problems": problems or [],
        "counted": counted,
        "history": [(decision, labels.get(decision.grade, "")) for decision in history],
        "spans": [span for voice in all_voices for span in _drawn(voice, shows_names)],
        "place": None if index is None else index + 1,
        "of": len(pairs),
        "previous": pairs[index - 1] if index else None,
        "next": pairs[index + 1] if index is not None and index + 1 < len(pairs) else None,
        "filtered": f"?{query}" if query else "",
    }
    return render(request, "annotation/adjudication/adjudicate.html", context, status=status)


def _wanted(request: AuthenticatedRequest, campaign: Campaign) -> FilterForm:
    return FilterForm(request.GET, campaign.rubric)


def _differences(campaign: Campaign, wanted: FilterForm) -> list[Difference]:
    """The list that the URL asks for; all differences where it asks for what there is not."""
    if not wanted.is_valid():
        return differences(campaign)
    return differences(campaign, wanted.cleaned_data["kind"], wanted.cleaned_data["state"])


def _query(wanted: FilterForm, **changes: str) -> str:
    if not wanted.is_valid():
        return ""
    names = "on" if wanted.cleaned_data["names"] else ""
    params = {**wanted.cleaned_data, "names": names, **changes}
    return urlencode({name: value for name, value in params.items() if value})


def _with_words(campaign: Campaign, rows: list[Difference]) -> list[dict[str, Any]]:
    """The rows with their texts and questions, which are read for those that are shown alone."""
    kinds = kinds_of(campaign.rubric)
    names = shown(campaign).labels() if campaign.rubric.is_nominal else {}
    asked = ItemQuestion.objects.select_related("item__text", "question__topic").filter(
        item__in=[row.item for row in rows], question__in=[row.question for row in rows]
    )
    by_pair = {(row.item_id, row.question_id): row for row in asked}
    return [
        {
            "difference": row,
            "item": by_pair[row.pair].item,
            "question": by_pair[row.pair].as_shown(),
            "grades": [names.get(grade, grade) for grade in row.grades],
            "decided": names.get(row.decided, row.decided),
            "kinds": [kinds[kind] for kind in row.kinds],
        }
        for row in rows
    ]


def _kept(text: Text, form: DecisionForm | None, counted: Decision | None) -> set[Pair]:
    """The places that are ticked: as they were sent, else as they were decided last."""
    if form is None:
        return {(span["start"], span["end"]) for span in counted.spans} if counted else set()
    # Those that were copied stay in their field, and what is no place in the text is dropped.
    places = set()
    for value in form.sent.getlist("keep"):
        start, _, end = value.partition(":")
        if start.isdecimal() and end.isdecimal() and len(value) < 20:
            places.add((int(start), int(end)))
    return {(start, end) for start, end in places if 0 <= start < end <= len(text.body or "")}


def _choices(text: Text, all_voices: list[Voice], kept: set[Pair]) -> list[dict[str, Any]]:
    """Every span that can be taken over, in the order of the text, with who marked it."""
    by_place: dict[Pair, list[Voice]] = {place: [] for place in kept}
    for voice in all_voices:
        for span in voice.spans:
            by_place.setdefault((span["start"], span["end"]), []).append(voice)
    return [
        {
            "value": f"{start}:{end}",
            "quote": (text.body or "")[start:end],
            "voices": by_place[start, end],
            "is_kept": (start, end) in kept,
        }
        for start, end in sorted(by_place)
    ]


def _drawn(voice: Voice, shows_names: bool) -> list[dict[str, Any]]:
    """A rater's spans, as the text is marked with them on the server and in the browser."""
    who = voice.name if shows_names else f"Rater {voice.letter}"
    return [
        {
            "rater": voice.letter,
            "start": span["start"],
            "end": span["end"],
            "mark": voice.mark,
            "label": voice.letter,
            "says": f"{who} marks this line",
            "href": f"#voice-{voice.letter}",
        }
        for span in voice.spans
    ]


def _onwards(request: AuthenticatedRequest, asked: ItemQuestion) -> str:
    """The next pair of the list that nobody has decided; the list where none is left."""
    campaign = asked.item.campaign
    wanted = _wanted(request, campaign)
    query = _query(wanted)
    kind = wanted.cleaned_data["kind"] if wanted.is_valid() else ""
    all_differences = differences(campaign, kind)
    pairs = [difference.pair for difference in all_differences]
    here = (asked.item_id, asked.question_id)
    index = pairs.index(here) if here in pairs else 0
    following = next(
        (
            difference
            for difference in all_differences[index:] + all_differences[:index]
            if difference.decided is None
        ),
        None,
    )
    if following is None:
        url = reverse("adjudication", args=[campaign.slug])
    else:
        url = reverse("adjudicate", args=[campaign.slug, *following.pair])
    return f"{url}?{query}" if query else url
