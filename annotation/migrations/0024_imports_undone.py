import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0023_datasets_in_projects'),
    ]

    operations = [
        migrations.AddField(
            model_name='projectentry',
            name='rows',
            field=models.JSONField(blank=True, default=dict, help_text='of an import: the first and last key that it may have made, by table; what it filled'),
        ),
        migrations.AddField(
            model_name='projectentry',
            name='undoes',
            field=models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='undone_by', to='annotation.projectentry'),
        ),
    ]
