"""Rating rows as a data frame, and as the matrix that agreement is computed from.

Three rules are decided here: if ratings of filtered questions are read, which grades call a pair
answerable, and that a grade that was copied to a text of equal words counts once. No statistic is
computed here. Highlights are read in `spans`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from numpy.typing import DTypeLike, NDArray

from annotation.db_version import snapshot
from annotation.formats.batches import LOOK_UP, batches
from annotation.models import (
    Answer,
    Dataset,
    Item,
    ItemQuestion,
    Rater,
    Rating,
    Rubric,
    SubQuestion,
    Text,
)
from annotation.models.rating import EXPOSED, IsExposed, RatingQuerySet
from evaluation.data.cache import rating_version
from evaluation.data.corpus import TextRow, load_corpus
from evaluation.data.number_lists import (
    check_key,
    distinct,
    pair_keys,
    rating_columns,
    split_pairs,
)
from evaluation.data.process_cache import RATING_ROWS
from evaluation.data.selection import Selection, threshold
from evaluation.metrics.grades import BoolArray
from evaluation.stats.estimate import FloatArray, IntArray
from evaluation.stats.pair_counts import LevelColumns

if TYPE_CHECKING:
    import pandas as pd

# 22 bytes a rating. A key that does not fit is an error when it is read, not another key.
DTYPES = {
    "rater": np.int32,
    "rubric": np.int32,
    "text": np.int32,
    "question": np.int32,
    "grade": np.int16,
    "read_text": np.int32,
}


def frame(
    dataset: Dataset,
    raters: Collection[int] | None = None,
    rubrics: Collection[int] | None = None,
    *,
    with_filtered: bool = True,
    texts: QuerySet[Any] | None = None,
    independent: Collection[int] = (),
) -> pd.DataFrame:
    """Ratings of a dataset, one row each and in no order: two queries.

    The columns are `rater`, `rubric`, `text` and `question`, which are keys, `grade`, and `read_text`,
    which is another text where the grade was copied from that of equal words; all are integers. `raters` and
    `rubrics` are keys, None for all; `texts` narrows them to those of a query. Without `with_filtered`
    those of filtered questions are left out, and of `independent` raters their exposed grades.
    """
    ratings = Rating.objects.filter(of_texts(dataset.texts.all()))
    for name, keys in (("rater", raters), ("rubric", rubrics), ("text", texts)):
        if keys is not None:
            ratings = ratings.filter(**{f"{name}__in": keys})
    if independent:
        ratings = ratings.exclude(rater__in=independent, exposure__in=EXPOSED)
    return _read(ratings if with_filtered else _without_filtered(ratings))


def cached_frame(
    dataset: Dataset, raters: Collection[int], rubrics: Collection[int]
) -> pd.DataFrame:
    """Return `frame`, cached until one of the raters rates again.

    Nobody may change its values.
    """
    key = (dataset.pk, tuple(sorted(raters)), tuple(sorted(rubrics)))
    with snapshot():  # the version is of exactly these ratings
        version = rating_version(raters)
        if not version:
            return frame(dataset, raters, rubrics)
        return RATING_ROWS.of_version(key, version, lambda: frame(dataset, raters, rubrics))


def ratings_under(selection: Selection, raters: Collection[int]) -> RatingQuerySet:
    """The ratings of these raters under the selection's rubric, as that rubric counts them.

    Of a campaign, those of the pairs that it asked about, and of people those that they answered in
    it or decided; training is no part of it. Of people none that they gave after they had seen grades
    of others, unless the selection includes these.
    """
    return _ratings_under(selection, raters).of_dataset(selection.dataset)


def _ratings_under(selection: Selection, raters: Collection[int]) -> RatingQuerySet:
    """Return `ratings_under` of all datasets."""
    ratings = Rating.objects.filter(rater__in=raters, rubric=selection.rubric)
    if selection.exposed == "left-out":
        ratings = ratings.exclude(rater__in=selection.raters_to_check, exposure__in=EXPOSED)
    if selection.campaign:
        is_campaign_rubric = selection.campaign.rubric_id == selection.rubric.pk
        read_text = Coalesce(OuterRef("copied_from"), OuterRef("text"))
        in_campaign = ItemQuestion.objects.filter(
            item__campaign=selection.campaign,
            item__text=OuterRef("text"),
            question=OuterRef("question"),
        )
        equal_in_campaign = ItemQuestion.objects.filter(
            item__campaign=selection.campaign,
            item__equal_texts__text=OuterRef("text"),
            question=OuterRef("question"),
        )
        answered = Answer.objects.filter(
            assignment__participant__campaign=selection.campaign,
            assignment__participant__rater=OuterRef("rater"),
            assignment__item__text=read_text,
            assignment__repeats=None,
            question=OuterRef("question"),
            rubric=None if is_campaign_rubric else selection.rubric,
            late=Answer.Late.NO,
        )
        is_person = Q(rater__kind=Rater.Kind.HUMAN)
        decided = Q(rater=selection.campaign.adjudicator_id)
        ratings = ratings.filter(
            Exists(in_campaign.exclude(item__purpose=Item.Purpose.TRAINING))
            | Q(Exists(equal_in_campaign), copied_from__isnull=False),
            ~is_person | decided | Exists(answered),
        )
    return _without_filtered(ratings) if selection.leaves_out_filtered else ratings


def count_exposed(selection: Selection, **of_texts: str) -> int:
    """Return the number of exposed grades, left out or included: one or two queries.

    A grade that was copied to texts of equal words is one. `of_texts` narrows them: `text__kind="report"`.
    """
    exposed = Rating.objects.filter(IsExposed(), rater__in=selection.raters_to_check)
    # Most studies have none, which the index of exposed ratings tells at once.
    if not exposed.exists():
        return 0
    everything = replace(selection, exposed="included")
    ratings = ratings_under(everything, selection.raters_to_check).filter(IsExposed(), **of_texts)
    read_text = Coalesce("copied_from_id", "text_id")
    return ratings.order_by().values("rater", "question", read_text=read_text).distinct().count()


def _without_filtered(ratings: RatingQuerySet) -> RatingQuerySet:
    return ratings.filter(question__filtered_because="")


def of_texts(texts: QuerySet[Text]) -> Q:
    """Return the condition that a rating is of one of these texts: one query.

    It is a range of keys, which the index of ratings serves, and a subquery only if other texts lie in the
    range. With a join the database would begin with the texts, and look up each of them for each rater.
    Raises OverflowError for a key of more than 31 bits.
    """
    keys = texts.aggregate(first=Min("pk"), last=Max("pk"), n=Count("pk"))
    if not keys["n"]:
        return Q(pk__in=[])
    check_key(keys["last"])
    in_range = Q(text__gte=keys["first"], text__lte=keys["last"])
    if keys["last"] - keys["first"] + 1 == keys["n"]:
        return in_range
    return in_range & Q(Exists(texts.filter(pk=OuterRef("text"))))


def ratings_of(dataset: Dataset, raters: Collection[int]) -> RatingQuerySet:
    """Return the ratings of a dataset by these raters, in the order of an index."""
    # The index begins with rater and rubric.
    return Rating.objects.filter(
        of_texts(dataset.texts.all()), rater__in=list(raters), rubric__in=Rubric.objects.all()
    )


def _read(*queries: RatingQuerySet) -> pd.DataFrame:
    """Return the ratings of queries as a frame."""
    # Loaded where it is needed: it takes a third of a second, which no other command should wait for.
    import pandas as pd  # noqa: PLC0415

    columns = rating_columns(*queries)
    # Each column is dropped when its smaller copy is made: of ten million ratings it has 80 MB.
    fitted = {name: _fit(columns.pop(name), dtype) for name, dtype in DTYPES.items()}
    return pd.DataFrame(fitted, copy=False)


def _fit(values: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """Return whole numbers as a smaller type. Raises OverflowError where one does not fit."""
    if values.max(initial=0) > np.iinfo(dtype).max:
        raise OverflowError(f"{values.max()} is too large a key or grade")
    return values.astype(dtype)


def _without_copies(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one rating of each rater, rubric, question and text that was read.

    It is that of the text itself, or a copy where that grade does not count any more.
    """
    is_copy = (rows["text"] != rows["read_text"]).to_numpy()
    if not is_copy.any():
        return rows
    ordered = rows.assign(is_copy=is_copy).sort_values(["is_copy", "text"], kind="stable")
    first = ordered.drop_duplicates(["rater", "rubric", "question", "read_text"]).index
    return rows[rows.index.isin(first)]


