"""docs/tutorial.md: its commands print its output, and its labels are on the pages."""

import html
import io
import re
import shlex
import textwrap

import pytest
from django.core.management import call_command

from annotation.models import Assignment, Campaign, Dataset, Rating, Rubric
from tests.toolbox.documentation import CODE_LINE
from tests.toolbox.paths import ROOT
from tests.toolbox.task_answers import answer

pytestmark = pytest.mark.any_database

PAGE = (ROOT / "docs" / "tutorial.md").read_text()
COMMAND = ".venv/bin/python manage.py "
LABEL = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
STUDY = "/datasets/my-study/"
PAGES = (
    *("/datasets/", STUDY, f"{STUDY}agreement/", f"{STUDY}disagreements/", f"{STUDY}systems/"),
    *(f"{STUDY}paper/", f"{STUDY}exports/", "/import/", "/work/", "/campaigns/"),
)


def page_text(response) -> str:
    """The page as a reader sees it."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def run_commands(section: str, out: str) -> None:
    """The commands of a section, in a row, and then the lines that it says were printed."""
    printed = ""
    for line in textwrap.dedent("".join(CODE_LINE.findall(section))).splitlines():
        if line.startswith(COMMAND):
            stream = io.StringIO()
            arguments = shlex.split(line.removeprefix(COMMAND).replace("my-tables", out))
            call_command(*arguments, stdout=stream, stderr=io.StringIO())
            printed = " ".join(stream.getvalue().split())
        else:
            assert " ".join(line.split()) in printed, line


def campaign(client, admin) -> set[str]:
    """Create, open and work on a campaign as the page says; return the texts of the pages."""
    dataset = Dataset.objects.get(slug="my-study")
    pages = {page_text(client.get(f"/campaigns/new/?dataset={dataset.slug}"))}
    data = {
        "dataset": dataset.slug,
        "audience": "colleagues",
        "title": "My reports",
        "rubric": Rubric.objects.get(slug="answerable").pk,
        "people": admin.pk,
    }
    client.post("/campaigns/new/", data)
    slug = Campaign.objects.get(title="My reports").slug
    review = client.get(f"/campaigns/{slug}/edit/review/")
    client.post(f"/campaigns/{slug}/edit/open/", {"version": review.context["version"]})
    pages |= {page_text(review), page_text(client.get(f"/work/in/{slug}/"))}
    client.post(f"/work/in/{slug}/begin/")
    for assignment in Assignment.objects.filter(participant__campaign__slug=slug)[:2]:
        page = client.get(f"/work/{assignment.pk}/")
        pages.add(page_text(page))
        for position in range(assignment.item.asked.count()):
            answer(client, assignment, position=position, grade="0")
        client.post(f"/work/{assignment.pk}/submit/")
        assignment.refresh_from_db()
        assert assignment.state == "submitted"
    return pages


@pytest.mark.soak
def test_tutorial_is_what_happens(cast, tmp_path):
    admin, client = cast.admin, cast.client("admin")
    sections = dict(re.findall(r"^## (\d)\. .*?\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL))
    run_commands(sections["1"], "")
    pages = campaign(client, admin)
    assert Rating.objects.filter(rater__user=admin).exists()
    out = tmp_path / "tables"
    for number in "457":
        run_commands(sections[number], str(out))
    assert {"table1.tex", "provenance.json"} <= {path.name for path in out.iterdir()}
    pages |= {page_text(client.get(address)) for address in PAGES}
    for label in {" ".join(label.split()) for label in LABEL.findall(PAGE)} - {"admin"}:
        assert any(label in page for page in pages), label
    text = page_text(client.get(f"{STUDY}agreement/?raters=demo_rater1,demo_rater2,demo_rater3"))
    assert "Fleiss κ 0.57" in text
    assert "−0.09" in text
