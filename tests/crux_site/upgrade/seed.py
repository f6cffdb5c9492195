"""Seed of a database with rows in every table: the demo, and a row where it has none."""

import io
import uuid
from typing import Any

from django.apps import apps
from django.core.cache import caches
from django.core.management import call_command
from django.db import models
from django.utils import timezone

from annotation.models import Text, Version
from evaluation.models import SampleChance
from judging.models import Endpoint, OutboundPolicy

# What the constraints of a table demand beyond the types of its columns.
CONSTRAINED: dict[type[models.Model], dict[str, Any]] = {
    Version: {"text": lambda: Text.objects.first(), "body": "Earlier wording: naïve."},
    SampleChance: {"chance": 0.25},
    Endpoint: {"url": "https://models.example/v1"},
    OutboundPolicy: {"pk": 1},
}


def fill_every_table() -> None:
    """Fill an empty, migrated database: each table has a row at least."""
    call_command("demo", stdout=io.StringIO())
    for model in apps.get_models():
        if not model._default_manager.exists():
            _create_row(model)
    for model in apps.get_models():
        for field in model._meta.many_to_many:
            row = model._default_manager.first()
            getattr(row, field.name).add(field.related_model._default_manager.first())
    caches["log-ins"].set("failed-log-ins", 1)


def _create_row(model: type[models.Model]) -> models.Model:
    values = {
        field.name: _value_of(field)
        for field in model._meta.concrete_fields
        if not (field.null or field.has_default() or field.has_db_default() or field.blank)
    }
    for name, value in CONSTRAINED.get(model, {}).items():
        values[name] = value() if callable(value) else value
    return model._default_manager.create(**values)


def _value_of(field: models.Field) -> Any:
    if isinstance(field, models.ForeignKey):
        rows = field.related_model._default_manager
        return rows.first() or _create_row(field.related_model)
    if field.choices:
        return field.choices[0][0]
    if isinstance(field, models.DateTimeField):
        return timezone.now()
    if isinstance(field, models.UUIDField):
        return uuid.uuid4()
    if isinstance(field, models.BooleanField):
        return True
    if isinstance(field, models.IntegerField | models.FloatField):
        return 1
    return "x"
