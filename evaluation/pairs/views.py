"""The pairs behind a number, and one of them with everybody's spans over the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.http import Http404, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import (
    Dataset,
    NuggetSpan,
    Rater,
    Rating,
    Role,
    Rubric,
    SubQuestion,
    Text,
    Version,
)
from evaluation.csv_tables import csv_response
from evaluation.data.columns import Column
from evaluation.data.selection import Selection, SelectionError
from evaluation.http import asked_for, refusal
from evaluation.models import PairNote
from evaluation.pairs.export import pair_lines
from evaluation.pairs.notes import HEADER, NoteForm, note_rows
from evaluation.pairs.page import GradeCell, PairList, PairRow, grade_cell, pair_list
from evaluation.pairs.params import CELLS, KINDS, MOST, kinds
from evaluation.pairs.sentences import DividedSentence, divided_sentences
from evaluation.stats.overlap import Overlap, span_overlap

PER_PAGE = 50
MOST_TOPICS = 200  # to choose from; of more the name is written
UNSEEN = (
    "cell",
    "human_grade",
    "judge_grade",
    "text",
    "gave",
    "either",
    "called",
)  # parameters that come from links alone
BEFORE, BESIDE = 4, 12  # rows of the list beside a pair: before it, and in all


@require_safe
@researchers_only
def pairs(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The list, and the form for another one; a filter that is not there is refused (400) beside the form."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        selection = asked_for(request, dataset)
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    listed, refused = _listed(selection, _asked(request))
    page = Paginator(range(len(listed)), PER_PAGE).get_page(request.GET.get("page"))
    is_shown = listed and not refused
    context = _list_context(dataset, listed) | {
        "page": page,
        "refused": refused,
        "rows": _with_words(
            listed.rows(page.start_index() - 1, page.end_index()) if is_shown else []
        ),
    }
    return render(request, "evaluation/pairs/pairs.html", context, status=400 if refused else 200)


def _asked(request: AuthenticatedRequest) -> dict[str, str]:
    """What the address asks for. Which pairs have notes is for the team, not for visitors by a link."""
    asked = request.GET.dict()
    if not request.user.is_authenticated and "noted" in asked.values():
        raise Http404("Notes are for members of the project.")
    return asked


def _listed(selection: Selection, words: dict[str, str]) -> tuple[PairList, str]:
    """The pairs that are asked for; or all of them, and why what is asked for is not there."""
    try:
        return pair_list(selection, words), ""
    except SelectionError as error:
        return pair_list(selection, {}), str(error)


def _list_of(selection: Selection, words: dict[str, str]) -> PairList:
    """The list that a pair is one of. Raises SelectionError where the address asks for what is not there.

    A form chose a judge or raters, and did not ask for the list: where that is none of theirs, it is all pairs.
    """
    if "of_rubric" in words:
        return _listed(selection, words)[0]
    return pair_list(selection, words)


@require_safe
@researchers_only
def pair(request: AuthenticatedRequest, slug: str, text_id: int, question_id: int) -> HttpResponse:
    return _pair_page(request, slug, text_id, question_id, NoteForm())


@require_POST
@researchers_only
def pair_note(
    request: AuthenticatedRequest, slug: str, text_id: int, question_id: int
) -> HttpResponse:
    """Leave a note on a pair; one that is none is told so on its page (422)."""
    form = NoteForm(request.POST)
    if not form.is_valid():
        return _pair_page(request, slug, text_id, question_id, form)
    text = get_object_or_404(Text, dataset__slug=slug, pk=text_id)
    question = get_object_or_404(SubQuestion, topic__dataset__slug=slug, pk=question_id)
    try:
        with transaction.atomic():
            form.save(text, question, request.user)
    except IntegrityError:
        raise Http404("Somebody has just removed this pair.") from None
    return _back_to_notes(request, slug, text_id, question_id)


@require_POST
@researchers_only
def note_withdraw(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponse:
    """Withdraw one's own note."""
    note = get_object_or_404(PairNote, text__dataset__slug=slug, pk=pk)
    if note.by_id != request.user.pk:
        raise PermissionDenied("A note is withdrawn by who wrote it.")
    note.withdraw()
    return _back_to_notes(request, slug, note.text_id, note.question_id)


def _back_to_notes(
    request: AuthenticatedRequest, slug: str, text_id: int, question_id: int
) -> HttpResponseRedirect:
    """The pair within the list that it was opened from."""
    page = reverse("pair", args=[slug, text_id, question_id])
    return HttpResponseRedirect(f"{page}?{request.GET.urlencode()}#notes")


