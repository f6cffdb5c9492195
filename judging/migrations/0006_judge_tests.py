"""Tests of judges: runs with a test, and their replies in a table of their own."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0017_origins'),
        ('judging', '0005_judge_family'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='JudgeTestReply',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('repeat', models.PositiveSmallIntegerField(help_text='from 1')),
                ('state', models.CharField(choices=[('graded', 'graded'), ('unparseable', 'unparseable'), ('truncated', 'truncated'), ('refused', 'refused'), ('error', 'error')], max_length=11)),
                ('failure', models.CharField(blank=True, choices=[('empty', 'empty'), ('no_grade', 'no_grade'), ('several', 'several'), ('words_after', 'words_after'), ('out_of_range', 'out_of_range'), ('cut', 'cut'), ('refusal', 'refusal'), ('no_terms', 'no_terms'), ('too_long', 'too_long'), ('timeout', 'timeout'), ('connection', 'connection'), ('server', 'server'), ('request', 'request'), ('malformed', 'malformed'), ('other_model', 'other_model'), ('oversized', 'oversized')], max_length=12)),
                ('grade', models.SmallIntegerField(blank=True, null=True)),
                ('raw', models.TextField(blank=True)),
                ('reasoning', models.TextField(blank=True)),
                ('detail', models.CharField(blank=True, max_length=500)),
                ('prompt_hash', models.CharField(blank=True, max_length=16)),
            ],
            options={
                'verbose_name': 'reply in a test of a judge',
                'verbose_name_plural': 'replies in tests of judges',
                'ordering': ['id'],
            },
        ),
        migrations.RemoveConstraint(
            model_name='judgerun',
            name='one_open_run_of_a_judge',
        ),
        migrations.AddField(
            model_name='judgerun',
            name='n_unchanged',
            field=models.PositiveIntegerField(default=0, help_text='pairs left out of a test, as it would not change their prompt'),
        ),
        migrations.AddField(
            model_name='judgerun',
            name='repeats',
            field=models.PositiveSmallIntegerField(default=1, help_text='number of times that a test asks about each pair'),
        ),
        migrations.AddField(
            model_name='judgerun',
            name='test',
            field=models.CharField(blank=True, choices=[('repeat', 'Repeat'), ('question_order', 'Order of questions'), ('level_order', 'Order of levels'), ('formatting', 'Without formatting'), ('citations', 'Without citations'), ('injection', 'Injected instruction')], help_text='test of the judge; empty: an ordinary run', max_length=20),
        ),
        migrations.AddConstraint(
            model_name='judgerun',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['planning', 'running', 'paused'])), fields=('judge', 'dataset', 'test'), name='one_open_run_of_a_judge'),
        ),
        migrations.AddField(
            model_name='judgetestreply',
            name='attempt',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='test_replies', to='judging.attempt'),
        ),
        migrations.AddField(
            model_name='judgetestreply',
            name='batch',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='test_replies', to='judging.batch'),
        ),
        migrations.AddField(
            model_name='judgetestreply',
            name='run',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='test_replies', to='judging.judgerun'),
        ),
        migrations.AddConstraint(
            model_name='judgetestreply',
            constraint=models.UniqueConstraint(fields=('run', 'repeat', 'attempt'), name='pair_repeated_once'),
        ),
        migrations.AddConstraint(
            model_name='judgetestreply',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('failure', ''), ('grade__gte', 0), ('state', 'graded')), models.Q(models.Q(('state', 'graded'), _negated=True), ('grade', None), models.Q(('failure', ''), _negated=True)), _connector='OR'), name='test_reply_grade_iff_graded'),
        ),
    ]
