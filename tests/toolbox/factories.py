"""Factories of test data: a dataset with texts and questions, and a study on it."""

from annotation.builder import drafts
from annotation.models import Campaign, Dataset, Rubric, SubQuestion, Text, Topic, User
from annotation.models.standard import Standard
from annotation.participation import assigning

REPORT = (
    "The car ferry Halden lost steering off the breakwater on 9 March. None of the 112 people "
    "aboard was hurt.\n\nInvestigators found a coupling that was due for replacement in November."
)
PASSAGE = "Engineers lowered the reservoir after divers found a crack. The cost is not known."
QUESTIONS = ["What failed on the Halden?", "Was anybody hurt?", "Who was prosecuted?"]


def labels_of(standard: Standard) -> list[tuple[int, str]]:
    """Return the grades of a rubric with their labels, from the highest down."""
    return [(level.grade, level.label) for level in standard.levels]


def make_dataset(slug: str = "ferry", body: str = REPORT) -> Dataset:
    """Create a dataset with one topic.

    Three questions (and a filtered fourth), two reports and a passage.
    """
    dataset = Dataset.objects.create(slug=slug, title=f"The {slug} study")
    topic = Topic.objects.create(
        dataset=dataset, name=f"{slug}-1", request="Write about the ferry.", position=0
    )
    for position, question in enumerate(QUESTIONS):
        SubQuestion.objects.create(topic=topic, position=position, body=question)
    SubQuestion.objects.create(
        topic=topic, position=3, body="What did it cost?", filtered_because="no passage answers it"
    )
    for system in ("annotated.oracle", "annotated.bm25"):
        Text.objects.create(
            dataset=dataset, topic=topic, kind="report", system=system, name=f"{slug}-1", body=body
        )
    Text.objects.create(
        dataset=dataset, topic=topic, kind="passage", name=f"{slug}-1:0#0", body=PASSAGE
    )
    Text.objects.create(dataset=dataset, topic=topic, kind="passage", name=f"{slug}-1:0#1")
    return dataset


def make_campaign(
    dataset: Dataset,
    *people: User,
    rubric: str = "answerable",
    kind: str = "report",
    **options: int,
) -> Campaign:
    """Create an open study of all texts of a kind, assigned to the people."""
    campaign = Campaign(
        dataset=dataset,
        rubric=Rubric.objects.get(slug=rubric),
        slug=f"{dataset.slug}-{rubric}",
        title=f"Study of {dataset.slug}",
        **options,
    )
    texts = list(dataset.texts.filter(kind=kind).order_by("id"))
    drafts.open_campaign(campaign, texts, [assigning.rater_of(person) for person in people])
    return campaign
