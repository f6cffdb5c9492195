"""Form fields that judges and runs share: endpoints, choices, the focus."""

from collections.abc import Sequence

from django import forms

from annotation.models import Project, User
from judging.engine.endpoints import choices_for


def endpoints_for(user: User, *projects: Project) -> list[tuple[str, str]]:
    """Return choices of the servers on which a user may start runs."""
    choices = choices_for(user, *projects)
    return [("", "none" if choices else "none is known here"), *choices]


def offer(form: forms.BaseForm, name: str, choices: Sequence[tuple[str, str]]) -> None:
    """Set the choices of a form field."""
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = choices


def focus(form: forms.BaseForm) -> None:
    """Autofocus the first field that has an error."""
    wrong = next((name for name in form.fields if name in form.errors), None)
    if wrong:
        form.fields[wrong].widget.attrs["autofocus"] = True
