"""datasets/<slug>/agreement/ of more topics and reports than a page holds."""

import pytest
from django.test import Client

from annotation.models import Rating, Rubric, SubQuestion, Text, Topic
from tests.toolbox.responses import text_of_page


@pytest.fixture
def rosa(cast) -> Client:
    return cast.client("researcher")


def test_long_tables_are_cut_to_the_furthest_from_the_mean(rosa, study):
    ann, ben, rubric = study.ann, study.ben, Rubric.objects.get(slug="answerable")
    for number in range(40):
        topic = Topic.objects.create(
            dataset=study.dataset, name=f"more-{number}", request="x", position=number + 1
        )
        text = Text.objects.create(
            dataset=study.dataset,
            topic=topic,
            kind="report",
            system="s",
            name=f"r{number}",
            body="x",
        )
        for position in range(3):
            question = SubQuestion.objects.create(
                topic=topic, position=position, body=f"{position}?"
            )
            for rater, grade in ((ann, position % 2), (ben, (position + (number == 7)) % 2)):
                Rating.objects.create(
                    rater=rater, rubric=rubric, text=text, question=question, grade=grade
                )
    response = rosa.get(study.url("agreement", "judge="))
    assert len(response.context["topics"].rows) == 30
    assert "more-7" in [part.name for part in response.context["topics"].rows]
    page_text = text_of_page(response)
    assert "The 30 of 41 with the κ furthest from the mean, 0.94. Show all" in page_text
    assert "The 30 of 42 with the coverage furthest from the mean" in page_text
    assert "rows=all" in response.content.decode()
    whole = rosa.get(study.url("agreement", "judge=&rows=all"))
    assert len(whole.context["topics"].rows) == 41
    assert "furthest from the mean" not in text_of_page(whole)
    # Of a panel with as many reports some bars are drawn, and the caption says so.
    panel = next(panel for panel in whole.context["panels"].rows if panel.system == "s")
    assert (len(panel.bars), panel.n_reports, panel.is_thinned) == (40, 40, False)


def test_of_very_many_reports_some_bars_are_drawn(rosa, study, monkeypatch):
    monkeypatch.setattr("evaluation.agreement.coverage_chart.MOST_BARS", 1)
    Text.objects.filter(pk=study.bm25.pk).update(system="annotated.oracle", name="other")
    response = rosa.get(study.url("agreement"))
    assert "1 of 2 reports" in text_of_page(response)
    assert "of many reports, the figure has an evenly spaced selection" in text_of_page(response)


def test_of_many_systems_those_furthest_from_the_mean_are_drawn(rosa, study):
    """Thirteen systems whose reports answer nothing by ann and ben, beside the study's two."""
    rubric, question = Rubric.objects.get(slug="answerable"), study.questions[0]
    for number in range(13):
        text = Text.objects.create(
            dataset=study.dataset,
            topic=question.topic,
            kind="report",
            system=f"silent-{number:02}",
            name=f"r{number}",
            body="x",
        )
        for rater in (study.ann, study.ben):
            Rating.objects.create(rater=rater, rubric=rubric, text=text, question=question, grade=0)
    response = rosa.get(study.url("agreement", "judge="))
    systems = [panel.system for panel in response.context["panels"].rows]
    assert len(systems) == 12
    assert set(systems) >= {study.oracle.system, study.bm25.system}
    assert "The 12 of 15 systems with the mean coverage furthest from the mean" in text_of_page(
        response
    )
    whole = rosa.get(study.url("agreement", "judge=&rows=all"))
    assert len(whole.context["panels"].rows) == 15
