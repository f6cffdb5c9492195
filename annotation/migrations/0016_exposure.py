from typing import Any

from django.db import migrations, models
from django.db.models import Exists, OuterRef
from django.db.models.functions import Coalesce

CHOICES = [
    (0, "nothing"),
    (1, "the grade of a judge"),
    (2, "the grades of other raters"),
    (3, "the grades of a judge and of other raters"),
    (4, "unknown"),
    (5, "the decisions of an expert on other pairs"),
]


def fill_ratings(apps: Any, schema_editor: Any) -> None:
    """Derive the exposure of ratings that came from this site; those of files stay unknown.

    No page of a campaign has shown a grade of others. Adjudicators decide in sight of the raters' grades.
    """
    alias = schema_editor.connection.alias
    ratings = apps.get_model("annotation", "Rating").objects.using(alias)
    answers = apps.get_model("annotation", "Answer").objects.using(alias)
    answered = answers.filter(
        assignment__participant__rater=OuterRef("rater"),
        assignment__item__text=Coalesce(OuterRef("copied_from"), OuterRef("text")),
        question=OuterRef("question"),
    )
    ratings.filter(Exists(answered), rater__kind="human", rater__is_adjudicator=False).update(
        exposure=0
    )
    ratings.filter(rater__is_adjudicator=True, rater__dataset=None).update(exposure=2)
    ratings.filter(rater__kind="aggregate").update(exposure=2)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0015_rubric_impossible")]

    operations = [
        migrations.AddField(
            model_name="answer",
            name="exposure",
            field=models.SmallIntegerField(
                choices=CHOICES,
                db_default=0,
                default=0,
                help_text="what the person had seen before the answer",
            ),
        ),
        migrations.AddField(
            model_name="rating",
            name="exposure",
            field=models.SmallIntegerField(
                choices=CHOICES,
                db_default=4,
                default=4,
                help_text="what the rater had seen before giving the grade",
            ),
        ),
        migrations.RunPython(fill_ratings, migrations.RunPython.noop, elidable=True),
    ]
