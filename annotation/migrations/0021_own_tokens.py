import hashlib

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

OLD = 'authtoken_token'


def take_over(apps, schema_editor):
    """Tokens lay readable in a table of Django REST framework, one an account. They go on, as hashes.

    That app is gone, so its table goes too: nobody would delete from it with an account.
    """
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        if OLD not in connection.introspection.table_names(cursor):
            return
        cursor.execute('SELECT key, user_id FROM authtoken_token')
        rows = cursor.fetchall()
        cursor.execute('DROP TABLE authtoken_token')
        cursor.execute("DELETE FROM django_migrations WHERE app = 'authtoken'")
    tokens = apps.get_model('annotation', 'ApiToken').objects.using(connection.alias)
    tokens.bulk_create(
        tokens.model(user_id=user, name='first', digest=hashlib.sha256(key.encode()).hexdigest())
        for key, user in rows
    )


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0001_squashed_0020_groups_of_topics'),
    ]

    operations = [
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('expires', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['created', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('user', 'name'), name='api_token_name_unique')],
            },
        ),
        migrations.RunPython(take_over, migrations.RunPython.noop),
    ]
