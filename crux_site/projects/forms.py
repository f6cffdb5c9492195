"""Forms of a project: new project, invitation, role, shared link, moving a dataset."""

from typing import Any

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm

from annotation.models import Dataset, Invitation, Project, Role, SharedLink, User
from crux_site.projects.shared_pages import normalize_address


class NewProjectForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ("title", "slug")
        labels = {"slug": "Name in URLs"}
        help_texts = {"slug": "letters, digits and hyphens"}
        error_messages = {"slug": {"unique": "This name is taken: choose another."}}


class InvitationForm(forms.ModelForm):
    class Meta:
        model = Invitation
        fields = ("for_whom", "role")
        help_texts = {"for_whom": "a label to recognise the link"}


class RoleForm(forms.Form):
    """New role of a member; an empty one ends the membership."""

    role = forms.ChoiceField(choices=[*Role.choices, ("", "not in the project")], required=False)


class MoveForm(forms.Form):
    """Move of a dataset to another project."""

    dataset = forms.ModelChoiceField(Dataset.objects.none(), to_field_name="slug")
    to = forms.ModelChoiceField(Project.objects.none(), to_field_name="slug", label="To")

    def __init__(self, project: Project, by: User, *args: Any) -> None:
        super().__init__(*args)
        self.fields["dataset"].queryset = project.datasets.all()  # type: ignore[attr-defined]
        targets = Project.objects.owned_by(by).exclude(pk=project.pk)
        self.fields["to"].queryset = targets  # type: ignore[attr-defined]


class NewMemberForm(BaseUserCreationForm):
    """New account for a person who was invited."""

    class Meta:
        model = User
        fields = ("username",)


class ShareForm(forms.ModelForm):
    """New shared link: its pages, with or without texts, its label and its duration."""

    PAGE, DATASET = "page", "dataset"
    what = forms.ChoiceField(
        choices=[(PAGE, "only this page"), (DATASET, "all results of the dataset")],
        widget=forms.RadioSelect,
        label="Content",
    )
    days = forms.TypedChoiceField(
        choices=[(7, "a week"), (30, "30 days"), (90, "90 days"), (365, "a year")],
        coerce=int,
        initial=30,
        label="Valid for",
    )

    class Meta:
        model = SharedLink
        fields = ("address", "with_words", "for_whom")
        widgets = {"address": forms.HiddenInput}
        help_texts = {
            "address": "",
            "with_words": "otherwise without texts, questions, requests and spans, and without "
            "pages and files that contain them",
            "for_whom": "a label to recognise the link; readers do not see it",
        }

    field_order = ("address", "what", "with_words", "for_whom", "days")

    def __init__(self, dataset: Dataset, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.dataset = dataset
        address = self.data.get("address") or self.initial.get("address") or ""
        self.page = normalize_address(address, dataset, with_words=True)
        field = self.fields["what"]
        field.initial = self.PAGE if self.page else self.DATASET
        if not self.page:
            field.choices = field.choices[1:]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("what") == self.DATASET:
            cleaned["address"] = ""
        elif cleaned.get("what") == self.PAGE:
            cleaned["address"] = normalize_address(
                cleaned.get("address", ""), self.dataset, with_words=cleaned["with_words"]
            )
            if not cleaned["address"]:
                self.add_error(
                    "with_words",
                    "This page contains texts or questions: share it with them, or share another page.",
                )
        return cleaned

    def make(self, by: User) -> str:
        """Create the link and return its token."""
        fields = {name: self.cleaned_data[name] for name in self.Meta.fields}
        return SharedLink.objects.make(by, self.dataset, self.cleaned_data["days"], **fields)

    def log_detail(self) -> str:
        """Return the link as a line of the log."""
        cleaned = self.cleaned_data
        content = "with words" if cleaned["with_words"] else "without words"
        pages = cleaned["address"] or "all of it"
        return f"{pages}, {content}, for {cleaned['for_whom']}, {cleaned['days']} days"
