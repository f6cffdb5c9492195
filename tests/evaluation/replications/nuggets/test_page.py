"""datasets/<slug>/nuggets/"""

from copy import deepcopy

import pytest

from annotation.models import Rating, SubQuestion, Text
from tests.evaluation.replications.nuggets.material import make_nuggets, make_questions
from tests.toolbox.html_tables import tables
from tests.toolbox.responses import csv_rows, text_of_page

URL = "/datasets/nuggets/nuggets/"


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture(scope="module")
def imported_dataset(shared_world, tmp_path_factory):
    return shared_world(lambda: make_nuggets(tmp_path_factory.mktemp("nuggets")))


@pytest.fixture
def nuggets(db, imported_dataset):
    return deepcopy(imported_dataset)


@pytest.fixture
def questions(db, tmp_path):
    return make_questions(tmp_path)


def test_systems_and_reports(rosa, nuggets):
    response = rosa.get(URL)
    rows = {row[0]: row[1:] for row in tables(response)["Systems"]}
    # Strict vital, strict all, vital, all: alder has both vital ones, of all nuggets two of three.
    assert [cell.split()[0] for cell in rows["alder"]] == ["1.00", "0.67", "1.00", "0.67"]
    assert [cell.split()[0] for cell in rows["birch"]] == ["0.50", "0.67", "0.75", "0.83"]
    assert [cell.split()[0] for cell in rows["dogwood"]] == ["0.00", "0.00", "0.25", "0.33"]
    assert rows["alder"][0].endswith("n = 3")
    assert "9 nuggets of 3 topics: 6 vital, 3 okay, 0 without importance" in text_of_page(response)
    report = tables(response)["Reports"][3]
    assert report[:2] == ["t1", "birch"]
    assert report[-4:] == ["2", "1", "0", "0"]
    assert "Nuggets" in text_of_page(rosa.get("/datasets/nuggets/systems/"))


def test_nugget_without_an_assignment_is_missing(rosa, nuggets):
    Rating.objects.filter(
        rubric__slug="nugget-support", text__system="alder", question__body="nugget 0 of t1"
    ).delete()
    content = rosa.get("/datasets/nuggets/nuggets.json").json()
    report = next(row for row in content["reports"] if row["system"] == "alder")
    assert report["assignment"] == {
        "support": 1, "partial_support": 0, "not_support": 1, "missing": 1,
    }  # fmt: skip
    assert (report["strict_all"]["value"], report["strict_all"]["missing"]) == (1 / 2, 1)
    # A report that is not finished is in no mean.
    system = content["systems"][0]["strict_all"]
    assert (system["value"], system["n"], system["missing"]) == (pytest.approx(2 / 3), 2, 1)


def test_mean_of_no_finished_report_says_so(rosa, nuggets):
    first = SubQuestion.objects.filter(position=0)
    Rating.objects.filter(rubric__slug="nugget-support", question__in=first).delete()
    content = rosa.get("/datasets/nuggets/nuggets.json").json()
    # Of alder's vital, vital, okay the first is gone: support and none are left, 1/2 of two.
    assert (content["reports"][0]["all"]["value"], content["reports"][0]["all"]["n"]) == (1 / 2, 2)
    mean = content["systems"][0]["all"]
    assert (mean["value"], mean["n"], mean["missing"]) == (None, 0, 3)
    assert mean["reason"].endswith(
        "every report that has the score lacks an assignment or a weight of a nugget"
    )


def test_undefined_by_the_paper_and_0_by_the_authors(rosa, nuggets):
    vital = SubQuestion.objects.filter(topic__name="t1", position__lt=2)
    Rating.objects.filter(rubric__slug="importance", question__in=vital).update(grade=1)
    mean = rosa.get("/datasets/nuggets/nuggets.json").json()["systems"][0]["vital"]
    assert (mean["value"], mean["n"], mean["missing"]) == (1, 2, 1)
    mean = rosa.get("/datasets/nuggets/nuggets.json?rules=authors").json()["systems"][0]["vital"]
    assert (mean["value"], mean["n"]) == (pytest.approx(2 / 3), 3)
    report = Text.objects.get(system="alder", name="t1")
    page_text = text_of_page(rosa.get(f"{URL}{report.pk}/"))
    assert "undefined because no nugget of the topic is vital" in page_text


def test_dataset_beside_that_nobody_rated_says_so(rosa, nuggets, questions):
    Rating.objects.filter(text__dataset=questions).delete()
    assert "so there is no coverage to compare with" in text_of_page(
        rosa.get(f"{URL}?beside=questions")
    )
    assert "no coverage to compare with" not in text_of_page(rosa.get(URL))


