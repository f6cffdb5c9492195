"""Models that wrote texts and made sub-questions; empty: unknown."""

from django.db import migrations, models

from annotation import word_index


def restore_triggers(apps, schema_editor):
    """Create the triggers of the full-text index again: SQLite drops them with the altered tables."""
    word_index.restore_triggers(schema_editor)


def origins():
    return models.JSONField(
        blank=True,
        db_default=models.Value([], output_field=models.JSONField()),
        default=list,
        help_text="models that made it: [{role, model, revision, edited}]; empty: unknown",
    )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0016_exposure")]

    operations = [
        # Run last in both directions.
        migrations.RunPython(migrations.RunPython.noop, restore_triggers),
        migrations.AddField("subquestion", "origins", origins()),
        migrations.AddField("text", "origins", origins()),
        migrations.RunPython(restore_triggers, migrations.RunPython.noop),
    ]
