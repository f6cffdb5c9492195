"""manage.py make_token NAME PROGRAM: create an API token for an account."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.management.base import SiteCommand
from annotation.models import ApiToken, User
from crux_site.account.forms import NewTokenForm


class Command(SiteCommand):
    help = "Make a token with which a program comes to the API as an account, and print it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("account", help="the name that its owner logs in with")
        parser.add_argument("program", help="the token's name")
        parser.add_argument(
            "--days",
            default="90",
            choices=("30", "90", "365", "0"),
            help="until it expires; 0 for no end",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["account"], is_guest=False).first()
        if user is None:
            raise CommandError(f"There is no account called {options['account']}.")
        if not user.is_researcher:
            raise CommandError("The API is for researchers and admins.")
        fields = {"name": options["program"], "days": options["days"]}
        form = NewTokenForm(fields, instance=ApiToken(user=user))
        key = form.make() if form.is_valid() else None
        if key is None:
            field, (error, *_) = next(iter(form.errors.items()))
            raise CommandError(f"{field}: {error}")
        self.stdout.write(key)
