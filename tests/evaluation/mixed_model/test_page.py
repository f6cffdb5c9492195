"""datasets/<slug>/mixed-model/"""

import pytest

from annotation.models import Rating, Rubric
from annotation.models.rating import Exposure
from tests.evaluation.mixed_model.material import make_duel
from tests.toolbox.html_tables import tables
from tests.toolbox.responses import csv_rows, text_of_page

pytestmark = pytest.mark.any_database

URL = "/datasets/duel/mixed-model/"


@pytest.fixture
def duel(db):
    return make_duel()


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def test_contrasts_and_equivalence(rosa, duel):
    response = rosa.get(f"{URL}?base=alpha&margin=0.1")
    rows = tables(response)["Each system minus alpha"]
    # Means of ten coverages: 11/40 = 0.275, 30/40, 12/40: differences of 0.475 and 0.025.
    assert [row[0] for row in rows] == ["beta", "gamma"]
    assert [row[1] for row in rows] == ["0.75 n = 10", "0.30 n = 10"]
    # In the middle between two numbers of two digits: which one is printed is up to the processor's sums.
    means = [float(row[2].split()[0]) for row in rows]
    assert means == pytest.approx([0.475, 0.025], abs=0.0051)
    assert rows[0][-1] == "differs"
    # gamma by topic: 0, 0, 1/8, 0, 0 above alpha: mean 0.025, se 0.025; t = (0.025 - 0.1) / 0.025 = -3
    # with 4 degrees of freedom: p = 0.01997. Twice that for Holm; beta's p is above 0.5.
    assert rows[1][-3:] == ["0.020", "0.040", "equivalent"]
    parts = tables(response)["Variance components"]
    assert len(parts) == 4
    assert "30 values of a report by a rater, 5 topics, 2 raters" in text_of_page(response)


def test_files(rosa, duel):
    lines = csv_rows(rosa.get(f"{URL}contrasts.csv?base=alpha&margin=0.1"))
    assert float(lines[0]["difference"]) == pytest.approx(0.475)
    assert float(lines[1]["equivalence_p"]) == pytest.approx(0.01997, abs=1e-5)
    shares = [float(line["share"]) for line in csv_rows(rosa.get(f"{URL}components.csv"))]
    assert sum(shares) == pytest.approx(1)
    content = rosa.get("/datasets/duel/mixed-model.json?base=beta").json()
    assert (content["n_values"], content["n_missing"], content["base"]) == (30, 0, "beta")
    assert [line["system"] for line in content["contrasts"]] == ["alpha", "gamma"]


def test_report_that_is_not_finished_is_left_out_and_counted(rosa, duel):
    Rating.objects.filter(
        rater__name="ben", text__system="beta", text__topic__name="t0"
    ).first().delete()
    page_text = text_of_page(rosa.get(URL))
    assert "29 values of a report by a rater" in page_text
    assert "1 unfinished value left out" in page_text


def test_grades_are_modelled_as_means(rosa, duel):
    Rating.objects.update(rubric=Rubric.objects.get(slug="graded"))
    response = rosa.get(f"{URL}?rubric=graded&outcome=grade")
    choice = response.context["choice"]
    assert choice.margin == 0.25  # 0.05 of a scale of five
    assert response.context["report"].rows[0].mean.value == pytest.approx(0.75)
    assert "mean grade" in text_of_page(response)


@pytest.mark.parametrize(("sent", "margin"), [("0.05", 0.25), ("0.3", 0.3), ("", 0.25)])
def test_default_margin_of_a_form_follows_the_scale_of_its_value(rosa, duel, sent, margin):
    Rating.objects.update(rubric=Rubric.objects.get(slug="graded"))
    form = "rubric=graded&of_rubric=graded&base=alpha&of_outcome=coverage&outcome=grade"
    response = rosa.get(f"{URL}?{form}&margin={sent}")
    assert response.context["choice"].margin == margin
    assert 'name="of_outcome" value="grade"' in response.content.decode()


def test_grades_without_an_eta_have_means_alone_and_names_have_neither(rosa, duel):
    graded = Rubric.objects.filter(slug="graded")
    Rating.objects.update(rubric=graded.get())
    graded.update(eta=None)
    assert rosa.get(f"{URL}?rubric=graded").context["choice"].outcome == "grade"
    refused = rosa.get(f"{URL}?rubric=graded&outcome=coverage")
    assert "There are: grade." in text_of_page(refused)
    graded.update(scale="nominal")
    for address in (URL, f"{URL}contrasts.csv", "/datasets/duel/mixed-model.json"):
        refused = rosa.get(f"{address}?rubric=graded")
        assert refused.status_code == 400
        assert "systems have no value: no grade of this rubric says answerable" in text_of_page(
            refused
        )


