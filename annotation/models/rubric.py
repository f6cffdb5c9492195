"""Rubrics: a question put to every pair, and the grades that may answer it."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.urls import reverse

from annotation.models.natural import ByNaturalKey, NaturalKey, NaturalQuerySet
from annotation.models.people import User
from annotation.models.projects import Project


def text_and_question() -> list[str]:
    """Return the default of `Rubric.shows`."""
    return ["text", "question"]


_grades: dict[int, tuple[int, ...]] = {}  # by rubric; they stay as they were made


def grade_of_label(number: int) -> int:
    """Return the grade for one label alone; those of several labels add up."""
    return 1 << (number - 1)


class RubricQuerySet(ByNaturalKey, models.QuerySet["Rubric"]):
    def offered(self) -> "RubricQuerySet":
        """Return rubrics that a new campaign or judge may use: not retired."""
        return self.filter(is_retired=False)

    def visible_to(self, user: User) -> "RubricQuerySet":
        """Return rubrics of the site, the user's projects and their campaigns; all for admins."""
        if user.is_admin:
            return self
        projects = Project.objects.visible_to(user).order_by().values("pk")
        # A dataset that moved to another project keeps its campaigns, and these their rubrics.
        used = Rubric.objects.filter(campaigns__dataset__project__in=projects).order_by()
        return self.filter(Q(project=None) | Q(project__in=projects) | Q(pk__in=used.values("pk")))

    def editable_by(self, user: User) -> "RubricQuerySet":
        """Return rubrics of the projects that the user owns; all for an admin."""
        if user.is_admin:
            return self
        return self.filter(project__in=Project.objects.owned_by(user).order_by().values("pk"))

    def available_in(self, project: Project) -> "RubricQuerySet":
        """Return the rubrics that data and campaigns of a project can use: the site's and its own."""
        return self.filter(Q(project=None) | Q(project=project))

    def of_slug(self, slug: str) -> "Rubric | None":
        """Return the rubric of a slug, locked if this queryset locks; None if there is none."""
        # PostgreSQL does not find a row that was replaced while waiting for its lock; the second query does.
        return self.filter(slug=slug).first() or self.filter(slug=slug).first()


