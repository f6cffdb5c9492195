"""Natural keys, by which fixtures name rows: the same study has other numbers in another database."""

from functools import reduce
from typing import Any, ClassVar, TypeVar

from django.db import models

Row_co = TypeVar("Row_co", bound=models.Model, covariant=True)


class ByNaturalKey:
    """For a QuerySet to have beside its own."""

    def get_by_natural_key(self: Any, *key: Any) -> Any:
        """The row that `natural_key` names so. Raises DoesNotExist."""
        return self.get(**dict(zip(self.model.NATURAL, key, strict=True)))


class NaturalQuerySet(ByNaturalKey, models.QuerySet[Row_co]):
    """For a table that has no QuerySet of its own."""


class NaturalKey(models.Model):
    """A row that `NATURAL`, paths of lookups from it, tells from all others, as one of its constraints does."""

    NATURAL: ClassVar[tuple[str, ...]]

    class Meta:
        abstract = True

    def natural_key(self) -> tuple[Any, ...]:
        return tuple(_at(self, path) for path in self.NATURAL)


def _at(row: Any, path: str) -> Any:
    """What a path leads to; None where it ends before, as at a rater without a dataset."""
    return reduce(lambda here, name: getattr(here, name, None), path.split("__"), row)
