"""What a search finds: texts, sub-questions and nugget spans, with the words around and their pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import OuterRef, QuerySet, Subquery
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from annotation.models import Dataset, NuggetSpan, Rater, Rating, SubQuestion, Text, Topic
from annotation.word_index import Words, matching
from crux_site.search.params import GROUPS, Wanted

FIRST = 5  # of each group, where all are shown
PER_PAGE = 20
BEFORE = 110  # signs before the first word that is found
LONGEST_EXCERPT = 300


@dataclass(frozen=True)
class Hit:
    """A place: what it is called, where it is, the words around, and its page."""

    title: str
    of: list[str]
    excerpt: SafeString
    url: str


@dataclass(frozen=True)
class Group:
    """The places of one kind that are shown, of all that there are."""

    name: str
    title: str
    page: Page[Any]
    hits: list[Hit]

    @property
    def n(self) -> int:
        return self.page.paginator.count


def groups(
    datasets: QuerySet[Dataset], words: Words, wanted: Wanted, page: str | None
) -> list[Group]:
    """The groups that are asked for, those without any too: the first of each, or a page of the one."""
    if wanted.dataset:
        datasets = datasets.filter(slug=wanted.dataset)
    found = []
    for name, title in GROUPS.items():
        if wanted.group in (None, name) and not (wanted.kind and name == "questions"):
            rows, hit = _PLACES[name]
            paginator = Paginator(
                rows(datasets, words, wanted.kind), PER_PAGE if wanted.group else FIRST
            )
            shown = paginator.get_page(page if wanted.group else 1)
            found.append(Group(name, title, shown, [hit(row, words) for row in shown]))
    return found


def _texts(datasets: QuerySet[Dataset], words: Words, kind: str | None) -> QuerySet[Any]:
    texts = Text.objects.filter(dataset__in=datasets, pk__in=matching("annotation_text", words))
    if kind:
        texts = texts.filter(kind=kind)
    rows = texts.select_related("dataset", "topic").order_by("dataset__slug", "pk")
    return rows.annotate(rubric=_rated_under(text=OuterRef("pk")))


def _questions(datasets: QuerySet[Dataset], words: Words, kind: str | None) -> QuerySet[Any]:
    questions = SubQuestion.objects.filter(
        topic__dataset__in=datasets, pk__in=matching("annotation_subquestion", words)
    )
    rows = questions.select_related("topic__dataset").order_by("topic__dataset__slug", "pk")
    return rows.annotate(rubric=_rated_under(question=OuterRef("pk")))


def _quotes(datasets: QuerySet[Dataset], words: Words, kind: str | None) -> QuerySet[Any]:
    spans = NuggetSpan.objects.filter(
        rating__text__dataset__in=datasets, pk__in=matching("annotation_nuggetspan", words)
    )
    if kind:
        spans = spans.filter(rating__text__kind=kind)
    related = ("text__dataset", "question__topic", "rater", "rubric")
    rows = spans.select_related(*(f"rating__{name}" for name in related))
    return rows.order_by("rating__text__dataset__slug", "rating__text", "rating__question", "pk")


def _rated_under(**pair: Any) -> Subquery:
    """A rubric under which a person rated it, which the list of pairs then shows."""
    rated = Rating.objects.filter(rater__kind=Rater.Kind.HUMAN, **pair).order_by("rubric")
    return Subquery(rated.values("rubric__slug")[:1])


def _of_text(text: Any, words: Words) -> Hit:
    of = [text.dataset.title, _called(text), text.topic.name if text.topic else "of no topic"]
    url = _list_or_matrix(text.dataset, text.topic, text.rubric, {"text": text.pk})
    return Hit(text.name, of, excerpt(text.body or "", words), url)


def _of_question(question: Any, words: Words) -> Hit:
    topic = question.topic
    of = [topic.dataset.title, topic.name]
    if question.is_filtered:
        of.append(f"filtered: {question.filtered_because}")
    narrowed = {"topic": topic.name, "words": question.body}
    url = _list_or_matrix(topic.dataset, topic, question.rubric, narrowed)
    return Hit(f"Sub-question {question.number}", of, excerpt(question.body, words), url)


def _of_quote(span: Any, words: Words) -> Hit:
    rating = span.rating
    text, question = rating.text, rating.question
    of = [
        text.dataset.title,
        f"{_called(text)} {text.name}",
        question.topic.name,
        f"marked by {rating.rater.name}",
    ]
    if span.start is None:
        of.append("not in the text")
    pair = reverse("pair", args=[text.dataset.slug, text.pk, question.pk])
    url = f"{pair}?{urlencode({'rubric': rating.rubric.slug})}"
    return Hit(str(question), of, excerpt(str(span), words), url)


def _called(text: Text) -> str:
    kind = str(text.get_kind_display())
    return f"{kind} of {text.system}" if text.system else kind


def _list_or_matrix(
    dataset: Dataset, topic: Topic | None, rubric: str | None, narrowed: dict[str, Any]
) -> str:
    """The pairs of it where a person rated it; else the matrix of its topic, where models' grades are, too."""
    if rubric:
        return f"{reverse('pairs', args=[dataset.slug])}?{urlencode({'rubric': rubric} | narrowed)}"
    if topic:
        return reverse("matrix", args=[dataset.slug, topic.pk])
    return dataset.get_absolute_url()


def excerpt(text: str, words: Words) -> SafeString:
    """The words around the first place of what was searched for, every place within them strong.

    The beginning, where a database folded letters otherwise than we do and there is no such place.
    """
    first = words.pattern.search(text)
    found_at, found_end = first.span() if first else (0, 0)
    begin = max(0, found_at - BEFORE)
    end = begin + LONGEST_EXCERPT
    if begin:  # not within a word, if there is a space at all
        begin = text.find(" ", begin, found_at) + 1 or begin
    if end < len(text):
        end = max(text.rfind(" ", found_end, end), 0) or end
    pieces, at = [], begin
    for place in words.pattern.finditer(text, begin, end):
        pieces.append((text[at : place.start()], format_html("<strong>{}</strong>", place.group())))
        at = place.end()
    return format_html(
        "{}{}{}{}",
        "… " if begin else "",
        format_html_join("", "{}{}", pieces),
        text[at:end],
        " …" if end < len(text) else "",
    )


Rows = Callable[[QuerySet[Dataset], Words, str | None], QuerySet[Any]]
_PLACES: dict[str, tuple[Rows, Callable[[Any, Words], Hit]]] = {
    "texts": (_texts, _of_text),
    "questions": (_questions, _of_question),
    "quotes": (_quotes, _of_quote),
}
