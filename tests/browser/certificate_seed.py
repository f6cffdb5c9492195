"""Seed of the way from a judge to its certificate: a judge has graded, and no person yet."""

from uuid import uuid4

from django.conf import settings

from annotation.models import Assignment, Dataset, Participant, Rater, Rating, User
from annotation.models.projects import join_main
from annotation.participation.assigning import begin_part
from annotation.task import saving
from annotation.text.spans import Span
from crux_site.imports.importing import import_dataset
from judging.engine.fill import pump
from judging.mock_model import MODEL
from tests.browser.sessions import make_sessions
from tests.toolbox.browser_texts import PASSWORD
from tests.toolbox.judge_test_study import as_sent
from tests.toolbox.judging_runs import a_judge, a_run
from tests.toolbox.judging_study import Scripted

SLUG = "stories"
JUDGE = "mock-judge"


def seed() -> None:
    join_main(User.objects.create_user("ada", password=PASSWORD, role="admin"))
    import_dataset(settings.BASE_DIR / "fixtures" / "judges", SLUG, title="Stories")
    stories = Dataset.objects.get(slug=SLUG)
    people = Rating.objects.filter(text__dataset=stories, rater__name="demo_person1")
    true_grades = dict(people.values_list("question", "grade"))
    Rating.objects.filter(text__dataset=stories).delete()
    judge = a_judge(JUDGE, model=MODEL, revision="", label_ids=[])
    run = a_run(judge, stories, texts="passages")
    pump(run, Scripted(lambda pair: as_sent(judge, true_grades[pair.question_id])(pair)), "seed:1")
    Rater.objects.filter(dataset=stories).delete()
    make_sessions()


def annotate() -> None:
    """Answer and submit all items of the campaign: people differ from the judge now and then."""
    judged = dict(Rating.objects.filter(rater__name=JUDGE).values_list("question", "grade"))
    for participant in Participant.objects.all():
        begin_part(participant)
    for assignment in Assignment.objects.select_related("participant__campaign", "item__text"):
        for number, item_question in enumerate(assignment.item.asked.select_related("question")):
            grade = judged[item_question.question_id]
            if (assignment.participant_id + assignment.item_id + number) % 4 == 0:
                grade += -1 if grade else 1
            quote = (assignment.item.text.body or "")[:4]
            saving.save_answer(
                assignment,
                item_question.question,
                key=uuid4(),
                grade=grade,
                spans=[Span(0, len(quote), quote)] if grade else [],
            )
        saving.submit(
            Assignment.objects.select_related("participant__campaign").get(pk=assignment.pk)
        )


def change_a_grade() -> None:
    rating = Rating.objects.filter(rater__kind="human").order_by("pk")[0]
    Rating.objects.filter(pk=rating.pk).update(grade=5 - rating.grade)
