"""What is asked for a project, an invitation, a role, a shared link, and a dataset's way to another project."""

from typing import Any

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm

from annotation.models import Dataset, Invitation, Project, Role, SharedLink, User
from crux_site.projects.shown import page_at


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
    """Another role for a member; an empty one ends the membership."""

    role = forms.ChoiceField(choices=[*Role.choices, ("", "not in the project")], required=False)


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


class ShareForm(forms.ModelForm):
    """What a link shows, with which words, to whom and for how long."""

    PAGE, DATASET = "page", "dataset"
    what = forms.ChoiceField(
        choices=[(PAGE, "this page alone"), (DATASET, "all results of the dataset")],
        widget=forms.RadioSelect,
        label="Shows",
    )
    days = forms.TypedChoiceField(
        choices=[(7, "a week"), (30, "30 days"), (90, "90 days"), (365, "a year")],
        coerce=int,
        initial=30,
        label="Shows it for",
    )

    class Meta:
        model = SharedLink
        fields = ("address", "with_words", "for_whom")
        widgets = {"address": forms.HiddenInput}
        help_texts = {
            "address": "",
            "with_words": "else no text, question, request or span, and no page or file that has them",
            "for_whom": "a name, so that you know the link again; readers do not see it",
        }

    field_order = ("address", "what", "with_words", "for_whom", "days")

    def __init__(self, dataset: Dataset, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.dataset = dataset
        address = self.data.get("address") or self.initial.get("address") or ""
        self.page = page_at(address, dataset, with_words=True)
        what = self.fields["what"]
        what.initial = self.PAGE if self.page else self.DATASET
        if not self.page:
            what.choices = what.choices[1:]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        asked: dict[str, Any] = super().clean() or self.cleaned_data
        if asked.get("what") == self.DATASET:
            asked["address"] = ""
        elif asked.get("what") == self.PAGE:
            asked["address"] = page_at(
                asked.get("address", ""), self.dataset, with_words=asked["with_words"]
            )
            if not asked["address"]:
                self.add_error(
                    "with_words",
                    "This page has words of texts or questions: share it with the words, or another page.",
                )
        return asked

    def make(self, by: User) -> str:
        """The link, and its word."""
        what = {name: self.cleaned_data[name] for name in self.Meta.fields}
        return SharedLink.objects.make(by, self.dataset, self.cleaned_data["days"], **what)

    def told(self) -> str:
        """The link in a line of the log."""
        asked = self.cleaned_data
        words = "with words" if asked["with_words"] else "without words"
        shown = asked["address"] or "all of it"
        return f"{shown}, {words}, for {asked['for_whom']}, {asked['days']} days"
