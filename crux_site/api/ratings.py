"""Ratings of a dataset as one Parquet file: the list of the API without its pages."""

from __future__ import annotations

from typing import Any

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from annotation.api.ratings import RatingsEndpoint
from crux_site.exports.folders import export_to_file
from crux_site.exports.page import NO_PYARROW, has_pyarrow
from crux_site.exports.views import TYPES


class RatingsParquet(RatingsEndpoint):
    @extend_schema(
        summary="The ratings of a dataset as Parquet",
        description="All rows of the list of ratings, by id, with the same filters. Nested values "
        "are columns, as `text_id`; `spans` is a list of structures. 404 also where the site has "
        "no pyarrow.",
        filters=True,
        responses={(200, TYPES["parquet"]): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> FileResponse:
        ratings = self.filter_queryset(self.get_queryset())
        if not has_pyarrow():
            raise NotFound(NO_PYARROW)
        from crux_site.exports.parquet import write_api_ratings  # noqa: PLC0415 - pyarrow

        content = export_to_file(
            lambda path: write_api_ratings(ratings, self.rater_names, path), "ratings.parquet"
        )
        name = f"{self.dataset.slug}.ratings.parquet"
        return FileResponse(
            content, as_attachment=True, filename=name, content_type=TYPES["parquet"]
        )

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Accept any media type: renderers are for errors alone, which are JSON."""
        return super().perform_content_negotiation(request, force=True)
