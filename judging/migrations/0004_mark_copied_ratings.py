from hashlib import sha256

from django.db import migrations

_ROWS = 2_000


def mark_copied_ratings(apps, schema_editor):
    """Mark the ratings of copied replies with the text of equal words that the judge read."""
    Attempt = apps.get_model("judging", "Attempt")
    Judge = apps.get_model("judging", "Judge")
    words = {}
    for judge in Judge.objects.order_by("pk"):
        attempts = Attempt.objects.filter(judge=judge, counts=True).order_by()
        copied = attempts.filter(copied=True)
        questions = sorted(set(copied.values_list("question", flat=True)))
        for question in questions:
            _mark_question(apps, judge, attempts.filter(question=question), words)


def _mark_question(apps, judge, attempts, words):
    Rating = apps.get_model("annotation", "Rating")
    read = dict.fromkeys(attempts.filter(copied=False).values_list("text_id", flat=True))
    copies = set(attempts.filter(copied=True).values_list("text_id", flat=True))
    words |= _words(apps, sorted({*read, *copies} - words.keys()))
    read_text = {words[text]: text for text in sorted(read, reverse=True)}
    ratings = Rating.objects.filter(
        rater=judge.rater_id,
        rubric=judge.rubric_id,
        question__in=attempts.values("question"),
        copied_from=None,
    )
    for text in sorted(copies):
        # Without a source, the text was not in the prompt: nothing of it was read.
        if source := read_text.get(words[text]):
            ratings.filter(text=text).update(copied_from=source)


def _words(apps, texts):
    Text = apps.get_model("annotation", "Text")
    words = {}
    for start in range(0, len(texts), _ROWS):
        rows = Text.objects.filter(pk__in=texts[start : start + _ROWS])
        for pk, body in rows.values_list("pk", "body").iterator(chunk_size=200):
            words[pk] = sha256((body or "").strip().encode()).digest()
    return words


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0004_labels_and_help_texts"),
        ("judging", "0003_labels_and_help_texts"),
    ]

    operations = [
        migrations.RunPython(mark_copied_ratings, migrations.RunPython.noop, elidable=True)
    ]
