"""Seed of the model servers' own site: an admin, an owner, and a dataset of 12 pairs."""

from annotation.models import Membership, User
from annotation.models.projects import join_main, main_project
from tests.browser.sessions import make_sessions
from tests.toolbox.browser_texts import PASSWORD
from tests.toolbox.factories import make_dataset


def seed() -> None:
    join_main(User.objects.create_user("ada", password=PASSWORD, role="admin"))
    olga = User.objects.create_user("olga", password=PASSWORD, role="researcher")
    Membership.objects.create(project_id=main_project(), user=olga, role="owner")
    make_dataset()
    make_sessions()
