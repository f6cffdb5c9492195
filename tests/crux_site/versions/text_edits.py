"""Study with a marked report, and text edits by the form."""

from annotation.models import (
    Membership,
    NuggetSpan,
    Rater,
    Rating,
    Rubric,
    SubQuestion,
    Text,
    digest,
)
from tests.toolbox.factories import REPORT, make_dataset
from tests.toolbox.users import make_cast

SPANS = ("None of the 112 people aboard", "coupling that was due", "9 March")


def make_world():
    """rosa owns the project; ann, a file rater, graded a report with three spans.

    She also graded a passage without a span.
    """
    cast, dataset = make_cast(), make_dataset()
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    ann = Rater.objects.create(dataset=dataset, name="ann", kind="human")
    answerable = Rubric.objects.get(slug="answerable")
    report = dataset.texts.filter(kind="report").first()
    for question, grade in zip(dataset.topics.get().questions.all(), (1, 0), strict=False):
        Rating.objects.create(
            rater=ann, rubric=answerable, text=report, question=question, grade=grade
        )
    rating = Rating.objects.get(grade=1)
    for position, quote in enumerate(SPANS):
        start = REPORT.index(quote)
        NuggetSpan.objects.create(
            rating=rating, position=position, start=start, end=start + len(quote), quote=quote
        )
    return cast


def entity_at(url: str) -> Text | SubQuestion:
    """The text or question of a page, by its address."""
    kind, pk = url.split("/")[-3:-1]
    return (Text if kind == "text" else SubQuestion).objects.get(pk=pk)


def send(client, url, body, button="change", counts="yes", reason="a slip"):
    data = {
        "body": body,
        "counts": counts,
        "why": reason,
        "seen": digest(entity_at(url).body),
        button: "",
    }
    return client.post(url, data)


def marked(report) -> list[tuple[str, str]]:
    """Return the text that each span marks now, and the source quote of a lost one."""
    spans = NuggetSpan.objects.filter(rating__text=report)
    body = report.body
    return [
        (body[span.start : span.end] if span.start is not None else "", span.source_quote)
        for span in spans
    ]
