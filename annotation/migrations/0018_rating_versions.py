"""Random numbers of the writes to each rater's ratings, inserted by triggers."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0017_origins")]

    operations = [
        migrations.CreateModel(
            name="RatingVersion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("rater_id", models.BigIntegerField(db_index=True)),
                ("token", models.BigIntegerField()),
            ],
        ),
    ]