def _pair_page(
    request: AuthenticatedRequest, slug: str, text_id: int, question_id: int, form: NoteForm
) -> HttpResponse:
    dataset = get_object_or_404(Dataset, slug=slug)
    text = get_object_or_404(Text, dataset=dataset, pk=text_id)
    question = get_object_or_404(
        SubQuestion.objects.select_related("topic"), topic__dataset=dataset, pk=question_id
    )
    try:
        listed = _list_of(asked_for(request, dataset), _asked(request))
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    voices = _voices(listed.matrix.selection, text, question)
    place = listed.find(text.pk, question.pk)
    start = max((place or 0) - BEFORE, 0)
    context = _list_context(dataset, listed) | {
        "text": text,
        "question": question,
        "text_label": f"Text of the {text.get_kind_display()}",
        "place": None if place is None else place + 1,
        "previous": listed.key(place - 1) if place else None,
        "next": listed.key(place + 1) if place is not None and place + 1 < len(listed) else None,
        "list_page": (place or 0) // PER_PAGE + 1,
        "rows": _with_words(listed.rows(start, start + BESIDE)),
        # Of which list it is one, whoever graded it.
        "going_on": _of_list(listed),
        "voices": voices,
        "marking": [voice for voice in voices if voice.located],
        "spans": [span for voice in voices for span in voice.drawn()],
        "meetings": _meetings(voices),
        "divided": _divided(text, voices),
        "notes": PairNote.objects.standing().filter(text=text, question=question),
        "form": form,
        "n_earlier": Version.objects.filter(Q(text=text) | Q(question=question)).count(),
        "is_of_team": request.user.is_authenticated,  # visitors by a link are not
        "may_note": getattr(request.user, "role_here", "") != Role.VIEWER,
    }
    return render(
        request, "evaluation/pairs/pair.html", context, status=422 if form.errors else 200
    )


@dataclass(frozen=True)
class Voice:
    """One rater about one pair: the grade, or none, and the words it was marked in."""

    rater: Column
    cell: GradeCell
    answerable: bool
    located: tuple[NuggetSpan, ...]
    unlocated: tuple[NuggetSpan, ...]
    has_reply: bool = False
    """Whether the rater is a judge whose replies are here."""

    @property
    def letter(self) -> str:
        return self.rater.letter

    @property
    def mark(self) -> int:
        return self.rater.mark

    def drawn(self) -> list[dict[str, object]]:
        """Its spans, as the text is marked with them on the server and in the browser."""
        return [
            {
                "rater": self.letter,
                "start": span.start,
                "end": span.end,
                "mark": self.mark,
                "label": self.letter,
                "says": f"{self.rater.title} marks this line",
                "href": f"#grade-{self.letter}",
            }
            for span in self.located
        ]


def _of_list(listed: PairList) -> dict[str, str]:
    """What the form of a pair has no field for, and keeps: the filter, and by whom kinds are told apart."""
    by = listed.matrix.selection.by
    every = {**listed.filter.params(), "by": by and by.name}
    return {name: value for name, value in every.items() if value}


def _list_context(dataset: Dataset, listed: PairList) -> dict[str, object]:
    topics = listed.matrix.topic_names.values()
    return {
        "room": "datasets",
        "dataset": dataset,
        "selection": listed.matrix.selection,
        "measures": listed.matrix.selection.measures.those,
        "listed": listed,
        "filter": listed.filter,
        "kinds": kinds(listed.matrix.selection),
        "kind": KINDS[listed.filter.kind],
        "topics": topics if len(topics) <= MOST_TOPICS else [],
        "only": _only(listed),
        "narrowing": (*UNSEEN, "words", "system", "topic"),
        # What the form has no field for, and keeps.
        "kept": {
            name: value
            for name, value in listed.filter.params().items()
            if value and name in UNSEEN
        },
        "query": listed.query(),
    }


def _only(listed: PairList) -> list[str]:
    """What the list is narrowed to beside its kind, in words."""
    wanted = listed.filter
    of_text = listed.matrix.texts[wanted.text] if wanted.text else None
    cells = " or ".join(CELLS[cell] for cell in wanted.cell)
    selection = listed.matrix.selection
    words = {
        **{_side(selection, side): side for side in wanted.gave},
        " or ".join(_side(selection, side) for side in wanted.either): wanted.either,
        f"{selection.by.name if selection.by else ''} says {wanted.called}": wanted.called
        is not None,
        f"a rater and the judge say: {cells}": cells,
        f"a rater gave {wanted.human_grade}": wanted.human_grade is not None,
        f"the judge gave {wanted.judge_grade}": wanted.judge_grade is not None,
        f"the system is {wanted.system}": wanted.system,
        f"the topic is {wanted.topic}": wanted.topic,
        f"the sub-question has “{wanted.words}”": wanted.words,
        f"the text is {of_text.name} ({of_text.group})" if of_text else "": of_text,
    }
    return [phrase for phrase, is_asked in words.items() if is_asked]


