import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def into_one_project(apps, schema_editor):
    """Until now every researcher saw every dataset: they go on so, in one project."""
    tables = {name: apps.get_model('annotation', name).objects.using(schema_editor.connection.alias)
              for name in ('Dataset', 'Project', 'Membership', 'User')}
    if not tables['Dataset'].exists():
        return
    main = tables['Project'].create(slug='main', title='Studies of this site')
    tables['Dataset'].update(project=main)
    membership = tables['Membership'].model
    tables['Membership'].bulk_create(
        membership(project=main, user=user, role='researcher')
        for user in tables['User'].filter(role='researcher')
    )


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0021_own_tokens'),
    ]

    operations = [
        migrations.CreateModel(
            name='Project',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=80, unique=True)),
                ('title', models.CharField(max_length=200)),
                ('created', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['slug'],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('viewer', 'viewer'), ('researcher', 'researcher'), ('coordinator', 'coordinator of campaigns'), ('owner', 'owner')], default='researcher', max_length=11)),
                ('for_whom', models.CharField(max_length=80, verbose_name='for')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('expires', models.DateTimeField()),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('taken_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='annotation.project')),
            ],
            options={
                'ordering': ['created', 'pk'],
            },
        ),
        migrations.AddField(
            model_name='dataset',
            name='project',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='datasets', to='annotation.project'),
        ),
        migrations.CreateModel(
            name='ProjectEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('action', models.CharField(max_length=40)),
                ('detail', models.TextField(blank=True)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('dataset', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='log', to='annotation.dataset')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='log', to='annotation.project')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('viewer', 'viewer'), ('researcher', 'researcher'), ('coordinator', 'coordinator of campaigns'), ('owner', 'owner')], default='researcher', max_length=11)),
                ('joined', models.DateTimeField(auto_now_add=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='annotation.project')),
            ],
            options={
                'ordering': ['user__username'],
                'constraints': [models.UniqueConstraint(fields=('project', 'user'), name='membership_unique')],
            },
        ),
        migrations.RunPython(into_one_project, migrations.RunPython.noop),
    ]
