"""Migrations whose operations are said to change nothing in the database."""

import pytest
from django.db import connection
from django.db.migrations import AlterField, AlterModelOptions
from django.db.migrations.loader import MigrationLoader

from annotation.migration_operations import StateOnly

# What no database has, of the options of a model.
LABELS = {"ordering", "verbose_name", "verbose_name_plural"}


@pytest.mark.django_db
def test_operations_on_the_state_alone_change_no_column():
    loader = MigrationLoader(connection)
    n_fields = 0
    for key, migration in loader.disk_migrations.items():
        for operation in migration.operations:
            if isinstance(operation, StateOnly):
                state = loader.project_state(key, at_end=False)
                n_fields += check(key[0], state, operation)
    assert n_fields == 130


def check(app_label, state, operation: StateOnly) -> int:
    """Compare the columns before and after each operation; return the number of fields."""
    n_fields = 0
    for change in operation.state_operations:
        if isinstance(change, AlterModelOptions):
            assert set(change.options) <= LABELS
        else:
            assert isinstance(change, AlterField)
            fields = state.models[app_label, change.model_name_lower].fields
            assert column(fields[change.name]) == column(change.field), change.describe()
            n_fields += 1
        change.state_forwards(app_label, state)
    return n_fields


def column(field) -> tuple:
    """Return what a database has of a field, as Django's schema editor compares it."""
    _, path, arguments, options = field.deconstruct()
    in_database = {name: value for name, value in options.items() if name not in field.non_db_attrs}
    return path, arguments, in_database
