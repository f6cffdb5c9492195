from typing import Any

from django.db import migrations, models
from django.db.models import Q


def fill_standard_rubrics(apps: Any, schema_editor: Any) -> None:
    """Add the declarations of the program to its own rubrics, as a new installation has them.

    Rubrics of opened campaigns stay as they are: their raters would else be asked what those before were not.
    """
    from annotation.models.standard import STANDARD

    alias = schema_editor.connection.alias
    rubrics = apps.get_model("annotation", "Rubric").objects.using(alias)
    campaigns = apps.get_model("annotation", "Campaign").objects.using(alias).exclude(state="draft")
    used = Q(pk__in=campaigns.values("rubric")) | Q(
        pk__in=campaigns.filter(further_rubrics__isnull=False).values("further_rubrics")
    )
    for standard in STANDARD.values():
        for rubric in rubrics.filter(slug=standard.slug).exclude(used):
            levels = {level.grade: level.label for level in rubric.levels.all()}
            if levels == {level.grade: level.label for level in standard.levels}:
                rubric.impossible = standard.declarations
                rubric.save(update_fields=["impossible"])


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0014_campaign_feedback"),
    ]

    operations = [
        migrations.AddField(
            model_name="rubric",
            name="impossible",
            field=models.JSONField(
                blank=True,
                default=list,
                help_text="grades that cannot be right beside grades of another rubric: [{grade, rubric, grades}]",
            ),
        ),
        migrations.RunPython(fill_standard_rubrics, migrations.RunPython.noop, elidable=True),
    ]
