"""Studies under other kinds of rubrics, for page and browser tests, on one dataset."""

from collections.abc import Sequence
from typing import Any

from annotation.builder import sampling
from annotation.models import (
    Campaign,
    Dataset,
    Rater,
    Rating,
    Rubric,
    RubricLevel,
    SubQuestion,
    Text,
    Topic,
)
from annotation.models.standard import STANDARD, add_standard
from annotation.participation.assigning import begin_part, invite

BODY = (
    "The lock at Wend was drained in March. Divers had found a crack in the lower gate, four metres "
    "long.\n\nBarges waited for nine weeks. The repair took two, and the rest of the time was spent on "
    "a dispute over who pays."
)
QUESTIONS = ["Why was the lock drained?", "How long did barges wait?", "Who paid?"]
ANSWERS = ["a crack in the lower gate", "nine weeks"]  # to the first questions; the third has none


def make_locks_study(slug: str = "wend") -> Dataset:
    """Create a topic with three questions, two reports and a passage.

    Two of the questions are answered.
    """
    dataset = Dataset.objects.create(slug=slug, title="The lock at Wend")
    topic = Topic.objects.create(
        dataset=dataset, name="wend", request="Say what became of the lock at Wend.", position=0
    )
    questions = [
        SubQuestion.objects.create(topic=topic, position=position, body=body)
        for position, body in enumerate(QUESTIONS)
    ]
    for kind, system, name in (
        ("report", "one", "wend"),
        ("report", "two", "wend"),
        ("passage", "", "wend:0"),
    ):
        Text.objects.create(
            dataset=dataset, topic=topic, kind=kind, system=system, name=name, body=BODY
        )
    rater = Rater.objects.create(dataset=dataset, name="words", kind=Rater.Kind.HUMAN)
    for text in dataset.texts.all():
        for question, quote in zip(questions, ANSWERS, strict=False):
            Rating.objects.record(
                rater=rater.pk,
                rubric=add_standard(STANDARD["answered"]).pk,
                text=text.pk,
                question=question.pk,
                grade=1,
                spans=[
                    {
                        "start": BODY.index(quote),
                        "end": BODY.index(quote) + len(quote),
                        "quote": quote,
                    }
                ],
            )
    return dataset


def kinds_of_facts() -> Rubric:
    """Create a nominal rubric of four names, each with its own key and colour."""
    rubric = Rubric.objects.create(
        slug="kind-of-fact",
        title="Kind of fact",
        question="What kind of fact does the question ask for?",
        guideline="Say what the question asks for.",
        scale=Rubric.Scale.NOMINAL,
    )
    for grade, label, key, colour in (
        (4, "A cause or a reason", "c", "green"),
        (3, "A time or a duration", "d", "blue"),
        (2, "A person or a body", "p", "orange"),
        (1, "None of these", "n", "grey"),
    ):
        RubricLevel.objects.create(
            rubric=rubric, grade=grade, label=label, name=label.split()[1], key=key, colour=colour
        )
    return rubric


def faults_of_answers(**fields: Any) -> Rubric:
    """Create a multi-label rubric: the faults of an answer, of which any may apply."""
    rubric = Rubric.objects.create(
        **{
            "slug": "faults",
            "title": "Faults of an answer",
            "question": "What is wrong with the answer in this text? Choose all that apply.",
            "guideline": "Look for each fault by itself.",
            "scale": Rubric.Scale.LABELS,
        }
        | fields
    )
    for number, label, name in (
        (1, "A part is missing", "incomplete"),
        (2, "Something is false", "false"),
        (3, "It cannot be understood", "unclear"),
    ):
        RubricLevel.objects.create(rubric=rubric, grade=number, label=label, name=name)
    return rubric


def open_study(
    dataset: Dataset,
    rubric: Rubric,
    raters: Sequence[Rater],
    kind: str = "report",
    further: Sequence[Rubric] = (),
    **options,
) -> Campaign:
    """Open a study of texts under a rubric and further ones, assigned to the raters."""
    campaign = Campaign.objects.create(
        **{
            "dataset": dataset,
            "rubric": rubric,
            "slug": rubric.slug,
            "title": rubric.title,
            "raters_per_item": max(1, len(raters)),
            "selection": {"kind": kind},
        }
        | options
    )
    campaign.further_rubrics.set(further)
    sampling.resample(campaign)
    sampling.publish(campaign)
    for rater in raters:
        begin_part(invite(campaign, rater))
    return campaign


def open_both(dataset: Dataset, raters: Sequence[Rater], **options) -> Campaign:
    """Open a study that asks for T1 and, on the same page, for the kind of fact."""
    kinds = Rubric.objects.filter(slug="kind-of-fact").first() or kinds_of_facts()
    usual = {"rubric": Rubric.objects.get(slug="answerable"), "further": [kinds]}
    usual |= {"slug": "both", "title": "Answers and facts"}
    return open_study(dataset, raters=raters, **usual | options)


def open_useful(dataset: Dataset, raters: Sequence[Rater], **options) -> Campaign:
    """Open a study that asks for T1 and for utility: 0 and 5 cannot both be right."""
    usual = {
        "rubric": Rubric.objects.get(slug="answerable"),
        "further": [add_standard(STANDARD["utility"])],
        "slug": "useful",
        "title": "Useful answers",
    }
    return open_study(dataset, raters=raters, **usual | options)
