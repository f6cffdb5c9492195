"""Views of the list of pairs behind a number, and of one pair with all raters' spans."""

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
    Answer,
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
from annotation.models.rating import EXPOSED
from annotation.origins import family_marks
from evaluation.data.columns import Column
from evaluation.data.origins import judge_models
from evaluation.data.selection import Selection, SelectionError
from evaluation.http import of_selection, selection_error_page, selection_in_url
from evaluation.models import PairNote
from evaluation.pairs.export import pair_lines
from evaluation.pairs.notes import HEADER, NoteForm, note_rows, remarks
from evaluation.pairs.page import GradeCell, PairList, PairRow, grade_cell, pair_list
from evaluation.pairs.query import CELLS, KINDS, MAJORITY_PREFIX, kinds
from evaluation.pairs.sentences import DividedSentence, divided_sentences
from evaluation.result_tables import csv_response
from evaluation.stats.overlap import Overlap, span_overlap

PER_PAGE = 50
MOST_TOPICS = 200  # topics in a list; with more, a text field
LINK_PARAMS = (
    "cell",
    "human_grade",
    "judge_grade",
    "text",
    "gave",
    "either",
    "called",
)  # parameters that are set by links alone
BEFORE, NEARBY = 4, 12  # rows of the list beside a pair: before it, and in all


@of_selection
def pairs(request: AuthenticatedRequest, selection: Selection) -> HttpResponse:
    """Render the list and its form; an invalid filter is refused (400) beside the form."""
    listed, refused = _listed(selection, _list_params(request))
    page = Paginator(range(len(listed)), PER_PAGE).get_page(request.GET.get("page"))
    has_rows = listed and not refused
    context = _list_context(selection.dataset, listed) | {
        "page": page,
        "refused": refused,
        "rows": _with_questions(
            listed.rows(page.start_index() - 1, page.end_index()) if has_rows else []
        ),
    }
    return render(request, "evaluation/pairs/pairs.html", context, status=400 if refused else 200)


def _list_params(request: AuthenticatedRequest) -> dict[str, str]:
    """Return the parameters of the list. Raises Http404 for notes, if a visitor asks for them."""
    params = request.GET.dict()
    if not request.user.is_authenticated and "noted" in params.values():
        raise Http404("Notes are for members of the project.")
    return params


def _listed(selection: Selection, params: dict[str, str]) -> tuple[PairList, str]:
    """Return the requested pairs, or all pairs and the error message of an invalid filter."""
    try:
        return pair_list(selection, params), ""
    except SelectionError as error:
        return pair_list(selection, {}), str(error)


def _list_of(selection: Selection, params: dict[str, str]) -> PairList:
    """Return the list that a pair is shown in. Raises SelectionError for an invalid filter.

    A form that changes judge or raters did not choose the list: where its filter is invalid, all pairs.
    """
    if "of_rubric" in params:
        return _listed(selection, params)[0]
    return pair_list(selection, params)


@require_safe
@researchers_only
def pair(request: AuthenticatedRequest, slug: str, text_id: int, question_id: int) -> HttpResponse:
    return _pair_page(request, slug, text_id, question_id, NoteForm())


@require_POST
@researchers_only
def pair_note(
    request: AuthenticatedRequest, slug: str, text_id: int, question_id: int
) -> HttpResponse:
    """Save a note on a pair, or render the page with the form's errors (422)."""
    form = NoteForm(request.POST)
    if not form.is_valid():
        return _pair_page(request, slug, text_id, question_id, form)
    text = get_object_or_404(Text, dataset__slug=slug, pk=text_id)
    question = get_object_or_404(SubQuestion, topic__dataset__slug=slug, pk=question_id)
    try:
        with transaction.atomic():
            form.save(text, question, request.user)
    except IntegrityError:
        raise Http404("Somebody removed this pair in the meantime.") from None
    return _back_to_notes(request, slug, text_id, question_id)


