"""Django fixtures of a study: `dumpdata` by natural keys, `loaddata` beside other studies."""

import json

from django.core.management import call_command

from annotation.formats.long_table import jsonl_lines
from annotation.models import Dataset, NuggetSpan, Rater, Rating, Rubric
from annotation.models.rubric_rules import values_of
from annotation.models.standard import STANDARD, add_standard
from evaluation.models import RankedText, ReportValue, RetrievalRun, System
from tests.toolbox.factories import make_dataset

CORPUS = (
    "Project",
    "Rubric",
    "RubricLevel",
    "Dataset",
    "Topic",
    "SubQuestion",
    "Document",
    "Text",
    "Citation",
)
GRADES = ("Rater", "Rating", "NuggetSpan")
RUNS = ("RetrievalRun", "RankedText", "System", "ReportValue")
STUDY = [f"annotation.{name}" for name in CORPUS + GRADES] + [f"evaluation.{name}" for name in RUNS]


def make_study(slug: str) -> Dataset:
    """Ratings with a span by a rater of a file and by one who is known everywhere, and a run."""
    dataset = make_dataset(slug)
    topic = dataset.topics.get()
    report = dataset.texts.filter(kind="report").first()
    passage = dataset.texts.get(name=f"{slug}-1:0#0")
    of_a_file = Rater.objects.create(dataset=dataset, name="ada", kind="human")
    everywhere, _ = Rater.objects.get_or_create(dataset=None, name="ada", kind="human")
    for grade, rater in enumerate((of_a_file, everywhere)):
        rating = Rating.objects.create(
            rater=rater,
            rubric=Rubric.objects.get(slug="answerable"),
            text=report,
            question=topic.questions.first(),
            grade=grade,
        )
        NuggetSpan.objects.create(rating=rating, position=0, start=4, end=7, quote="car")
    report.citations.create(position=0, start=0, end=9, label="[1]", cited=passage)
    run = RetrievalRun.objects.create(dataset=dataset, name="bm25")
    RankedText.objects.create(run=run, topic=topic, text=passage, rank=1, score=2.5)
    System.objects.create(dataset=dataset, name=report.system, settings={"k": 5})
    ReportValue.objects.create(report=report, measure="rouge", value=0.25)
    return dataset


def drop(slug: str) -> None:
    Rating.objects.filter(text__dataset__slug=slug).delete()
    Dataset.objects.get(slug=slug).delete()


def dump(path) -> list[str]:
    """Writes the fixture; its rows, in an order that keys do not make."""
    natural = {"use_natural_foreign_keys": True, "use_natural_primary_keys": True}
    call_command("dumpdata", *STUDY, **natural, output=str(path))
    return sorted(json.dumps(row) for row in json.loads(path.read_text()))


def grades(slug: str) -> list[str]:
    return list(jsonl_lines(Dataset.objects.get(slug=slug)))


def test_study_is_dumped_and_loaded_beside_others_and_loading_again_changes_nothing(db, tmp_path):
    make_study("ferry")
    utility = add_standard(STANDARD["utility"])
    values = values_of(utility)
    fixture, before = tmp_path / "study.json", grades("ferry")
    dumped = dump(fixture)
    assert not any("pk" in json.loads(row) for row in dumped)
    drop("ferry")
    utility.delete()
    make_study("harbour")
    harbour = grades("harbour")
    assert len(before) == len(harbour) > 1
    for _time in range(2):
        call_command("loaddata", str(fixture), verbosity=0)
        assert (grades("ferry"), grades("harbour")) == (before, harbour)
    assert values_of(Rubric.objects.get(slug="utility")) == values
    assert values["impossible"] == STANDARD["utility"].declarations
    assert all(level["examples"] for level in values["levels"])
    drop("harbour")
    assert dump(tmp_path / "again.json") == dumped
