"""Form fields that judges and runs share: endpoints, choices, the focus."""

from collections.abc import Sequence

from django import forms
from django.conf import settings

from annotation.models import Project, User
from judging.engine.endpoints import choices_for


def endpoints() -> list[tuple[str, str]]:
    """The servers that this site knows, by name, for a list to choose from."""
    names = list(settings.JUDGE_ENDPOINTS)
    return [("", "none" if names else "this site knows none"), *((name, name) for name in names)]


def endpoints_for(user: User, *projects: Project) -> list[tuple[str, str]]:
    """The servers that somebody may start judging on, for a list to choose from."""
    known = choices_for(user, *projects)
    return [("", "none" if known else "none is known here"), *known]


def offer(form: forms.BaseForm, name: str, choices: Sequence[tuple[str, str]]) -> None:
    """Let a field of a form choose among what there is now."""
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = choices


def focus(form: forms.BaseForm) -> None:
    """Let the page begin at the first field that has something wrong."""
    wrong = next((name for name in form.fields if name in form.errors), None)
    if wrong:
        form.fields[wrong].widget.attrs["autofocus"] = True
