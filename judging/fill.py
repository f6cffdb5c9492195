"""Filling the matrix: the pairs that a rater lacks, graded and stored, each once."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from django.db import transaction

from annotation.models import Dataset, Rater, Rating, Rubric, Text, Topic
from judging.graders.lexical import LexicalGrader

BATCH = 2_000


@dataclass
class Filled:
    """What a filling did, in pairs of a text and a question."""

    graded: int = 0
    there_before: int = 0
    ungradable: int = (
        0  # the question has no content terms, so the baseline has nothing to look for
    )
    without_words: int = 0  # the text's words are not here

    def as_json(self) -> dict[str, int]:
        return asdict(self)


def baseline_of(dataset: Dataset) -> Rater:
    """The lexical baseline as a rater of this dataset: its idf weights come from these passages."""
    rater, _ = Rater.objects.get_or_create(
        dataset=dataset, name="lexical", defaults={"kind": Rater.Kind.BASELINE}
    )
    return rater


def fill_lexical(
    dataset: Dataset,
    kinds: Sequence[str] = Text.Kind.values,
    progress: Callable[[Topic], None] | None = None,
) -> Filled:
    """Grade the texts of every topic on its own questions, with the lexical baseline.

    Pairs that it has graded before stay as they are, so that it can be run again at any time.
    """
    rater = baseline_of(dataset)
    rubric = Rubric.objects.get(slug="graded")
    passages = dataset.texts.with_body().filter(kind=Text.Kind.PASSAGE)
    bodies = passages.values_list("body", flat=True).iterator(BATCH)
    grader = LexicalGrader.fit(body for body in bodies if body is not None)
    filled = Filled()
    for topic in dataset.topics.prefetch_related("questions"):
        _fill_topic(topic, kinds, grader, rater, rubric, filled)
        if progress:
            progress(topic)
    return filled


@transaction.atomic
def _fill_topic(
    topic: Topic,
    kinds: Sequence[str],
    grader: LexicalGrader,
    rater: Rater,
    rubric: Rubric,
    filled: Filled,
) -> None:
    questions = list(topic.questions.all())
    chosen = topic.texts.filter(kind__in=kinds)
    texts = [(pk, body) for pk, body in chosen.values_list("pk", "body") if body is not None]
    filled.without_words += chosen.filter(body__isnull=True).count() * len(questions)
    if not texts or not questions:
        return
    done = set(
        Rating.objects.filter(rater=rater, rubric=rubric, text__topic=topic).values_list(
            "text_id", "question_id"
        )
    )
    found = grader.grade_matrix([body for _, body in texts], [q.body for q in questions])
    rows = []
    for at, (text_id, _) in enumerate(texts):
        for column, question in enumerate(questions):
            if (text_id, question.pk) in done:
                filled.there_before += 1
            elif not found.has_grade[at, column]:
                filled.ungradable += 1
            else:
                grade = int(found.grades[at, column])
                rows.append(
                    Rating(
                        rater=rater,
                        rubric=rubric,
                        text_id=text_id,
                        question=question,
                        grade=grade,
                    )
                )
    # Another process may fill the same topic; the unique pair decides, and nothing is changed.
    Rating.objects.bulk_create(rows, batch_size=BATCH, ignore_conflicts=True)
    filled.graded += len(rows)
