"""The rubrics that every installation has. Their guidelines are files that an admin may replace."""

from dataclasses import dataclass
from pathlib import Path

from annotation.models import Rubric, RubricLevel, Text

GUIDELINES = Path(__file__).parent.parent / "guidelines"


@dataclass(frozen=True)
class Standard:
    """A rubric as it is made; levels from the highest grade down, as they are shown."""

    slug: str
    title: str
    kind: Text.Kind
    eta: int
    span_from: int
    levels: tuple[tuple[int, str], ...]


ANSWERABLE = Standard(
    slug="answerable",
    title="T1, answerable or not",
    kind=Text.Kind.REPORT,
    eta=1,
    span_from=1,
    levels=((1, "answerable"), (0, "not answerable")),
)
GRADED = Standard(
    slug="graded",
    title="T2, grades 0 to 5",
    kind=Text.Kind.PASSAGE,
    eta=3,
    span_from=1,
    levels=(
        (5, "Answers the question fully and plainly"),
        (4, "Answers it; a detail is missing or left to infer"),
        (3, "Answers the main part; others stay open"),
        (2, "Gives facts that bear on it, but no answer"),
        (1, "Same subject, no help with the question"),
        (0, "Nothing to do with the question"),
    ),
)
STANDARD = (ANSWERABLE, GRADED)


def kind_for(rubric: Rubric) -> str:
    """The kind of text that a rubric is made for; empty where it is made for none in particular."""
    return next((standard.kind for standard in STANDARD if standard.slug == rubric.slug), "")


def ensure_standard_rubrics(using: str = "default") -> None:
    """Make the standard rubrics that are not there. One that was edited stays as it is."""
    for standard in STANDARD:
        rubric, created = Rubric.objects.using(using).get_or_create(
            slug=standard.slug,
            defaults={
                "title": standard.title,
                "eta": standard.eta,
                "span_from": standard.span_from,
                "guideline": (GUIDELINES / f"{standard.slug}.md").read_text(encoding="utf-8"),
            },
        )
        if created:
            RubricLevel.objects.using(using).bulk_create(
                RubricLevel(rubric=rubric, grade=grade, label=label)
                for grade, label in standard.levels
            )
