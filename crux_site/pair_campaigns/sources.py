"""Sources of pairs for a campaign, from the parameters of a URL.

Grades belong to evaluation, failures to judging, campaigns to annotation: only the site may import all.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Mapping

from django.db.models import Count, Q
from django.http import Http404, QueryDict
from django.shortcuts import get_object_or_404

from annotation.builder.pair_set import MAX_PAIRS, PairSet
from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion
from annotation.models.standard import kind_for
from annotation.plurals import n_of
from evaluation.certificates.page import judges_of
from evaluation.data.certificates import certificate_state
from evaluation.data.columns import Column
from evaluation.data.selection import Selection, SelectionError, select
from evaluation.http import parse_selection
from evaluation.models import LabelSample, LabelSequence
from evaluation.pairs.page import pair_list
from evaluation.pairs.query import KINDS
from evaluation.sequences.state import sequence_values, state_of
from judging.models import Attempt

FIRST_TOPICS, FIRST_PAIRS = 8, 40  # of a first test of a judge
N_PEOPLE = 3
MAX_ROWS = 100_000  # pairs of a dataset that are looked at


def disagreements(dataset: Dataset, params: QueryDict) -> PairSet:
    """Return the pairs of the page Disagreements, by its parameters. Raises SelectionError."""
    selection = parse_selection(dataset, params)
    listed = pair_list(selection, {name: str(params[name]) for name in params})
    pairs = [listed.key(index) for index in range(len(listed))]
    kind = KINDS[listed.filter.kind]
    return PairSet(
        selection.rubric,
        pairs,
        f"they match the filter “{kind}” of the page Disagreements",
        is_random=False,
        title=f"{kind.capitalize()}: {n_of(len(pairs), 'pair', ',')}",
    )


def sample(dataset: Dataset, params: QueryDict) -> PairSet:
    """Return all questions of the reports of a sample of Label next. Raises Http404."""
    label_sample = get_object_or_404(LabelSample, dataset=dataset, pk=_number(params, "sample"))
    chances = label_sample.chances.filter(is_drawn=True).select_related("text").order_by("text__pk")
    questions = _questions(dataset)
    pairs = [
        (chance.text_id, question)
        for chance in chances
        for question in questions.get(chance.text.topic_id, ())
    ]
    reason = f"their reports were drawn for sample {label_sample.pk} of Label next, with stored probabilities"
    return PairSet(
        label_sample.rubric, pairs, reason, is_random=True, title=f"Sample {label_sample.pk}"
    )


def sequence(dataset: Dataset, params: QueryDict) -> PairSet:
    """Return the next pairs of a label sequence. Raises Http404."""
    stored = get_object_or_404(
        LabelSequence.objects.select_related("dataset", "rubric"),
        dataset=dataset,
        pk=_number(params, "sequence"),
    )
    values = sequence_values(stored)
    pairs = state_of(stored, values).next_pairs(set(values))[:MAX_PAIRS]
    return PairSet(
        stored.rubric,
        pairs,
        f"they come next in the random order of label sequence {stored.pk}, which was fixed before",
        is_random=True,
        title=f"Sequence {stored.pk}: {stored.question}",
        n_people=stored.n_people,
    )


def unrated(dataset: Dataset, params: QueryDict) -> PairSet:
    """Return the pairs that no person has graded under a rubric. Raises SelectionError."""
    rubric = get_object_or_404(Rubric, slug=params.get("rubric", ""))
    texts = dataset.texts.with_body().exclude(topic=None)
    if kind := kind_for(rubric):
        texts = texts.filter(kind=kind)
    topic = params.get("topic")
    if topic:
        texts = texts.filter(topic__name=topic)
    rated = Rating.objects.of_dataset(dataset).filter(rubric=rubric, rater__kind="human")
    done = set(rated.order_by().values_list("text", "question"))
    questions = _questions(dataset)
    pairs: list[tuple[int, int]] = []
    for text, of_topic in texts.order_by("topic__position", "pk").values_list("pk", "topic"):
        pairs += [(text, pk) for pk in questions.get(of_topic, ()) if (text, pk) not in done]
        if len(pairs) > MAX_ROWS:
            raise SelectionError(f"Over {MAX_ROWS:,} pairs have no grade: choose a topic.")
    scope = f" of the topic {topic}" if topic else ""
    if not pairs:
        raise SelectionError(
            f"People have graded all pairs{scope} under {rubric.title} whose texts are in the dataset."
        )
    return PairSet(
        rubric,
        pairs,
        f"no person has graded them{scope} under {rubric.title}",
        is_random=False,
        title=f"Pairs without a grade{scope}",
    )


def failures(dataset: Dataset, params: QueryDict) -> PairSet:
    """Return the pairs to which a judge gave no grade. Raises Http404."""
    rater = get_object_or_404(Rater, pk=_number(params, "judge"), judge__isnull=False)
    failed = Attempt.objects.filter(judge__rater=rater, counts=True, text__dataset=dataset)
    failed = failed.exclude(state="graded").order_by("text__topic__position", "text", "question")
    pairs = list(failed.values_list("text", "question"))
    rubric = Rubric.objects.get(pk=Rater.objects.values_list("judge__rubric").get(pk=rater.pk)[0])
    return PairSet(
        rubric,
        pairs,
        f"the judge {rater.name} gave them no grade",
        is_random=False,
        title=f"Failures of {rater.name}",
    )


def certificate(dataset: Dataset, params: QueryDict) -> PairSet:
    """Draw the pairs that the certificate of a judge needs. Raises SelectionError, Http404.

    They are graded by the judge and by fewer than two people: as many as the last test says, or for a
    first one FIRST_PAIRS of FIRST_TOPICS topics; topics that were not tested come first.
    """
    rubric = get_object_or_404(Rubric, slug=params.get("rubric", ""))
    selection = select(dataset, rubric=rubric.slug)
    key = _number(params, "judge")
    judge = next((column for column in judges_of(selection) if column.pk == key), None)
    if judge is None:
        raise Http404("This judge has no grades under this rubric.")
    state = certificate_state(dataset, judge.pk, rubric.pk)
    needed = state.certificate.result["needed"] if state.certificate else None
    n_topics, n_pairs = FIRST_TOPICS, FIRST_PAIRS
    if needed and needed["n_pairs"]:
        n_topics, n_pairs = needed["n_topics"], needed["n_pairs"]
    candidates = _graded_by_judge_alone(dataset, selection, judge)
    seed = f"{dataset.pk} {judge.pk} {rubric.pk} {state.certificate.pk if state.certificate else 0}"
    pairs = _draw(candidates, n_topics, n_pairs, random.Random(seed))  # noqa: S311 - no secret
    return PairSet(
        rubric,
        pairs,
        f"the certificate of {judge.name} needs them; they were drawn at random from the pairs that the judge "
        "and fewer than two people graded",
        is_random=True,
        title=f"Certificate of {judge.name}",
        n_people=N_PEOPLE,
    )


def _graded_by_judge_alone(
    dataset: Dataset, selection: Selection, judge: Column
) -> dict[int, list[tuple[int, int]]]:
    """Return the pairs of a judge that fewer than two people graded, by topic.

    Topics whose pairs two people have graded are last.
    """
    people = Rating.objects.of_dataset(dataset).filter(
        rubric=selection.rubric, rater__kind=Rater.Kind.HUMAN, rater__is_adjudicator=False
    )
    counts = people.order_by().values("text", "question").annotate(n=Count("rater", distinct=True))
    done = set(counts.filter(n__gte=2).values_list("text", "question"))
    rubrics = Q(rubric=selection.rubric) | Q(rubric__slug="graded")
    graded = Rating.objects.of_dataset(dataset).filter(
        rubrics, rater=judge.pk, text__body__isnull=False, question__filtered_because=""
    )
    by_topic: dict[int, list[tuple[int, int]]] = defaultdict(list)
    tested = set()
    rows = graded.order_by("text", "question").values_list("text", "question", "question__topic")
    for text, question, topic in rows:
        if (text, question) in done:
            tested.add(topic)
        else:
            by_topic[topic].append((text, question))
    return dict(sorted(by_topic.items(), key=lambda entry: (entry[0] in tested, entry[0])))


def _draw(
    by_topic: Mapping[int, list[tuple[int, int]]], n_topics: int, n_pairs: int, draw: random.Random
) -> list[tuple[int, int]]:
    """Draw pairs evenly from so many topics, and from further ones where these have too few."""
    shuffled = [draw.sample(pairs, len(pairs)) for pairs in by_topic.values()]
    share = math.ceil(n_pairs / n_topics)
    sampled = [pair for pairs in shuffled[:n_topics] for pair in pairs[:share]]
    remaining = [pair for pairs in shuffled[n_topics:] for pair in pairs[:share]]
    remaining += [pair for pairs in shuffled for pair in pairs[share:]]
    return (sampled + remaining)[:n_pairs]


def _questions(dataset: Dataset) -> dict[int | None, list[int]]:
    """Return the questions that are asked of each topic."""
    questions: dict[int | None, list[int]] = defaultdict(list)
    rows = SubQuestion.objects.filter(topic__dataset=dataset, filtered_because="")
    for pk, topic in rows.order_by("position").values_list("pk", "topic"):
        questions[topic].append(pk)
    return questions


def _number(params: QueryDict, name: str) -> int:
    value = params.get(name, "")
    if not value.isdecimal() or len(value) > 18:
        raise Http404(f"“{value}” is no number.")
    return int(value)


SOURCES: Mapping[str, Callable[[Dataset, QueryDict], PairSet]] = {
    "disagreements": disagreements,
    "sample": sample,
    "sequence": sequence,
    "unrated": unrated,
    "failures": failures,
    "certificate": certificate,
}
"""Functions that return the pairs of a source, by the value of `of` in the URL."""
