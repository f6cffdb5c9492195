"""Search results: texts, sub-questions and nugget spans, with excerpts and links."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import OuterRef, QuerySet, Subquery
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from annotation.models import (
    Answer,
    Dataset,
    NuggetSpan,
    Rater,
    Rating,
    Rubric,
    SubQuestion,
    Text,
    Topic,
)
from annotation.word_index import SearchQuery, matching_keys
from crux_site.search.query import GROUPS, SiteQuery

FIRST = 5  # of each group, where all are shown
PER_PAGE = 20
BEFORE = 110  # signs before the first word that is found
LONGEST_EXCERPT = 300


@dataclass(frozen=True)
class Hit:
    """Search hit: title, context, excerpt, URL, and URL of the text history."""

    title: str
    of: list[str]
    excerpt: SafeString
    url: str
    history_url: str


@dataclass(frozen=True)
class Group:
    """Group of hits of one kind, with a page of them."""

    name: str
    title: str
    page: Page[Any]
    hits: list[Hit]

    @property
    def n(self) -> int:
        return self.page.paginator.count


def groups(
    datasets: QuerySet[Dataset], terms: SearchQuery, query: SiteQuery, page: str | None
) -> list[Group]:
    """Return the groups of hits, empty ones too: the first of each, or a page of one group."""
    if query.dataset:
        datasets = datasets.filter(slug=query.dataset)
    result = []
    for name, title in GROUPS.items():
        if query.group in (None, name) and not (query.kind and name == "questions"):
            rows, hit = _GROUP_SEARCHES[name]
            paginator = Paginator(
                rows(datasets, terms, query.kind), PER_PAGE if query.group else FIRST
            )
            hits_page = paginator.get_page(page if query.group else 1)
            result.append(Group(name, title, hits_page, [hit(row, terms) for row in hits_page]))
    return result


def _texts(datasets: QuerySet[Dataset], terms: SearchQuery, kind: str | None) -> QuerySet[Any]:
    texts = Text.objects.filter(
        dataset__in=datasets, pk__in=matching_keys("annotation_text", terms)
    )
    if kind:
        texts = texts.filter(kind=kind)
    rows = texts.select_related("dataset", "topic").order_by("dataset__slug", "pk")
    return rows.annotate(rubric=_rated_under(text=OuterRef("pk")))


def _questions(datasets: QuerySet[Dataset], terms: SearchQuery, kind: str | None) -> QuerySet[Any]:
    questions = SubQuestion.objects.filter(
        topic__dataset__in=datasets, pk__in=matching_keys("annotation_subquestion", terms)
    )
    rows = questions.select_related("topic__dataset").order_by("topic__dataset__slug", "pk")
    return rows.annotate(rubric=_rated_under(question=OuterRef("pk")))


def _quotes(datasets: QuerySet[Dataset], terms: SearchQuery, kind: str | None) -> QuerySet[Any]:
    spans = NuggetSpan.objects.filter(
        rating__text__dataset__in=datasets, pk__in=matching_keys("annotation_nuggetspan", terms)
    )
    if kind:
        spans = spans.filter(rating__text__kind=kind)
    related = ("text__dataset", "question__topic", "rater", "rubric")
    rows = spans.select_related(*(f"rating__{name}" for name in related))
    return rows.order_by("rating__text__dataset__slug", "rating__text", "rating__question", "pk")


def _notes(datasets: QuerySet[Dataset], terms: SearchQuery, kind: str | None) -> list[Any]:
    """Return the answers with a matching note; they are few, so they have no index of words."""
    answers = Answer.objects.remarks().exclude(note="")
    answers = answers.filter(assignment__item__text__dataset__in=datasets)
    if kind:
        answers = answers.filter(assignment__item__text__kind=kind)
    related = ("assignment__item__text__dataset", "assignment__participant__rater", "rubric")
    rows = answers.select_related(*related, "question__topic").order_by("pk")
    patterns = [re.compile(term.pattern, re.IGNORECASE) for term in terms.terms]
    return [row for row in rows if all(pattern.search(row.note) for pattern in patterns)]


def _rated_under(**pair: Any) -> Subquery:
    """Return a rubric under which a person rated it, for the link to the list of pairs."""
    rated = Rating.objects.filter(rater__kind=Rater.Kind.HUMAN, **pair).order_by("rubric")
    return Subquery(rated.values("rubric__slug")[:1])


def _of_text(text: Any, terms: SearchQuery) -> Hit:
    of = [text.dataset.title, _kind_label(text), text.topic.name if text.topic else "of no topic"]
    url = _list_or_matrix(text.dataset, text.topic, text.rubric, {"text": text.pk})
    snippet = excerpt(text.body or "", terms)
    history = reverse("text_history", args=[text.dataset.slug, "text", text.pk])
    return Hit(text.name, of, snippet, url, history)


def _of_question(question: Any, terms: SearchQuery) -> Hit:
    topic = question.topic
    of = [topic.dataset.title, topic.name]
    if question.is_filtered:
        of.append(f"filtered: {question.filtered_because}")
    narrowed = {"topic": topic.name, "words": question.body}
    url = _list_or_matrix(topic.dataset, topic, question.rubric, narrowed)
    title, snippet = f"Sub-question {question.number}", excerpt(question.body, terms)
    history = reverse("text_history", args=[topic.dataset.slug, "question", question.pk])
    return Hit(title, of, snippet, url, history)


def _of_quote(span: Any, terms: SearchQuery) -> Hit:
    rating = span.rating
    text, question = rating.text, rating.question
    of = [
        text.dataset.title,
        f"{_kind_label(text)} {text.name}",
        question.topic.name,
        f"marked by {rating.rater.name}",
    ]
    if span.start is None:
        of.append("not in the text")
    pair = reverse("pair", args=[text.dataset.slug, text.pk, question.pk])
    url = f"{pair}?{urlencode({'rubric': rating.rubric.slug})}"
    history = reverse("text_history", args=[text.dataset.slug, "text", text.pk])
    return Hit(str(question), of, excerpt(str(span), terms), url, history)


def _of_note(answer: Any, terms: SearchQuery) -> Hit:
    text, question = answer.assignment.item.text, answer.question
    of = [
        text.dataset.title,
        f"{_kind_label(text)} {text.name}",
        question.topic.name,
        f"note of {answer.assignment.participant.rater.name}",
    ]
    rubric = Rubric.objects.get(pk=answer.rated_under)
    pair = reverse("pair", args=[text.dataset.slug, text.pk, question.pk])
    url = f"{pair}?{urlencode({'rubric': rubric.slug})}"
    history = reverse("text_history", args=[text.dataset.slug, "text", text.pk])
    return Hit(str(question), of, excerpt(answer.note, terms), url, history)


def _kind_label(text: Text) -> str:
    kind = str(text.get_kind_display())
    return f"{kind} of {text.system}" if text.system else kind


def _list_or_matrix(
    dataset: Dataset, topic: Topic | None, rubric: str | None, narrowed: dict[str, Any]
) -> str:
    """Return the URL of its pairs if a person rated it; else of its topic's matrix.

    The matrix has the grades of models, too.
    """
    if rubric:
        return f"{reverse('pairs', args=[dataset.slug])}?{urlencode({'rubric': rubric} | narrowed)}"
    if topic:
        return reverse("matrix", args=[dataset.slug, topic.pk])
    return dataset.get_absolute_url()


def excerpt(text: str, terms: SearchQuery) -> SafeString:
    """Return an excerpt around the first match, with every match in it in bold.

    It is the beginning, if the database folded letters differently and there is no such match.

    The beginning, where a database folded letters otherwise than we do and there is no such place.
    """
    first = terms.pattern.search(text)
    match_start, match_end = first.span() if first else (0, 0)
    begin = max(0, match_start - BEFORE)
    end = begin + LONGEST_EXCERPT
    if begin:  # not within a word, if there is a space at all
        begin = text.find(" ", begin, match_start) + 1 or begin
    if end < len(text):
        end = max(text.rfind(" ", match_end, end), 0) or end
    pieces, at = [], begin
    for match in terms.pattern.finditer(text, begin, end):
        pieces.append((text[at : match.start()], format_html("<strong>{}</strong>", match.group())))
        at = match.end()
    return format_html(
        "{}{}{}{}",
        "… " if begin else "",
        format_html_join("", "{}{}", pieces),
        text[at:end],
        " …" if end < len(text) else "",
    )


Rows = Callable[[QuerySet[Dataset], SearchQuery, str | None], QuerySet[Any] | list[Any]]
_GROUP_SEARCHES: dict[str, tuple[Rows, Callable[[Any, SearchQuery], Hit]]] = {
    "texts": (_texts, _of_text),
    "questions": (_questions, _of_question),
    "quotes": (_quotes, _of_quote),
    "notes": (_notes, _of_note),
}
