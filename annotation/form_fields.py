"""Form fields that several pages share."""

from typing import Any

from django import forms


class MultilineField(forms.CharField):
    """Text of a text area; a line break counts as one character.

    Browsers count it as one for `maxlength`, and send it as two: a text of the full length would
    be refused.
    """

    def to_python(self, value: Any) -> Any:
        python = super().to_python(value)
        return python.replace("\r\n", "\n") if isinstance(python, str) else python