def answerable(rows: pd.DataFrame, rubrics: Iterable[Rubric], eta: int) -> BoolArray:
    """Return a mask of the ratings that call their pair answerable, each at its rubric's eta."""
    rubric_pks, grade = rows["rubric"].to_numpy(), rows["grade"].to_numpy()
    is_answerable = np.zeros(len(rows), dtype=bool)
    for rubric in rubrics:
        is_answerable |= (rubric_pks == rubric.pk) & (grade >= threshold(rubric, eta))
    return is_answerable


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question, without its words."""

    pk: int
    topic: int
    topic_name: str
    position: int
    is_filtered: bool


@dataclass(frozen=True)
class RatingMatrix:
    """The pairs that were rated (items), and who gave them which grade.

    `grades` is items x raters in the selection's order, `judge` one value per item; NaN = no
    rating. An item is a (text, question) pair that at least one chosen person rated; only where no
    person was chosen do other raters make items, since a model fills every cell. `missing` counts
    the cells of items x raters without a rating. Items are in the order of topic, text, question. A grade
    that was copied to a text of equal words is in no item, unless `load` was asked for copies.
    """

    selection: Selection
    text: IntArray
    """The text of each item."""
    question: IntArray
    """The question of each item."""
    grades: FloatArray
    judge: FloatArray
    rows: pd.DataFrame
    judge_rows: pd.DataFrame
    """Every rating of these texts that was read, also those of pairs that are no items."""
    texts: Mapping[int, TextRow]
    questions: Mapping[int, QuestionRow]

    @property
    def n_items(self) -> int:
        return len(self.text)

    @property
    def n_missing(self) -> int:
        return int(np.isnan(self.grades).sum())

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """The grades of the rubric, ascending.

        Of a multi-label rubric the sets of one label or none, and others that were given: ten labels
        have 1,024 sets, of which raters use a few.
        """
        rubric = self.selection.rubric
        if not rubric.is_multi_label:
            return self.selection.levels
        frames = [self.rows, *([self.judge_rows] if self.selection.one_scale else [])]
        columns = (frame["grade"].to_numpy() for frame in frames)
        grades = np.unique(np.concatenate([rubric.scale_grades(), *columns]))
        return tuple(map(int, grades[~np.isnan(grades)]))

    @cached_property
    def level_columns(self) -> LevelColumns:
        """The grades as positions of levels, which are counted once for all statistics."""
        return LevelColumns(self.grades, self.levels, self.topic)

    @cached_property
    def topic(self) -> IntArray:
        """The topic of each item: the cluster that intervals are computed over."""
        return look_up(self.question, lambda pk: self.questions[pk].topic, np.int64)

    @cached_property
    def system(self) -> NDArray[np.str_]:
        """The system of each item, or its kind of text where that has none."""
        return look_up(self.text, lambda pk: self.texts[pk].group, np.str_)

    @cached_property
    def topic_names(self) -> dict[int, str]:
        """The topics that have items, in the order of the dataset."""
        present = set(self.topic.tolist())
        return {q.topic: q.topic_name for q in self.questions.values() if q.topic in present}

    @cached_property
    def rated_texts(self) -> dict[int, int]:
        """The topic of each text with a grade, copied ones too, in the order of items."""
        pairs = self.rows[["text", "question"]].drop_duplicates("text")
        pairs = pairs[look_up(pairs["text"].to_numpy(), self.texts.__contains__, np.bool_)]
        text, question = _keys(pairs)
        topic = look_up(question, lambda pk: self.questions[pk].topic, np.int64)
        order = {topic: position for position, topic in enumerate(self.topic_names)}
        position = look_up(topic, lambda pk: order.get(pk, -1), np.int64)
        rated = np.lexsort((text, position))
        rated = rated[position[rated] >= 0]
        return dict(zip(text[rated].tolist(), topic[rated].tolist(), strict=True))

    @cached_property
    def systems(self) -> list[str]:
        return sorted({self.texts[pk].group for pk in distinct(self.text).tolist()})

    @cached_property
    def system_index(self) -> IntArray:
        """The place of each item's system in `systems`: numbers are compared faster than names."""
        index_of = {system: index for index, system in enumerate(self.systems)}
        return look_up(self.text, lambda pk: index_of[self.texts[pk].group], np.int64)

    def places(self, text: IntArray, question: IntArray) -> IntArray:
        """The item of each pair of keys, -1 where the pair is not one."""
        order, pairs = self._sorted_pairs
        requested = pair_keys(text, question)
        index = np.searchsorted(pairs, requested)
        is_item = index < len(pairs)
        is_item[is_item] = pairs[index[is_item]] == requested[is_item]
        items = np.full(len(requested), -1)
        items[is_item] = order[index[is_item]]
        return items

    @cached_property
    def _sorted_pairs(self) -> tuple[IntArray, IntArray]:
        """The items by the keys of their pairs, and these keys."""
        pairs = pair_keys(self.text, self.question)
        order = pairs.argsort()
        return order, pairs[order]