def test_order_beside_that_by_coverage(rosa, nuggets, questions):
    response = rosa.get(f"{URL}?beside=questions")
    rows = {row[0]: row[1:] for row in tables(response)["Systems by both measures"]}
    # Coverage at 3: 1, 1/2, 1, 0. By all of the nuggets birch is first.
    assert [row[-1] for row in rows.values()] == [
        *("1.00 rank 1", "0.50 rank 3", "1.00 rank 1", "0.00 rank 4")
    ]
    assert [row[3] for row in rows.values()] == [
        *("0.67 rank 2", "0.83 rank 1", "0.33 rank 3", "0.33 rank 3")
    ]
    order = rosa.get("/datasets/nuggets/nuggets.json?beside=questions&eta=3").json()["order"]
    assert (order["topics"], order["topics_of_one_alone"], order["eta"]) == (3, 1, 3)
    taus = order["kendall_tau_b"]
    # strict vital 1, 1/2, 1/2, 0 and coverage 1, 1/2, 1, 0: of six pairs four agree, one is tied in
    # each: 4 / sqrt(5 x 5).
    assert taus["strict_vital"]["value"] == pytest.approx(4 / 5)
    assert (taus["strict_vital"]["n"], taus["strict_vital"]["missing"]) == (4, 0)
    # all 2/3, 5/6, 1/3, 1/3: pairs ab -, ac tied, ad +, bc -, bd +, cd tied in nuggets: 0.
    assert taus["all"]["value"] == 0
    csv = csv_rows(rosa.get(f"{URL}order.csv?beside=questions"))
    assert [float(row["coverage"]) for row in csv] == [1, 0.5, 1, 0]


def test_fewer_than_three_systems_have_no_order(rosa, nuggets, questions):
    Rating.objects.filter(text__system__in=["birch", "cedar"], rubric__slug="graded").delete()
    order = rosa.get("/datasets/nuggets/nuggets.json?beside=questions").json()["order"]
    tau = order["kendall_tau_b"]["all"]
    assert (tau["value"], tau["n"], tau["missing"]) == (None, 2, 2)
    assert "three are needed" in tau["reason"]


def test_from_a_number_to_its_nuggets_and_to_the_pair(rosa, nuggets):
    report = Text.objects.get(system="birch", name="t2")
    page = rosa.get(f"{URL}{report.pk}/")
    assert tables(page)["Nuggets"] == [
        ["nugget 0 of t2", "vital", "support"],
        ["nugget 1 of t2", "vital", "partial support"],
        ["nugget 2 of t2", "okay", "support"],
    ]
    question = SubQuestion.objects.get(body="nugget 1 of t2")
    address = f"/datasets/nuggets/pairs/{report.pk}/{question.pk}/?rubric=nugget-support"
    assert address in page.content.decode()
    assert rosa.get(f"{address}&raters=model-a").status_code == 200


def test_files(rosa, nuggets):
    rows = csv_rows(rosa.get(f"{URL}systems.csv"))
    assert [row["system"] for row in rows] == ["alder", "birch", "cedar", "dogwood"]
    assert float(rows[1]["all"]) == pytest.approx(5 / 6)
    assert len(csv_rows(rosa.get(f"{URL}reports.csv"))) == 12
    assert csv_rows(rosa.get(f"{URL}topics.csv"))[0]["vital"] == "2"
    assert rosa.get(f"{URL}order.csv").content.count(b"\n") == 1
    assert rosa.get(f"{URL}nothing.csv").status_code == 404


def test_dataset_without_assignments_says_so(rosa, dataset):
    page_text = text_of_page(rosa.get(f"/datasets/{dataset.slug}/nuggets/"))
    assert "The reports have no nugget assignments yet" in page_text
    content = rosa.get(f"/datasets/{dataset.slug}/nuggets.json").json()
    assert content["support"] is None
    assert content["systems"][0]["all"]["value"] is None


ADDRESSES = [URL, f"{URL}systems.csv", "/datasets/nuggets/nuggets.json"]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("support=nobody", "There are: model-a"),
        ("importance=nobody", "There are: model-a"),
        ("rules=mine", "There are: paper, authors"),
        ("beside=elsewhere", "There is no dataset with reports of the same systems"),
        ("beside=questions&source=nobody", "There are: judge"),
        ("beside=questions&eta=9", "There is no eta"),
    ],
)
def test_wrong_choice_is_answered_with_those_that_there_are(
    rosa, nuggets, request, address, query, message
):
    if "beside=questions" in query:
        request.getfixturevalue("questions")
    response = rosa.get(f"{address}?{query}")
    assert response.status_code == 400
    assert message in text_of_page(response)


def test_page_is_for_researchers_only(cast, nuggets, dataset):
    report = Text.objects.filter(dataset=nuggets, kind="report").first()
    for address in [*ADDRESSES, f"{URL}{report.pk}/"]:
        assert cast.client("admin").get(address).status_code == 200
        assert cast.client("worker").get(address).status_code == 403
        assert cast.client("stranger").get(address).status_code == 302
        assert cast.client("researcher").post(address).status_code == 405
    rosa = cast.client("researcher")
    assert rosa.get("/datasets/none/nuggets/").status_code == 404
    # A passage, a report of another dataset, none at all.
    passage, reference = (
        Text.objects.filter(kind=kind, dataset=at).first().pk
        for kind, at in [("passage", nuggets), ("report", dataset)]
    )
    for pk in (passage, reference, 10**9):
        assert rosa.get(f"{URL}{pk}/").status_code == 404
