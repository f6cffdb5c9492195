"""A study of passages of which three have equal words, and the ratings of its raters."""

from annotation.models import Campaign, Dataset, Rating, SubQuestion, Text, Topic, User
from tests.toolbox.factories import make_campaign

WHEEL = "The wheel was mended by Marsh."
BODIES = {"m1:0": WHEEL, "m1:1": f" \n{WHEEL}", "m1:2": f"{WHEEL} ", "m1:3": "Other words."}
COPIES = ("m1:1", "m1:2")

Grades = dict[str, tuple[int, str, list[tuple[int, str]]]]


def make_mill(slug: str = "mill") -> Dataset:
    dataset = Dataset.objects.create(slug=slug, title="The mill")
    topic = Topic.objects.create(dataset=dataset, name="m1", request="Report.", position=0)
    for position, body in enumerate(("Who repaired the wheel?", "When?")):
        SubQuestion.objects.create(topic=topic, position=position, body=body)
    for name, body in BODIES.items():
        Text.objects.create(dataset=dataset, topic=topic, kind="passage", name=name, body=body)
    return dataset


def make_copying(dataset: Dataset, *people: User, **options) -> Campaign:
    """Open a campaign on all passages that hands out one of equal words."""
    options = {"rubric": "graded", "kind": "passage", "copies_equal_texts": True} | options
    return make_campaign(dataset, *people, **options)


def grades_of(rater: str, number: int = 1) -> Grades:
    """Return a rater's grades of question `number` by text: grade, read text, spans."""
    ratings = Rating.objects.filter(rater__name=rater, question__position=number - 1)
    return {
        rating.text.name: (
            rating.grade,
            rating.copied_from.name if rating.copied_from else "",
            [(span.start, span.quote) for span in rating.spans.all()],
        )
        for rating in ratings.select_related("text", "copied_from").order_by("text__name")
    }


def text_named(name: str) -> Text:
    return Text.objects.get(name=name)