class Rubric(NaturalKey):
    """A question asked of every pair, and the grades that may answer it.

    Immutable, except for its guideline, once a campaign, a judge or a rating uses it.
    """

    class Scale(models.TextChoices):
        ORDINAL = "ordinal", "ordinal: a higher grade means more"
        NOMINAL = "nominal", "nominal: grades are categories without an order"
        LABELS = "labels", "labels: several of them can apply to a pair, or none"

    class Shows(models.TextChoices):
        TEXT = "text", "the text"
        QUESTION = "question", "the sub-question"
        ANSWER = "answer", "the answer of the pair, marked or written under the rubric “answered”"
        REQUEST = "request", "the request of the topic"

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    question = models.CharField(
        max_length=200,
        blank=True,
        help_text="displayed above the questions of each text; empty: the default for the kind of text",
    )
    guideline = models.TextField(help_text="Markdown; displayed beside the text")
    scale = models.CharField(max_length=7, choices=Scale.choices, default=Scale.ORDINAL)
    shows = models.JSONField(
        default=text_and_question, help_text="parts of a pair that raters and judges see"
    )
    eta = models.SmallIntegerField(
        null=True,
        blank=True,
        help_text="lowest grade that counts as answerable; empty: no grade does",
    )
    span_from = models.SmallIntegerField(
        null=True,
        blank=True,
        help_text="lowest grade that needs at least one highlighted span; empty: no highlights",
    )
    impossible = models.JSONField(
        default=list,
        blank=True,
        help_text="grades that cannot be right beside grades of another rubric: [{grade, rubric, grades}]",
    )
    project = models.ForeignKey(
        Project,
        on_delete=models.PROTECT,
        related_name="rubrics",
        null=True,
        blank=True,
        help_text="its owners can edit the rubric, and only its members can see it; empty: the whole site",
    )
    is_retired = models.BooleanField(
        "retired", default=False, help_text="new campaigns and judges cannot use it"
    )

    objects = RubricQuerySet.as_manager()

    NATURAL = ("slug",)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("rubric", args=[self.slug])

    def is_editable_by(self, user: User) -> bool:
        """Return True if the user owns the rubric's project, or is an admin.

        The project is that of this object: its row may have been replaced by an edit meanwhile.
        """
        if user.is_admin or self.project_id is None:
            return user.is_admin
        return Project.objects.owned_by(user).filter(pk=self.project_id).exists()

    def grades(self) -> list[int]:
        """Return the grades that this rubric allows, ascending (cached).

        Those of a multi-label rubric are all sets of its labels, 0 for none of them.
        """
        if not _grades.get(self.pk):
            grades = tuple(self.levels.order_by("grade").values_list("grade", flat=True))
            _grades[self.pk] = _sets_of(grades) if self.is_multi_label else grades
        return list(_grades[self.pk])

    def scale_grades(self) -> list[int]:
        """Return the grades that each table has; of sets of labels those of one or none."""
        if not self.is_multi_label:
            return self.grades()
        numbers = self.levels.order_by("grade").values_list("grade", flat=True)
        return [0, *map(grade_of_label, numbers)]

    def grades_in_words(self) -> str:
        """Return the allowed grades, for errors; of a multi-label rubric, which label adds what."""
        if not self.is_multi_label:
            return ", ".join(map(str, self.grades()))
        labels = sorted(self.levels.all(), key=lambda level: level.grade)
        return "0 or a sum of " + ", ".join(
            f"{grade_of_label(level.grade)} {level.name or level.label}" for level in labels
        )

    @property
    def is_nominal(self) -> bool:
        """True if grades have no order: categories, or sets of labels."""
        return self.scale != self.Scale.ORDINAL

    @property
    def is_multi_label(self) -> bool:
        """True if a grade is a set of labels: the sum of `grade_of_label` of each of them."""
        return self.scale == self.Scale.LABELS

    @property
    def has_threshold(self) -> bool:
        """True if eta separates answerable grades; never for three or more nominal grades."""
        return self.eta is not None and (not self.is_nominal or len(self.grades()) == 2)

    @property
    def has_order(self) -> bool:
        """True if grades are ordered: an ordinal scale, or two nominal grades with eta."""
        return not self.is_nominal or self.has_threshold

    def names(self) -> dict[int, str]:
        """Return the display name of each grade, ascending.

        It is the number, or for nominal grades the level's name or label; for sets of labels all
        of them, and "none".
        """
        levels = sorted(self.levels.all(), key=lambda level: level.grade)
        if self.is_multi_label:
            labels = {level.grade: level.name or level.label for level in levels}
            return {grade: join_labels(grade, labels) or "none" for grade in self.grades()}
        return {
            level.grade: str(level.grade) if self.has_order else level.name or level.label
            for level in levels
        }

    def name_of(self, grade: int) -> str:
        """Return the display name of one grade, as `names`; the number of one that it has not."""
        labels = {level.grade: level.name or level.label for level in self.levels.all()}
        if self.is_multi_label:
            return join_labels(grade, labels) or "none"
        return str(grade) if self.has_order else labels.get(grade, str(grade))

    def grade_of(self, level: "RubricLevel") -> int:
        """Return the grade for one level: of a multi-label rubric that of its label alone."""
        return grade_of_label(level.grade) if self.is_multi_label else level.grade

    def grade_words(self) -> list[tuple[int, list[str]]]:
        """Return each grade with the words that stand for it in tables: names, labels, its number."""
        levels = self.levels.all()
        if not self.is_multi_label:
            return [(level.grade, [level.name, level.label, str(level.grade)]) for level in levels]
        labels = {level.grade: level.label for level in levels}
        return [
            (grade, [name, join_labels(grade, labels), str(grade)])
            for grade, name in self.names().items()
        ]

    @property
    def shows_text(self) -> bool:
        return self.Shows.TEXT in self.shows

    @property
    def shows_question(self) -> bool:
        return self.Shows.QUESTION in self.shows

    @property
    def shows_answer(self) -> bool:
        return self.Shows.ANSWER in self.shows

    @property
    def shows_request(self) -> bool:
        return self.Shows.REQUEST in self.shows

    @property
    def stands_for_topic(self) -> bool:
        """True if one text represents its whole topic: neither the text nor its answer is shown."""
        return not (self.shows_text or self.shows_answer)

    @property
    def asks_of_every_pair(self) -> bool:
        """True if it applies to any (text, question) pair: shows the question, needs no answer."""
        return self.shows_question and not self.shows_answer

    @property
    def in_words(self) -> str:
        """Return a one-line summary for lists of rubrics: scale, parts shown, thresholds."""
        visible_parts = " and ".join(part.value for part in self.Shows if part in self.shows)
        parts = [self.scale, f"shows {visible_parts}"]
        if self.eta is not None:
            parts.append(f"answerable from grade {self.eta}")
        if self.span_from is not None:
            parts.append(f"highlights from grade {self.span_from}")
        return "; ".join(parts)

    def takes_spans(self, grade: int | None) -> bool:
        """Return whether an answer may have spans: its grade needs some, or it has no grade yet."""
        return self.span_from is not None and (grade is None or self.needs_spans(grade))

    def needs_spans(self, grade: int) -> bool:
        """Return whether an answer of this grade needs at least one span."""
        return self.span_from is not None and grade >= self.span_from

    def answers(self, grade: int) -> bool:
        """Return whether a pair of this grade counts as answerable; never without an eta."""
        return self.eta is not None and self.has_threshold and grade >= self.eta

    def agrees(self, grade: int, other_grade: int) -> bool:
        """Return whether two grades agree: on the same side of eta, or equal if there is none."""
        return (
            self.answers(grade) == self.answers(other_grade)
            if self.has_threshold
            else grade == other_grade
        )

    def is_used(self) -> bool:
        """Return whether a campaign, judge, rating or any other row refers to it."""
        holders = [
            (holder.related_model, holder.field.name)
            for holder in self._meta.get_fields(include_hidden=True)
            if isinstance(holder, models.ManyToOneRel) and holder.related_model is not RubricLevel
        ]
        return any(model._base_manager.filter(**{name: self}).exists() for model, name in holders)


