"""Page /judges/compare/: the changes between two judges or runs.

See material.py for their grades. Both graded five cells, of which two changed: passage 1 from 5 to 3,
passage 4 from 1 to 4.
"""

import csv
import io

import pytest

from annotation.models import Rubric
from judging.compare.cells import CELL_KINDS, CellFilter
from judging.engine.foreground import fill_lexical
from judging.engine.storing import store
from judging.models import Judge
from tests.toolbox.factories import make_dataset
from tests.toolbox.reply_study import fill, make_model, reply, start
from tests.toolbox.responses import markup, text_of_page

URL = "/judges/compare/"


@pytest.fixture
def both(reply_study) -> str:
    return f"a={reply_study.first.pk}&b={reply_study.second.pk}&dataset=ferry"


def comparison(client, query: str):
    response = client.get(f"{URL}?{query}")
    assert response.status_code == 200
    return response.context["comparison"]


def table(response) -> list[dict[str, str]]:
    sent = b"".join(response.streaming_content).decode()
    return list(csv.DictReader(io.StringIO(sent)))


@pytest.mark.parametrize("path", [URL, "/judges/compare.csv"])
def test_comparison_is_for_researchers(cast, both, path):
    for role, status in (("admin", 200), ("researcher", 200), ("worker", 403), ("stranger", 302)):
        assert cast.client(role).get(f"{path}?{both}").status_code == status
    assert cast.client("admin").post(f"{path}?{both}").status_code == 405


def test_form_to_choose(rosa, reply_study):
    text = text_of_page(rosa.get(URL))
    assert "Compare the grades of two judges or two runs pair by pair" in text
    assert f"first, {reply_study.first.short}" in text
    assert f"{reply_study.run.pk}: first on ferry, finished" in text


def test_numbers_of_all(rosa, both):
    total = comparison(rosa, both).all
    assert (total.n, total.n_changed, total.n_up, total.n_down) == (5, 2, 1, 1)
    assert total.share == pytest.approx(0.4)
    assert total.shift == pytest.approx((-2 + 3) / 5)
    text = text_of_page(rosa.get(f"{URL}?{both}"))
    assert "2 of 5 pairs graded by both have different grades" in text
    assert "1 higher in B, 1 lower in B" in text


def test_table_of_grades(rosa, both):
    matrix = comparison(rosa, both).matrix
    cells = {(a, b): int(matrix[a, b]) for a in range(6) for b in range(6) if matrix[a, b]}
    assert cells == {(5, 3): 1, (0, 0): 1, (1, 4): 1, (2, 2): 2}
    assert 'aria-label="2 pairs: 2 in A, 2 in B">2</a>' in markup(rosa.get(f"{URL}?{both}"))


def test_gaps_of_one_side_are_counted_separately(rosa, both):
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


def test_by_topic_and_by_kind_of_text(rosa, reply_study, both):
    compared = comparison(rosa, both)
    (topic,) = compared.topics
    assert (topic.name, topic.n, topic.n_changed) == ("ferry-1", 5, 2)
    parts = {part.name: (part.n, part.n_changed) for part in compared.parts}
    assert parts == {
        "passage": (3, 2),
        "report annotated.oracle": (1, 0),
        "report annotated.bm25": (1, 0),
    }


def test_largest_change_comes_first_and_links_to_both_replies(rosa, reply_study, both):
    response = rosa.get(f"{URL}?{both}")
    cells = response.context["cells"]
    assert [(cell.a.grade, cell.b.grade, cell.change) for cell in cells] == [(1, 4, 3), (5, 3, -2)]
    page = markup(response)
    for judge in (reply_study.first, reply_study.second):
        assert f"{reply_study.url(judge, 'passage', 4)}#attempt-" in page
        assert rosa.get(reply_study.url(judge, "passage", 4)).status_code == 200


@pytest.mark.parametrize("show", CELL_KINDS)
def test_list_has_as_many_cells_as_its_count(rosa, reply_study, both, show):
    compared = comparison(rosa, both)
    topic = reply_study.dataset.topics.get().pk
    for cell_filter in (
        CellFilter(show),
        CellFilter(show, topic=topic),
        CellFilter(show, topic=topic + 1),
        CellFilter(show, part="passage"),
        CellFilter(show, part="report annotated.bm25"),
        CellFilter(show, part="nothing"),
        CellFilter(show, grade_a=2, grade_b=2),
        CellFilter(show, grade_a=3),
        CellFilter(show, grade_b=2),
    ):
        listed = list(compared.cells(cell_filter))
        assert len(listed) == compared.count(cell_filter), cell_filter
        assert compared.cells(cell_filter).page(0, 100) == listed


def test_list_page_by_page(rosa, reply_study, both, monkeypatch):
    monkeypatch.setattr("judging.compare.views.PER_PAGE", 2)
    first = rosa.get(f"{URL}?{both}&show=both")
    second = rosa.get(f"{URL}?{both}&show=both&page=2")
    assert (len(first.context["cells"]), len(second.context["cells"])) == (2, 2)
    assert "3 to 4 of 5" in text_of_page(second)


def test_list_as_a_file(rosa, reply_study, both):
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


