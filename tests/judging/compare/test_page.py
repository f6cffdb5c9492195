"""/judges/compare/: what changed between two judges or runs; see material.py for their grades.

Both graded five cells, of which two changed: passage 1 from 5 to 3, passage 4 from 1 to 4.
"""

import csv
import io

import pytest

from annotation.models import Rubric
from judging.compare.cells import SHOWS, Wanted
from judging.engine.foreground import fill_lexical
from judging.engine.storing import store
from judging.models import Judge
from tests.evaluation.agreement.test_page import words
from tests.factories import make_dataset
from tests.judging.replies.material import fill, make_model, reply, start
from tests.markup import markup

URL = "/judges/compare/"


@pytest.fixture
def both(looked) -> str:
    return f"a={looked.first.pk}&b={looked.second.pk}&dataset=ferry"


def comparison(client, query: str):
    response = client.get(f"{URL}?{query}")
    assert response.status_code == 200
    return response.context["comparison"]


def table(response) -> list[dict[str, str]]:
    sent = b"".join(response.streaming_content).decode()
    return list(csv.DictReader(io.StringIO(sent)))


@pytest.mark.parametrize("path", [URL, "/judges/compare.csv"])
def test_who_may_compare(cast, both, path):
    for who, status in (("admin", 200), ("researcher", 200), ("worker", 403), ("stranger", 302)):
        assert cast.client(who).get(f"{path}?{both}").status_code == status
    assert cast.client("admin").post(f"{path}?{both}").status_code == 405


def test_the_form_to_choose(rosa, looked):
    seen = words(rosa.get(URL))
    assert "Two judges, or two runs, cell by cell" in seen
    assert f"first, {looked.first.short}" in seen
    assert f"{looked.run.pk}: first on ferry, finished" in seen


def test_the_numbers_of_all(rosa, both):
    all_ = comparison(rosa, both).all
    assert (all_.n, all_.n_changed, all_.n_up, all_.n_down) == (5, 2, 1, 1)
    assert all_.share == pytest.approx(0.4)
    assert all_.shift == pytest.approx((-2 + 3) / 5)
    seen = words(rosa.get(f"{URL}?{both}"))
    assert "2 of 5 cells that both graded have another grade" in seen
    assert "1 a higher one in B, 1 a lower one" in seen


def test_the_table_of_grades(rosa, both):
    matrix = comparison(rosa, both).matrix
    cells = {(a, b): int(matrix[a, b]) for a in range(6) for b in range(6) if matrix[a, b]}
    assert cells == {(5, 3): 1, (0, 0): 1, (1, 4): 1, (2, 2): 2}
    assert 'aria-label="2 cells: 2 in A, 2 in B">2</a>' in markup(rosa.get(f"{URL}?{both}"))


def test_what_one_side_lacks_is_counted_apart(rosa, both):
    gaps = {show: n for show, _, n in rosa.get(f"{URL}?{both}").context["gaps"]}
    assert gaps == {
        "failed-in-a": 1,
        "failed-in-b": 0,
        "failed-in-both": 0,
        "only-in-a": 2,
        "only-in-b": 0,
    }


def test_crossings_of_another_eta(rosa, both):
    def crossed(query: str) -> list[int]:
        return [n for _, _, n in rosa.get(f"{URL}?{query}").context["crossed"]]

    assert crossed(both) == [1, 0]  # at 3: passage 4
    assert crossed(f"{both}&eta=4") == [1, 1]  # and passage 1 the other way
    assert crossed(f"{both}&eta=5") == [0, 1]


def test_by_topic_and_by_kind_of_text(rosa, looked, both):
    compared = comparison(rosa, both)
    (topic,) = compared.topics
    assert (topic.name, topic.n, topic.n_changed) == ("ferry-1", 5, 2)
    parts = {part.name: (part.n, part.n_changed) for part in compared.parts}
    assert parts == {
        "passage": (3, 2),
        "report annotated.oracle": (1, 0),
        "report annotated.bm25": (1, 0),
    }


def test_the_largest_change_comes_first_and_links_to_both_replies(rosa, looked, both):
    response = rosa.get(f"{URL}?{both}")
    cells = response.context["cells"]
    assert [(cell.a.grade, cell.b.grade, cell.change) for cell in cells] == [(1, 4, 3), (5, 3, -2)]
    page = markup(response)
    for judge in (looked.first, looked.second):
        assert f"{looked.url(judge, 'passage', 4)}#attempt-" in page
        assert rosa.get(looked.url(judge, "passage", 4)).status_code == 200


@pytest.mark.parametrize("show", SHOWS)
def test_every_list_has_as_many_cells_as_its_number_says(rosa, looked, both, show):
    compared = comparison(rosa, both)
    topic = looked.dataset.topics.get().pk
    for wanted in (
        Wanted(show),
        Wanted(show, topic=topic),
        Wanted(show, topic=topic + 1),
        Wanted(show, part="passage"),
        Wanted(show, part="report annotated.bm25"),
        Wanted(show, part="nothing"),
        Wanted(show, grade_a=2, grade_b=2),
        Wanted(show, grade_a=3),
        Wanted(show, grade_b=2),
    ):
        listed = list(compared.cells(wanted))
        assert len(listed) == compared.count(wanted), wanted
        assert compared.cells(wanted).page(0, 100) == listed


def test_a_list_page_by_page(rosa, looked, both, monkeypatch):
    monkeypatch.setattr("judging.compare.views.PER_PAGE", 2)
    first = rosa.get(f"{URL}?{both}&show=both")
    second = rosa.get(f"{URL}?{both}&show=both&page=2")
    assert (len(first.context["cells"]), len(second.context["cells"])) == (2, 2)
    assert "3 to 4 of 5" in words(second)


