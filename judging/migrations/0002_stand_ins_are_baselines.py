"""What asks the stand-in counts words in common, whoever made it."""

from django.db import migrations


def as_baselines(apps, schema_editor):
    raters = apps.get_model("annotation", "Rater").objects.using(schema_editor.connection.alias)
    raters.filter(judge__model="stand-in", kind="model").update(kind="baseline")


class Migration(migrations.Migration):

    dependencies = [
        ("judging", "0001_judges_and_runs"),
        ("annotation", "0008_contact"),
    ]

    operations = [migrations.RunPython(as_baselines, migrations.RunPython.noop)]
