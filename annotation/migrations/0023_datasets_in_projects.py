import annotation.models.projects
import django.db.models.deletion
from django.db import migrations, models


def to_project(**default):
    return models.ForeignKey(
        on_delete=django.db.models.deletion.PROTECT, related_name='datasets', to='annotation.project', **default
    )


class Migration(migrations.Migration):
    """Apart from the one before: PostgreSQL alters no table whose rows were changed in the same transaction."""

    dependencies = [
        ('annotation', '0022_projects'),
    ]

    operations = [
        # The default makes a row by the models of today, so that no migration may ask for it.
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.AlterField('dataset', 'project', to_project())],
            state_operations=[
                migrations.AlterField(
                    'dataset', 'project', to_project(default=annotation.models.projects.main_project)
                )
            ],
        ),
    ]
