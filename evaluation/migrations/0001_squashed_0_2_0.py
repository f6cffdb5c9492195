import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """The tables of version 0.2.0."""

    replaces = [
        ('evaluation', '0001_initial'),
        ('evaluation', '0002_label_draws'),
        ('evaluation', '0003_rank_of_the_file'),
        ('evaluation', '0004_label_samples'),
        ('evaluation', '0005_runs_made_here'),
        ('evaluation', '0006_systems'),
        ('evaluation', '0001_squashed_0006_systems'),
        ('evaluation', '0007_pair_notes'),
    ]

    initial = True

    dependencies = [
        ('annotation', '0001_squashed_0_2_0'),
    ]

    operations = [
        migrations.CreateModel(
            name='LabelSample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('eta', models.PositiveSmallIntegerField()),
                ('system', models.CharField(blank=True, help_text='empty: of all systems', max_length=120)),
                ('size', models.PositiveIntegerField()),
                ('seed', models.PositiveBigIntegerField()),
                ('made', models.DateTimeField(auto_now_add=True)),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='label_samples', to='annotation.dataset')),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='annotation.rater')),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('rubric', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.rubric')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='RetrievalRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('tag', models.CharField(blank=True, help_text='the last column of its file', max_length=120)),
                ('recipe', models.TextField(blank=True, default='', help_text='the line that says how it is made')),
                ('origin', models.JSONField(blank=True, default=dict)),
                ('fingerprint', models.CharField(blank=True, default='', editable=False, max_length=64)),
                ('dataset', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='annotation.dataset')),
            ],
            options={
                'ordering': ['dataset_id', 'name'],
                'constraints': [models.UniqueConstraint(fields=('dataset', 'name'), name='run_name_unique'), models.UniqueConstraint(condition=models.Q(('fingerprint', ''), _negated=True), fields=('dataset', 'fingerprint'), name='run_made_once')],
            },
        ),
        migrations.CreateModel(
            name='RankedText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rank', models.PositiveIntegerField()),
                ('score', models.FloatField(null=True)),
                ('file_rank', models.IntegerField(null=True)),
                ('text', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ranked', to='annotation.text')),
                ('topic', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ranked', to='annotation.topic')),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='ranked', to='evaluation.retrievalrun')),
            ],
            options={
                'ordering': ['run_id', 'topic_id', 'rank'],
                'constraints': [models.UniqueConstraint(fields=('run', 'topic', 'rank'), name='rank_unique'), models.UniqueConstraint(fields=('run', 'topic', 'text'), name='ranked_text_unique')],
            },
        ),
        migrations.CreateModel(
            name='SampleChance',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chance', models.FloatField()),
                ('is_drawn', models.BooleanField()),
                ('sample', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='chances', to='evaluation.labelsample')),
                ('text', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.text')),
            ],
            options={
                'ordering': ['sample_id', 'text_id'],
                'constraints': [models.UniqueConstraint(fields=('sample', 'text'), name='sample_chance_unique'), models.CheckConstraint(condition=models.Q(('chance__gt', 0), ('chance__lte', 1)), name='sample_chance_between_0_and_1')],
            },
        ),
        migrations.CreateModel(
            name='System',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('settings', models.JSONField(default=dict)),
                ('dataset', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='systems', to='annotation.dataset')),
            ],
            options={
                'ordering': ['dataset_id', 'name'],
                'constraints': [models.UniqueConstraint(fields=('dataset', 'name'), name='system_name_unique')],
            },
        ),
        migrations.CreateModel(
            name='ReportValue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('measure', models.CharField(max_length=120)),
                ('value', models.FloatField()),
                ('report', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='measured', to='annotation.text')),
            ],
            options={
                'ordering': ['report_id', 'measure'],
                'constraints': [models.UniqueConstraint(fields=('report', 'measure'), name='report_value_unique')],
            },
        ),
        migrations.CreateModel(
            name='PairNote',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('author', models.CharField(max_length=150)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('body', models.TextField()),
                ('withdrawn', models.DateTimeField(null=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('question', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='annotation.subquestion')),
                ('text', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='annotation.text')),
            ],
            options={
                'ordering': ['at', 'id'],
                'indexes': [models.Index(fields=['text', 'question'], name='note_of_pair')],
            },
        ),
    ]
