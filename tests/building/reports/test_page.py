"""Reports and what they cite."""

import html

import pytest

from annotation.model_families import family_of
from annotation.models import Citation, Text
from annotation.origins import origin
from tests.toolbox.generation_pages import HOSTILE_TEXT, ROOT, SCRIPT
from tests.toolbox.generation_runs import make_collection
from tests.toolbox.responses import markup, text_of_page

REPORTS = f"{ROOT}reports/"
BODY = "The first. Second one here. Between them. The last."


@pytest.fixture
def report(cast):
    dataset = make_collection("a", request=HOSTILE_TEXT)
    topic = dataset.topics.get()
    report, one, two = (
        Text.objects.create(
            dataset=dataset, topic=topic, kind=kind, system=system, name=name, body=body
        )
        for kind, system, name, body in (
            ("report", "w.bm25", "a", BODY),
            ("passage", "", "p1", f"Passage {HOSTILE_TEXT}"),
            ("passage", "", "p2", None),
        )
    )
    for position, (quote, label, cited) in enumerate(
        [
            ("Second one here.", "2", two),
            ("Second one here.", SCRIPT, None),
            ("The last.", "1", one),
            ("The last.", "p2", two),
        ]
    ):
        start = BODY.index(quote)
        Citation.objects.create(
            report=report,
            position=position,
            start=start,
            end=start + len(quote),
            label=label,
            cited=cited,
        )
    return report


def test_statements_have_marks_that_link_to_cited_texts(cast, report):
    response = cast.client("researcher").get(f"{REPORTS}{report.pk}/")
    report_page = response.context["shown"]
    assert [
        (entry.words, [mark.number for mark in entry.marks]) for entry in report_page.statements
    ] == [
        ("The first.", []),
        ("Second one here.", [1, None]),
        ("Between them.", []),
        ("The last.", [2, 1]),
    ]
    assert [(entry.number, entry.text.name, entry.n_statements) for entry in report_page.cited] == [
        (1, "p2", 2),
        (2, "p1", 1),
    ]
    page = markup(response)
    assert (
        "4 statements, 2 of them without a citation; 2 passages cited, and 1 citation of texts that"
        in page
    )
    assert "unknown" in page
    assert "The dataset does not contain this text." in page
    assert SCRIPT not in page


def test_origin_is_displayed_as_words_or_as_unknown(cast, report):
    researcher = cast.client("researcher")
    assert "Origin: unknown" in text_of_page(researcher.get(f"{REPORTS}{report.pk}/"))
    Text.objects.filter(pk=report.pk).update(origins=[origin("wrote", SCRIPT, is_edited=True)])
    response = researcher.get(f"{REPORTS}{report.pk}/")
    assert SCRIPT not in response.content.decode()
    displayed = html.escape(f"written by {SCRIPT} (family {family_of(SCRIPT)}), edited by a person")
    assert displayed in text_of_page(response)


def test_all_are_listed_or_those_of_a_system(cast, report):
    client = cast.client("researcher")
    Text.objects.create(
        dataset=report.dataset, topic=report.topic, kind="report", system=SCRIPT, name="b"
    )
    page = client.get(REPORTS)
    assert SCRIPT not in page.content.decode()
    by_name = {text.name: text for text, _ in page.context["rows"]}
    assert (by_name["a"].n_citations, by_name["a"].n_unknown) == (4, 1)
    assert (by_name["b"].n_citations, by_name["b"].n_unknown) == (0, 0)
    of_one = client.get(REPORTS, {"system": "w.bm25"}).context["rows"]
    assert [text.name for text, _ in of_one] == ["a"]
    for query in ({"system": "nobody"}, {"page": "x"}, {"page": "-1"}, {"page": "9" * 5_000}):
        assert client.get(REPORTS, query).status_code == 200


@pytest.mark.parametrize("body", [None, "", " \n ", "No citation, no end", "\r\nA.\r\n\r\nB."])
def test_any_report_has_a_page(cast, report, body):
    second = Text.objects.create(
        dataset=report.dataset, kind="report", system="s", name="other", body=body
    )
    response = cast.client("researcher").get(f"{REPORTS}{second.pk}/")
    assert response.status_code == 200


def test_only_reports_are_there(cast, report):
    passage = Text.objects.get(name="p1")
    assert cast.client("admin").get(f"{REPORTS}{passage.pk}/").status_code == 404


def test_report_is_shown_beside_its_reference(cast, report):
    dataset = report.dataset
    page = cast.client("researcher").get(f"{REPORTS}{report.pk}/")
    assert page.context["answered"] is None
    Text.objects.create(
        dataset=dataset, topic=report.topic, kind="reference", name="a:report", body="The first."
    )
    answered = cast.client("researcher").get(f"{REPORTS}{report.pk}/").context["answered"]
    # Words without articles: "first" and "first second one here between them last": 2 x 1 / 8.
    assert answered.measures["ROUGE-L"] == pytest.approx(2 / 8)
    assert answered.questions == []
