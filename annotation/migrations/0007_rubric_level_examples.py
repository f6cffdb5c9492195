from typing import Any

from django.db import migrations, models


def fill_standard_rubrics(apps: Any, schema_editor: Any) -> None:
    """Add the examples of the program to its own rubrics, as a new installation has them."""
    from annotation.models.standard import STANDARD

    levels = apps.get_model("annotation", "RubricLevel").objects.using(schema_editor.connection.alias)
    for standard in STANDARD.values():
        for level in standard.levels:
            rows = levels.filter(rubric__slug=standard.slug, grade=level.grade, label=level.label)
            rows.update(examples=standard.examples[level.grade])


class Migration(migrations.Migration):

    dependencies = [
        ("annotation", "0006_answer_note_and_confidence"),
    ]

    operations = [
        migrations.AddField(
            model_name="rubriclevel",
            name="examples",
            field=models.JSONField(
                blank=True,
                default=list,
                help_text="up to three pairs of this grade, displayed below the guideline: {text, question, reason}",
            ),
        ),
        migrations.RunPython(fill_standard_rubrics, migrations.RunPython.noop, elidable=True),
    ]
