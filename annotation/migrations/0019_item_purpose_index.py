"""Index of the items of a campaign by purpose: whether it has practice is asked with each answer."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0018_rating_versions")]

    operations = [
        migrations.AddIndex(
            model_name="item",
            index=models.Index(fields=["campaign", "purpose"], name="item_purpose"),
        ),
    ]
