"""Examples of grades through files, fixtures, the API and the form, in two languages."""

import json

import pytest
from django.core.management import call_command

from annotation.models import Dataset, Rubric, RubricLevel
from annotation.models.rubric_rules import EXAMPLE_LENGTHS, store_rubric, values_of
from annotation.models.rubric_wording import default_wording
from annotation.models.standard import STANDARD, add_standard, examples_in
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from tests.toolbox.factories import make_dataset
from tests.toolbox.import_study import empty_database

pytestmark = pytest.mark.django_db

GERMAN = [
    {
        "text": "„Gründlich“ – so heißt es.\n\n\tÜber 3 % mehr, 1\u202f000 €.",
        "question": "Wie wird geprüft?",
        "reason": "  Der Text sagt es wörtlich; ß und e\u0301 bleiben.",
    },
    {"text": "=SUMME(A1)\u2028x\x85y \U0001f6a2", "question": "", "reason": "Kein Rechenfehler."},
]
ENGLISH = [{"text": 'It says "no"\\ <b>twice</b>.', "question": "", "reason": "A plain no."}]
LONGEST = [{name: "ü" * length for name, length in EXAMPLE_LENGTHS.items()}]


@pytest.fixture
def rubric() -> Rubric:
    """A rubric with examples in German, in English, as long as allowed, and without any."""
    examples = {3: GERMAN, 2: ENGLISH, 1: LONGEST * 3, 0: []}
    levels = [
        RubricLevel(grade=grade, label=f"Stufe {grade}", examples=of_grade)
        for grade, of_grade in examples.items()
    ]
    declared = [{"grade": 0, "rubric": "graded", "grades": [5, 4]}]
    fields = {"title": "Prüfung", "guideline": "Lesen Sie.", "impossible": declared}
    return store_rubric(Rubric(slug="pruefung", **fields), levels)


def rate_under(*rubrics: Rubric) -> Dataset:
    """Create a dataset with a rating under each of the rubrics, so that an export has them."""
    dataset = make_dataset()
    rater = dataset.raters.create(name="eve", kind="human")
    text = dataset.texts.filter(kind="passage").first()
    for rubric in rubrics:
        question = text.topic.questions.first()
        rater.ratings.create(rubric=rubric, text=text, question=question, grade=1)
    return dataset


def test_files_carry_the_examples(rubric, tmp_path):
    values = values_of(rubric)
    export_folder(rate_under(rubric), tmp_path / "out")
    empty_database()
    Rubric.objects.filter(slug=rubric.slug).delete()
    import_dataset(tmp_path / "out", "ferry")
    assert values_of(Rubric.objects.get(slug=rubric.slug)) == values
    export_folder(Dataset.objects.get(), tmp_path / "again")
    name = "rubrics.jsonl"
    assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


@pytest.mark.parametrize("slug", sorted(STANDARD.keys() - {"answerable", "graded"}))
def test_files_keep_the_translation_of_the_programs_examples(slug, tmp_path):
    """Raters read German examples only while the stored ones are as shipped."""
    export_folder(rate_under(add_standard(STANDARD[slug])), tmp_path / "out")
    empty_database()
    Rubric.objects.filter(slug=slug).delete()
    import_dataset(tmp_path / "out", "ferry")
    imported = Rubric.objects.get(slug=slug)
    assert default_wording(imported, "en", "passage").examples == STANDARD[slug].examples
    assert default_wording(imported, "de", "passage").examples == examples_in(slug, "de")
    assert values_of(imported)["impossible"] == STANDARD[slug].declarations


def test_fixtures_carry_the_examples(rubric, tmp_path):
    values, path = values_of(rubric), tmp_path / "rubrics.json"
    natural = {"use_natural_foreign_keys": True, "use_natural_primary_keys": True}
    models = ("annotation.Rubric", "annotation.RubricLevel")
    call_command("dumpdata", *models, **natural, output=str(path))
    rubric.delete()
    call_command("loaddata", str(path), verbosity=0)
    assert values_of(Rubric.objects.get(slug=rubric.slug)) == values


def test_api_carries_the_examples(rubric, cast):
    client = cast.client("admin")
    row = client.get(f"/api/v1/rubrics/{rubric.slug}/").json()
    body = {name: row[name] for name in row if name not in ("is_retired", "project", "version")}
    values = values_of(rubric)
    rubric.delete()
    response = client.post("/api/v1/rubrics/", json.dumps(body), "application/json")
    assert response.status_code == 201, response.content
    assert values_of(Rubric.objects.get(slug=values["slug"])) == values


def test_copy_by_the_form_carries_the_examples(rubric, cast):
    client = cast.client("admin")
    forms = client.get(f"/rubrics/new/?from={rubric.slug}").context["forms"]
    data = {name: forms.form[name].value() for name in forms.form.fields}
    for rows in (forms.rows, forms.examples):
        data |= {f"{rows.prefix}-TOTAL_FORMS": len(rows.forms), f"{rows.prefix}-INITIAL_FORMS": 0}
        for row in rows:
            data |= {row.add_prefix(name): row[name].value() for name in row.fields}
    sent = {name: "" if value is None else value for name, value in data.items()}
    assert client.post("/rubrics/new/", sent).status_code == 302
    copied = Rubric.objects.get(slug=f"{rubric.slug}-copy")
    stripped = [
        [{name: text.strip() for name, text in example.items()} for example in level.examples]
        for level in rubric.levels.all()
    ]
    assert [level.examples for level in copied.levels.all()] == stripped
