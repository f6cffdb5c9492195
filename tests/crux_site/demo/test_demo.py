"""manage.py demo: fills an empty site once, keeps people's work, and offers log-ins."""

import os
import re
import subprocess
import sys

import pytest
from django.core.management import call_command
from django.db.models import Count

from annotation.models import Answer, Assignment, Campaign, Dataset, Rating, User
from annotation.task.page import item_cards
from crux_site.demo.people import PASSWORD, PEOPLE
from evaluation.quality.page import quality_report


def test_demo_is_whole_and_keeps_what_is_there(db, capsys):
    call_command("demo")
    dataset = Dataset.objects.get(slug="coastal-demo")
    assert dataset.topics.count() == 4
    assert {topic.questions.count() for topic in dataset.topics.all()} == {6}
    assert dataset.texts.filter(kind="passage").count() >= 20
    assert dataset.texts.filter(kind="report").values("system").distinct().count() == 2
    in_files = Rating.objects.filter(rater__kind="human", rater__dataset=dataset)
    assert in_files.values("rater").distinct().count() == 3
    assert Rating.objects.filter(rater__kind="baseline").exists()
    built = Dataset.objects.get(slug="built-demo")
    assert built.documents.count() == 6
    assert set(built.texts.values_list("kind").annotate(n=Count("pk")).order_by("kind")) == {
        ("passage", 12),
        ("reference", 2),
        ("report", 2),
    }
    assert Campaign.objects.count() == 3
    assert Campaign.objects.get(slug="demo-crowd").participants.count() == 4
    crowd = quality_report(Campaign.objects.get(slug="demo-crowd"))
    assert {profile.pace.excess_ms for profile in crowd.profiles} == {0}
    assert crowd.active_ms > 0
    counts = (Rating.objects.count(), Assignment.objects.count(), User.objects.count())
    first = Assignment.objects.filter(participant__rater__name="worker1").first()
    prompt = item_cards(first)[0]
    Answer.objects.create(
        assignment=first,
        question=prompt.question,
        key="00000000-0000-4000-8000-000000000000",
        grade=0,
        spans=[],
        text_sha256="",
    )
    call_command("demo")
    assert (Rating.objects.count(), Assignment.objects.count(), User.objects.count()) == counts
    assert Answer.objects.filter(assignment=first).count() == 1
    assert "baseline" in capsys.readouterr().out


@pytest.fixture
def people(db):
    for name, role, _ in PEOPLE:
        User.objects.create_user(name, password=PASSWORD, role=role)


def offered(page: str) -> list[dict[str, str]]:
    """Form data of each button of the demo, read from the page as a browser without scripts."""
    section = page.partition('id="demo-title"')[2]
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', section))
    names = re.findall(r'<button[^>]* name="username" value="([^"]+)"', section)
    return [{**hidden, "username": name} for name in names]


@pytest.mark.parametrize("name", [name for name, _, _ in PEOPLE])
def test_demo_button_logs_in(client, people, settings, name):
    settings.DEMO = True
    sent = offered(client.get("/login/?next=/work/").content.decode())
    assert [form["username"] for form in sent] == [name for name, _, _ in PEOPLE]
    (mine,) = (form for form in sent if form["username"] == name)
    assert client.post("/login/", mine).url == "/work/"
    assert client.get("/session/").json()["user"] == User.objects.get(username=name).pk


def test_demo_offers_existing_accounts_alone(client, people, settings):
    settings.DEMO = True
    User.objects.filter(username="worker2").update(is_active=False)
    User.objects.filter(username="admin").delete()
    sent = offered(client.get("/login/").content.decode())
    assert [form["username"] for form in sent] == ["researcher", "worker1"]
    User.objects.all().update(is_active=False)
    assert PASSWORD not in client.get("/login/").content.decode()


def test_log_ins_are_absent_outside_demo(client, people, settings):
    """Even if the same accounts exist, created by the same command, without DEMO."""
    assert settings.DEMO is False
    page = client.get("/login/").content.decode()
    assert PASSWORD not in page
    assert "demo" not in page
    assert 'value="admin"' not in page


@pytest.mark.parametrize(
    ("variables", "is_demo"),
    [
        ({}, False),
        ({"DEMO": "0"}, False),
        ({"DEMO": "1"}, True),
        ({"DEMO": "1", "HTTPS": "1"}, False),
    ],
)
def test_environment_says_what_is_a_demo(variables, is_demo, tmp_path):
    """Behind a proxy that speaks HTTPS others come in: there it is no demo, whatever is said."""
    inherited = {key: value for key, value in os.environ.items() if key not in ("DEMO", "HTTPS")}
    printed = subprocess.run(
        [sys.executable, "-c", "from crux_site import settings; print(settings.DEMO)"],
        env={**inherited, "VAR_DIR": str(tmp_path), **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout == f"{is_demo}\n"