def look_up(keys: IntArray, value_of: Callable[[int], object], dtype: DTypeLike) -> NDArray[Any]:
    """Return the value of each key; `value_of` is called once for equal keys."""
    import pandas as pd  # noqa: PLC0415 - loaded where it is needed, as in `_read`

    index, different = pd.factorize(keys)
    return np.array([value_of(key) for key in different.tolist()], dtype=dtype)[index]


def key_positions(keys: Sequence[int], values: pd.Series[int]) -> IntArray:
    """Return the position of each value among different keys, -1 for another value."""
    if keys and (span := max(keys) - (first := min(keys)) + 1) <= len(values):
        # Keys that lie close together, as most do, are looked up in a table.
        table = np.full(span + 1, -1)
        table[np.array(keys) - first] = np.arange(len(keys))
        offset = values.to_numpy() - first
        offset[(offset < 0) | (offset >= span)] = span
        return table[offset]
    import pandas as pd  # noqa: PLC0415 - loaded where it is needed, as in `_read`

    return np.asarray(pd.Index(keys).get_indexer(values), dtype=np.int64)


def load(selection: Selection, *, with_copies: bool = False) -> RatingMatrix:
    """The matrix of a selection: five queries, six with raters that are not people.

    Where a text stands for its topic, ratings of whichever text of it are taken for those of one. Of a grade
    that was copied to texts of equal words, items have one; all `with_copies`, as for measures of systems.
    """
    import pandas as pd  # noqa: PLC0415

    people = [rater.pk for rater in selection.raters if rater.is_person]
    other_raters = [rater.pk for rater in selection.raters if not rater.is_person]
    makers, dataset = _ratings_under(selection, people or other_raters), selection.dataset
    of_dataset = of_texts(dataset.texts.all())
    rows, questions = _read(makers.filter(of_dataset)), questions_of(dataset)
    texts = _text_rows(dataset, rows["text"].unique())
    topic_texts = _TopicTexts(rows, questions) if selection.rubric.stands_for_topic else None
    rows = topic_texts.reassign(rows) if topic_texts else rows
    rated = rows if with_copies else _without_copies(rows)
    text, question = _items(rated, questions)

    def read_more(ratings: RatingQuerySet, read_all: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """Read the ratings of the matrix's texts; `read_all` reads those of the whole dataset."""
        if topic_texts:
            return topic_texts.reassign(read_all())
        if _is_majority(dataset, texts):
            rows = read_all()
            return rows[rows["text"].isin(list(texts))].reset_index(drop=True)
        return _read(*(ratings.filter(text__in=batch) for batch in batches(texts, LOOK_UP)))

    judge_rows = rows[:0]
    if people and other_raters:
        more = _ratings_under(selection, other_raters)
        other_rows = read_more(more, lambda: _read(more.filter(of_dataset)))
        rows = pd.concat([rows, other_rows], ignore_index=True)
        rated = pd.concat([rated, other_rows], ignore_index=True)
    if selection.judge:
        judge, rubric = selection.judge.pk, selection.judge_rubric.pk
        judge_rows = read_more(
            Rating.objects.filter(rater=judge, rubric=rubric),
            lambda: cached_frame(dataset, [judge], [rubric]),
        )
    matrix = RatingMatrix(
        selection=selection,
        text=text,
        question=question,
        grades=np.full((len(text), len(selection.raters)), np.nan, order="F"),
        judge=np.full(len(text), np.nan),
        rows=rows,
        judge_rows=judge_rows,
        texts=texts,
        questions=questions,
    )
    _fill(matrix, matrix.grades, rated, [rater.pk for rater in selection.raters])
    if selection.judge:
        _fill(matrix, matrix.judge[:, np.newaxis], judge_rows, [selection.judge.pk])
    return matrix


def _is_majority(dataset: Dataset, texts: Collection[int]) -> bool:
    """Return whether these are most texts of a large dataset: then it is faster to read all."""
    return len(texts) > LOOK_UP and 2 * len(texts) > dataset.texts.count()


def _text_rows(dataset: Dataset, keys: IntArray) -> dict[int, TextRow]:
    """Return the texts of these keys that belong to the dataset."""
    texts, requested = Text.objects.filter(dataset=dataset).order_by(), keys.tolist()
    if _is_majority(dataset, requested):
        rows = load_corpus(dataset).text_rows
        return {pk: rows[pk] for pk in requested if pk in rows}
    return {
        row[0]: TextRow(*row)
        for batch in batches(requested, LOOK_UP)
        for row in texts.filter(pk__in=batch).values_list("pk", "name", "kind", "system")
    }


class _TopicTexts:
    """First rated text of each topic, which stands for all texts of the topic."""

    def __init__(self, rows: pd.DataFrame, questions: Mapping[int, QuestionRow]) -> None:
        self._topics = {pk: question.topic for pk, question in questions.items()}
        self._first = rows.groupby(rows["question"].map(self._topics))["text"].min()

    def reassign(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the ratings as ratings of these texts.

        Of a rater who rated several texts, the last rating counts.
        """
        topics = rows["question"].map(self._topics)
        rows = rows[topics.isin(self._first.index)].sort_values("text")
        rows = rows.drop_duplicates(["rater", "rubric", "question"], keep="last")
        text = topics[rows.index].map(self._first).astype(np.int32)
        return rows.assign(text=text, read_text=text)


def copied_pairs(matrix: RatingMatrix) -> dict[tuple[int, int], int]:
    """The text of an item whose grades were copied to a pair, by its text and question.

    Pairs that are items themselves, as another rater read their text, are left out.
    """
    rows = matrix.rows
    copies = rows[rows["text"] != rows["read_text"]].drop_duplicates(["text", "question"])
    keys = {name: copies[name].to_numpy(np.int64) for name in ("text", "read_text", "question")}
    is_item = matrix.places(keys["text"], keys["question"]) >= 0
    is_read = matrix.places(keys["read_text"], keys["question"]) >= 0
    text, read_text, question = (
        keys[name][is_read & ~is_item].tolist() for name in ("text", "read_text", "question")
    )
    return {
        (pk, question_pk): read
        for pk, question_pk, read in zip(text, question, read_text, strict=True)
    }


def questions_of(dataset: Dataset) -> dict[int, QuestionRow]:
    """The questions of a dataset by key, in the order of topics and positions: one query."""
    rows = (
        SubQuestion.objects.filter(topic__dataset=dataset)
        .order_by("topic__position", "topic_id", "position")
        .values_list("pk", "topic_id", "topic__name", "position", "filtered_because")
    )
    return {
        pk: QuestionRow(pk, topic, name, position, bool(filtered_because))
        for pk, topic, name, position, filtered_because in rows
    }


def _items(rows: pd.DataFrame, questions: Mapping[int, QuestionRow]) -> tuple[IntArray, IntArray]:
    """Return the distinct pairs of the rows, by topic, then text, then question."""
    text, question = split_pairs(distinct(pair_keys(*_keys(rows))))
    topics = dict.fromkeys(question.topic for question in questions.values())
    topic_index = {topic: index for index, topic in enumerate(topics)}
    question_index = {pk: index for index, pk in enumerate(questions)}
    by_topic = look_up(question, lambda pk: topic_index[questions[pk].topic], np.int64)
    by_question = look_up(question, question_index.__getitem__, np.int64)
    order = np.lexsort((by_question, text, by_topic))
    return text[order], question[order]


def _keys(rows: pd.DataFrame) -> tuple[IntArray, IntArray]:
    """Return the keys of text and question of each rating."""
    return rows["text"].to_numpy(np.int64), rows["question"].to_numpy(np.int64)


def _fill(
    matrix: RatingMatrix, grades: FloatArray, rows: pd.DataFrame, raters: Sequence[int]
) -> None:
    """Write ratings into items x raters."""
    item, column = matrix.places(*_keys(rows)), key_positions(raters, rows["rater"])
    is_item = item >= 0
    grades[item[is_item], column[is_item]] = rows["grade"].to_numpy()[is_item]


def grid(
    rows: pd.DataFrame,
    raters: Sequence[int],
    texts: Sequence[int],
    questions: Mapping[int, QuestionRow],
) -> FloatArray:
    """A frame as raters x texts x positions of the topic's questions, NaN = no rating.

    Ratings of others, and of other texts, are left out.
    """
    positions = {pk: question.position for pk, question in questions.items()}
    grades = np.full((len(raters), len(texts), max(positions.values(), default=-1) + 1), np.nan)
    rater, text = key_positions(raters, rows["rater"]), key_positions(texts, rows["text"])
    used = (rater >= 0) & (text >= 0)
    position = rows["question"][used].map(positions).to_numpy(np.int64)
    grades[rater[used], text[used], position] = rows["grade"][used]
    return grades
