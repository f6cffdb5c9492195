"""What is asked for a new project, an invitation, a role, and a dataset's way to another project."""

from typing import Any

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm

from annotation.models import Dataset, Invitation, Membership, Project, Role, User


class NewProjectForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ("title", "slug")
        labels = {"slug": "Name in addresses"}
        help_texts = {"slug": "letters, digits and hyphens"}
        error_messages = {"slug": {"unique": "This name is taken: choose another."}}


class InvitationForm(forms.ModelForm):
    class Meta:
        model = Invitation
        fields = ("for_whom", "role")
        help_texts = {"for_whom": "a name, so that you know the link again"}


class RoleForm(forms.Form):
    """Another role for a member; an empty one ends the membership. Somebody has to own the project."""

    role = forms.ChoiceField(choices=[*Role.choices, ("", "not in the project")], required=False)

    def __init__(self, membership: Membership, by: User, *args: Any) -> None:
        super().__init__(*args)
        self.membership = membership
        self.by = by

    def clean_role(self) -> str:
        role: str = self.cleaned_data["role"]
        owners = self.membership.project.memberships.filter(role=Role.OWNER)
        others = owners.exclude(pk=self.membership.pk)
        if role != Role.OWNER and not others.exists() and not self.by.is_admin:
            raise forms.ValidationError("A project needs an owner: make somebody else one first.")
        return role


class MoveForm(forms.Form):
    """Which dataset goes to which other project."""

    dataset = forms.ModelChoiceField(Dataset.objects.none(), to_field_name="slug")
    to = forms.ModelChoiceField(Project.objects.none(), to_field_name="slug", label="To")

    def __init__(self, project: Project, by: User, *args: Any) -> None:
        super().__init__(*args)
        self.fields["dataset"].queryset = project.datasets.all()  # type: ignore[attr-defined]
        others = Project.objects.owned_by(by).exclude(pk=project.pk)
        self.fields["to"].queryset = others  # type: ignore[attr-defined]


class NewMemberForm(BaseUserCreationForm):
    """An account of one's own, for who was invited and has none."""

    class Meta:
        model = User
        fields = ("username",)
