"""One word for one thing: what was called a sitting is a part, and a stay a participation. No data changes."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0008_contact")]

    operations = [
        migrations.RemoveConstraint(model_name="sitting", name="sitting_number_unique"),
        migrations.RenameModel(old_name="Sitting", new_name="Part"),
        migrations.RenameField(model_name="assignment", old_name="sitting", new_name="part"),
        migrations.AddConstraint(
            model_name="part",
            constraint=models.UniqueConstraint(
                fields=("participant", "number"), name="part_number_unique"
            ),
        ),
        migrations.AlterField(
            model_name="part",
            name="participant",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="parts",
                to="annotation.participant",
            ),
        ),
        migrations.AlterField(
            model_name="participant",
            name="rater",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="participations",
                to="annotation.rater",
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="items_per_part",
            field=models.PositiveSmallIntegerField(
                blank=True, help_text="items in one part; empty: all that there are", null=True
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="max_parts",
            field=models.PositiveSmallIntegerField(
                blank=True, help_text="parts of one person at most; empty: any number", null=True
            ),
        ),
    ]
