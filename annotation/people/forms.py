"""Forms for accounts."""

from typing import Any

from django import forms
from django.contrib.auth.forms import BaseUserCreationForm
from django.contrib.auth.password_validation import validate_password

from annotation.form_versions import VersionedForm
from annotation.models import Membership, Project, User
from annotation.models.projects import MAIN


class NewPersonForm(BaseUserCreationForm):
    """Form for a new account; its creator tells the person the password."""

    project = forms.ModelChoiceField(
        Project.objects.all(),
        required=False,
        to_field_name="slug",
        initial=MAIN,
        empty_label="none",
        help_text="the researcher sees the datasets of this project; other projects can invite",
    )

    class Meta:
        model = User
        fields = ("username", "role")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.order_fields(["username", "role", "project"])
        # The form is below the list, which most visitors come to read.
        self.fields["username"].widget.attrs.pop("autofocus", None)

    def save(self, commit: bool = True) -> User:
        account: User = super().save(commit)
        project = self.cleaned_data["project"]
        if project and account.role == User.Role.RESEARCHER:
            Membership.objects.create(project=project, user=account)
        return account


class PersonForm(VersionedForm):
    """Form for an account's role, login, password and tokens. Its labels never change."""

    new_password = forms.CharField(
        required=False,
        strip=False,
        widget=forms.PasswordInput,
        help_text="empty: no change",
    )
    revoke_tokens = forms.BooleanField(required=False, label="Revoke the API tokens of the account")

    class Meta:
        model = User
        fields = ("role", "is_active")
        labels = {"is_active": "May log in"}
        help_texts = {"is_active": "Otherwise its invitations, shared links and tokens end."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance.api_tokens.exists():
            del self.fields["revoke_tokens"]

    def clean_new_password(self) -> str:
        password: str = self.cleaned_data["new_password"]
        if password:
            validate_password(password, self.instance)
        return password

    def save(self, commit: bool = True) -> User:
        """Save only the fields of the form.

        The person may log in, or change the password, meanwhile.
        """
        account: User = self.instance
        fields = [*self.Meta.fields]
        if self.cleaned_data["new_password"]:
            account.set_password(self.cleaned_data["new_password"])
            fields.append("password")
        account.save(update_fields=fields)
        if self.cleaned_data.get("revoke_tokens"):
            account.api_tokens.all().delete()
        return account
