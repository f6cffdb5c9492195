"""Texts of equal words: one is handed out, and its grades are copied to the others."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_squashed_0_2_0")]

    operations = [
        # Campaigns that are there hand out each text, as they did.
        migrations.AddField(
            "campaign",
            "copies_equal_texts",
            models.BooleanField(
                "texts of equal words",
                default=False,
                help_text="hand out one and copy its grades to the others; else each is handed out",
            ),
        ),
        migrations.AddField(
            "rating",
            "copied_from",
            models.ForeignKey(
                blank=True,
                db_index=False,
                help_text="the text of equal words that was read, whose grade this is; empty: this text was",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="copied_ratings",
                to="annotation.text",
            ),
        ),
        migrations.AddIndex(
            "rating",
            models.Index(
                condition=models.Q(("copied_from__isnull", False)),
                fields=["copied_from"],
                name="rating_copied_from",
            ),
        ),
        migrations.CreateModel(
            "EqualText",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "shown_body",
                    models.TextField(
                        editable=False,
                        help_text="the words that it had in the campaign, where the text has other ones by now",
                        null=True,
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="equal_texts",
                        to="annotation.item",
                    ),
                ),
                (
                    "text",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="equal_in_items",
                        to="annotation.text",
                    ),
                ),
            ],
            options={
                "ordering": ["item_id", "text_id"],
                "constraints": [
                    models.UniqueConstraint(fields=("item", "text"), name="equal_text_unique")
                ],
            },
        ),
    ]