def test_page_with_too_few_values(rosa, duel):
    Rating.objects.filter(text__topic__position__gt=1).delete()
    response = rosa.get(f"{URL}?base=alpha")
    assert (
        "The model is undefined, because the spread over topics takes three of them"
        in text_of_page(response)
    )
    assert "Columns without a value: By the model: Difference" in text_of_page(response)
    assert "degrees of freedom" not in text_of_page(response)
    Rating.objects.all().delete()
    assert "A comparison needs two systems" in text_of_page(rosa.get(URL))
    assert rosa.get("/datasets/duel/mixed-model.json").json()["contrasts"] == []


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("base=delta", "no system with a finished text, called “delta”. There are: alpha"),
        ("outcome=grade", "no value to model, called “grade”. There are: coverage"),
        ("margin=0", "The margin is a number above 0"),
        ("margin=nan", "The margin is a number above 0"),
        ("margin=2000", "and at most 1000"),
        ("rubric=nope", "no rubric “nope”"),
    ],
)
def test_invalid_choice_is_answered_with_the_choices(rosa, duel, query, message):
    response = rosa.get(f"{URL}?{query}")
    assert response.status_code == 400
    assert message in text_of_page(response)


def test_page_is_for_researchers_and_refuses_invalid_choices(cast, rosa, duel):
    assert cast.client("worker").get(URL).status_code == 403
    assert cast.client("stranger").get(URL).status_code == 302
    assert rosa.post(URL).status_code == 405
    assert rosa.get("/datasets/nowhere/mixed-model/").status_code == 404
    assert rosa.get(f"{URL}nothing.csv").status_code == 404


def test_agreement_page_links_to_the_mixed_model(rosa, duel):
    assert (
        f'href="{URL}?rubric=answerable' in rosa.get("/datasets/duel/agreement/").content.decode()
    )


def test_real_study(real_study, cast):
    # 30 reports, three raters, three systems.
    response = cast.client("researcher").get("/datasets/crux-duc04/mixed-model/")
    model = response.context["report"].model
    assert model.reason is None
    assert (model.n, model.n_raters) == (model.n_topics * 3 * 3, 3)


def test_exposed_grades_count_only_where_they_are_included(rosa, duel):
    of_beta = Rating.objects.filter(rater__name="ben", text__system="beta", text__topic__name="t0")
    of_beta.update(exposure=Exposure.FEEDBACK)
    url = "/datasets/duel/mixed-model.json"
    counts = [rosa.get(f"{url}?exposed={exposed}").json() for exposed in ("left-out", "included")]
    assert [content["n_values"] for content in counts] == [29, 30]
    assert [content["exposed"] for content in counts] == ["left-out", "included"]


def test_files_have_the_reasons_of_the_page(rosa, duel):
    Rating.objects.filter(rater__name="ben").delete()
    query = "?base=alpha"
    Rating.objects.filter(text__system="gamma").exclude(text__topic__name="t0").delete()
    page = text_of_page(rosa.get(f"{URL}{query}"))
    lines = {line["system"]: line for line in csv_rows(rosa.get(f"{URL}contrasts.csv{query}"))}
    reason = lines["gamma"]["equivalence_p_reason"]
    assert reason == "undefined, because there is one topic alone"
    assert reason.removeprefix("undefined, ") in page
    assert lines["beta"]["equivalence_p_reason"] == ""
    parts = {line["component"]: line for line in csv_rows(rosa.get(f"{URL}components.csv"))}
    reason = parts["rater"]["reason"]
    assert reason == "undefined, because it is part of the residual"
    assert reason.removeprefix("undefined, ") in page
    assert parts["residual"]["reason"] == ""


def test_page_says_why_there_is_no_model(rosa, duel):
    Rating.objects.exclude(text__topic__name="t0").delete()
    page = text_of_page(rosa.get(URL))
    (line, _) = csv_rows(rosa.get(f"{URL}contrasts.csv"))
    assert "the spread over topics takes three of them" in line["difference_reason"]
    assert f"{line['difference_reason'].removeprefix('undefined, ')}." in page
