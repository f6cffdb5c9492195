"""Built-in rubrics: two that always exist, and others that owners can add.

The two are the tasks of CRUX. The others are those of related work: types of questions and
critiques of pairs (Know Your RAG), answers (RAGQuestEval), nuggets (TREC), citations and utility
(ALCE), UMBRELA.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_noop

from annotation.models.corpus import Text
from annotation.models.rubric import Rubric, RubricLevel

GUIDELINES = Path(__file__).parent.parent / "guidelines"
Examples = dict[int, list[dict[str, str]]]  # by grade; each has text, question and reason


@dataclass(frozen=True)
class Level:
    """Definition of a built-in level; `name` is its token in files and replies."""

    grade: int
    label: str
    name: str = ""
    key: str = ""
    colour: str = ""


@dataclass(frozen=True)
class Impossible:
    """Grade of a built-in rubric that cannot be right beside grades of another one."""

    grade: int
    rubric: str
    grades: tuple[int, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"grade": self.grade, "rubric": self.rubric, "grades": list(self.grades)}


@dataclass(frozen=True)
class Standard:
    """Definition of a built-in rubric; levels in descending order, as displayed.

    Its texts stay English in the database. `annotation.models.rubric_wording` translates them for a
    campaign.
    """

    slug: str
    title: str
    levels: tuple[Level, ...]
    question: str = ""
    kind: Text.Kind | None = None
    scale: Rubric.Scale = Rubric.Scale.ORDINAL
    shows: tuple[str, ...] = ("text", "question")
    eta: int | None = None
    span_from: int | None = None
    impossible: tuple[Impossible, ...] = ()

    @property
    def guideline(self) -> str:
        return (GUIDELINES / f"{self.slug}.md").read_text(encoding="utf-8")

    @property
    def declarations(self) -> list[dict[str, Any]]:
        """Return the impossible combinations as `Rubric.impossible` has them."""
        return [impossible.as_dict() for impossible in self.impossible]

    @property
    def examples(self) -> Examples:
        return examples_in(self.slug, "")


ANSWERABLE = Standard(
    slug="answerable",
    title=gettext_noop("T1, answerable or not"),
    kind=Text.Kind.REPORT,
    scale=Rubric.Scale.NOMINAL,
    eta=1,
    span_from=1,
    levels=(Level(1, gettext_noop("answerable")), Level(0, gettext_noop("not answerable"))),
)
GRADED = Standard(
    slug="graded",
    title=gettext_noop("T2, grades 0 to 5"),
    kind=Text.Kind.PASSAGE,
    eta=3,
    span_from=1,
    impossible=(
        Impossible(5, "answerable", (0,)),
        Impossible(0, "answerable", (1,)),
    ),
    levels=(
        Level(5, gettext_noop("Answers the question fully and plainly")),
        Level(4, gettext_noop("Answers it; a detail is missing or left to infer")),
        Level(3, gettext_noop("Answers the main part; others stay open")),
        Level(2, gettext_noop("Gives facts that bear on it, but no answer")),
        Level(1, gettext_noop("Same subject, no help with the question")),
        Level(0, gettext_noop("Nothing to do with the question")),
    ),
)
DEFAULT_RUBRICS = (ANSWERABLE, GRADED)

QUESTION_TYPE = Standard(
    slug="question-type",
    title=gettext_noop("Type of question"),
    question=gettext_noop("What does it take to answer the question from the text?"),
    scale=Rubric.Scale.NOMINAL,
    impossible=(
        Impossible(2, "answerable", (0,)),
        Impossible(1, "answerable", (0,)),
        Impossible(0, "answerable", (1,)),
        Impossible(2, "graded", (0,)),
        Impossible(1, "graded", (0,)),
        Impossible(0, "graded", (5,)),
    ),
    levels=(
        Level(3, gettext_noop("A conclusion that the text does not spell out"), "reasoning"),
        Level(2, gettext_noop("Several places of the text, put together"), "summary"),
        Level(1, gettext_noop("One fact that stands in one place"), "fact_single"),
        Level(0, gettext_noop("It cannot be answered from the text"), "unanswerable"),
    ),
)
ANSWERED = Standard(
    slug="answered",
    title=gettext_noop("Answers, in the words of the text"),
    question=gettext_noop("Which words of the text answer the question?"),
    scale=Rubric.Scale.NOMINAL,
    eta=1,
    span_from=1,
    impossible=(
        Impossible(1, "answerable", (0,)),
        Impossible(0, "answerable", (1,)),
        Impossible(1, "graded", (0, 1)),
        Impossible(0, "graded", (5,)),
        Impossible(1, "question-type", (0,)),
        Impossible(0, "question-type", (1, 2)),
    ),
    levels=(
        Level(1, gettext_noop("These words answer it"), "answered"),
        Level(0, gettext_noop("It cannot be told from the text"), "cannot_tell"),
    ),
)
IMPORTANCE = Standard(
    slug="importance",
    title=gettext_noop("Importance of a nugget"),
    question=gettext_noop("How much does a good answer to the request need this?"),
    shows=("request", "question"),
    levels=(
        Level(2, gettext_noop("A good answer must have it"), "vital"),
        Level(1, gettext_noop("Good to have, and not needed"), "okay"),
    ),
)
NUGGET_SUPPORT = Standard(
    slug="nugget-support",
    title=gettext_noop("Support of a nugget"),
    question=gettext_noop("Does the text say this?"),
    eta=2,
    levels=(
        Level(2, gettext_noop("It says it"), "support"),
        Level(1, gettext_noop("It says part of it"), "partial_support"),
        Level(0, gettext_noop("It does not say it"), "not_support"),
    ),
)
CITES = Standard(
    slug="cites",
    title=gettext_noop("Citations, as a system gives them"),
    question=gettext_noop("Does the sentence cite this text?"),
    scale=Rubric.Scale.NOMINAL,
    eta=1,
    levels=(
        Level(1, gettext_noop("It cites it"), "cites"),
        Level(0, gettext_noop("It does not"), "cites_not"),
    ),
)
CITATION_SUPPORT = Standard(
    slug="citation-support",
    title=gettext_noop("Support of a sentence by what it cites"),
    question=gettext_noop("Does the cited text support the sentence?"),
    eta=2,
    levels=(
        Level(2, gettext_noop("All that the sentence claims"), "full"),
        Level(1, gettext_noop("Part of what it claims"), "partial"),
        Level(0, gettext_noop("Nothing of it"), "none"),
    ),
)
UMBRELA = Standard(
    slug="umbrela",
    title=gettext_noop("Relevance, 0 to 4, as in UMBRELA of TREC RAG 2025"),
    question=gettext_noop("How relevant is the text to the question?"),
    kind=Text.Kind.PASSAGE,
    eta=2,
    impossible=(
        Impossible(4, "answerable", (0,)),
        Impossible(0, "answerable", (1,)),
        Impossible(4, "graded", (0, 1)),
        Impossible(0, "graded", (5,)),
    ),
    levels=(
        Level(4, gettext_noop("It is about the question and answers it fully")),
        Level(3, gettext_noop("It answers it, with other things beside")),
        Level(2, gettext_noop("It answers it in part")),
        Level(1, gettext_noop("It is on the subject and does not answer it")),
        Level(0, gettext_noop("It is about something else")),
    ),
)
UTILITY = Standard(
    slug="utility",
    title=gettext_noop("Utility of an answer, 1 to 5"),
    question=gettext_noop("How useful is this answer to who asked the question?"),
    kind=Text.Kind.REPORT,
    impossible=(
        Impossible(5, "answerable", (0,)),
        Impossible(5, "graded", (0, 1)),
    ),
    levels=(
        Level(5, gettext_noop("Exactly what was asked for")),
        Level(4, gettext_noop("Most of what was asked for")),
        Level(3, gettext_noop("Some of what was asked for")),
        Level(2, gettext_noop("Little of what was asked for")),
        Level(1, gettext_noop("Nothing of what was asked for")),
    ),
)
FIVE = (
    Level(5, gettext_noop("fully")),
    Level(4, gettext_noop("mostly")),
    Level(3, gettext_noop("in part")),
    Level(2, gettext_noop("hardly")),
    Level(1, gettext_noop("not at all")),
)


def _critique(
    name: str, title: str, question: str, *parts: str, impossible: tuple[Impossible, ...] = ()
) -> Standard:
    return Standard(f"critique-{name}", title, FIVE, question, shows=parts, impossible=impossible)


CRITIQUES = (
    _critique(
        "q_to_c_groundedness",
        gettext_noop("Critique: the question rests on the text"),
        gettext_noop("Can the question be answered from the text, and without doubt?"),
        *("text", "question"),
        impossible=(
            Impossible(5, "answerable", (0,)),
            Impossible(1, "answerable", (1,)),
            Impossible(5, "graded", (0, 1)),
            Impossible(1, "graded", (5,)),
        ),
    ),
    _critique(
        "a_to_c_groundedness",
        gettext_noop("Critique: the answer rests on the text"),
        gettext_noop("Does the text bear out all that the answer says?"),
        *("text", "answer"),
    ),
    _critique(
        "q_feasibility",
        gettext_noop("Critique: the question can be asked of the text"),
        gettext_noop("Is this a question that somebody could ask who looks for this text?"),
        *("text", "question"),
    ),
    _critique(
        "stand_alone",
        gettext_noop("Critique: the question stands alone"),
        gettext_noop("Is the question understood by somebody who sees nothing else?"),
        "question",
    ),
    _critique(
        "q_usefulness",
        gettext_noop("Critique: the question is useful"),
        gettext_noop("Would people who use such a collection ask this question?"),
        "question",
    ),
    _critique(
        "c_usefulness",
        gettext_noop("Critique: the text is useful"),
        gettext_noop("Does the text hold facts that are worth asking for?"),
        "text",
    ),
    _critique(
        "c_clarity",
        gettext_noop("Critique: the text is clear"),
        gettext_noop("Is the text whole, and easy to understand?"),
        "text",
    ),
    _critique(
        "qa_tautology",
        gettext_noop("Critique: the answer repeats the question"),
        gettext_noop("Does the answer only say again what the question says?"),
        *("question", "answer"),
    ),
)
OPTIONAL_RUBRICS = (
    QUESTION_TYPE,
    ANSWERED,
    IMPORTANCE,
    NUGGET_SUPPORT,
    CITES,
    CITATION_SUPPORT,
    UMBRELA,
    UTILITY,
    *CRITIQUES,
)
STANDARD = {standard.slug: standard for standard in (*DEFAULT_RUBRICS, *OPTIONAL_RUBRICS)}


@cache
def examples_in(slug: str, language: str) -> Examples:
    """Return the examples of a built-in rubric in a language ("": English); may be empty."""
    path = GUIDELINES / f"{slug}.examples{language and '.'}{language}.toml"
    if not path.exists():
        return {}
    levels = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        int(grade): [{"question": "", **example} for example in examples]
        for grade, examples in levels.items()
    }


def kind_for(rubric: Rubric) -> str:
    """Return the kind of text that a built-in rubric is made for, or ""."""
    standard = STANDARD.get(rubric.slug)
    return (standard and standard.kind) or ""


def ensure_standard_rubrics(using: str = "default") -> None:
    """Create the CRUX rubrics that are missing. An edited one stays unchanged."""
    for standard in DEFAULT_RUBRICS:
        add_standard(standard, using)


def add_standard(standard: Standard, using: str = "default") -> Rubric:
    """Return the rubric of this slug, created from its definition if missing."""
    with transaction.atomic(using):
        rubric, created = Rubric.objects.using(using).get_or_create(
            slug=standard.slug,
            defaults={
                "title": standard.title,
                "question": standard.question,
                "guideline": standard.guideline,
                "scale": standard.scale,
                "shows": list(standard.shows),
                "eta": standard.eta,
                "span_from": standard.span_from,
                "impossible": standard.declarations,
            },
        )
        if created:
            examples = standard.examples
            levels = (
                RubricLevel(rubric=rubric, examples=examples[level.grade], **vars(level))
                for level in standard.levels
            )
            RubricLevel.objects.using(using).bulk_create(levels)
    return rubric
