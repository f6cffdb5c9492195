"""One word for one thing: a draw of reports to label is a sample. No data changes."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0003_rank_of_the_file")]

    operations = [
        migrations.RemoveConstraint(model_name="drawchance", name="draw_chance_unique"),
        migrations.RemoveConstraint(model_name="drawchance", name="draw_chance_between_0_and_1"),
        migrations.RenameModel(old_name="LabelDraw", new_name="LabelSample"),
        migrations.RenameModel(old_name="DrawChance", new_name="SampleChance"),
        migrations.RenameField(model_name="samplechance", old_name="draw", new_name="sample"),
        migrations.AlterModelOptions(
            name="samplechance", options={"ordering": ["sample_id", "text_id"]}
        ),
        migrations.AlterField(
            model_name="labelsample",
            name="dataset",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="label_samples",
                to="annotation.dataset",
            ),
        ),
        migrations.AddConstraint(
            model_name="samplechance",
            constraint=models.UniqueConstraint(
                fields=("sample", "text"), name="sample_chance_unique"
            ),
        ),
        migrations.AddConstraint(
            model_name="samplechance",
            constraint=models.CheckConstraint(
                condition=models.Q(("chance__gt", 0), ("chance__lte", 1)),
                name="sample_chance_between_0_and_1",
            ),
        ),
    ]
