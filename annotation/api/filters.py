"""Filters of lists by query parameters. An unknown name gives 404."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django_filters.rest_framework import CharFilter, FilterSet
from drf_spectacular.utils import extend_schema_field
from rest_framework.exceptions import NotFound


def name_filter(help_text: str, **kwargs: Any) -> CharFilter:
    """Return a filter by a name, with a schema that excludes NUL and blank.

    Its form refuses a NUL, and an endpoint an empty parameter.
    """
    shape = {"type": "string", "pattern": r"^[^\u0000]+$", "description": help_text}
    return extend_schema_field(shape)(CharFilter(**kwargs))  # type: ignore[type-var] # it takes filters too


def topic_filter(path: str) -> CharFilter:
    """Return a filter by topic name; `path` is the look-up from a row to its topic's key."""
    return name_filter("The name of a topic.", field_name=path, method="of_topic")


class DatasetFilters(FilterSet):
    """Filters of the rows of one dataset."""

    @property
    def view(self) -> Any:
        request: Any = self.request  # of rest_framework, which Django's type does not know
        return request.parser_context["view"]

    def of_topic(self, rows: QuerySet[Any], path: str, name: str) -> QuerySet[Any]:
        dataset = self.view.dataset
        topic = dataset.topics.filter(name=name).first()
        if topic is None:
            raise NotFound(f"There is no topic called {name} in {dataset.slug}.")
        return rows.filter(**{path: topic.pk})
