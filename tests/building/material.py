"""The small study of the scores, with words to rank by."""

from annotation.models import Text
from building.run_creation import make_run
from building.steps import RecipeContext
from evaluation.models import RankedText
from tests.toolbox.scoring_study import Study, make_study

BODIES = {
    "ferry-1:0#0": "harbour",
    "ferry-1:2#2": "Ferry ferry!",
    "ferry-1:10#10": "boat",
    "ferry-1:11#11": "ferry",
    "far-9:0#0": "nothing of it",
    "ferry-2:0#0": "storm",
}


def make_ferries() -> Study:
    study = make_study()
    study.dataset.topics.filter(name="ferry-1").update(request="Which ferry?")
    study.dataset.topics.filter(name="ferry-2").update(request="What else?")
    for name, body in BODIES.items():
        text = Text.objects.get(name=name)
        text.body = body
        text.save()
    return study


def create_run(study, line, name="mine", *topics):
    kitchen = RecipeContext(study.dataset, opens_files=True, asks_servers=True)
    return make_run(study.dataset, name, line, kitchen, topics)


def ranked(run, topic="ferry-1"):
    rows = RankedText.objects.filter(run=run, topic__name=topic).order_by("rank")
    return list(rows.values_list("text__name", "score"))


def names(run, topic="ferry-1"):
    return [name for name, _ in ranked(run, topic)]
