"""Pagination of lists: by page number for short lists, by key (cursor) for long ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.pagination import BasePagination, PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

LARGEST_KEY = 2**63 - 1
USUAL, LARGEST = 100, 1000
ADDRESS = {"type": ["string", "null"], "format": "uri"}


class Page(serializers.Serializer):
    """Page of a short list."""

    page = serializers.IntegerField(
        min_value=1, max_value=LARGEST_KEY, default=1, help_text="The number of the page, from 1."
    )
    limit = serializers.IntegerField(
        min_value=1, max_value=LARGEST, default=USUAL, help_text="How many to a page."
    )


class KeyPage(serializers.Serializer):
    """Position in a long list."""

    after = serializers.IntegerField(
        min_value=0,
        max_value=LARGEST_KEY,
        default=0,
        help_text="The id of the last row of the page before, as the address of the next page has it.",
    )
    limit = serializers.IntegerField(
        min_value=1, max_value=LARGEST, default=USUAL, help_text="How many to a page."
    )


class NumberedPagination(PageNumberPagination):
    """Pages by number, with the count of all rows."""

    page_size = USUAL
    max_page_size = LARGEST
    page_size_query_param = "limit"

    def get_schema_operation_parameters(self, view: Any) -> list[Any]:
        return []  # the view tells them with its other parameters

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["count", "next", "previous", "results"],
            "properties": {
                "count": {"type": "integer", "description": "Rows on all pages."},
                "next": ADDRESS | {"description": "Of the next page; null on the last."},
                "previous": ADDRESS | {"description": "Of the page before; null on the first."},
                "results": schema,
            },
        }


class KeysetPagination(BasePagination):
    """Keyset pagination: constant cost per page, and no row twice or left out.

    Except for rows that are written meanwhile: of two workers who write at once the one with the
    lower keys may commit later. Rows are not counted, since that would read them all.
    """

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        after, limit = view.query["after"], view.query["limit"]
        rows = list(queryset.filter(pk__gt=after).order_by("pk")[: limit + 1])
        self._next = None
        if len(rows) > limit:
            rows.pop()
            url = request.build_absolute_uri()
            self._next = replace_query_param(url, "after", str(rows[-1].pk))
        return rows

    def get_paginated_response(self, data: Sequence[Any]) -> Response:
        return Response({"next": self._next, "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["next", "results"],
            "properties": {
                "next": ADDRESS | {"description": "Of the next page; null on the last."},
                "results": schema,
            },
        }
