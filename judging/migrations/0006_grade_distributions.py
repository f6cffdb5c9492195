"""Probabilities that are not those of the grade are removed.

They were read at the first generated token, whatever it was: the label of "Rating: 4", or the reasoning. What a
server told of the other tokens was not kept, so they cannot be computed again.
"""

from django.db import migrations, models
from django.db.models import F, Q, Sum, Count

LEAST_MASS = 0.5
CHUNK = 2_000
FAILURES = (
    *("empty", "no_grade", "several", "words_after", "out_of_range", "cut", "refusal", "no_terms"),
    *("too_long", "timeout", "connection", "server", "request", "malformed", "other_model", "oversized"),
)


def remove_other_distributions(apps, schema_editor):
    attempts = apps.get_model("judging", "Attempt").objects.using(schema_editor.connection.alias)
    judges = apps.get_model("judging", "Judge").objects.using(schema_editor.connection.alias)
    known = {judge.pk: judge for judge in judges.select_related("rater")}
    told = attempts.filter(Q(probabilities__isnull=False) | Q(expected_grade__isnull=False))
    counts: dict[int, list[int]] = {}
    wrong: list[int] = []
    fields = ("pk", "judge_id", "grade", "raw", "reasoning", "probabilities", "label_mass")
    for row in told.order_by("pk").values_list(*fields).iterator(chunk_size=CHUNK):
        key, judge, *rest = row
        of_judge = counts.setdefault(judge, [0, 0])
        if _is_of_the_grade(known[judge], *rest):
            of_judge[0] += 1
        else:
            of_judge[1] += 1
            wrong.append(key)
    for start in range(0, len(wrong), CHUNK):
        attempts.filter(pk__in=wrong[start : start + CHUNK]).update(
            probabilities=None, expected_grade=None, label_mass=None
        )
    _count_again(apps, schema_editor, [judge for judge, (_, removed) in counts.items() if removed])
    for judge, (kept, removed) in counts.items():
        if removed:
            print(
                f"\n  {known[judge].rater.name}: the probabilities of {removed:,} replies were not those of their"
                f" grades and are removed; {kept:,} are kept. Aggregates by mean-expected and calibrated ones of"
                " this judge have to be made again.",
                end="",
            )


def _is_of_the_grade(judge, grade, raw, reasoning, probabilities, mass):
    if grade is None or not probabilities or (mass or 0) < LEAST_MASS:
        return False
    grades = [level for level, _ in judge.levels]
    own = probabilities[grades.index(grade)] if grade in grades else None
    if own is None or own < max(value for value in probabilities if value is not None):
        return False
    n = (judge.sampling.get("extra") or {}).get("n")
    if isinstance(n, int) and n > 1:
        return True  # shares of samples
    reply = raw.strip(" \t\r\n")
    digits = str(grade)
    return not reasoning and reply.startswith(digits) and not reply[len(digits) :][:1].isdigit()


def _count_again(apps, schema_editor, judges):
    """The sums over the replies of a batch that a run shows."""
    batches = apps.get_model("judging", "Batch").objects.using(schema_editor.connection.alias)
    graded = Q(attempts__state="graded", attempts__expected_grade__isnull=False)
    of_judges = batches.filter(run__judge__in=judges, n_expected__gt=0)
    sums = of_judges.annotate(
        n=Count("attempts", filter=graded),
        drift=Sum(F("attempts__expected_grade") - F("attempts__grade"), filter=graded),
    )
    for key, n, drift in sums.values_list("pk", "n", "drift"):
        batches.filter(pk=key).update(n_expected=n, sum_drift=drift or 0)


class Migration(migrations.Migration):

    dependencies = [
        ("judging", "0005_judge_visibility"),
    ]

    operations = [
        migrations.AlterField(
            model_name="attempt",
            name="failure",
            field=models.CharField(blank=True, choices=[(name, name) for name in FAILURES], max_length=12),
        ),
        migrations.RunPython(remove_other_distributions, migrations.RunPython.noop),
    ]