GradeUnder = tuple[int, int]  # key of a rubric, and one of its grades


def impossible_pairs(rubrics: Collection[Rubric]) -> set[tuple[GradeUnder, GradeUnder]]:
    """Return the pairs of grades that these rubrics declare impossible, in both orders.

    A declaration of one rubric counts for both.
    """
    pairs: set[tuple[GradeUnder, GradeUnder]] = set()
    if len(rubrics) < 2:
        return pairs
    of_slug = {rubric.slug: rubric for rubric in rubrics}
    for rubric in rubrics:
        for declared in rubric.impossible:
            other_rubric = of_slug.get(declared["rubric"])
            if other_rubric is None:
                continue
            for grade in declared["grades"]:
                own_grade, other_grade = (rubric.pk, declared["grade"]), (other_rubric.pk, grade)
                pairs |= {(own_grade, other_grade), (other_grade, own_grade)}
    return pairs


class RubricLevel(NaturalKey):
    """A grade of a rubric and the label that defines it; of a multi-label one, its number.

    `name` is the token for it in prompts and files, `key` its keyboard shortcut in place of the
    digit, `colour` the hue of its shade in tables. Raters read `examples` below the guideline.
    """

    class Colour(models.TextChoices):
        NONE = "", "none"
        GREEN = "green", "green"
        BLUE = "blue", "blue"
        PURPLE = "purple", "purple"
        ORANGE = "orange", "orange"
        RED = "red", "red"
        GREY = "grey", "grey"

    rubric = models.ForeignKey(
        Rubric, on_delete=models.CASCADE, related_name="levels", db_index=False
    )
    grade = models.SmallIntegerField()
    label = models.CharField(max_length=200)
    name = models.SlugField(max_length=40, blank=True, db_index=False)
    key = models.CharField(max_length=1, blank=True)
    colour = models.CharField(max_length=6, choices=Colour.choices, blank=True)
    examples = models.JSONField(
        default=list,
        blank=True,
        help_text="up to three pairs of this grade, displayed below the guideline: {text, question, reason}",
    )

    objects = NaturalQuerySet["RubricLevel"].as_manager()
    NATURAL = ("rubric__slug", "grade")

    class Meta:
        ordering = ["rubric_id", "-grade"]
        constraints = [
            models.UniqueConstraint(fields=["rubric", "grade"], name="level_grade_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.grade} {self.label}"


def labels_in(grade: int, numbers: Iterable[int]) -> list[int]:
    """Return the numbers of the labels that a grade of a multi-label rubric has, ascending."""
    return [number for number in sorted(numbers) if grade & grade_of_label(number)]


def join_labels(grade: int, labels: Mapping[int, str]) -> str:
    """Return the labels of a grade of a multi-label rubric, joined; "" for none."""
    return " + ".join(labels[number] for number in labels_in(grade, labels))


def _sets_of(numbers: Iterable[int]) -> tuple[int, ...]:
    """Return the grades of all sets of labels, ascending."""
    grades = [0]
    for number in sorted(numbers):
        grades += [grade + grade_of_label(number) for grade in grades]
    return tuple(grades)


@receiver([post_save, post_delete], sender=Rubric)
def _invalidate_grades(instance: Rubric, **kwargs: Any) -> None:
    _grades.pop(instance.pk, None)


def forget_grades() -> None:
    """Clear the cache of grades, after rubrics were created and undone: keys may be reused."""
    _grades.clear()
