"""The dataset that files are read into: what it holds already (its topics in memory), and what is reported."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import reset_queries

from annotation.formats.batches import LOOK_UP, batches
from annotation.formats.history import known_raters
from annotation.formats.layout import Source
from annotation.formats.left_out import AnswerPosition, LeftOutAnswer, Repeated
from annotation.formats.new_words import NewWords
from annotation.formats.run_order import RunOrder
from annotation.formats.summary import LIMIT, ImportFailed, ImportSummary, Mapped, Problem, shown
from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text, Topic, Version
from annotation.models.standard import STANDARD, add_standard, ensure_standard_rubrics
from annotation.prepared import insert_all


@dataclass(slots=True)
class KnownQuestion:
    pk: int
    position: int
    body: str
    filtered_because: str
    source_body: str = ""
    group: str = ""
    earlier: dict[str, bool] = field(default_factory=dict)
    """Words that it had before, and whether grades that were given to them count."""

    @property
    def filtered(self) -> bool:
        return bool(self.filtered_because)

    @property
    def is_null(self) -> bool:
        """Whether annotated reports have a null in its place; a question without words may stay "" there."""
        return self.filtered_because not in ("", SubQuestion.NO_WORDS)

    @property
    def is_whole(self) -> bool:
        """Whether it is the request as a whole, which qrels put behind the questions that they find."""
        return self.filtered_because == SubQuestion.WHOLE

    @property
    def as_written(self) -> str:
        """The words as their file had them, with the white space at their ends."""
        return self.source_body or self.body

    def reword(self, body: str, *, counts: bool) -> None:
        """Give it new words; `counts` says whether grades of those so far, and of those before, do."""
        self.put_before(self.body, counts=counts)
        self.body, self.source_body = body, ""

    def put_before(self, words: str, *, counts: bool) -> None:
        """Add earlier words, those that others replaced last after all others."""
        self.earlier = {each: did and counts for each, did in self.earlier.items()}
        if words:
            self.earlier[words] = counts

    def is_set_aside(self, words: str) -> bool:
        """Whether these are earlier words of it whose grades do not count."""
        return words != self.body and not self.earlier.get(words, True)


@dataclass(slots=True)
class KnownTopic:
    pk: int
    name: str
    request: str
    group: str = ""
    questions: list[KnownQuestion] = field(default_factory=list)

    def of(self, n: int) -> "KnownTopic":
        """The topic as a file of `n` of its questions knows it: perhaps without the request as a whole."""
        if len(self.questions) == n + 1 and self.questions[-1].is_whole:
            return replace(self, questions=self.questions[:-1])
        return self


def topics_of(dataset: Dataset) -> dict[str, KnownTopic]:
    """The topics by their names, in their order."""
    topics = {
        pk: KnownTopic(pk, name, request, group)
        for pk, name, request, group in Topic.objects.filter(dataset=dataset)
        .order_by("position", "pk")
        .values_list("pk", "name", "request", "group")
    }
    questions = SubQuestion.objects.filter(topic__dataset=dataset).order_by("position")
    fields = ("pk", "position", "body", "filtered_because", "source_body", "group")
    for topic, *values in questions.values_list("topic_id", *fields):
        topics[topic].questions.append(KnownQuestion(*values))
    return {topic.name: topic for topic in topics.values()}


SET_ASIDE = "these are earlier words of a question, whose grades are set aside"


def asked(questions: Sequence[KnownQuestion], words: str) -> KnownQuestion | None:
    """The question of these words; else the one that had them before, if only one had."""
    if now := next((question for question in questions if question.body == words), None):
        return now
    before = [question for question in questions if words in question.earlier]
    return before[0] if len(before) == 1 else None


_COLUMNS = ("dataset_id", "kind", "system", "topic_id", "name", "sha256")
Progress = Callable[[str, int], None]


@dataclass(frozen=True)
class KnownRubric:
    rubric: Rubric
    grades: frozenset[int]


class Target:
    """A dataset while files are read into it, inside one transaction.

    Topics and questions are held in memory, texts and ratings are looked up batch by batch.
    """

    def __init__(
        self,
        dataset: Dataset,
        summary: ImportSummary,
        new_words: NewWords,
        progress: Progress | None = None,
        run_order: RunOrder = RunOrder.AUTO,
        repeated: Repeated = Repeated.LEAVE_OUT,
    ) -> None:
        self.repeated = repeated
        self._wrong: list[Problem] = []
        self.n_right = 0
        """Answers of annotation tools that are no error."""
        self.dataset = dataset
        self.run_order = run_order
        self.summary = summary
        self.new_words = new_words
        self.problems: list[Problem] = []
        self._progress = progress
        self._rubrics: dict[str, KnownRubric] = {}
        self.was_empty = _is_empty(dataset)
        self.first_ratings: dict[int, datetime] = {}
        """By rater, when it first rated in the dataset that was exported."""
        self.rated_at: dict[tuple[int, ...], datetime] = {}
        """When single pairs were rated there, by the keys of rater, rubric, text and question."""
        self.positions: dict[tuple[int, ...], list[object]] = {}
        """Earlier positions of the spans of a pair, in their order, by the same keys."""
        self.adopted: set[int] = set()
        """Raters of this site to which files add: judges that are defined in the files alike."""

    # -- what is reported

    def problem(self, source: Source | str, line: int, field: str, message: str) -> None:
        """Note an error. Raises ImportFailed once there are enough of them."""
        name = source if isinstance(source, str) else source.name
        no_pair = False
        if isinstance(source, Source) and source.translation:
            no_pair = field == source.translation.fields.get("text")
            field = source.translation.fields.get(field, field)
        where = str(line) if isinstance(line, AnswerPosition) else ""
        problem = Problem(name, int(line), field, message, where)
        if isinstance(source, Source) and isinstance(line, AnswerPosition) and _leaves_out(source):
            self._wrong.append(problem)
            self.leave_out(
                source, line, Mapped.NO_PAIR if no_pair else Mapped.WRONG, message, field
            )
            return
        self.refuse(problem)

    def refuse(self, problem: Problem) -> None:
        """Note an error that refuses the import. Raises ImportFailed once there are enough of them."""
        self.problems.append(problem)
        if len(self.problems) >= LIMIT:
            self.stop_if_wrong()

    def leave_out(
        self, source: Source, place: AnswerPosition, what: str, reason: str = "", field: str = ""
    ) -> None:
        """Count an answer of a tool that becomes no row, and list it under the ids of the tool."""
        self.summary.mapped[what] += 1
        self.summary.left_out_answers.append(
            LeftOutAnswer(
                source.name,
                int(place),
                place.item,
                **place.ids,
                field=field,
                reason=reason or str(what),
            )
        )

    def refuse_if_none(self) -> None:
        """Turn what was left out of the files of tools into errors, where no answer of them was right."""
        if not self.n_right:
            for problem in self._wrong:
                self.refuse(problem)

    def stop_if_wrong(self) -> None:
        """Raises ImportFailed if anything read so far was wrong."""
        if self.problems:
            self.summary.errors = self.problems
            raise ImportFailed(self.problems, self.summary)

    def progress(self, source: Source, lines: int) -> None:
        # With DEBUG, Django keeps every query with its values: that would be the whole file.
        reset_queries()
        if self._progress:
            self._progress(source.name, lines)

    # -- what the dataset holds

    @cached_property
    def topics(self) -> dict[str, KnownTopic]:
        topics = topics_of(self.dataset)
        by_key = {each.pk: each for topic in topics.values() for each in topic.questions}
        versions = Version.objects.filter(dataset=self.dataset, question__isnull=False)
        ordered = versions.order_by("question", "number")
        for key, body, counts in ordered.values_list("question_id", "body", "counts"):
            by_key[key].put_before(body.strip(), counts=counts)
        return topics

    def topic(self, source: Source, line: int, field: str, name: str) -> KnownTopic | None:
        """The topic; None, and an error noted, where the dataset has none of this name."""
        if name not in self.topics:
            self.problem(source, line, field, f"topic {shown(name)} is not in the dataset")
        return self.topics.get(name)

    def topic_key_of_passage(self, name: str) -> int | None:
        """Key of the topic that a passage was taken from: what stands before the first colon."""
        topic, colon, _ = name.partition(":")
        return self.topics[topic].pk if colon and topic in self.topics else None

    def rubric(self, slug: str) -> KnownRubric:
        """A standard rubric and its grades."""
        if slug not in self._rubrics:
            if not Rubric.objects.filter(slug=slug).exists():
                ensure_standard_rubrics()
            rubric = Rubric.objects.get(slug=slug)
            self._rubrics[slug] = KnownRubric(rubric, frozenset(rubric.grades()))
        return self._rubrics[slug]

    def rubric_called(self, source: Source, line: int, slug: str) -> KnownRubric | None:
        """The rubric of this name, made if it comes with the program; None, and an error noted, else."""
        if slug in STANDARD:
            add_standard(STANDARD[slug])
        elif not Rubric.objects.filter(slug=slug).exists():
            message = f"there is no rubric {shown(slug)}: make it, or put it into rubrics.jsonl"
            self.problem(source, line, "rubric", message)
            return None
        return self.rubric(slug)

    @cached_property
    def _raters(self) -> dict[str, Rater]:
        return known_raters(self.dataset)

    def rater_named(self, name: str) -> Rater | None:
        """The rater of this name, if the dataset has one."""
        return self._raters.get(name)

    def adopt(self, name: str, rater: Rater) -> None:
        """Let grades under this name be added to a rater of the whole site."""
        self._raters[name] = rater
        self.adopted.add(rater.pk)

    def is_rater_name(self, source: Source, line: int, name: str) -> bool:
        """Whether a rater may be called so; an error is noted if not."""
        if reason := _bad_slug(name, 120):
            self.problem(source, line, "rater", f"{name}: {reason}")
        return not reason

    def rater(self, source: Source, line: int, name: str, kind: Rater.Kind) -> Rater | None:
        """The rater of this name, made if it is new; None and an error noted if it cannot be."""
        rater = self._raters.get(name)
        if rater is None:
            if not self.is_rater_name(source, line, name):
                return None
            rater = Rater.objects.create(dataset=self.dataset, name=name, kind=kind)
            self._raters[name] = rater
            self.summary.created["raters"] += 1
        people = (Rater.Kind.HUMAN,)
        if (rater.kind in people) != (kind in people):
            message = f"{name} is a {rater.get_kind_display()} already, not a {kind.label}"
            self.problem(source, line, "rater", message)
            return None
        return rater

    def passages(self, names: Iterable[str]) -> dict[str, int]:
        """Keys of passages. Those that are new are made without words: only named so far."""
        wanted = sorted(set(names))
        keys: dict[str, int] = {}
        for some in batches(wanted, LOOK_UP):
            keys.update(self._passages(some))
            if new := [name for name in some if name not in keys]:
                passage = self.dataset.pk, Text.Kind.PASSAGE.value, ""
                rows = [(*passage, self.topic_key_of_passage(name), name, "") for name in new]
                insert_all(Text, _COLUMNS, rows)
                keys.update(self._passages(new))
                self.summary.created["passages, without their words"] += len(new)
        return keys

    def references(self, topics: Iterable[str]) -> None:
        """Make the reference summaries of these topics that are not there, without words: only named so far."""
        by_name = {f"{name}:report": self.topics[name].pk for name in topics if name in self.topics}
        for some in batches(by_name, LOOK_UP):
            known = self.dataset.texts.filter(kind=Text.Kind.REFERENCE, name__in=some)
            there = set(known.values_list("name", flat=True))
            reference = self.dataset.pk, Text.Kind.REFERENCE.value, ""
            rows = [(*reference, by_name[name], name, "") for name in some if name not in there]
            insert_all(Text, _COLUMNS, rows)
            self.summary.created["reference summaries, without their words"] += len(rows)

    def _passages(self, names: list[str]) -> Iterable[tuple[str, int]]:
        known = Text.objects.filter(
            dataset=self.dataset, kind=Text.Kind.PASSAGE, system="", name__in=names
        )
        return known.values_list("name", "pk")


def _leaves_out(source: Source) -> bool:
    return source.translation is not None and source.translation.leaves_out


def _is_empty(dataset: Dataset) -> bool:
    """Return True for a dataset without ratings and without text history."""
    return not (dataset.versions.exists() or Rating.objects.of_dataset(dataset).exists())


def _bad_slug(value: str, length: int) -> str:
    try:
        validate_slug(value)
    except ValidationError:
        return "letters, digits, - and _ alone make a name"
    return f"longer than {length} characters" if len(value) > length else ""


def check_dataset(slug: str, title: str) -> None:
    """Raises ImportFailed for a slug that no URL could hold, or too long a title."""
    if reason := _bad_slug(slug, 80):
        raise ImportFailed([Problem("dataset", 0, "", f"{shown(slug)}: {reason}")])
    if len(title) > 200 or "\x00" in title:
        raise ImportFailed([Problem("title", 0, "", "expected 200 characters at most")])
