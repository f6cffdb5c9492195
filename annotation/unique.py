"""Races for unique values: the second of two requests gets the usual validation error.

Both can find a name free before either stores it. The database gives it to one; the other runs its
own check again, which sees the row now, and answers with the sentence that it always has for a
taken name.
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
    """Run the body in a transaction; call `check` after an IntegrityError, to raise its error.

    Where it raises nothing, the IntegrityError goes on: another constraint was broken.
    """
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        check()
        raise


def save_unique(form: BaseForm, save: Callable[[], T]) -> T | None:
    """Return the result of `save` for a valid form; None after a race for a unique value.

    The form has its error then.
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
