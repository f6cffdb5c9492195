import annotation.models.campaign
import annotation.models.rubric
import django.contrib.auth.models
import django.contrib.auth.validators
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("annotation", "0001_initial"),
        ("annotation", "0002_fieldwork"),
        ("annotation", "0003_work_in_hand"),
        ("annotation", "0004_language"),
        ("annotation", "0005_late_answers"),
        ("annotation", "0006_questions_without_words"),
        ("annotation", "0007_skips"),
        ("annotation", "0008_contact"),
        ("annotation", "0009_parts"),
        ("annotation", "0010_drop_outs"),
        ("annotation", "0011_corrections"),
        ("annotation", "0012_money"),
        ("annotation", "0013_words"),
        ("annotation", "0014_gold"),
        ("annotation", "0015_rubrics_of_any_kind"),
        ("annotation", "0016_aggregates"),
        ("annotation", "0017_tasks_of_any_rubric"),
        ("annotation", "0018_documents_and_citations"),
        ("annotation", "0019_groups_of_questions"),
        ("annotation", "0020_groups_of_topics"),
    ]

    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="Dataset",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slug", models.SlugField(max_length=80, unique=True)),
                ("title", models.CharField(max_length=200)),
                ("created", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ["slug"],
            },
        ),
        migrations.CreateModel(
            name="Rubric",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slug", models.SlugField(max_length=80, unique=True)),
                ("title", models.CharField(max_length=200)),
                (
                    "question",
                    models.CharField(
                        blank=True,
                        help_text="above the questions of each text; empty: what the program asks, by the kind of text",
                        max_length=200,
                        verbose_name="what is asked",
                    ),
                ),
                (
                    "guideline",
                    models.TextField(help_text="Markdown; shown to annotators beside their work"),
                ),
                (
                    "scale",
                    models.CharField(
                        choices=[
                            ("ordinal", "ordinal: a higher grade is more"),
                            ("nominal", "nominal: grades are names, and no order"),
                        ],
                        default="ordinal",
                        max_length=7,
                    ),
                ),
                (
                    "shows",
                    models.JSONField(
                        default=annotation.models.rubric.text_and_question,
                        help_text="what of a pair a rater and a judge are shown",
                    ),
                ),
                (
                    "eta",
                    models.SmallIntegerField(
                        blank=True,
                        help_text="grade at or above which a pair counts as answerable; empty: no grade says so",
                        null=True,
                    ),
                ),
                (
                    "span_from",
                    models.SmallIntegerField(
                        blank=True,
                        help_text="grade at or above which an answer needs at least one marked span; empty: none is marked",
                        null=True,
                    ),
                ),
                (
                    "is_retired",
                    models.BooleanField(
                        default=False,
                        help_text="no new campaign and no new judge can take it",
                        verbose_name="retired",
                    ),
                ),
            ],
            options={
                "ordering": ["slug"],
            },
        ),
        migrations.CreateModel(
            name="Topic",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("request", models.TextField()),
                ("position", models.PositiveIntegerField()),
                (
                    "group",
                    models.SlugField(
                        blank=True,
                        db_index=False,
                        default="",
                        help_text="the kind of task, domain or track; results are told for each",
                        max_length=80,
                    ),
                ),
                (
                    "dataset",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="topics",
                        to="annotation.dataset",
                    ),
                ),
            ],
            options={
                "ordering": ["dataset_id", "position"],
                "constraints": [
                    models.UniqueConstraint(fields=("dataset", "name"), name="topic_name_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="SubQuestion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "position",
                    models.PositiveSmallIntegerField(help_text="0-based, as in the authors' files"),
                ),
                ("body", models.TextField(blank=True)),
                (
                    "source_body",
                    models.TextField(
                        blank=True,
                        help_text="the words as their file has them, where it has more white space",
                    ),
                ),
                ("filtered_because", models.CharField(blank=True, max_length=200)),
                ("filtered_eta", models.PositiveSmallIntegerField(blank=True, null=True)),
                (
                    "group",
                    models.CharField(
                        blank=True,
                        help_text="the part of the request that it is about, in its words",
                        max_length=250,
                    ),
                ),
                (
                    "topic",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="questions",
                        to="annotation.topic",
                    ),
                ),
            ],
            options={
                "ordering": ["topic_id", "position"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("topic", "position"), name="question_position_unique"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("body", ""), _negated=True),
                            models.Q(("filtered_because", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="question_without_words_is_filtered",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                (
                    "last_login",
                    models.DateTimeField(blank=True, null=True, verbose_name="last login"),
                ),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                (
                    "first_name",
                    models.CharField(blank=True, max_length=150, verbose_name="first name"),
                ),
                (
                    "last_name",
                    models.CharField(blank=True, max_length=150, verbose_name="last name"),
                ),
                (
                    "email",
                    models.EmailField(blank=True, max_length=254, verbose_name="email address"),
                ),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                (
                    "date_joined",
                    models.DateTimeField(
                        default=django.utils.timezone.now, verbose_name="date joined"
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("admin", "admin"),
                            ("researcher", "researcher"),
                            ("worker", "worker"),
                        ],
                        default="worker",
                        max_length=12,
                    ),
                ),
                (
                    "is_guest",
                    models.BooleanField(
                        default=False,
                        help_text="came by a link or from a platform: no password, one campaign",
                    ),
                ),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
            },
            managers=[
                ("objects", django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name="Rater",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.SlugField(max_length=120)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("human", "person"),
                            ("model", "model"),
                            ("baseline", "baseline"),
                            ("aggregate", "aggregate"),
                        ],
                        max_length=9,
                    ),
                ),
                (
                    "made_from",
                    models.TextField(
                        blank=True, help_text="of an aggregate: from whom, how and when"
                    ),
                ),
                (
                    "dataset",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="raters",
                        to="annotation.dataset",
                    ),
                ),
                (
                    "user",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="rater",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("dataset__isnull", False)),
                        fields=("dataset", "name"),
                        name="rater_name_unique_in_dataset",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("dataset__isnull", True)),
                        fields=("name",),
                        name="rater_name_unique_everywhere",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Campaign",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slug", models.SlugField(max_length=80, unique=True)),
                ("title", models.CharField(max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "draft"),
                            ("open", "open"),
                            ("paused", "paused"),
                            ("closed", "closed"),
                        ],
                        default="draft",
                        max_length=6,
                    ),
                ),
                (
                    "is_pilot",
                    models.BooleanField(
                        default=False,
                        help_text="its answers are kept, and never become ratings",
                        verbose_name="pilot",
                    ),
                ),
                (
                    "selection",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="how texts were chosen: kind, systems, topics, sample",
                    ),
                ),
                (
                    "questions_per_item",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="drawn at random for each text; empty: all of them",
                        null=True,
                    ),
                ),
                (
                    "n_training",
                    models.PositiveSmallIntegerField(default=0, verbose_name="training items"),
                ),
                (
                    "n_gold",
                    models.PositiveSmallIntegerField(default=0, verbose_name="hidden gold items"),
                ),
                (
                    "gold_per_person",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="over all parts, spread evenly; empty: one in each part, until all are met",
                        null=True,
                        verbose_name="hidden gold items for one person",
                    ),
                ),
                (
                    "seed",
                    models.PositiveIntegerField(
                        default=1, help_text="of every draw, so that it can be redone"
                    ),
                ),
                ("raters_per_item", models.PositiveSmallIntegerField(default=1)),
                (
                    "items_per_part",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="items in one part; empty: all that there are",
                        null=True,
                    ),
                ),
                (
                    "max_parts",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="parts of one person at most; empty: any number",
                        null=True,
                    ),
                ),
                (
                    "lease_hours",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="untouched items return to the pool then; empty: never",
                        null=True,
                    ),
                ),
                (
                    "begun_lease_hours",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="since a part began: then begun items return as well; empty: never",
                        null=True,
                    ),
                ),
                (
                    "attention_per_part",
                    models.PositiveSmallIntegerField(
                        default=0, verbose_name="attention checks per part"
                    ),
                ),
                (
                    "skips_per_part",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="texts of a part that may be skipped; empty: a quarter",
                        null=True,
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        choices=annotation.models.campaign.languages,
                        default="en-gb",
                        help_text="of the pages round the texts, as raters see them",
                        max_length=10,
                    ),
                ),
                (
                    "wording",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        editable=False,
                        help_text="of the rubric, as annotation.models.wording has it: title, question, levels; empty: the rubric's own",
                    ),
                ),
                ("guideline", models.TextField(blank=True, help_text="Markdown")),
                (
                    "consent",
                    models.TextField(blank=True, help_text="Markdown; empty: none is asked for"),
                ),
                ("consent_version", models.CharField(blank=True, max_length=40)),
                (
                    "pay_per_part",
                    models.DecimalField(blank=True, decimal_places=2, max_digits=7, null=True),
                ),
                ("currency", models.CharField(blank=True, default="GBP", max_length=3)),
                ("minutes_per_part", models.PositiveSmallIntegerField(blank=True, null=True)),
                (
                    "contact",
                    models.CharField(
                        blank=True,
                        help_text="how workers reach you: an e-mail or a web address",
                        max_length=200,
                        validators=[annotation.models.campaign.is_contact],
                    ),
                ),
                ("opens_at", models.DateTimeField(blank=True, null=True)),
                ("closes_at", models.DateTimeField(blank=True, null=True)),
                (
                    "platform",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "none: accounts and invitation links"),
                            ("prolific", "Prolific"),
                            ("sona", "SONA"),
                            ("connect", "CloudResearch Connect"),
                            ("mturk", "Mechanical Turk"),
                        ],
                        default="",
                        max_length=8,
                    ),
                ),
                ("code_done", models.CharField(blank=True, max_length=40)),
                ("code_screened_out", models.CharField(blank=True, max_length=40)),
                ("code_failed_check", models.CharField(blank=True, max_length=40)),
                (
                    "completion_url",
                    models.URLField(
                        blank=True, help_text="with {code} and {worker}; empty: the platform's own"
                    ),
                ),
                (
                    "platform_fee",
                    models.DecimalField(
                        blank=True,
                        decimal_places=2,
                        help_text="per cent of the pay, on top of it; empty: none",
                        max_digits=5,
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(100),
                        ],
                    ),
                ),
                (
                    "drop_out_percent",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="of all arrivals: who leaves without finishing a part",
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(99)],
                    ),
                ),
                (
                    "workers_a_day",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                    ),
                ),
                (
                    "look_skipped_percent",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="more texts of a part skipped than this share; empty: than may be skipped",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(100),
                        ],
                    ),
                ),
                (
                    "look_checks_missed",
                    models.PositiveSmallIntegerField(
                        default=0,
                        help_text="more attention checks missed than this",
                        validators=[django.core.validators.MaxValueValidator(1000)],
                    ),
                ),
                (
                    "look_gold_percent",
                    models.PositiveSmallIntegerField(
                        default=60,
                        help_text="less of the gold answers right than this share",
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(100),
                        ],
                    ),
                ),
                (
                    "look_gold_answers",
                    models.PositiveSmallIntegerField(
                        default=3,
                        help_text="gold answers that a share is made of, at least",
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(1000),
                        ],
                    ),
                ),
                (
                    "look_active_percent",
                    models.PositiveSmallIntegerField(
                        default=10,
                        help_text="less of the stated minutes active than this share",
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(100),
                        ],
                    ),
                ),
                (
                    "salt",
                    models.CharField(
                        default=annotation.models.campaign.new_salt, editable=False, max_length=32
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("opened_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="campaigns",
                        to="annotation.dataset",
                    ),
                ),
                (
                    "adjudicator",
                    models.OneToOneField(
                        blank=True,
                        editable=False,
                        help_text="the rater as whom experts' decisions count",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.rater",
                    ),
                ),
                (
                    "gold_source",
                    models.ForeignKey(
                        blank=True,
                        help_text="whose labels training and gold items are held against",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.rater",
                    ),
                ),
                (
                    "question_source",
                    models.ForeignKey(
                        blank=True,
                        help_text="one question that is answerable by these labels and one that is not, for each text",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.rater",
                    ),
                ),
                (
                    "further_rubrics",
                    models.ManyToManyField(
                        blank=True,
                        help_text="that are asked on the same page, of the same pairs; each has ratings of its own",
                        related_name="+",
                        to="annotation.rubric",
                    ),
                ),
                (
                    "question_rubric",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.rubric",
                    ),
                ),
                (
                    "rubric",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="campaigns",
                        to="annotation.rubric",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("raters_per_item__gte", 1)),
                        name="campaign_needs_a_rater_per_item",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("question_rubric", None), ("question_source", None)),
                            models.Q(
                                ("question_rubric__isnull", False),
                                ("question_source__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="campaign_question_source_has_a_rubric",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("begun_lease_hours", None),
                            models.Q(
                                ("begun_lease_hours__gte", models.F("lease_hours")),
                                ("lease_hours__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="campaign_begun_items_return_last",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("drop_out_percent", None),
                            ("drop_out_percent__lt", 100),
                            _connector="OR",
                        ),
                        name="campaign_somebody_finishes",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("gold_per_person", None),
                            models.Q(
                                ("gold_per_person__gte", 1),
                                ("gold_per_person__lte", models.F("n_gold")),
                            ),
                            _connector="OR",
                        ),
                        name="campaign_gold_per_person_is_drawn",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AttentionCheck",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveSmallIntegerField()),
                ("body", models.TextField()),
                ("expected", models.SmallIntegerField()),
                (
                    "campaign",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attention_checks",
                        to="annotation.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ["campaign_id", "position"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("campaign", "position"), name="attention_check_position_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="CheckQuestion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "purpose",
                    models.CharField(
                        choices=[
                            ("screening", "screening: a wrong answer ends the visit"),
                            ("comprehension", "comprehension: two tries"),
                        ],
                        max_length=13,
                    ),
                ),
                ("position", models.PositiveSmallIntegerField()),
                ("body", models.TextField()),
                ("options", models.JSONField(help_text="the choices, as a list of strings")),
                (
                    "correct",
                    models.PositiveSmallIntegerField(help_text="place of the right choice, from 0"),
                ),
                ("why", models.TextField(blank=True, help_text="shown after a wrong answer")),
                (
                    "campaign",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="check_questions",
                        to="annotation.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ["campaign_id", "position"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("campaign", "position"), name="check_question_position_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Document",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=250)),
                ("body", models.TextField()),
                ("sha256", models.CharField(editable=False, max_length=64)),
                (
                    "dataset",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="documents",
                        to="annotation.dataset",
                    ),
                ),
                (
                    "topic",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="documents",
                        to="annotation.topic",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(fields=("dataset", "name"), name="document_name_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="Text",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("passage", "passage"),
                            ("report", "report"),
                            ("reference", "reference summary"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "system",
                    models.CharField(
                        blank=True,
                        help_text="what generated a report, e.g. annotated.bm25",
                        max_length=120,
                    ),
                ),
                ("name", models.CharField(max_length=250)),
                ("body", models.TextField(blank=True, null=True)),
                ("sha256", models.CharField(blank=True, editable=False, max_length=64)),
                (
                    "start",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="where in the document it begins, in code points",
                        null=True,
                    ),
                ),
                ("end", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "dataset",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="texts",
                        to="annotation.dataset",
                    ),
                ),
                (
                    "document",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="what a passage is from",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="passages",
                        to="annotation.document",
                    ),
                ),
                (
                    "topic",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="texts",
                        to="annotation.topic",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("document__isnull", False)),
                        fields=["document"],
                        name="text_of_document",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("dataset", "kind", "system", "name"), name="text_name_unique"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("body__isnull", True), ("sha256", "")),
                            models.Q(
                                ("body__isnull", False), models.Q(("sha256", ""), _negated=True)
                            ),
                            _connector="OR",
                        ),
                        name="text_hash_iff_body",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "report"), _negated=True),
                            models.Q(("system", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="report_has_system",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("end__isnull", True), ("start__isnull", True)),
                            ("start__lt", models.F("end")),
                            _connector="OR",
                        ),
                        name="text_place_is_whole",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Item",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveIntegerField()),
                (
                    "purpose",
                    models.CharField(
                        choices=[("study", "study"), ("training", "training"), ("gold", "gold")],
                        default="study",
                        max_length=8,
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="annotation.campaign",
                    ),
                ),
                (
                    "text",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="items",
                        to="annotation.text",
                    ),
                ),
            ],
            options={
                "ordering": ["campaign_id", "position"],
                "constraints": [
                    models.UniqueConstraint(fields=("campaign", "text"), name="item_text_unique"),
                    models.UniqueConstraint(
                        fields=("campaign", "position"), name="item_position_unique"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("body", models.TextField()),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="messages_sent",
                        to="annotation.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Participant",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("account", "account"),
                            ("link", "invitation link"),
                            ("prolific", "Prolific"),
                            ("sona", "SONA"),
                            ("connect", "CloudResearch Connect"),
                            ("mturk", "Mechanical Turk"),
                        ],
                        default="account",
                        max_length=8,
                    ),
                ),
                (
                    "external_id",
                    models.CharField(
                        blank=True,
                        help_text="the platform's id of the person, or whom a link is for",
                        max_length=200,
                    ),
                ),
                (
                    "link_serial",
                    models.PositiveSmallIntegerField(
                        default=0,
                        help_text="of the invitation link that lets in; those before it do no longer",
                    ),
                ),
                (
                    "link_until",
                    models.DateTimeField(
                        blank=True, help_text="when the link ends; empty: with the study", null=True
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "under way"),
                            ("done", "done"),
                            ("screened_out", "screened out"),
                            ("failed_check", "failed the check"),
                            ("returned", "returned"),
                        ],
                        default="",
                        max_length=12,
                    ),
                ),
                (
                    "seed",
                    models.PositiveIntegerField(
                        default=0, help_text="of this participant's own order"
                    ),
                ),
                ("consented_at", models.DateTimeField(blank=True, null=True)),
                ("consent_version", models.CharField(blank=True, max_length=40)),
                ("check_tries", models.PositiveSmallIntegerField(default=0)),
                (
                    "checked_at",
                    models.DateTimeField(
                        blank=True, help_text="when the check was passed", null=True
                    ),
                ),
                (
                    "seen_message",
                    models.PositiveIntegerField(
                        default=0, help_text="id of the newest one put away"
                    ),
                ),
                ("joined", models.DateTimeField(auto_now_add=True)),
                (
                    "set_aside_at",
                    models.DateTimeField(
                        blank=True, help_text="since when nothing that they said counts", null=True
                    ),
                ),
                (
                    "erased_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="when personal data was deleted; labels stay",
                        null=True,
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="participants",
                        to="annotation.campaign",
                    ),
                ),
                (
                    "rater",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="participations",
                        to="annotation.rater",
                    ),
                ),
            ],
            options={
                "ordering": ["campaign_id", "id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("campaign", "rater"), name="participant_unique"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("external_id", ""), _negated=True),
                        fields=("campaign", "source", "external_id"),
                        name="participant_external_id_unique",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Part",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("study_id", models.CharField(blank=True, max_length=200)),
                ("session_id", models.CharField(blank=True, max_length=200)),
                ("began", models.DateTimeField(auto_now_add=True)),
                ("expires", models.DateTimeField(blank=True, null=True)),
                ("ended", models.DateTimeField(blank=True, null=True)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "under way"),
                            ("done", "done"),
                            ("expired", "expired"),
                            ("returned", "returned"),
                        ],
                        default="",
                        max_length=8,
                    ),
                ),
                (
                    "participant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="parts",
                        to="annotation.participant",
                    ),
                ),
            ],
            options={
                "ordering": ["participant_id", "number"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("participant", "number"), name="part_number_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LogEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("action", models.CharField(max_length=40)),
                ("detail", models.TextField(blank=True)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="log",
                        to="annotation.campaign",
                    ),
                ),
                (
                    "participant",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="log",
                        to="annotation.participant",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="Assignment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "position",
                    models.PositiveIntegerField(help_text="place in this participant's own order"),
                ),
                ("slot", models.PositiveSmallIntegerField(blank=True, null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "open"),
                            ("submitted", "submitted"),
                            ("skipped", "skipped"),
                            ("released", "released"),
                        ],
                        default="open",
                        max_length=9,
                    ),
                ),
                (
                    "was_skipped",
                    models.BooleanField(
                        default=False,
                        help_text="and not handed in since, also where it went back to the others",
                    ),
                ),
                (
                    "note",
                    models.TextField(
                        blank=True, help_text="why it was skipped, in the rater's words"
                    ),
                ),
                (
                    "reported_broken",
                    models.BooleanField(
                        default=False,
                        help_text="as it was skipped: the text itself is broken, says the rater",
                    ),
                ),
                (
                    "active_ms",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="active milliseconds after the last answer, until it was handed in",
                    ),
                ),
                (
                    "opened_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="when its page was shown first; empty where that is not known",
                        null=True,
                    ),
                ),
                ("submitted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "check_asked",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to="annotation.attentioncheck",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to="annotation.item",
                    ),
                ),
                (
                    "part",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to="annotation.part",
                    ),
                ),
                (
                    "participant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to="annotation.participant",
                    ),
                ),
            ],
            options={
                "ordering": ["participant_id", "position"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("participant", "item"), name="item_lent_once_to_a_participant"
                    ),
                    models.UniqueConstraint(
                        fields=("participant", "position"), name="assignment_position_unique"
                    ),
                    models.UniqueConstraint(fields=("item", "slot"), name="item_slot_held_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("slot__isnull", False), ("state", "released"), _negated=True
                        ),
                        name="released_holds_no_slot",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Rating",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("grade", models.SmallIntegerField()),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "rater",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="ratings",
                        to="annotation.rater",
                    ),
                ),
                (
                    "rubric",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="ratings",
                        to="annotation.rubric",
                    ),
                ),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="ratings",
                        to="annotation.subquestion",
                    ),
                ),
                (
                    "text",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="ratings",
                        to="annotation.text",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("rater", "rubric", "text", "question"), name="pair_rated_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("grade__gte", 0)), name="grade_never_below_zero"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="NuggetSpan",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveSmallIntegerField()),
                ("start", models.PositiveIntegerField(blank=True, null=True)),
                ("end", models.PositiveIntegerField(blank=True, null=True)),
                ("quote", models.TextField(blank=True)),
                ("source_quote", models.TextField(blank=True)),
                (
                    "located",
                    models.CharField(
                        choices=[
                            ("exact", "exact"),
                            ("normalised", "after joining white space"),
                            ("unlocated", "not in the text"),
                        ],
                        default="exact",
                        max_length=10,
                    ),
                ),
                (
                    "rating",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="spans",
                        to="annotation.rating",
                    ),
                ),
            ],
            options={
                "ordering": ["rating_id", "position"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("rating", "position"), name="span_position_unique"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("end__isnull", True),
                                ("located", "unlocated"),
                                ("start__isnull", True),
                            ),
                            models.Q(
                                models.Q(("located", "unlocated"), _negated=True),
                                ("end__gt", models.F("start")),
                                ("end__isnull", False),
                                ("start__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="span_offsets_iff_located",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RubricLevel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("grade", models.SmallIntegerField()),
                ("label", models.CharField(max_length=200)),
                ("name", models.SlugField(blank=True, db_index=False, max_length=40)),
                ("key", models.CharField(blank=True, max_length=1)),
                (
                    "colour",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "none"),
                            ("green", "green"),
                            ("blue", "blue"),
                            ("purple", "purple"),
                            ("orange", "orange"),
                            ("red", "red"),
                            ("grey", "grey"),
                        ],
                        max_length=6,
                    ),
                ),
                (
                    "rubric",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="levels",
                        to="annotation.rubric",
                    ),
                ),
            ],
            options={
                "ordering": ["rubric_id", "-grade"],
                "constraints": [
                    models.UniqueConstraint(fields=("rubric", "grade"), name="level_grade_unique")
                ],
            },
        ),
        migrations.CreateModel(
            name="ItemQuestion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveSmallIntegerField()),
                (
                    "expected",
                    models.SmallIntegerField(
                        blank=True,
                        help_text="of training and gold items: the grade of the gold source",
                        null=True,
                    ),
                ),
                ("expected_spans", models.JSONField(blank=True, default=list)),
                (
                    "answer",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="the words of the pair's answer, as they are shown where a rubric shows one",
                    ),
                ),
                (
                    "further",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="what is expected under further rubrics, by slug: {expected, expected_spans}",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="asked",
                        to="annotation.item",
                    ),
                ),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="asked_in",
                        to="annotation.subquestion",
                    ),
                ),
            ],
            options={
                "ordering": ["item_id", "position"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("item", "question"), name="item_question_unique"
                    ),
                    models.UniqueConstraint(
                        fields=("item", "position"), name="asked_position_unique"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.UUIDField(unique=True)),
                (
                    "grade",
                    models.SmallIntegerField(
                        help_text="empty: the decision before is withdrawn", null=True
                    ),
                ),
                (
                    "spans",
                    models.JSONField(help_text="[{start, end, quote}], code points of the text"),
                ),
                ("note", models.TextField(blank=True)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions",
                        to="annotation.item",
                    ),
                ),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions",
                        to="annotation.subquestion",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Answer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.UUIDField()),
                ("grade", models.SmallIntegerField(null=True)),
                (
                    "spans",
                    models.JSONField(help_text="[{start, end, quote}], code points of the text"),
                ),
                (
                    "text_sha256",
                    models.CharField(help_text="of the text as it was shown", max_length=64),
                ),
                (
                    "active_ms",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="active milliseconds on the page since the answer before; idle not counted",
                    ),
                ),
                (
                    "late",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "in time"),
                            ("taken_back", "the item had been taken back"),
                            ("closed", "the study was closed"),
                            ("set_aside", "the work was set aside"),
                        ],
                        default="",
                        help_text="why it is no rating, though it was kept",
                        max_length=10,
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "assignment",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="answers",
                        to="annotation.assignment",
                    ),
                ),
                (
                    "check_asked",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="answers",
                        to="annotation.attentioncheck",
                    ),
                ),
                (
                    "rubric",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="a further rubric of the campaign; empty: its own",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.rubric",
                    ),
                ),
                (
                    "question",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="answers",
                        to="annotation.subquestion",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("assignment", "key"), name="answer_stored_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("check_asked__isnull", False), ("question", None)),
                            models.Q(("check_asked", None), ("question__isnull", False)),
                            _connector="OR",
                        ),
                        name="answer_is_to_one_question",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Citation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveSmallIntegerField()),
                ("start", models.PositiveIntegerField()),
                ("end", models.PositiveIntegerField()),
                ("label", models.CharField(max_length=250)),
                (
                    "cited",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="cited_by",
                        to="annotation.text",
                    ),
                ),
                (
                    "report",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="citations",
                        to="annotation.text",
                    ),
                ),
            ],
            options={
                "ordering": ["report_id", "position"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("report", "position"), name="citation_position_unique"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("start__lt", models.F("end"))),
                        name="citation_of_a_statement",
                    ),
                ],
            },
        ),
    ]
