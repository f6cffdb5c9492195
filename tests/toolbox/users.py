"""Users of a test: an admin, a researcher, two workers, and a stranger."""

from dataclasses import dataclass

from django.test import Client

from annotation.models import User
from annotation.models.projects import join_main


@dataclass
class Cast:
    """Users of a test.

    A stranger is not logged in; the researcher is in the project of new datasets.
    """

    admin: User
    researcher: User
    worker: User
    other_worker: User

    def client(self, name: str) -> Client:
        client = Client()
        if name != "stranger":
            client.force_login(getattr(self, name))
        return client


def make_cast() -> Cast:
    def person(name: str, role: str) -> User:
        user = User.objects.create_user(name, password="pass-word-1", role=role)
        join_main(user)
        return user

    return Cast(
        admin=person("ada", "admin"),
        researcher=person("rosa", "researcher"),
        worker=person("wil", "worker"),
        other_worker=person("uma", "worker"),
    )