def test_text_like_a_formula_is_escaped(rosa, reply_study, both):
    question = reply_study.questions[0]
    question.body = "=HYPERLINK(1)"
    question.save()
    rows = table(rosa.get(f"/judges/compare.csv?{both}&show=down"))
    assert rows[0]["question"] == "'=HYPERLINK(1)"


def test_runs_of_one_judge_have_their_own_attempts(rosa, reply_study):
    retry = start(reply_study, reply_study.first, selection={"retry": True})
    store(
        retry, None, "host-2:5", [reply(reply_study.first, reply_study.pair("passage", 3), 4)], {}
    )
    runs = f"run_a={reply_study.run.pk}&run_b={retry.pk}"
    response = rosa.get(f"{URL}?{runs}&show=failed-in-a")
    (cell,) = response.context["cells"]
    assert (cell.a.grade, cell.a.failure, cell.b.grade) == (None, "refusal", 4)
    assert response.context["comparison"].count(CellFilter("only-in-a")) == 7
    assert "agreement" not in text_of_page(response).lower()  # one rater agrees with itself


def test_without_a_dataset_the_first_that_both_judged(rosa, reply_study):
    query = f"a={reply_study.first.pk}&b={reply_study.second.pk}"
    assert comparison(rosa, query).dataset == reply_study.dataset


def test_baseline_can_be_compared(rosa, reply_study):
    fill_lexical(reply_study.dataset)
    baseline = Judge.objects.get(backend="lexical")
    response = rosa.get(f"{URL}?a={reply_study.first.pk}&b={baseline.pk}")
    assert "first and lexical (baseline)" in text_of_page(response)
    assert response.context["comparison"].all.n == 7


def test_sides_without_common_cells(rosa, reply_study):
    third = make_model("third", model="another")
    fill(reply_study, third, {("passage", 3): None})
    text = text_of_page(rosa.get(f"{URL}?a={reply_study.second.pk}&b={third.pk}"))
    assert "No pair of The ferry study is graded by both." in text


def test_choices_that_cannot_be(rosa, reply_study, both):
    other_judge = make_model("other", rubric=Rubric.objects.get(slug="answerable"))
    start(reply_study, other_judge)
    elsewhere = reply_study.first.runs.create(dataset=make_dataset("train"), state="finished")
    first, second, run = reply_study.first.pk, reply_study.second.pk, reply_study.run.pk
    for query, status, message in (
        (f"a={first}&b={first}", 400, "Both judges are the same"),
        (f"a={first}&b=999999", 404, "There is no judge 999999."),
        (f"a=x&b={second}", 400, "“x” is not a number for a."),
        (f"a={first}&b={other_judge.pk}", 400, "their grades mean different things"),
        (f"a={first}&b={second}&dataset=nowhere", 404, "There is no dataset “nowhere”."),
        (f"run_a={run}&run_b={run}", 400, "Both runs are the same"),
        (f"run_a={run}&run_b=999999", 404, "There is no judge run 999999."),
        (f"run_a={run}&run_b={elsewhere.pk}", 400, "they have no pairs in common"),
        (f"{both}&eta=9", 400, "η is one of 1, 2, 3, 4, 5, not 9."),
        (f"{both}&show=nope", 400, "There is no list “nope”."),
        (f"{both}&topic=-1", 400, "“-1” is not a number for topic."),
        (f"{both}&grade_a=99999999999999999999", 400, "is not a number for grade_a."),
    ):
        for path in (URL, "/judges/compare.csv"):
            response = rosa.get(f"{path}?{query}")
            assert response.status_code == status, query
            assert message in text_of_page(response), query


def test_half_a_choice_shows_the_form(rosa, reply_study):
    assert rosa.get(f"{URL}?a={reply_study.first.pk}").status_code == 200
    assert rosa.get("/judges/compare.csv").status_code == 400


def test_number_of_queries_does_not_grow_with_the_cells(
    rosa, reply_study, both, django_assert_max_num_queries
):
    with django_assert_max_num_queries(14):
        rosa.get(f"{URL}?{both}&show=both")


def test_judge_in_a_link_is_preselected(rosa, reply_study):
    page = markup(rosa.get(f"{URL}?a={reply_study.second.pk}"))
    first, second = page.split('name="b"', 1)
    assert f'<option value="{reply_study.second.pk}" selected>' in first
    assert " selected>" not in second.split("</select>", 1)[0]


def test_grades_that_are_names(rosa, both, reply_study):
    """The same replies under a rubric of names: nothing is higher, nothing is answerable."""
    Rubric.objects.filter(pk=reply_study.first.rubric_id).update(scale="nominal", eta=None)
    response = rosa.get(f"{URL}?{both}")
    text = text_of_page(response)
    assert "2 of 5 pairs graded by both have different grades." in text
    for phrase in ("η", "Higher in B", "Mean shift", "answerable in", "Down ", "largest change"):
        assert phrase not in text, phrase
    assert "Same subject, no help with the question" in text
    assert response.context["comparison"].eta is None
    for query in ("eta=3", "show=up", "show=crossed"):
        assert rosa.get(f"{URL}?{both}&{query}").status_code == 400
    rows = table(rosa.get(f"/judges/compare.csv?{both}"))
    assert {row["change"] for row in rows} == {""}
