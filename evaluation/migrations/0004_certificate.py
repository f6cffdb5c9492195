"""Results of testing whether judges may stand in for people."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0017_origins'),
        ('evaluation', '0003_run_origins'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Certificate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_certified', models.BooleanField()),
                ('parameters', models.JSONField(help_text='people, epsilon and margins, as they were chosen')),
                ('result', models.JSONField()),
                ('fingerprint', models.CharField(blank=True, help_text='of the judge', max_length=64)),
                ('rubric_hash', models.CharField(help_text='SHA-256 of rubric and guidelines', max_length=64)),
                ('data_hash', models.CharField(help_text='SHA-256 of the ratings and their texts', max_length=64)),
                ('grade_digests', models.JSONField(help_text='digests of the ratings, by the key of their topic')),
                ('text_digests', models.JSONField(help_text='digests of texts and questions, by topic')),
                ('created', models.DateTimeField(default=django.utils.timezone.now)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='certificates', to='annotation.dataset')),
                ('judge', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='annotation.rater')),
                ('rubric', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.rubric')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['judge', 'rubric'], name='certificates_of_a_judge')],
            },
        ),
    ]
