"""Studies from before there were slots: their raters hold what they have been lent."""

import secrets
from collections import Counter

from django.db import migrations


def fill(apps, schema_editor):
    Campaign = apps.get_model("annotation", "Campaign")
    Assignment = apps.get_model("annotation", "Assignment")
    for campaign in Campaign.objects.select_related("rubric"):
        campaign.guideline = campaign.rubric.guideline
        campaign.salt = secrets.token_hex(16)
        campaign.opened_at = campaign.created
        held = Counter()
        rows = Assignment.objects.filter(participant__campaign=campaign).order_by("id")
        for row in rows.iterator():
            row.slot = held[row.item_id]
            held[row.item_id] += 1
            row.save(update_fields=["slot"])
        campaign.raters_per_item = max(held.values(), default=1)
        campaign.save()


class Migration(migrations.Migration):
    dependencies = [("annotation", "0002_fieldwork")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
