"""Models of the runs that were made here, and of the outputs that were accepted."""

from django.db import migrations

from annotation.origins import RERANKED, origin
from building.retrieval.origins import origins_of_steps

_ROWS = 500


def fill_origins(apps, schema_editor):
    _fill_runs(apps)
    _fill_outputs(apps)


def _fill_runs(apps):
    RetrievalRun = apps.get_model("evaluation", "RetrievalRun")
    # By key: a run that another one reads was made before it.
    for run in RetrievalRun.objects.exclude(fingerprint="").filter(origins=[]).order_by("pk"):
        runs = RetrievalRun.objects.filter(dataset=run.dataset_id)

        def of_run(name, runs=runs):
            return next(iter(runs.filter(name=name).values_list("origins", flat=True)), [])

        def of_judge(name, dataset=run.dataset_id):
            return _origins_of_judge(apps, dataset, name.removeprefix("people:"))

        if origins := origins_of_steps(run.origin.get("steps", ()), of_run, of_judge):
            RetrievalRun.objects.filter(pk=run.pk).update(origins=origins)


def _origins_of_judge(apps, dataset, name):
    raters = apps.get_model("annotation", "Rater").objects.filter(kind__in=["model", "baseline"])
    rater = (
        raters.filter(name=name, dataset=dataset).first()
        or raters.filter(name__in=[name, name.removesuffix("-site")], dataset=None).first()
    )
    if rater is None:
        return []
    judge = None
    if rater.kind == "model":
        judge = apps.get_model("judging", "Judge").objects.filter(rater=rater).first()
    return [origin(RERANKED, *((judge.model, judge.revision) if judge else (rater.name,)))]


def _fill_outputs(apps):
    products = apps.get_model("building", "Product").objects.order_by("pk")
    products = products.select_related("draft__order__writer", "text", "question")
    for product in products.exclude(text=None, question=None).iterator(chunk_size=_ROWS):
        writer = product.draft.order.writer
        role = "wrote" if product.text else "asked"
        is_baseline = writer.backend == "extractive" or writer.model == "stand-in"
        model = (writer.slug,) if is_baseline else (writer.model, writer.revision)
        origins = [origin(role, *model, is_edited=bool(product.edited))]
        words = " ".join((product.edited or product.body).split())
        if writer.task == "nuggets":
            words = words.partition("]")[2].strip() or words  # after the importance
        _fill(product.text or product.question, words, origins)


def _fill(entity, words, origins):
    """Store the origins of a wording: the current one, or the earlier one that an edit has replaced."""

    def is_accepted(body):
        return " ".join((body or "").split()) == words

    if entity.origins:
        return
    if is_accepted(entity.body):
        type(entity).objects.filter(pk=entity.pk).update(origins=origins)
        return
    for version in entity.versions.order_by("number"):
        if version.had and is_accepted(version.body):
            version.had["origins"] = origins
            version.save(update_fields=["had"])


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0017_origins"),
        ("building", "0003_labels_and_help_texts"),
        ("evaluation", "0003_run_origins"),
        ("judging", "0004_mark_copied_ratings"),
    ]

    operations = [
        migrations.RunPython(fill_origins, migrations.RunPython.noop, elidable=True),
    ]
