"""The rating matrix of one topic: its questions, its texts in groups, and what a run adds."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from annotation.models import Rater, Topic
from evaluation.matrix_page.choice import MatrixChoice
from evaluation.matrix_page.groups import PASSAGE, TopicTexts
from evaluation.matrix_page.questions import AskedQuestion, asked_questions
from evaluation.matrix_page.rows import RowGroup
from evaluation.scoring.options import Options
from evaluation.scoring.pools import Pool
from evaluation.scoring.score import TopicScore, cached_scores
from evaluation.scoring.sources import Source

LINKED = 12  # sources of grades beside the form


@dataclass(frozen=True)
class MatrixPage:
    """A topic under one choice. `score` is None where the run ranks nothing for the topic."""

    choice: MatrixChoice
    topic: Topic
    pool: Pool
    score: TopicScore | None
    place: int
    n_topics: int
    previous: int | None
    next: int | None
    questions: tuple[AskedQuestion, ...]
    groups: tuple[RowGroup, ...]
    judge: int | None
    """The rater whose grades these are, or who stands below the people's, if it has replies here."""

    @property
    def options(self) -> Options:
        return self.choice.options

    @property
    def n_never(self) -> int:
        """Questions that no passage of P* answers, which never count."""
        return len(self.questions) - len(self.pool.answerable)

    @property
    def n_pairs(self) -> int:
        """Pairs of the context's texts and the answerable questions."""
        return self.score.n_passages * self.score.n_answerable if self.score else 0

    @property
    def n_passages(self) -> int:
        """Of P*."""
        return len(self.pool.passages)

    @property
    def n_columns(self) -> int:
        """Of the table: the text, the questions, gain, answers, unrated, tokens."""
        return len(self.questions) + 5

    @property
    def n_hidden(self) -> int:
        return sum(group.n_hidden for group in self.groups)

    @property
    def has_people_over(self) -> bool:
        return self.options.source.kind == "people over"

    @property
    def has_filtered(self) -> bool:
        return any(asked.is_filtered for asked in self.questions)

    @property
    def other_sources(self) -> list[Source]:
        """Whose grades the same topic can be seen by; with a crowd the form alone lists them."""
        others = [source for source in self.choice.sources if source != self.options.source]
        return others if len(others) <= LINKED else []

    @property
    def scale_note(self) -> str:
        """How the grades of passages are read, in a sentence."""
        scale = self.pool.scales[PASSAGE]
        if not scale.is_verdict:
            return (
                f"Grades are {scale.levels[0]} to {scale.levels[-1]}; {scale.eta} or more answers."
            )
        read = "" if scale.rubric else f"; a grade of {self.options.eta} or more was read as 1"
        return f"Verdicts: 1 answers, 0 does not{read}."

    @property
    def pairs_url(self) -> str:
        """Where the pages of pairs are: a cell's own is below it, by text and question."""
        return reverse("pairs", args=[self.choice.dataset.slug])


def matrix_page(choice: MatrixChoice, topic: Topic) -> MatrixPage:
    """The matrix of a topic. The context is the chosen run's, or else the required subset."""
    scores = cached_scores(choice.dataset, choice.options)
    keys = list(scores.pools)
    at = keys.index(topic.pk)
    texts = TopicTexts(choice, topic, scores)
    return MatrixPage(
        choice=choice,
        topic=topic,
        pool=texts.pool,
        score=texts.score,
        place=at + 1,
        n_topics=len(keys),
        previous=keys[at - 1] if at else None,
        next=keys[at + 1] if at + 1 < len(keys) else None,
        questions=asked_questions(texts.pool, texts.hits),
        groups=tuple(texts.groups()),
        judge=_judge(choice.options.source),
    )


def _judge(source: Source) -> int | None:
    # A model whose grades came in a file is a rater without a judge.
    if source.rater is None or source.rater.is_person:
        return None
    found = Rater.objects.filter(pk=source.rater.pk, judge__isnull=False)
    return found.values_list("pk", flat=True).first()
