"""A campaign that is closed, whose texts get other words."""

from annotation.models import (
    Campaign,
    Membership,
    Rating,
    SubQuestion,
    Version,
)
from annotation.monitoring import actions
from crux_site.versions.text_edits import edit_text
from tests.toolbox.adjudication_study import (
    make_differing,
)
from tests.toolbox.factories import REPORT, make_campaign, make_dataset
from tests.toolbox.users import make_cast

MENDED = f"Mended. {REPORT}"  # all stands eight code points further on
HURT = REPORT.index("was hurt")


def make_world():
    """Two people have answered, and differ; the campaign is closed. rosa owns its project."""
    cast, dataset = make_cast(), make_dataset()
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    campaign = make_differing(cast, make_campaign(dataset, cast.worker, cast.other_worker))
    actions.set_state(campaign, "closed", cast.researcher)
    return cast


def mend(text, body=MENDED, *, counts=True, by=None) -> Version:
    return edit_text(text, body, by=by, why="", counts=counts)


def ask_otherwise(question) -> None:
    fresh = SubQuestion.objects.get(pk=question.pk)
    edit_text(fresh, "Who was hurt, and how?", by=None, why="", counts=True)


def grades(text) -> dict[tuple[str, int], tuple[int, list[int | None]]]:
    """Of a text by rater and question: the grade, and where each span begins."""
    ratings = Rating.objects.filter(text=text).prefetch_related("spans")
    return {
        (rating.rater.name, rating.question.number): (
            rating.grade,
            [span.start for span in rating.spans.all()],
        )
        for rating in ratings.select_related("rater", "question")
    }


def second(campaign, *people) -> Campaign:
    """Another study of the same texts."""
    Campaign.objects.filter(pk=campaign.pk).update(slug="first")
    return make_campaign(campaign.dataset, *people)


def participant(campaign, user):
    return campaign.participants.get(rater__user=user)
