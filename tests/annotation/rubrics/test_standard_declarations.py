"""Impossible combinations of the rubrics of the program, on new and on existing sites."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection

from annotation.models import Campaign, Rubric
from annotation.models.standard import STANDARD, add_standard
from tests.toolbox.factories import make_dataset

migration = import_module("annotation.migrations.0015_rubric_impossible")


def migrated() -> dict[str, list[dict[str, object]]]:
    """Run the migration's function; return the declarations by rubric."""
    migration.fill_standard_rubrics(apps, SimpleNamespace(connection=connection))
    return dict(Rubric.objects.values_list("slug", "impossible"))


@pytest.fixture
def existing(db):
    """Rubrics of the program as an earlier version stored them."""
    for standard in STANDARD.values():
        add_standard(standard)
    Rubric.objects.update(impossible=[])


def test_declarations_name_grades_of_rubrics_of_the_program():
    for slug, standard in STANDARD.items():
        grades = {level.grade for level in standard.levels}
        for declared in standard.impossible:
            known_grades = {level.grade for level in STANDARD[declared.rubric].levels}
            assert declared.grade in grades, slug
            assert set(declared.grades) <= known_grades, slug
            assert declared.rubric != slug


def test_existing_rubrics_get_the_declarations(existing):
    assert migrated() == {slug: standard.declarations for slug, standard in STANDARD.items()}


def test_rubrics_of_opened_campaigns_and_edited_ones_stay(existing):
    rubrics = Rubric.objects.in_bulk(field_name="slug")
    dataset = make_dataset()
    opened = Campaign.objects.create(
        dataset=dataset, rubric=rubrics["graded"], slug="o", title="O", state="open"
    )
    opened.further_rubrics.add(rubrics["utility"])
    draft = Campaign.objects.create(
        dataset=dataset, rubric=rubrics["umbrela"], slug="d", title="D", state="draft"
    )
    draft.further_rubrics.add(rubrics["question-type"])
    rubrics["answered"].levels.filter(grade=0).update(label="Nothing marked")
    declared = migrated()
    assert declared["graded"] == declared["utility"] == declared["answered"] == []
    for slug in ("umbrela", "question-type"):
        assert declared[slug] == STANDARD[slug].declarations
