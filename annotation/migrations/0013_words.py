"""The words of the rubric that a campaign shows, frozen when it opens.

Nothing is stored for the campaigns that are there: one that was opened before goes on showing the
rubric's own words, as it did (empty means these), and a draft stores all of them when it opens.
"""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0012_money'),
    ]

    operations = [
        migrations.AddField(
            model_name='campaign',
            name='wording',
            field=models.JSONField(blank=True, default=dict, editable=False, help_text="of the rubric, as annotation.models.wording has it: title, question, levels; empty: the rubric's own"),
        ),
    ]
