"""Labels and help texts of fields in plain terms. The database does not change."""

from django.db import migrations, models

from annotation.migration_operations import StateOnly


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0001_squashed_0_2_0"),
    ]

    _labels = [
        migrations.AlterModelOptions(
            name="samplechance",
            options={
                "ordering": ["sample_id", "text_id"],
                "verbose_name": "inclusion probability",
                "verbose_name_plural": "inclusion probabilities",
            },
        ),
        migrations.AlterField(
            model_name="labelsample",
            name="system",
            field=models.CharField(
                blank=True, help_text="system of the reports; empty: all systems", max_length=120
            ),
        ),
        migrations.AlterField(
            model_name="retrievalrun",
            name="recipe",
            field=models.TextField(
                blank=True, default="", help_text="recipe of the run, in one line"
            ),
        ),
        migrations.AlterField(
            model_name="retrievalrun",
            name="tag",
            field=models.CharField(
                blank=True, help_text="run tag: last column of the run's file", max_length=120
            ),
        ),
    ]
    operations = [StateOnly(_labels)]