def _side(selection: Selection, side: str) -> str:
    """A side with its grade, in words."""
    *most, name, grade = side.split(":")
    who = f"most of those beside {name}" if most == [MOST] else name
    return (
        f"{who} say {selection.names[int(grade)]}"
        if most
        else f"{who} says {selection.names[int(grade)]}"
    )


def _with_words(rows: Sequence[PairRow]) -> list[tuple[PairRow, str]]:
    """The rows with their questions, whose words are read for those that are shown alone."""
    words = SubQuestion.objects.in_bulk([row.question for row in rows])
    return [(row, str(words[row.question])) for row in rows]


def _voices(selection: Selection, text: Text, question: SubQuestion) -> list[Voice]:
    """Everybody who rated the pair, the chosen raters who did not, and last the judge.

    Where a text stands for its topic, whoever rated the question of any text of it.
    """
    judge = selection.judge
    rated = Rating.objects.filter(
        question=question, rubric__in=[selection.rubric, selection.judge_rubric]
    )
    if not selection.rubric.stands_for_topic:
        rated = rated.filter(text=text)
    ratings = {
        (rating.rater_id, rating.rubric_id): rating
        for rating in rated.order_by("text").prefetch_related("spans")
    }
    voices = []
    for rater in selection.everyone:
        rating = ratings.get((rater.pk, selection.rubric.pk))
        is_judge = judge and judge.pk == rater.pk and selection.one_scale
        if not is_judge and (rating or rater in selection.raters):
            voices.append(_voice(rater, rating, selection.rubric, selection.threshold))
    if judge:
        rating = ratings.get((judge.pk, selection.judge_rubric.pk))
        voices.append(_voice(judge, rating, selection.judge_rubric, selection.judge_threshold))
    replied = _judges_among(voices)
    return [replace(voice, has_reply=voice.rater.pk in replied) for voice in voices]


def _judges_among(voices: Sequence[Voice]) -> set[int]:
    """Those whose replies are kept here; the grades of other models came in a file."""
    others = [voice.rater.pk for voice in voices if not voice.rater.is_person]
    if not others:
        return set()
    judges = Rater.objects.filter(pk__in=others, judge__isnull=False)
    return set(judges.values_list("pk", flat=True))


def _voice(rater: Column, rating: Rating | None, rubric: Rubric, eta: int) -> Voice:
    spans = list(rating.spans.all()) if rating else []
    return Voice(
        rater=rater,
        cell=grade_cell(rater, rating.grade if rating else None, rubric),
        answerable=bool(rating and rating.grade >= eta),
        located=tuple(span for span in spans if span.start is not None),
        unlocated=tuple(span for span in spans if span.start is None),
    )


def _meetings(voices: Sequence[Voice]) -> list[tuple[Voice, Voice, Overlap]]:
    """How far the words of every two raters who marked some are the same."""
    marks = [
        (voice, [(span.start or 0, span.end or 0) for span in voice.located])
        for voice in voices
        if voice.located
    ]
    return [(a, b, span_overlap(ours, theirs)) for (a, ours), (b, theirs) in combinations(marks, 2)]


def _divided(
    text: Text, voices: Sequence[Voice]
) -> list[tuple[DividedSentence, list[Voice], list[Voice]]]:
    """The sentences that one marked and another, who answered as well, did not."""
    answered = {
        voice.letter: voice
        for voice in voices
        if voice.located or (voice.rater.is_person and voice.cell.grade is not None)
    }
    marks = {
        letter: [(span.start or 0, span.end or 0) for span in voice.located]
        for letter, voice in answered.items()
    }
    return [
        (
            sentence,
            [answered[letter] for letter in sentence.by],
            [answered[letter] for letter in sentence.not_by],
        )
        for sentence in divided_sentences(text.body or "", marks)
    ]


@require_safe
@researchers_only
def pairs_csv(request: AuthenticatedRequest, slug: str) -> HttpResponse | StreamingHttpResponse:
    """All pairs of the list, not those of one page; sent as they are read."""
    dataset = get_object_or_404(Dataset, slug=slug)
    try:
        listed = pair_list(asked_for(request, dataset), _asked(request))
    except SelectionError as error:
        return refusal(request, dataset, str(error))
    return StreamingHttpResponse(
        pair_lines(listed, request.build_absolute_uri("/").rstrip("/")),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{slug}-pairs.csv"'},
    )


@require_safe
@researchers_only
def notes_csv(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """The notes on all pairs of the dataset, rated or not."""
    dataset = get_object_or_404(Dataset, slug=slug)
    site = request.build_absolute_uri("/").rstrip("/")
    return csv_response(f"{slug}-notes", HEADER, note_rows(dataset, site))
