"""Labels and help texts of fields in plain terms. The database does not change."""

import annotation.models.campaign
import annotation.models.rubric
import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

from annotation.migration_operations import StateOnly


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0003_admits_anyone"),
    ]

    _labels = [
        migrations.AlterModelOptions(
            name="apitoken",
            options={
                "ordering": ["created", "pk"],
                "verbose_name": "API token",
                "verbose_name_plural": "API tokens",
            },
        ),
        migrations.AlterModelOptions(
            name="equaltext",
            options={
                "ordering": ["item_id", "text_id"],
                "verbose_name": "text of equal words",
                "verbose_name_plural": "texts of equal words",
            },
        ),
        migrations.AlterModelOptions(
            name="logentry",
            options={
                "ordering": ["-id"],
                "verbose_name": "campaign log entry",
                "verbose_name_plural": "campaign log entries",
            },
        ),
        migrations.AlterModelOptions(
            name="projectentry",
            options={
                "ordering": ["-id"],
                "verbose_name": "project log entry",
                "verbose_name_plural": "project log entries",
            },
        ),
        migrations.AlterModelOptions(
            name="subquestion",
            options={
                "ordering": ["topic_id", "position"],
                "verbose_name": "sub-question",
                "verbose_name_plural": "sub-questions",
            },
        ),
        migrations.AlterModelOptions(
            name="version",
            options={
                "ordering": ["-replaced", "-pk"],
                "verbose_name": "earlier wording",
                "verbose_name_plural": "earlier wordings",
            },
        ),
        migrations.AlterField(
            model_name="answer",
            name="active_ms",
            field=models.PositiveIntegerField(
                default=0,
                help_text="active milliseconds on the page since the previous answer; without idle time",
            ),
        ),
        migrations.AlterField(
            model_name="answer",
            name="altered",
            field=models.BooleanField(
                default=False,
                help_text="the browser had changed the text or questions of the page, for example by translation",
            ),
        ),
        migrations.AlterField(
            model_name="answer",
            name="late",
            field=models.CharField(
                blank=True,
                choices=[
                    ("", "in time"),
                    ("taken_back", "the assignment was released"),
                    ("closed", "the study was closed"),
                    ("set_aside", "the work was excluded"),
                ],
                default="",
                help_text="why the answer is stored but is not a rating",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="answer",
            name="rated_spans",
            field=models.JSONField(
                blank=True,
                help_text="spans of its rating on an edited text when it stopped counting; some may be placed by hand",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="answer",
            name="rubric",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                help_text="further rubric of the campaign; empty: its first rubric",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="annotation.rubric",
            ),
        ),
        migrations.AlterField(
            model_name="answer",
            name="spans",
            field=models.JSONField(
                help_text="[{start, end, quote}], offsets in code points of the text"
            ),
        ),
        migrations.AlterField(
            model_name="answer",
            name="text_sha256",
            field=models.CharField(help_text="SHA-256 of the displayed text", max_length=64),
        ),
        migrations.AlterField(
            model_name="assignment",
            name="active_ms",
            field=models.PositiveIntegerField(
                default=0, help_text="active milliseconds from the last answer to the submission"
            ),
        ),
        migrations.AlterField(
            model_name="assignment",
            name="note",
            field=models.TextField(blank=True, help_text="the rater's reason to skip the item"),
        ),
        migrations.AlterField(
            model_name="assignment",
            name="opened_at",
            field=models.DateTimeField(
                blank=True,
                help_text="when the person first opened the page; empty: unknown",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="assignment",
            name="position",
            field=models.PositiveIntegerField(help_text="position in the participant's own order"),
        ),
        migrations.AlterField(
            model_name="assignment",
            name="reported_broken",
            field=models.BooleanField(
                default=False,
                help_text="the rater skipped the item and reported its text as broken",
            ),
        ),
        migrations.AlterField(
            model_name="assignment",
            name="was_skipped",
            field=models.BooleanField(
                default=False,
                help_text="skipped and not submitted since, even if the item returned to the pool",
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="adjudicator",
            field=models.OneToOneField(
                blank=True,
                editable=False,
                help_text="rater that has the decisions of experts as ratings",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="annotation.rater",
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="admits_anyone",
            field=models.BooleanField(
                default=False,
                help_text="anyone with the link can join without an account",
                verbose_name="open link",
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="begun_lease_hours",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="from the start of a part; after that, begun items return to the pool too; empty: never",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="completion_url",
            field=models.URLField(
                blank=True,
                help_text="with the placeholders {code} and {worker}; empty: the address of the platform",
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="consent",
            field=models.TextField(
                blank=True, help_text="Markdown; empty: no consent is requested"
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="contact",
            field=models.CharField(
                blank=True,
                help_text="e-mail or web address for questions of workers",
                max_length=200,
                validators=[annotation.models.campaign.is_contact],
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="copies_equal_texts",
            field=models.BooleanField(
                default=False,
                help_text="assign one of them and copy its grades to the others; otherwise assign each",
                verbose_name="texts of equal words",
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="drop_out_percent",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="expected share of arrivals that finish no part",
                null=True,
                validators=[django.core.validators.MaxValueValidator(99)],
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="further_rubrics",
            field=models.ManyToManyField(
                blank=True,
                help_text="asked on the same page about the same pairs; each has its own ratings",
                related_name="+",
                to="annotation.rubric",
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="gold_per_person",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="spread evenly over all parts; empty: one in each part, until the person has had all",
                null=True,
                verbose_name="hidden gold items for one person",
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="gold_source",
            field=models.ForeignKey(
                blank=True,
                help_text="rater whose labels are the correct answers of training and gold items",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="annotation.rater",
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="is_pilot",
            field=models.BooleanField(
                default=False,
                help_text="its answers are stored, but never become ratings",
                verbose_name="pilot",
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="items_per_part",
            field=models.PositiveSmallIntegerField(
                blank=True, help_text="empty: one part with all items", null=True
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="language",
            field=models.CharField(
                choices=annotation.models.campaign.languages,
                default="en-gb",
                help_text="language of the task pages; texts are not translated",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="lease_hours",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="after that, untouched items return to the pool; empty: never",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="look_active_percent",
            field=models.PositiveSmallIntegerField(
                default=10,
                help_text="flag for review if less of the stated minutes is active time",
                validators=[
                    django.core.validators.MinValueValidator(0),
                    django.core.validators.MaxValueValidator(100),
                ],
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="look_checks_missed",
            field=models.PositiveSmallIntegerField(
                default=0,
                help_text="flag for review if more attention checks are missed",
                validators=[django.core.validators.MaxValueValidator(1000)],
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="look_gold_answers",
            field=models.PositiveSmallIntegerField(
                default=3,
                help_text="minimum number of gold answers for a share",
                validators=[
                    django.core.validators.MinValueValidator(1),
                    django.core.validators.MaxValueValidator(1000),
                ],
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="look_gold_percent",
            field=models.PositiveSmallIntegerField(
                default=60,
                help_text="flag for review if fewer gold answers are correct",
                validators=[
                    django.core.validators.MinValueValidator(0),
                    django.core.validators.MaxValueValidator(100),
                ],
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="look_skipped_percent",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="flag for review if more texts of a part are skipped; empty: more than may be skipped",
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(0),
                    django.core.validators.MaxValueValidator(100),
                ],
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="max_parts",
            field=models.PositiveSmallIntegerField(
                blank=True, help_text="maximum for one person; empty: no limit", null=True
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="platform_fee",
            field=models.DecimalField(
                blank=True,
                decimal_places=2,
                help_text="in per cent of the pay, in addition to it; empty: no fee",
                max_digits=5,
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(0),
                    django.core.validators.MaxValueValidator(100),
                ],
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="question_source",
            field=models.ForeignKey(
                blank=True,
                help_text="rater whose labels select one answerable and one unanswerable question for each text",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="annotation.rater",
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="questions_per_item",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="drawn at random for each text; empty: all questions",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="seed",
            field=models.PositiveIntegerField(
                default=1, help_text="of all random draws, so that they can be reproduced"
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="selection",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="filters of the texts: kind, systems, topics, sample size",
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="skips_per_part",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="maximum number of skipped texts in a part; empty: a quarter",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="wording",
            field=models.JSONField(
                blank=True,
                default=dict,
                editable=False,
                help_text="title, question and levels of the rubric, as in annotation.models.rubric_wording; empty: the rubric's own",
            ),
        ),
        migrations.AlterField(
            model_name="checkquestion",
            name="correct",
            field=models.PositiveSmallIntegerField(help_text="index of the correct choice, from 0"),
        ),
        migrations.AlterField(
            model_name="checkquestion",
            name="why",
            field=models.TextField(blank=True, help_text="displayed after a wrong answer"),
        ),
        migrations.AlterField(
            model_name="decision",
            name="grade",
            field=models.SmallIntegerField(
                help_text="empty: withdraws the previous decision", null=True
            ),
        ),
        migrations.AlterField(
            model_name="decision",
            name="spans",
            field=models.JSONField(
                help_text="[{start, end, quote}], offsets in code points of the text"
            ),
        ),
        migrations.AlterField(
            model_name="equaltext",
            name="shown_body",
            field=models.TextField(
                editable=False,
                help_text="wording in the campaign, if the text was edited since",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="invitation",
            name="for_whom",
            field=models.CharField(max_length=80, verbose_name="label"),
        ),
        migrations.AlterField(
            model_name="invitation",
            name="role",
            field=models.CharField(
                choices=[
                    ("viewer", "viewer"),
                    ("researcher", "researcher"),
                    ("coordinator", "campaign coordinator"),
                    ("owner", "owner"),
                ],
                default="researcher",
                max_length=11,
            ),
        ),
        migrations.AlterField(
            model_name="item",
            name="shown_body",
            field=models.TextField(
                editable=False,
                help_text="wording that raters saw, if the text was edited since",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="itemquestion",
            name="answer",
            field=models.JSONField(
                blank=True,
                default=list,
                help_text="answer of the pair, displayed if a rubric shows answers",
            ),
        ),
        migrations.AlterField(
            model_name="itemquestion",
            name="expected",
            field=models.SmallIntegerField(
                blank=True,
                help_text="for training and gold items: the grade of the gold source",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="itemquestion",
            name="further",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="correct grades under further rubrics, by slug: {expected, expected_spans}",
            ),
        ),
        migrations.AlterField(
            model_name="itemquestion",
            name="shown_body",
            field=models.TextField(
                editable=False,
                help_text="wording that raters saw, if the question was edited since",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="membership",
            name="role",
            field=models.CharField(
                choices=[
                    ("viewer", "viewer"),
                    ("researcher", "researcher"),
                    ("coordinator", "campaign coordinator"),
                    ("owner", "owner"),
                ],
                default="researcher",
                max_length=11,
            ),
        ),
        migrations.AlterField(
            model_name="nuggetspan",
            name="earlier_positions",
            field=models.JSONField(
                blank=True,
                help_text="for an edited text: the position in each earlier wording, by the wording's SHA-256",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="nuggetspan",
            name="located",
            field=models.CharField(
                choices=[
                    ("exact", "exact"),
                    ("normalised", "after normalising white space"),
                    ("unlocated", "not in the text"),
                ],
                default="exact",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="participant",
            name="checked_at",
            field=models.DateTimeField(
                blank=True, help_text="when the person passed the check", null=True
            ),
        ),
        migrations.AlterField(
            model_name="participant",
            name="erased_at",
            field=models.DateTimeField(
                blank=True,
                help_text="when personal data was deleted; answers and ratings stay",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="participant",
            name="external_id",
            field=models.CharField(
                blank=True,
                help_text="id of the person on the platform, or name for an invitation link",
                max_length=200,
            ),
        ),
        migrations.AlterField(
            model_name="participant",
            name="link_serial",
            field=models.PositiveSmallIntegerField(
                default=0,
                help_text="number of the valid invitation link; earlier links are invalid",
            ),
        ),
        migrations.AlterField(
            model_name="participant",
            name="link_until",
            field=models.DateTimeField(
                blank=True, help_text="expiry of the link; empty: the end of the study", null=True
            ),
        ),
        migrations.AlterField(
            model_name="participant",
            name="seed",
            field=models.PositiveIntegerField(
                default=0, help_text="of the participant's own order of items"
            ),
        ),
        migrations.AlterField(
            model_name="participant",
            name="seen_message",
            field=models.PositiveIntegerField(
                default=0, help_text="id of the newest message that the person dismissed"
            ),
        ),
        migrations.AlterField(
            model_name="participant",
            name="set_aside_at",
            field=models.DateTimeField(
                blank=True, help_text="since when the work is excluded", null=True
            ),
        ),
        migrations.AlterField(
            model_name="projectentry",
            name="rows",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="for an import: first and last key of created rows, by table, and existing rows it completed",
            ),
        ),
        migrations.AlterField(
            model_name="rater",
            name="is_adjudicator",
            field=models.BooleanField(
                default=False, help_text="decides with the grades of others visible"
            ),
        ),
        migrations.AlterField(
            model_name="rater",
            name="made_from",
            field=models.TextField(
                blank=True, help_text="for an aggregate: its raters, rule and date"
            ),
        ),
        migrations.AlterField(
            model_name="rating",
            name="copied_from",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                help_text="text of equal words that the rater read; empty: the rater read this text",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="copied_ratings",
                to="annotation.text",
            ),
        ),
        migrations.AlterField(
            model_name="rubric",
            name="eta",
            field=models.SmallIntegerField(
                blank=True,
                help_text="lowest grade that counts as answerable; empty: no grade does",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="rubric",
            name="guideline",
            field=models.TextField(help_text="Markdown; displayed beside the text"),
        ),
        migrations.AlterField(
            model_name="rubric",
            name="is_retired",
            field=models.BooleanField(
                default=False,
                help_text="new campaigns and judges cannot use it",
                verbose_name="retired",
            ),
        ),
        migrations.AlterField(
            model_name="rubric",
            name="question",
            field=models.CharField(
                blank=True,
                help_text="displayed above the questions of each text; empty: the default for the kind of text",
                max_length=200,
            ),
        ),
        migrations.AlterField(
            model_name="rubric",
            name="scale",
            field=models.CharField(
                choices=[
                    ("ordinal", "ordinal: a higher grade means more"),
                    ("nominal", "nominal: grades are categories without an order"),
                ],
                default="ordinal",
                max_length=7,
            ),
        ),
        migrations.AlterField(
            model_name="rubric",
            name="shows",
            field=models.JSONField(
                default=annotation.models.rubric.text_and_question,
                help_text="parts of a pair that raters and judges see",
            ),
        ),
        migrations.AlterField(
            model_name="rubric",
            name="span_from",
            field=models.SmallIntegerField(
                blank=True,
                help_text="lowest grade that needs at least one highlighted span; empty: no highlights",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="sharedlink",
            name="address",
            field=models.CharField(
                blank=True,
                help_text="path and query of the page; empty: all pages of the dataset",
                max_length=2000,
            ),
        ),
        migrations.AlterField(
            model_name="sharedlink",
            name="for_whom",
            field=models.CharField(max_length=80, verbose_name="label"),
        ),
        migrations.AlterField(
            model_name="sharedlink",
            name="with_words",
            field=models.BooleanField(default=False, verbose_name="include texts and questions"),
        ),
        migrations.AlterField(
            model_name="subquestion",
            name="group",
            field=models.CharField(
                blank=True,
                help_text="the part of the request that the question is about",
                max_length=250,
            ),
        ),
        migrations.AlterField(
            model_name="subquestion",
            name="position",
            field=models.PositiveSmallIntegerField(
                help_text="from 0, as in the files of the CRUX authors"
            ),
        ),
        migrations.AlterField(
            model_name="subquestion",
            name="source_body",
            field=models.TextField(
                blank=True, help_text="wording in the imported file, if it has more white space"
            ),
        ),
        migrations.AlterField(
            model_name="text",
            name="document",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                help_text="source document of a passage",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="passages",
                to="annotation.document",
            ),
        ),
        migrations.AlterField(
            model_name="text",
            name="start",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="start of the passage in its document, in code points",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="text",
            name="system",
            field=models.CharField(
                blank=True,
                help_text="system that generated the report, such as annotated.bm25",
                max_length=120,
            ),
        ),
        migrations.AlterField(
            model_name="topic",
            name="group",
            field=models.SlugField(
                blank=True,
                db_index=False,
                default="",
                help_text="task type, domain or track; results are also reported by group",
                max_length=80,
            ),
        ),
        migrations.AlterField(
            model_name="user",
            name="is_guest",
            field=models.BooleanField(
                default=False,
                help_text="joined by a link or from a recruitment platform: no password, one campaign",
            ),
        ),
        migrations.AlterField(
            model_name="version",
            name="author",
            field=models.CharField(
                blank=True,
                editable=False,
                help_text="for an imported version: who edited the text there; null: edited on this site",
                max_length=150,
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="version",
            name="had",
            field=models.JSONField(
                blank=True,
                default=dict,
                help_text="data that belong to this wording: citations, the position in a document",
            ),
        ),
        migrations.AlterField(
            model_name="version",
            name="n_ratings",
            field=models.PositiveIntegerField(
                default=0, help_text="ratings of this or an earlier wording"
            ),
        ),
        migrations.AlterField(
            model_name="version",
            name="number",
            field=models.PositiveSmallIntegerField(help_text="from 1, the original wording"),
        ),
    ]
    operations = [StateOnly(_labels)]