@require_POST
@researchers_only
def note_withdraw(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponse:
    """Withdraw the user's own note."""
    note = get_object_or_404(PairNote, text__dataset__slug=slug, pk=pk)
    if note.by_id != request.user.pk:
        raise PermissionDenied("Only the author of a note can withdraw it.")
    note.withdraw()
    return _back_to_notes(request, slug, note.text_id, note.question_id)


def _back_to_notes(
    request: AuthenticatedRequest, slug: str, text_id: int, question_id: int
) -> HttpResponseRedirect:
    """Redirect to the pair within the list that it was opened from."""
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
        listed = _list_of(selection_in_url(request, dataset), _list_params(request))
    except SelectionError as error:
        return selection_error_page(request, dataset, str(error))
    voices = _voices(listed.matrix.selection, text, question)
    index = listed.find(text.pk, question.pk)
    start = max((index or 0) - BEFORE, 0)
    context = _list_context(dataset, listed) | {
        "text": text,
        "question": question,
        "text_label": f"Text of the {text.get_kind_display()}",
        "place": None if index is None else index + 1,
        "previous": listed.key(index - 1) if index else None,
        "next": listed.key(index + 1) if index is not None and index + 1 < len(listed) else None,
        "list_page": (index or 0) // PER_PAGE + 1,
        "rows": _with_questions(listed.rows(start, start + NEARBY)),
        # Hidden parameters of the list, for any choice of raters.
        "going_on": _hidden_params(listed),
        "voices": voices,
        "marking": [voice for voice in voices if voice.located],
        "spans": [span for voice in voices for span in voice.drawn()],
        "meetings": _highlight_overlaps(voices),
        "divided": _divided(text, voices),
        "family_marks": family_marks(judge_models(voice.rater for voice in voices), text.origins),
        "notes": PairNote.objects.not_withdrawn().filter(text=text, question=question),
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
    """Answer of one rater about one pair: the grade, or none, and its highlights."""

    rater: Column
    cell: GradeCell
    answerable: bool
    located: tuple[NuggetSpan, ...]
    unlocated: tuple[NuggetSpan, ...]
    copied_from: Text | None = None
    """The text of equal words that the rater read instead."""
    exposure: str = ""
    """What the rater had seen before, if the grade is not independent."""
    has_reply: bool = False
    """True for a judge with stored replies."""
    remark: Answer | None = None
    """The answer of a person who said how sure they were, or wrote a note."""

    @property
    def letter(self) -> str:
        return self.rater.letter

    @property
    def mark(self) -> int:
        return self.rater.mark

    def drawn(self) -> list[dict[str, object]]:
        """Return the spans for marking the text on the server and in the browser."""
        return [
            {
                "rater": self.letter,
                "start": span.start,
                "end": span.end,
                "mark": self.mark,
                "label": self.letter,
                "says": f"{self.rater.title} marked this line",
                "href": f"#grade-{self.letter}",
            }
            for span in self.located
        ]


def _hidden_params(listed: PairList) -> dict[str, str]:
    """Return the hidden parameters of the form of a pair: its filter."""
    return {name: value for name, value in listed.filter.params().items() if value}


def _list_context(dataset: Dataset, listed: PairList) -> dict[str, object]:
    topics = listed.matrix.topic_names.values()
    return {
        "room": "datasets",
        "dataset": dataset,
        "selection": listed.matrix.selection,
        "measures": listed.matrix.selection.measures.available,
        "listed": listed,
        "filter": listed.filter,
        "kinds": kinds(listed.matrix.selection),
        "kind": KINDS[listed.filter.kind],
        "topics": topics if len(topics) <= MOST_TOPICS else [],
        "only": _filter_phrases(listed),
        "narrowing": (*LINK_PARAMS, "words", "system", "topic"),
        # Hidden fields of the form.
        "kept": {
            name: value
            for name, value in listed.filter.params().items()
            if value and name in LINK_PARAMS
        },
        "query": listed.query(),
    }


def _filter_phrases(listed: PairList) -> list[str]:
    """Return the criteria of the list, except its kind, as phrases."""
    criteria = listed.filter
    of_text = listed.matrix.texts[criteria.text] if criteria.text else None
    cells = " or ".join(CELLS[cell] for cell in criteria.cell)
    selection = listed.matrix.selection
    phrases = {
        **{_side(selection, side): side for side in criteria.gave},
        " or ".join(_side(selection, side) for side in criteria.either): criteria.either,
        f"{selection.by.name if selection.by else ''} gave {criteria.called}": criteria.called
        is not None,
        f"answerable or not: {cells}": cells,
        f"a rater gave {criteria.human_grade}": criteria.human_grade is not None,
        f"the judge gave {criteria.judge_grade}": criteria.judge_grade is not None,
        f"the system is {criteria.system}": criteria.system,
        f"the topic is {criteria.topic}": criteria.topic,
        f"the sub-question has “{criteria.words}”": criteria.words,
        f"the text is {of_text.name} ({of_text.group})" if of_text else "": of_text,
    }
    return [phrase for phrase, is_set in phrases.items() if is_set]


def _side(selection: Selection, side: str) -> str:
    """Return a side with its grade as a phrase."""
    *prefix, name, grade = side.split(":")
    subject = f"the majority without {name}" if prefix == [MAJORITY_PREFIX] else name
    return f"{subject} gave {selection.names[int(grade)]}"


def _with_questions(rows: Sequence[PairRow]) -> list[tuple[PairRow, str]]:
    """Return the rows with the texts of their questions; one query."""
    questions = SubQuestion.objects.in_bulk([row.question for row in rows])
    return [(row, str(questions[row.question])) for row in rows]


def _voices(selection: Selection, text: Text, question: SubQuestion) -> list[Voice]:
    """Return the answers of raters to a pair, then the judge's.

    Included are all who rated the pair, and, unless they are a crowd, chosen raters who did not. Where a
    text stands for its topic, all who rated the question of any text of it.
    """
    judge = selection.judge
    rated = Rating.objects.filter(
        question=question, rubric__in=[selection.rubric, selection.judge_rubric]
    )
    if not selection.rubric.stands_for_topic:
        rated = rated.filter(text=text)
    ratings = {
        (rating.rater_id, rating.rubric_id): rating
        for rating in rated.order_by("text").select_related("copied_from").prefetch_related("spans")
    }
    voices = []
    for rater in selection.everyone:
        rating = ratings.get((rater.pk, selection.rubric.pk))
        is_judge = judge and judge.pk == rater.pk and selection.one_scale
        is_chosen = rater in selection.raters and not selection.is_crowd
        if not is_judge and (rating or is_chosen):
            voices.append(_voice(rater, rating, selection.rubric, selection.threshold))
    if judge:
        rating = ratings.get((judge.pk, selection.judge_rubric.pk))
        voices.append(_voice(judge, rating, selection.judge_rubric, selection.judge_threshold))
    replied = _judges_with_replies(voices)
    answers = _remarks_by_rater(selection, text, question)
    return [
        replace(voice, has_reply=voice.rater.pk in replied, remark=answers.get(voice.rater.pk))
        for voice in voices
    ]


def _remarks_by_rater(selection: Selection, text: Text, question: SubQuestion) -> dict[int, Answer]:
    first = Q(rubric=None, assignment__participant__campaign__rubric=selection.rubric.pk)
    answers = remarks(selection.dataset).filter(
        first | Q(rubric=selection.rubric.pk), assignment__item__text=text, question=question
    )
    return {
        answer.assignment.participant.rater_id: answer
        for answer in answers.select_related("assignment__participant").order_by("pk")
    }


def _judges_with_replies(voices: Sequence[Voice]) -> set[int]:
    """Return the ids of judges with stored replies; the grades of other models came in a file."""
    model_ids = [voice.rater.pk for voice in voices if not voice.rater.is_person]
    if not model_ids:
        return set()
    judges = Rater.objects.filter(pk__in=model_ids, judge__isnull=False)
    return set(judges.values_list("pk", flat=True))


def _voice(rater: Column, rating: Rating | None, rubric: Rubric, eta: int) -> Voice:
    spans = list(rating.spans.all()) if rating else []
    return Voice(
        rater=rater,
        cell=grade_cell(rater, rating.grade if rating else None, rubric),
        answerable=bool(rating and rating.grade >= eta),
        located=tuple(span for span in spans if span.start is not None),
        unlocated=tuple(span for span in spans if span.start is None),
        copied_from=rating.copied_from if rating else None,
        exposure=rating.get_exposure_display() if rating and rating.exposure in EXPOSED else "",
    )


def _highlight_overlaps(voices: Sequence[Voice]) -> list[tuple[Voice, Voice, Overlap]]:
    """Return the overlap of the highlights of each two raters who marked text."""
    marks = [
        (voice, [(span.start or 0, span.end or 0) for span in voice.located])
        for voice in voices
        if voice.located
    ]
    return [(a, b, span_overlap(ours, theirs)) for (a, ours), (b, theirs) in combinations(marks, 2)]


def _divided(
    text: Text, voices: Sequence[Voice]
) -> list[tuple[DividedSentence, list[Voice], list[Voice]]]:
    """Return the sentences that one rater marked and another, who answered as well, did not."""
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


@of_selection
def pairs_csv(request: AuthenticatedRequest, selection: Selection) -> StreamingHttpResponse:
    """Stream all pairs of the list, not those of one page."""
    listed = pair_list(selection, _list_params(request))
    return StreamingHttpResponse(
        pair_lines(listed, request.build_absolute_uri("/").rstrip("/")),
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{selection.dataset.slug}-pairs.csv"'
        },
    )


@require_safe
@researchers_only
def notes_csv(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Return the notes on all pairs of the dataset, rated or not."""
    dataset = get_object_or_404(Dataset, slug=slug)
    site = request.build_absolute_uri("/").rstrip("/")
    return csv_response(f"{slug}-notes", HEADER, note_rows(dataset, site))
