"""Labels and help texts of fields in plain terms. The database does not change."""

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

from annotation.migration_operations import StateOnly


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0004_labels_and_help_texts"),
        ("judging", "0002_project_budget"),
    ]

    _labels = [
        migrations.AlterModelOptions(
            name="attempt",
            options={
                "ordering": ["id"],
                "verbose_name": "reply of a judge",
                "verbose_name_plural": "replies of judges",
            },
        ),
        migrations.AlterModelOptions(
            name="batch",
            options={
                "ordering": ["id"],
                "verbose_name": "batch of replies",
                "verbose_name_plural": "batches of replies",
            },
        ),
        migrations.AlterModelOptions(
            name="endpoint",
            options={
                "ordering": ["name"],
                "verbose_name": "model server",
                "verbose_name_plural": "model servers",
            },
        ),
        migrations.AlterModelOptions(
            name="outboundpolicy",
            options={"verbose_name": "outbound policy", "verbose_name_plural": "outbound policies"},
        ),
        migrations.AlterField(
            model_name="allowedhost",
            name="port",
            field=models.PositiveIntegerField(
                default=0,
                help_text="0: any port",
                validators=[django.core.validators.MaxValueValidator(65535)],
            ),
        ),
        migrations.AlterField(
            model_name="attempt",
            name="copied",
            field=models.BooleanField(
                default=False, help_text="reply about another text of equal words"
            ),
        ),
        migrations.AlterField(
            model_name="attempt",
            name="reasoning",
            field=models.TextField(
                blank=True,
                default="",
                help_text="reasoning of the model, if the server returns it beside the reply",
            ),
        ),
        migrations.AlterField(
            model_name="batch",
            name="n_expected",
            field=models.PositiveIntegerField(
                default=0, help_text="replies with an expected grade"
            ),
        ),
        migrations.AlterField(
            model_name="judge",
            name="archived",
            field=models.DateTimeField(
                blank=True,
                help_text="since when lists and new runs do not offer the judge",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="judge",
            name="failure_policy",
            field=models.CharField(
                choices=[
                    ("missing", "leave the pair without a grade"),
                    ("zero", "count it as 0, as the CRUX paper does"),
                ],
                default="missing",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="judge",
            name="is_site_wide",
            field=models.BooleanField(
                default=False,
                help_text="visible to all researchers of the site; otherwise to members of the projects where it runs",
            ),
        ),
        migrations.AlterField(
            model_name="judge",
            name="levels",
            field=models.JSONField(
                help_text="grades and labels of the rubric when the judge was created, ascending"
            ),
        ),
        migrations.AlterField(
            model_name="judge",
            name="projects",
            field=models.ManyToManyField(
                blank=True,
                help_text="projects in which an owner created the judge",
                related_name="judges",
                to="annotation.project",
            ),
        ),
        migrations.AlterField(
            model_name="judge",
            name="reply_model",
            field=models.CharField(
                blank=True,
                help_text="name of the model in replies; empty: the same name",
                max_length=250,
            ),
        ),
        migrations.AlterField(
            model_name="judge",
            name="wording",
            field=models.TextField(blank=True, help_text="text of the rubric in the prompt"),
        ),
        migrations.AlterField(
            model_name="judgerun",
            name="concurrency",
            field=models.PositiveSmallIntegerField(
                default=64, help_text="simultaneous requests of each worker"
            ),
        ),
        migrations.AlterField(
            model_name="judgerun",
            name="current_concurrency",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="simultaneous requests that the servers accept, as last reported",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="judgerun",
            name="endpoint",
            field=models.CharField(
                blank=True,
                help_text="names from JUDGE_ENDPOINTS, or URLs, separated by |",
                max_length=250,
            ),
        ),
        migrations.AlterField(
            model_name="judgerun",
            name="planning_until",
            field=models.DateTimeField(
                blank=True,
                help_text="end of the lease of the process that plans the run",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="judgerun",
            name="price_in",
            field=models.FloatField(default=0, help_text="price of a million prompt tokens"),
        ),
        migrations.AlterField(
            model_name="judgerun",
            name="price_out",
            field=models.FloatField(default=0, help_text="price of a million completion tokens"),
        ),
        migrations.AlterField(
            model_name="judgerun",
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
            model_name="judgerun",
            name="put_aside",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="servers that are no longer used, with the reason, by address",
            ),
        ),
        migrations.AlterField(
            model_name="judgerun",
            name="reply_seconds",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="time limit of a reply; empty: chosen by the judge and its servers",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="judgerun",
            name="selection",
            field=models.JSONField(default=dict, help_text="requested selection of texts"),
        ),
        migrations.AlterField(
            model_name="judgerun",
            name="workers",
            field=models.PositiveSmallIntegerField(
                default=1, help_text="requested number of background workers"
            ),
        ),
    ]
    operations = [StateOnly(_labels)]
