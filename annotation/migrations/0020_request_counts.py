"""Table of the rate limits, in which all processes of a site count on PostgreSQL."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0019_item_purpose_index")]

    operations = [
        migrations.CreateModel(
            name="RequestCount",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("window_end", models.FloatField(help_text="seconds since 1970")),
                ("number", models.PositiveIntegerField()),
            ],
        ),
    ]
