"""Form for the family of a judge's model, where its name does not tell it."""

from __future__ import annotations

from typing import Any, ClassVar

from django.core.validators import RegexValidator
from django.utils import timezone

from annotation.form_versions import VersionedForm
from annotation.model_families import FAMILIES
from annotation.models import User
from judging.models import Judge


class FamilyForm(VersionedForm):
    """Family by hand. It shapes no reply, so the fingerprint of the judge stays the same."""

    class Meta:
        model = Judge
        fields: ClassVar = ["family_override"]
        labels: ClassVar = {"family_override": "Family by hand"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["family_override"]
        field.help_text = f"Empty: by the name of the model. Such as {', '.join(FAMILIES[:5])}."
        field.validators.append(
            RegexValidator(r"^[\w.+ -]*\Z", "Use letters, digits, spaces and - _ . + only.")
        )

    def clean_family_override(self) -> str:
        family: str = self.cleaned_data["family_override"]
        return family.casefold()

    def store(self, judge: Judge, by: User) -> None:
        """Store the family with the time and the person. The row is locked."""
        Judge.objects.filter(pk=judge.pk).update(
            family_override=self.cleaned_data["family_override"],
            family_set=timezone.now(),
            family_set_by=by,
        )
