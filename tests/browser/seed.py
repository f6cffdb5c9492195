"""Fills the database of the browser tests' own server; run in a process of its own."""

from django.conf import settings

from annotation import assigning
from annotation.models import Campaign, Dataset, Rubric, SubQuestion, Text, Topic, User
from crux_site.importing import import_dataset
from judging.fill import fill_lexical
from tests.browser.material import PASSWORD, T1_ANSWERS, T1_BODY, T2_ANSWERS, T2_BODY

WORKERS = 24


def seed() -> None:
    """A T1 and a T2 study of one item each (and a second report), lent to many workers."""
    for name, role in (("ada", "admin"), ("rosa", "researcher")):
        User.objects.create_user(name, password=PASSWORD, role=role)
    workers = [
        User.objects.create_user(f"worker{number}", password=PASSWORD, role="worker")
        for number in range(WORKERS)
    ]
    raters = [assigning.rater_of(worker) for worker in workers]
    dataset = Dataset.objects.create(slug="browser", title="Browser study")
    for position, (name, questions) in enumerate(
        (("railway", [q for q, _ in T1_ANSWERS]), ("dam", [q for q, _, _ in T2_ANSWERS]))
    ):
        topic = Topic.objects.create(
            dataset=dataset, name=name, request=f"Write about the {name}.", position=position
        )
        SubQuestion.objects.bulk_create(
            SubQuestion(topic=topic, position=at, body=body) for at, body in enumerate(questions)
        )
    railway, dam = dataset.topics.order_by("position")
    texts = [
        Text(topic=railway, kind="report", system="one", name="railway", body=T1_BODY),
        Text(topic=railway, kind="report", system="two", name="railway", body=T1_BODY[:300]),
        Text(topic=dam, kind="passage", name="dam:0#0", body=T2_BODY),
    ]
    for text in texts:
        text.dataset = dataset
        text.save()
    for slug, rubric, items in (("t1", "answerable", texts[:2]), ("t2", "graded", texts[2:])):
        campaign = Campaign(
            dataset=dataset,
            rubric=Rubric.objects.get(slug=rubric),
            slug=slug,
            title=f"Study {slug}",
        )
        assigning.open_campaign(campaign, items, raters)
    _results()


def _results() -> None:
    """The demo study, so that the pages of results have something to show."""
    import_dataset(settings.BASE_DIR / "fixtures" / "demo", "coast", title="Coast")
    fill_lexical(Dataset.objects.get(slug="coast"))
