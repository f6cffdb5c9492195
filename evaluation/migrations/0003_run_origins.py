"""Models that retrieved and reranked a run; empty: unknown."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0002_labels_and_help_texts")]

    operations = [
        migrations.AddField(
            "retrievalrun",
            "origins",
            models.JSONField(
                blank=True,
                db_default=models.Value([], output_field=models.JSONField()),
                default=list,
                help_text="models that made it: [{role, model, revision, edited}]; empty: unknown",
            ),
        ),
    ]
