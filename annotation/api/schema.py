"""OpenAPI schema: parameters, tags, and the error responses of every operation."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema

from annotation.api.errors import Refusal

ERROR_DESCRIPTIONS = {
    "400": "The request does not have the form described here.",
    "401": "Nobody is logged in, or the token is not valid.",
    "403": "The endpoint is for another role.",
    "404": "Nothing of this name is there.",
    "409": "The request contradicts what is stored.",
    "413": "The request is too large.",
    "415": "The body is not of a media type described here.",
    "422": "The request names something that is not there, or cannot be done.",
    "429": "Too many requests; the header Retry-After says for how many seconds to wait.",
    "503": "The database is busy or away; the header Retry-After says for how many seconds to wait.",
}
ALWAYS = ("400", "401", "403", "404", "429", "503")
WITH_A_BODY = ("409", "413", "415", "422")


class Schema(AutoSchema):
    def get_override_parameters(self) -> list[Any]:
        asks = getattr(self.view, "asks_by", None)
        parameters = asks(self.method)() if asks else None
        return [parameters] if parameters and parameters.fields else []

    def get_summary(self) -> str | None:
        return getattr(self.view, "summary", None)

    def get_tags(self) -> list[str]:
        return [self.view.tag] if hasattr(self.view, "tag") else super().get_tags()

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        codes = ALWAYS if self.method == "GET" else (*ALWAYS, *WITH_A_BODY)
        for code in codes:
            declared = bodies.get(code) or self._get_response_for_code(Refusal, code)
            bodies[code] = declared | {"description": ERROR_DESCRIPTIONS[code]}
        return bodies


class StrictBodySchema(OpenApiSerializerExtension):
    """Schema of StrictBody: unknown fields are refused."""

    target_class = "annotation.api.bodies.StrictBody"
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: Any) -> dict[str, Any]:
        schema = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        return schema | {"additionalProperties": False}


class KeyOrNamesSchema(OpenApiSerializerFieldExtension):
    target_class = "annotation.api.bodies.KeyOrNames"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Any) -> dict[str, Any]:
        key = auto_schema._map_serializer_field(self.target.key, direction)
        auto_schema._insert_field_validators(self.target.key, key)
        return {"oneOf": [key, auto_schema.resolve_serializer(self.target.names, direction).ref]}
