from django.db import migrations

from annotation import word_index


class Migration(migrations.Migration):
    """No model tells of it: SQLite and PostgreSQL keep it in ways of their own."""

    dependencies = [
        ('annotation', "0025_shared_links"),
    ]

    operations = [
        migrations.RunPython(
            lambda apps, schema_editor: word_index.make(schema_editor),
            lambda apps, schema_editor: word_index.drop(schema_editor),
        ),
    ]
