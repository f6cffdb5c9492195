"""Random numbers that change with the ratings of each rater, drawn by triggers."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0017_origins")]

    operations = [
        migrations.CreateModel(
            name="RatingVersion",
            fields=[
                ("rater_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("token", models.BigIntegerField()),
            ],
        ),
    ]
