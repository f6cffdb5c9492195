import hashlib
from collections import Counter

from django.db import migrations, models

POSITION = ("start", "end", "quote", "source_quote", "located")


def positions_from_versions(apps, schema_editor):
    """What a version had of its spans lies with the spans from here on, by the SHA-256 of the wording."""
    Version = apps.get_model("annotation", "Version")
    NuggetSpan = apps.get_model("annotation", "NuggetSpan")
    for version in Version.objects.exclude(text=None).order_by("number").iterator():
        had = version.had.pop("spans", None)
        if had is None:
            continue
        sha256 = hashlib.sha256(version.body.encode()).hexdigest()
        known = {
            (row["rating__rater"], row["rating__rubric"], row["rating__question"], row["position"]): row
            for row in had
        }
        spans = NuggetSpan.objects.filter(rating__text=version.text_id).select_related("rating")
        for span in spans if known else ():
            rating = span.rating
            pair = rating.rater_id, rating.rubric_id, rating.question_id, span.position
            row = known.get(pair)
            if row is None or not _marks_the_same(span, row):
                continue
            span.earlier_positions = (span.earlier_positions or {}) | {
                sha256: {name: row[name] for name in POSITION}
            }
            span.save(update_fields=["earlier_positions"])
        version.save(update_fields=["had"])


def _marks_the_same(span, had):
    if span.start is None:
        return span.source_quote == (had["source_quote"] or had["quote"])
    return span.quote == had["quote"]


def keys_of_one_import(apps, schema_editor):
    """An import was noted to begin behind the greatest key of a row, which is smaller than that of superseded
    ones: what an earlier import of the dataset made is not the later one's. Keys are given once.
    """
    ProjectEntry = apps.get_model("annotation", "ProjectEntry")
    last = {}
    for entry in ProjectEntry.objects.exclude(rows={}).exclude(dataset=None).order_by("pk"):
        before = last.setdefault(entry.dataset_id, Counter())
        for table, keys in entry.rows.items():
            if "." not in table:  # not the keys of a table: how many rows it filled
                continue
            first = max(keys[0], before[table] + 1)
            entry.rows[table] = [first, keys[1]]
            before[table] = max(before[table], keys[1])
        entry.save(update_fields=["rows"])


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0028_words_that_were_shown'),
    ]

    operations = [
        migrations.AddField(
            model_name='nuggetspan',
            name='earlier_positions',
            field=models.JSONField(blank=True, help_text='of an edited text: the position in each earlier wording, by the SHA-256 of the wording', null=True),
        ),
        migrations.AlterField(
            model_name='version',
            name='had',
            field=models.JSONField(blank=True, default=dict, help_text='what else it had with these words: citations, its place in a document'),
        ),
        migrations.RunPython(positions_from_versions, migrations.RunPython.noop),
        migrations.RunPython(keys_of_one_import, migrations.RunPython.noop),
    ]
