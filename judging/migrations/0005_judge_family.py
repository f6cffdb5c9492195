"""Family of a judge's model, set by hand; empty: by the name of the model.

Ratings that judges of this site gave get their exposure: they had seen nothing.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Exists, OuterRef

EXPOSED_TO_NOTHING = 0


def expose_ratings(apps, schema_editor):
    """Mark the ratings that judges of this site gave: they had seen nothing."""
    alias = schema_editor.connection.alias
    attempts = apps.get_model("judging", "Attempt").objects.using(alias)
    judged = attempts.filter(
        judge__rater=OuterRef("rater"),
        judge__rubric=OuterRef("rubric"),
        text=OuterRef("text"),
        question=OuterRef("question"),
        counts=True,
    )
    ratings = apps.get_model("annotation", "Rating").objects.using(alias)
    ratings.filter(Exists(judged)).update(exposure=EXPOSED_TO_NOTHING)


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0016_exposure"),
        ("judging", "0004_mark_copied_ratings"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            "judge",
            "family_override",
            models.CharField(
                "family of the model",
                blank=True,
                help_text="empty: by the name of the model",
                max_length=60,
            ),
        ),
        migrations.AddField(
            "judge",
            "family_set",
            models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            "judge",
            "family_set_by",
            models.ForeignKey(
                blank=True,
                db_index=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddConstraint(
            "judge",
            models.CheckConstraint(
                condition=models.Q(family_override="") | models.Q(family_set__isnull=False),
                name="family_by_hand_has_its_time",
            ),
        ),
        migrations.RunPython(expose_ratings, migrations.RunPython.noop, elidable=True),
    ]
