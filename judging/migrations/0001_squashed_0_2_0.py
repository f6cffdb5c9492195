import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """The tables of version 0.2.0."""

    replaces = [
        ('judging', '0001_judges_and_runs'),
        ('judging', '0002_stand_ins_are_baselines'),
        ('judging', '0003_parsers_and_reasoning'),
        ('judging', '0004_several_servers'),
        ('judging', '0001_squashed_0004_several_servers'),
        ('judging', '0005_judge_visibility'),
        ('judging', '0006_grade_distributions'),
        ('judging', '0007_judge_archived'),
        ('judging', '0008_reply_model_and_concurrency'),
        ('judging', '0009_endpoints'),
    ]

    initial = True

    dependencies = [
        ('annotation', '0001_squashed_0_2_0'),
    ]

    operations = [
        migrations.CreateModel(
            name='Judge',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('levels', models.JSONField(help_text="the rubric's grades and words as they were, ascending")),
                ('backend', models.CharField(choices=[('lexical', 'lexical baseline'), ('openai', 'OpenAI-compatible server'), ('vllm', 'vLLM in process')], max_length=10)),
                ('model', models.CharField(max_length=250)),
                ('revision', models.CharField(blank=True, max_length=250)),
                ('prompt_name', models.CharField(blank=True, max_length=120)),
                ('system', models.TextField(blank=True)),
                ('prompt', models.TextField(blank=True)),
                ('wording', models.TextField(blank=True, help_text='the rubric as the prompt shows it')),
                ('template_hash', models.CharField(blank=True, max_length=64)),
                ('sampling', models.JSONField(default=dict)),
                ('label_ids', models.JSONField(default=list)),
                ('parser', models.CharField(blank=True, max_length=40)),
                ('failure_policy', models.CharField(choices=[('missing', 'leave the cell empty'), ('zero', 'count it as 0, as the CRUX paper does')], default='missing', max_length=10)),
                ('fingerprint', models.CharField(editable=False, max_length=64, unique=True)),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('rater', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='judge', to='annotation.rater')),
                ('rubric', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='judges', to='annotation.rubric')),
                ('is_site_wide', models.BooleanField(default=False, help_text='every researcher of the site sees it; else members of the projects where it runs')),
                ('archived', models.DateTimeField(blank=True, help_text='since when it is left out of the list and of new runs', null=True)),
                ('reply_model', models.CharField(blank=True, help_text='how replies name the model; empty: by its name', max_length=250)),
                ('projects', models.ManyToManyField(blank=True, help_text='where an owner has created it', related_name='judges', to='annotation.project')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='ProjectBudget',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('max_tokens', models.PositiveBigIntegerField(blank=True, null=True, validators=[django.core.validators.MaxValueValidator(4611686018427387904)])),
                ('max_money', models.FloatField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1000000000000)])),
                ('currency', models.CharField(blank=True, max_length=3, validators=[django.core.validators.RegexValidator('^[A-Z]{3}\\Z', 'Three capital letters, such as EUR.')])),
                ('spent_tokens', models.PositiveBigIntegerField(default=0, editable=False)),
                ('spent_money', models.FloatField(default=0, editable=False)),
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='judge_budget', to='annotation.project')),
            ],
        ),
        migrations.CreateModel(
            name='JudgeRun',
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
                ('max_pairs', models.PositiveIntegerField(blank=True, null=True)),
                ('n_without_words', models.PositiveIntegerField(default=0)),
                ('planning_until', models.DateTimeField(blank=True, help_text='whoever plans it holds it until then', null=True)),
                ('created_by', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('dataset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judge_runs', to='annotation.dataset')),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='judging.judge')),
                ('current_concurrency', models.PositiveSmallIntegerField(blank=True, help_text='requests at once that the servers take, as last reported', null=True)),
                ('reply_seconds', models.PositiveIntegerField(blank=True, help_text='that a reply may take; empty: by the judge and its servers', null=True)),
                ('project_budget', models.ForeignKey(blank=True, help_text='that is charged, for a run on a server of its project', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='runs', to='judging.projectbudget')),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ['planning', 'running', 'paused'])), fields=('judge', 'dataset'), name='one_open_run_of_a_judge')],
            },
        ),
        migrations.CreateModel(
            name='Shard',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(help_text='from 1')),
                ('state', models.CharField(choices=[('open', 'open'), ('leased', 'leased'), ('done', 'done')], default='open', max_length=6)),
                ('owner', models.CharField(blank=True, max_length=120)),
                ('expires', models.DateTimeField(blank=True, null=True)),
                ('n_pairs', models.PositiveIntegerField()),
                ('groups', models.JSONField()),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='shards', to='judging.judgerun')),
            ],
            options={
                'ordering': ['run_id', 'number'],
                'indexes': [models.Index(condition=models.Q(('state', 'done'), _negated=True), fields=['run', 'number'], name='shards_that_are_left')],
                'constraints': [models.UniqueConstraint(fields=('run', 'number'), name='shard_number_unique'), models.CheckConstraint(condition=models.Q(models.Q(('expires__isnull', False), ('state', 'leased'), models.Q(('owner', ''), _negated=True)), models.Q(models.Q(('state', 'leased'), _negated=True), ('expires__isnull', True)), _connector='OR'), name='shard_lease_has_owner_and_end')],
            },
        ),
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('worker', models.CharField(max_length=120)),
                ('created', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('n_sent', models.PositiveIntegerField(default=0, help_text='pairs sent to the grader')),
                ('n_attempts', models.PositiveIntegerField(default=0)),
                ('n_graded', models.PositiveIntegerField(default=0)),
                ('prompt_tokens', models.PositiveBigIntegerField(default=0)),
                ('completion_tokens', models.PositiveBigIntegerField(default=0)),
                ('n_expected', models.PositiveIntegerField(default=0, help_text='graded with an expected grade')),
                ('sum_drift', models.FloatField(default=0, help_text='sum of expected grade minus grade')),
                ('run', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='judging.judgerun')),
                ('shard', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='judging.shard')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['run', 'created'], name='batches_of_a_run')],
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('counts', models.BooleanField(default=True)),
                ('copied', models.BooleanField(default=False, help_text='the reply about another text of the same words')),
                ('state', models.CharField(choices=[('graded', 'graded'), ('unparseable', 'unparseable'), ('truncated', 'truncated'), ('refused', 'refused'), ('error', 'error')], max_length=11)),
                ('failure', models.CharField(blank=True, choices=[('empty', 'empty'), ('no_grade', 'no_grade'), ('several', 'several'), ('words_after', 'words_after'), ('out_of_range', 'out_of_range'), ('cut', 'cut'), ('refusal', 'refusal'), ('no_terms', 'no_terms'), ('too_long', 'too_long'), ('timeout', 'timeout'), ('connection', 'connection'), ('server', 'server'), ('request', 'request'), ('malformed', 'malformed'), ('other_model', 'other_model'), ('oversized', 'oversized')], max_length=12)),
                ('grade', models.SmallIntegerField(blank=True, null=True)),
                ('raw', models.TextField(blank=True)),
                ('reasoning', models.TextField(blank=True, default='', help_text="what the server told of the model's thinking, beside the reply")),
                ('detail', models.CharField(blank=True, max_length=500)),
                ('prompt_hash', models.CharField(blank=True, max_length=16)),
                ('probabilities', models.JSONField(blank=True, null=True)),
                ('expected_grade', models.FloatField(blank=True, null=True)),
                ('label_mass', models.FloatField(blank=True, null=True)),
                ('prompt_tokens', models.PositiveIntegerField(default=0)),
                ('completion_tokens', models.PositiveIntegerField(default=0)),
                ('question', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.subquestion')),
                ('text', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.text')),
                ('batch', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='attempts', to='judging.batch')),
                ('judge', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='attempts', to='judging.judge')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(condition=models.Q(('state', 'graded'), _negated=True), fields=['batch'], name='failed_attempts')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('counts', True)), fields=('judge', 'text', 'question'), name='pair_judged_once'), models.CheckConstraint(condition=models.Q(models.Q(('failure', ''), ('grade__gte', 0), ('state', 'graded')), models.Q(models.Q(('state', 'graded'), _negated=True), ('grade', None), models.Q(('failure', ''), _negated=True)), _connector='OR'), name='attempt_grade_iff_graded')],
            },
        ),
        migrations.CreateModel(
            name='OutboundPolicy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('allows_public_hosts', models.BooleanField(default=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('pk', 1)), name='one_outbound_policy')],
            },
        ),
        migrations.CreateModel(
            name='AllowedHost',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('host', models.CharField(max_length=253)),
                ('port', models.PositiveIntegerField(default=0, help_text='0: any', validators=[django.core.validators.MaxValueValidator(65535)])),
                ('allows_http', models.BooleanField(default=False)),
                ('allows_private', models.BooleanField(default=False)),
                ('created', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('created_by', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['host', 'port'],
                'constraints': [models.UniqueConstraint(fields=('host', 'port'), name='allowed_host_unique')],
            },
        ),
        migrations.CreateModel(
            name='Endpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40, validators=[django.core.validators.RegexValidator('^[a-z0-9][a-z0-9._-]*\\Z', 'Lower-case letters, digits, - . and _.')])),
                ('preset', models.CharField(blank=True, choices=[('openai', 'OpenAI'), ('azure', 'Azure OpenAI'), ('anthropic', 'Anthropic'), ('gemini', 'Google Gemini'), ('mistral', 'Mistral'), ('openrouter', 'OpenRouter'), ('ollama', 'Ollama'), ('vllm', 'vLLM'), ('sglang', 'SGLang'), ('tgi', 'Text Generation Inference (TGI)'), ('litellm', 'LiteLLM proxy'), ('llamacpp', 'llama.cpp server')], max_length=20)),
                ('url', models.CharField(max_length=200)),
                ('key_header', models.CharField(choices=[('bearer', 'Authorization: Bearer'), ('api-key', 'api-key'), ('x-api-key', 'x-api-key')], default='bearer', max_length=10)),
                ('encrypted_key', models.TextField(blank=True, editable=False)),
                ('headers', models.JSONField(blank=True, default=dict)),
                ('params', models.JSONField(blank=True, default=dict)),
                ('price_in', models.FloatField(default=0, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1000000000000)])),
                ('price_out', models.FloatField(default=0, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1000000000000)])),
                ('currency', models.CharField(blank=True, max_length=3, validators=[django.core.validators.RegexValidator('^[A-Z]{3}\\Z', 'Three capital letters, such as EUR.')])),
                ('created', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='endpoints', to='annotation.project')),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('project', 'name'), name='endpoint_name_unique')],
            },
        ),
    ]
