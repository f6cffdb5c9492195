"""Labels and help texts of fields in plain terms. The database does not change."""

import django.db.models.deletion
from django.db import migrations, models

from annotation.migration_operations import StateOnly


class Migration(migrations.Migration):
    dependencies = [
        ("building", "0002_project_budget"),
        ("judging", "0003_labels_and_help_texts"),
    ]

    _labels = [
        migrations.AlterModelOptions(
            name="draft",
            options={
                "ordering": ["order_id", "number"],
                "verbose_name": "reply of a writer",
                "verbose_name_plural": "replies of writers",
            },
        ),
        migrations.AlterModelOptions(
            name="order",
            options={
                "ordering": ["run_id", "number"],
                "verbose_name": "generation task",
                "verbose_name_plural": "generation tasks",
            },
        ),
        migrations.AlterModelOptions(
            name="product",
            options={
                "ordering": ["draft_id", "position"],
                "verbose_name": "output",
                "verbose_name_plural": "outputs",
            },
        ),
        migrations.AlterModelOptions(
            name="writing",
            options={
                "ordering": ["-id"],
                "verbose_name": "generation run",
                "verbose_name_plural": "generation runs",
            },
        ),
        migrations.AlterField(
            model_name="draft",
            name="counts",
            field=models.BooleanField(
                default=True,
                help_text="false if another worker's reply to the same task was stored first",
            ),
        ),
        migrations.AlterField(
            model_name="order",
            name="n_left_out",
            field=models.PositiveIntegerField(
                default=0, help_text="passages that did not fit into the context window"
            ),
        ),
        migrations.AlterField(
            model_name="order",
            name="tries_left",
            field=models.PositiveSmallIntegerField(default=2, help_text="remaining attempts"),
        ),
        migrations.AlterField(
            model_name="product",
            name="decision",
            field=models.CharField(
                choices=[
                    ("proposed", "not yet reviewed"),
                    ("accepted", "accepted"),
                    ("edited", "accepted with edits"),
                    ("rejected", "rejected"),
                ],
                default="proposed",
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="product",
            name="flags",
            field=models.JSONField(
                default=list, help_text="remarks for the reviewer, as sentences"
            ),
        ),
        migrations.AlterField(
            model_name="product",
            name="statements",
            field=models.JSONField(
                default=list,
                help_text="for a report: [start, end, [labels]], offsets in code points of the body",
            ),
        ),
        migrations.AlterField(
            model_name="product",
            name="unseen",
            field=models.BooleanField(
                default=False, help_text="accepted without review, together with others"
            ),
        ),
        migrations.AlterField(
            model_name="writing",
            name="concurrency",
            field=models.PositiveSmallIntegerField(
                default=64, help_text="simultaneous requests of each worker"
            ),
        ),
        migrations.AlterField(
            model_name="writing",
            name="endpoint",
            field=models.CharField(
                blank=True,
                help_text="names from JUDGE_ENDPOINTS, or URLs, separated by |",
                max_length=250,
            ),
        ),
        migrations.AlterField(
            model_name="writing",
            name="price_in",
            field=models.FloatField(default=0, help_text="price of a million prompt tokens"),
        ),
        migrations.AlterField(
            model_name="writing",
            name="price_out",
            field=models.FloatField(default=0, help_text="price of a million completion tokens"),
        ),
        migrations.AlterField(
            model_name="writing",
            name="project_budget",
            field=models.ForeignKey(
                blank=True,
                help_text="budget to charge if the run uses a server of its project",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="judging.projectbudget",
            ),
        ),
        migrations.AlterField(
            model_name="writing",
            name="put_aside",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="servers that are no longer used, with the reason, by address",
            ),
        ),
        migrations.AlterField(
            model_name="writing",
            name="selection",
            field=models.JSONField(default=dict, help_text="requested selection of texts"),
        ),
        migrations.AlterField(
            model_name="writing",
            name="workers",
            field=models.PositiveSmallIntegerField(
                default=1, help_text="requested number of background workers"
            ),
        ),
    ]
    operations = [StateOnly(_labels)]
