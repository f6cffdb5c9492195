"""Natural keys for fixtures: rows without primary keys, which differ between databases."""

from functools import reduce
from typing import Any, ClassVar, TypeVar

from django.db import models

Row_co = TypeVar("Row_co", bound=models.Model, covariant=True)


class ByNaturalKey:
    """Mixin of a QuerySet for look-up by natural key."""

    def get_by_natural_key(self: Any, *key: Any) -> Any:
        """Return the row with this natural key. Raises DoesNotExist."""
        return self.get(**dict(zip(self.model.NATURAL, key, strict=True)))


class NaturalQuerySet(ByNaturalKey, models.QuerySet[Row_co]):
    """QuerySet of a table that needs no other methods."""


class NaturalKey(models.Model):
    """Abstract model with a natural key: `NATURAL` lists look-up paths that are unique."""

    NATURAL: ClassVar[tuple[str, ...]]

    class Meta:
        abstract = True

    def natural_key(self) -> tuple[Any, ...]:
        return tuple(_value_at(self, path) for path in self.NATURAL)


def _value_at(row: Any, path: str) -> Any:
    """Return the value at a path of attributes; None if one on the way is missing."""
    return reduce(lambda value, name: getattr(value, name, None), path.split("__"), row)
