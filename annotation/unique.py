"""Unique values that two requests want at the same moment: the second is refused as if it came later.

Both can find a name free before either stores it. The database gives it to one; the other runs its own check
again, which sees the row now, and answers with the sentence that it always has for a taken name.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.forms import BaseForm

T = TypeVar("T")


@contextmanager
def check_again_if_taken(check: Callable[[], object]) -> Iterator[None]:
    """Store inside, in a transaction. After an IntegrityError `check` raises what it finds wrong now.

    Where it finds nothing, the IntegrityError goes on: another constraint was broken.
    """
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        check()
        raise


def save_unique(form: BaseForm, save: Callable[[], T]) -> T | None:
    """Return what `save` stores of a valid form.

    None where a unique value of it was taken meanwhile; the form has its error then.
    """

    def validate_again() -> None:
        form.full_clean()
        if form.errors:
            raise ValidationError("A unique value was taken meanwhile.")

    try:
        with check_again_if_taken(validate_again):
            return save()
    except ValidationError:
        return None
