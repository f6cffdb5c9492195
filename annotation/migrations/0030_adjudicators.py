"""Raters say themselves that they are adjudicators: imported ones have no campaign."""

from django.db import migrations, models


def mark(apps, schema_editor):
    """Mark the raters of campaigns' decisions."""
    campaigns = apps.get_model("annotation", "Campaign").objects.exclude(adjudicator=None)
    raters = apps.get_model("annotation", "Rater").objects
    raters.filter(pk__in=campaigns.values("adjudicator")).update(is_adjudicator=True)


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0029_earlier_positions'),
    ]

    operations = [
        migrations.AddField(
            model_name='rater',
            name='is_adjudicator',
            field=models.BooleanField(default=False, help_text='decided in sight of the grades of others'),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
