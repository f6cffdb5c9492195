"""Open link of a campaign: whoever has it may join."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0002_equal_texts")]

    operations = [
        migrations.AddField(
            "campaign",
            "admits_anyone",
            models.BooleanField(
                "open link",
                default=False,
                help_text="whoever has the link may join, without an account",
            ),
        ),
    ]
