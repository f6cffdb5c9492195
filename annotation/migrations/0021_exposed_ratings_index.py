"""Index of exposed ratings: result pages ask at each look whether there is one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0020_request_counts")]

    operations = [
        migrations.AddIndex(
            model_name="rating",
            index=models.Index(
                fields=["rater"],
                condition=models.Q(exposure__in=(1, 2, 3, 5)),
                name="rating_exposed",
            ),
        ),
    ]
