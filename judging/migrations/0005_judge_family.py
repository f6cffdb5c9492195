"""Family of a judge's model, set by hand; empty: by the name of the model."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
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
    ]
