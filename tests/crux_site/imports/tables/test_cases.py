"""Cases of ../shared/cases/tables: files as people have them, each with the right result."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from annotation.models import Dataset, NuggetSpan, Rating, Rubric, SubQuestion, Text, Topic
from evaluation.models import PairNote, RankedText, ReportValue

CASES = Path(__file__).parents[5] / "shared/cases/tables"
NAMES = (
    sorted(folder.name for folder in CASES.iterdir() if (folder / "case.json").exists())
    if (CASES.exists())
    else []
)

pytestmark = pytest.mark.django_db

RATING = {
    "rater": "rater__name",
    "rater_kind": "rater__kind",
    "kind": "text__kind",
    "rubric": "rubric__slug",
    "system": "text__system",
    "text": "text__name",
    "starts": "text__body__startswith",
    "topic": "question__topic__name",
    "request": "question__topic__request",
    "question": "question__body",
}
TEXT = {
    "kind": "kind",
    "system": "system",
    "text": "name",
    "topic": "topic__name",
    "request": "topic__request",
    "starts": "body__startswith",
}
REPORT = {"measure": "measure"} | {
    name: f"report__{path}" for name, path in TEXT.items() if name != "kind"
}
RANKED = {"run": "run__name", "topic": "topic__name", "request": "topic__request"}


def _ratings(slug, keys):
    keys = dict(keys)
    position = {"question__position": keys.pop("number") - 1} if "number" in keys else {}
    filters = {RATING[name]: value for name, value in keys.items()}
    return Rating.objects.filter(text__dataset__slug=slug, **filters, **position)


def _filtered(query, paths, keys):
    return query.filter(**{paths[name]: value for name, value in keys.items()})


def _label(rating, expected):
    level = rating.rubric.levels.get(grade=rating.grade)
    return level.name if level.name == expected else level.label


def _actual(slug, kind, keys, expected):
    """Return kind the dataset holds where a spot of a case looks."""
    if kind == "grade":
        return _ratings(slug, keys).get().grade
    if kind == "label":
        return _label(_ratings(slug, keys).get(), expected)
    if kind == "quotes":
        spans = NuggetSpan.objects.filter(rating__in=_ratings(slug, keys))
        return list(spans.order_by("rating", "position").values_list("quote", flat=True))
    if kind == "request":
        return Topic.objects.get(dataset__slug=slug, name=keys["topic"]).request
    if kind == "body":
        return _filtered(Text.objects.filter(dataset__slug=slug), TEXT, keys).get().body
    if kind == "texts":
        return Text.objects.filter(dataset__slug=slug, **keys).count()
    if kind == "value":
        values = ReportValue.objects.filter(report__dataset__slug=slug)
        return _filtered(values, REPORT, keys).get().value
    if kind == "ranked":
        ranked = _filtered(RankedText.objects.filter(run__dataset__slug=slug), RANKED, keys)
        bodies = ranked.order_by("rank").values_list("text__body", flat=True)
        return [body[: len(start)] for body, start in zip(bodies, expected, strict=True)]
    if kind == "rubric":
        rubric = Rubric.objects.get(**keys)
        full = {"scale": rubric.scale, "eta": rubric.eta, "grades": list(rubric.grades())}
        return {name: full[name] for name in expected}
    if kind == "notes":
        return PairNote.objects.filter(text__dataset__slug=slug).count()
    raise ValueError(kind)


def _import(folder, case):
    """Return the exit status of the command, and kind it printed."""
    how = ["--preset", case["preset"]] if "preset" in case else ["--map", str(folder / case["map"])]
    out, err = StringIO(), StringIO()
    try:
        call_command(
            "import_table",
            *(str(folder / name) for name in case["files"]),
            *how,
            *case.get("options", []),
            "--dataset",
            folder.name,
            stdout=out,
            stderr=err,
        )
    except SystemExit as end:
        return end.code, out.getvalue() + err.getvalue()
    return 0, out.getvalue()


def test_cases_are_there():
    if not NAMES:
        pytest.skip(f"{CASES} is not on this machine")


@pytest.mark.parametrize("name", NAMES)
def test_case(name):
    folder = CASES / name
    case = json.loads((folder / "case.json").read_text())
    right = json.loads((folder / "expected.json").read_text())
    if "before" in case:
        call_command("import_dataset", folder / case["before"], dataset=name, stdout=StringIO())
    status, printed = _import(folder, case)
    if right.get("refused"):
        assert status == 1
        for phrase in right["says"]:
            assert phrase.casefold() in printed.casefold()
        assert "before" in case or not Dataset.objects.filter(slug=name).exists()
        return
    assert status == 0, printed
    assert _import(folder, case)[0] == 0
    ratings = Rating.objects.filter(text__dataset__slug=name)
    assert {
        "topics": Topic.objects.filter(dataset__slug=name).count(),
        "questions": SubQuestion.objects.filter(topic__dataset__slug=name).count(),
        "texts": Text.objects.filter(dataset__slug=name).count(),
        "raters": ratings.order_by().values("rater").distinct().count(),
        "ratings": ratings.count(),
    } == {key: right[key] for key in ("topics", "questions", "texts", "raters", "ratings")}
    for spot in right.get("spots", []):
        ((kind, keys),) = [(key, value) for key, value in spot.items() if key != "is"]
        actual, expected = _actual(name, kind, keys, spot["is"]), spot["is"]
        assert actual == (pytest.approx(expected) if isinstance(expected, float) else expected), (
            spot
        )