def test_the_list_as_a_file(rosa, looked, both):
    response = rosa.get(f"/judges/compare.csv?{both}&show=only-in-a")
    assert response["Content-Type"].startswith("text/csv")
    rows = table(response)
    assert [(row["text"], row["grade_a"], row["grade_b"], row["change"]) for row in rows] == [
        ("ferry-1", "3", "", ""),
        ("ferry-1", "3", "", ""),
    ]
    assert (rows[0]["a"], rows[0]["b"], rows[0]["reply_b"]) == ("first", "second", "")
    assert rosa.get(rows[0]["reply_a"]).status_code == 200
    assert rows[0]["reply_a"].startswith("http://testserver/")


def test_no_spreadsheet_takes_words_for_a_formula(rosa, looked, both):
    question = looked.questions[0]
    question.body = "=HYPERLINK(1)"
    question.save()
    rows = table(rosa.get(f"/judges/compare.csv?{both}&show=down"))
    assert rows[0]["question"] == "'=HYPERLINK(1)"


def test_two_runs_of_one_judge_have_their_own_attempts(rosa, looked):
    retry = start(looked, looked.first, selection={"retry": True})
    store(retry, None, "host-2:5", [reply(looked.first, looked.pair("passage", 3), 4)], {})
    runs = f"run_a={looked.run.pk}&run_b={retry.pk}"
    response = rosa.get(f"{URL}?{runs}&show=failed-in-a")
    (cell,) = response.context["cells"]
    assert (cell.a.grade, cell.a.failure, cell.b.grade) == (None, "refusal", 4)
    assert response.context["comparison"].count(Wanted("only-in-a")) == 7
    assert "agreement" not in words(response).lower()  # one rater agrees with itself


def test_without_a_dataset_the_first_that_both_judged(rosa, looked):
    query = f"a={looked.first.pk}&b={looked.second.pk}"
    assert comparison(rosa, query).dataset == looked.dataset


def test_the_baseline_can_be_compared(rosa, looked):
    fill_lexical(looked.dataset)
    baseline = Judge.objects.get(backend="lexical")
    response = rosa.get(f"{URL}?a={looked.first.pk}&b={baseline.pk}")
    assert "first and lexical (baseline)" in words(response)
    assert response.context["comparison"].all.n == 7


def test_nothing_in_common(rosa, looked):
    third = make_model("third", model="another")
    fill(looked, third, {("passage", 3): None})
    seen = words(rosa.get(f"{URL}?a={looked.second.pk}&b={third.pk}"))
    assert "No cell of The ferry study is graded by both." in seen


def test_choices_that_cannot_be(rosa, looked, both):
    other = make_model("other", rubric=Rubric.objects.get(slug="answerable"))
    start(looked, other)
    elsewhere = looked.first.runs.create(dataset=make_dataset("train"), state="finished")
    first, second, run = looked.first.pk, looked.second.pk, looked.run.pk
    for query, status, message in (
        (f"a={first}&b={first}", 400, "This is one judge"),
        (f"a={first}&b=999999", 404, "There is no judge 999999."),
        (f"a=x&b={second}", 400, "“x” is no number for a."),
        (f"a={first}&b={other.pk}", 400, "their grades mean different things"),
        (f"a={first}&b={second}&dataset=nowhere", 404, "There is no dataset “nowhere”."),
        (f"run_a={run}&run_b={run}", 400, "These are the same run"),
        (f"run_a={run}&run_b=999999", 404, "There is no judge run 999999."),
        (f"run_a={run}&run_b={elsewhere.pk}", 400, "they have no cell in common"),
        (f"{both}&eta=9", 400, "η is one of 1, 2, 3, 4, 5, not 9."),
        (f"{both}&show=nope", 400, "not “nope”"),
        (f"{both}&topic=-1", 400, "“-1” is no number for topic."),
        (f"{both}&grade_a=99999999999999999999", 400, "is no number for grade_a."),
    ):
        for path in (URL, "/judges/compare.csv"):
            response = rosa.get(f"{path}?{query}")
            assert response.status_code == status, query
            assert message in words(response), query


def test_half_a_choice_shows_the_form(rosa, looked):
    assert rosa.get(f"{URL}?a={looked.first.pk}").status_code == 200
    assert rosa.get("/judges/compare.csv").status_code == 400


def test_the_number_of_queries_does_not_grow_with_the_cells(
    rosa, looked, both, django_assert_max_num_queries
):
    with django_assert_max_num_queries(14):
        rosa.get(f"{URL}?{both}&show=both")


def test_one_judge_is_chosen_already_where_a_link_names_it(rosa, looked):
    page = markup(rosa.get(f"{URL}?a={looked.second.pk}"))
    first, second = page.split('name="b"', 1)
    assert f'<option value="{looked.second.pk}" selected>' in first
    assert " selected>" not in second.split("</select>", 1)[0]


def test_grades_that_are_names(rosa, both, looked):
    """The same replies under a rubric of names: nothing is higher, nothing is answerable."""
    Rubric.objects.filter(pk=looked.first.rubric_id).update(scale="nominal", eta=None)
    response = rosa.get(f"{URL}?{both}")
    seen = words(response)
    assert "2 of 5 cells that both graded have another grade." in seen
    for word in ("η", "Higher in B", "Mean shift", "answerable in", "Down", "largest change"):
        assert word not in seen, word
    assert "Same subject, no help with the question" in seen
    assert response.context["comparison"].eta is None
    for query in ("eta=3", "show=up", "show=crossed"):
        assert rosa.get(f"{URL}?{both}&{query}").status_code == 400
    rows = table(rosa.get(f"/judges/compare.csv?{both}"))
    assert {row["change"] for row in rows} == {""}
