import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """The tables of version 0.2.0."""

    replaces = [
        ('building', '0001_writers_and_writings'),
        ('building', '0002_writers_with_vllm_in_process'),
        ('building', '0003_transformers_in_process'),
        ('building', '0001_squashed_0003_transformers_in_process'),
    ]

    initial = True

    dependencies = [
        ('annotation', '0001_squashed_0_2_0'),
    ]

    operations = [
        migrations.CreateModel(
            name='Writer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=120, unique=True)),
                ('task', models.CharField(max_length=20)),
                ('backend', models.CharField(choices=[('extractive', 'extractive baseline'), ('openai', 'OpenAI-compatible server'), ('vllm', 'vLLM in process'), ('transformers', 'transformers in process')], max_length=12)),
                ('model', models.CharField(max_length=250)),
                ('revision', models.CharField(blank=True, max_length=250)),
                ('system', models.TextField(blank=True)),
                ('prompt', models.TextField(blank=True)),
                ('template_hash', models.CharField(blank=True, max_length=64)),
                ('adapter', models.CharField(blank=True, max_length=250)),
                ('adapter_hash', models.CharField(blank=True, max_length=64)),
                ('sampling', models.JSONField(default=dict)),
                ('fingerprint', models.CharField(editable=False, max_length=64, unique=True)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['slug'],
            },
        ),
        migrations.CreateModel(
            name='Writing',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('planning', 'planning'), ('running', 'running'), ('paused', 'paused'), ('cancelled', 'cancelled'), ('stopped', 'stopped at its budget'), ('finished', 'finished')], default='planning', max_length=10)),
                ('note', models.CharField(blank=True, help_text='why it is in this state', max_length=500)),
                ('put_aside', models.JSONField(blank=True, default=dict, help_text='servers that are asked no more, and why, by address')),
                ('selection', models.JSONField(default=dict, help_text='which texts, as they were asked for')),
                ('endpoint', models.CharField(blank=True, help_text='names from JUDGE_ENDPOINTS, or URLs, parted by |', max_length=250)),
                ('concurrency', models.PositiveSmallIntegerField(default=64, help_text='requests at once, a worker')),
                ('workers', models.PositiveSmallIntegerField(default=1, help_text='background workers asked for')),
                ('max_tokens', models.PositiveBigIntegerField(blank=True, null=True)),
                ('max_money', models.FloatField(blank=True, null=True)),
                ('price_in', models.FloatField(default=0, help_text='of a million prompt tokens')),
                ('price_out', models.FloatField(default=0, help_text='of a million completion tokens')),
                ('currency', models.CharField(blank=True, max_length=3)),
                ('n_planned', models.PositiveIntegerField(default=0)),
                ('n_there_before', models.PositiveIntegerField(default=0)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('started', models.DateTimeField(blank=True, null=True)),
                ('ended', models.DateTimeField(blank=True, null=True)),
                ('max_messages', models.PositiveIntegerField(blank=True, null=True)),
                ('created_by', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='writings', to='annotation.dataset')),
                ('writer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='writings', to='building.writer')),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ['planning', 'running', 'paused'])), fields=('writer', 'dataset'), name='one_open_writing_of_a_writer')],
            },
        ),
        migrations.CreateModel(
            name='Order',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(help_text='from 1')),
                ('state', models.CharField(choices=[('open', 'open'), ('leased', 'leased'), ('done', 'done')], default='open', max_length=6)),
                ('owner', models.CharField(blank=True, max_length=120)),
                ('expires', models.DateTimeField(blank=True, null=True)),
                ('inputs', models.JSONField(default=dict)),
                ('messages_hash', models.CharField(max_length=16)),
                ('sample', models.PositiveSmallIntegerField(default=0)),
                ('failure', models.CharField(blank=True, max_length=25)),
                ('missing', models.PositiveSmallIntegerField(default=0)),
                ('tries_left', models.PositiveSmallIntegerField(default=2, help_text='replies still asked for')),
                ('n_left_out', models.PositiveIntegerField(default=0, help_text='passages that did not fit the context')),
                ('document', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.document')),
                ('topic', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.topic')),
                ('writer', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='building.writer')),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='orders', to='building.writing')),
            ],
            options={
                'ordering': ['run_id', 'number'],
                'constraints': [models.UniqueConstraint(fields=('run', 'number'), name='order_number_unique'), models.UniqueConstraint(fields=('writer', 'topic', 'messages_hash', 'sample'), name='nothing_written_twice'), models.CheckConstraint(condition=models.Q(models.Q(('expires__isnull', False), ('state', 'leased'), models.Q(('owner', ''), _negated=True)), models.Q(models.Q(('state', 'leased'), _negated=True), ('expires__isnull', True)), _connector='OR'), name='order_lease_has_owner_and_end')],
            },
        ),
        migrations.CreateModel(
            name='Draft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(help_text='from 1')),
                ('counts', models.BooleanField(default=True, help_text="not where another worker's reply to the same had come already")),
                ('worker', models.CharField(max_length=120)),
                ('created', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('raw', models.TextField(blank=True)),
                ('reasoning', models.TextField(blank=True)),
                ('prompt_hash', models.CharField(blank=True, max_length=16)),
                ('finish_reason', models.CharField(blank=True, max_length=40)),
                ('failure', models.CharField(blank=True, max_length=25)),
                ('detail', models.CharField(blank=True, max_length=500)),
                ('prompt_tokens', models.PositiveIntegerField(default=0)),
                ('completion_tokens', models.PositiveIntegerField(default=0)),
                ('order', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='building.order')),
            ],
            options={
                'ordering': ['order_id', 'number'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('counts', True)), fields=('order', 'number'), name='draft_number_unique')],
            },
        ),
        migrations.CreateModel(
            name='Product',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField()),
                ('body', models.TextField()),
                ('flags', models.JSONField(default=list, help_text='what a reviewer should look at, in sentences')),
                ('statements', models.JSONField(default=list, help_text='of a report: [start, end, [labels]] in code points of the body')),
                ('decision', models.CharField(choices=[('proposed', 'not yet decided'), ('accepted', 'accepted'), ('edited', 'accepted with other words'), ('rejected', 'rejected')], default='proposed', max_length=8)),
                ('edited', models.TextField(blank=True)),
                ('unseen', models.BooleanField(default=False, help_text='accepted together with others, without being looked at')),
                ('decided', models.DateTimeField(blank=True, null=True)),
                ('decided_by', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('draft', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='products', to='building.draft')),
                ('question', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='written_as', to='annotation.subquestion')),
                ('text', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='written_as', to='annotation.text')),
            ],
            options={
                'ordering': ['draft_id', 'position'],
                'constraints': [models.UniqueConstraint(fields=('draft', 'position'), name='product_position_unique'), models.CheckConstraint(condition=models.Q(models.Q(('decided__isnull', True), ('decision', 'proposed')), models.Q(models.Q(('decision', 'proposed'), _negated=True), ('decided__isnull', False)), _connector='OR'), name='decision_has_its_time'), models.CheckConstraint(condition=models.Q(models.Q(('decision', 'edited'), models.Q(('edited', ''), _negated=True)), models.Q(models.Q(('decision', 'edited'), _negated=True), ('edited', '')), _connector='OR'), name='edited_words_iff_edited')],
            },
        ),
    ]
