"""The demo fills an empty site once, and a second run keeps what people did."""

from django.core.management import call_command

from annotation.models import Answer, Assignment, Campaign, Dataset, Rating, User
from annotation.work import asked_of


def test_the_demo_is_whole_and_keeps_what_is_there(db, capsys):
    call_command("demo")
    dataset = Dataset.objects.get()
    assert dataset.topics.count() == 4
    assert {topic.questions.count() for topic in dataset.topics.all()} == {6}
    assert dataset.texts.filter(kind="passage").count() >= 20
    assert dataset.texts.filter(kind="report").values("system").distinct().count() == 2
    in_files = Rating.objects.filter(rater__kind="human", rater__dataset=dataset)
    assert in_files.values("rater").distinct().count() == 3
    assert Rating.objects.filter(rater__kind="baseline").exists()
    assert Campaign.objects.count() == 3
    assert Campaign.objects.get(slug="demo-crowd").participants.count() == 4
    counts = (Rating.objects.count(), Assignment.objects.count(), User.objects.count())
    first = Assignment.objects.filter(participant__rater__name="worker1").first()
    asked = asked_of(first, first.participant.campaign.rubric)[0]
    Answer.objects.create(
        assignment=first,
        question=asked.question,
        key="00000000-0000-4000-8000-000000000000",
        grade=0,
        spans=[],
        text_sha256="",
    )
    call_command("demo")
    assert (Rating.objects.count(), Assignment.objects.count(), User.objects.count()) == counts
    assert Answer.objects.filter(assignment=first).count() == 1
    assert "baseline" in capsys.readouterr().out
