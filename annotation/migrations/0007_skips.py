from django.db import migrations, models


def note_what_was_skipped(apps, schema_editor):
    """What is skipped now; of what went back to the others since, nothing tells any more."""
    assignments = apps.get_model("annotation", "Assignment").objects
    assignments.using(schema_editor.connection.alias).filter(state="skipped").update(
        was_skipped=True
    )


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0006_questions_without_words'),
    ]

    operations = [
        migrations.AddField(
            model_name='assignment',
            name='was_skipped',
            field=models.BooleanField(default=False, help_text='and not handed in since, also where it went back to the others'),
        ),
        migrations.AddField(
            model_name='campaign',
            name='skips_per_part',
            field=models.PositiveSmallIntegerField(blank=True, help_text='texts of a part that may be skipped; empty: a quarter', null=True),
        ),
        migrations.RunPython(note_what_was_skipped, migrations.RunPython.noop),
    ]
