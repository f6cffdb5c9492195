"""datasets/<slug>/matrix/ and the matrix of a topic.

The study, and what its passages answer, is in tests/toolbox/scoring_study.py.
"""

from copy import deepcopy

import pytest

from annotation.models import Rater, Rating
from evaluation.matrix.rows import NEW, REDUNDANT
from tests.evaluation.matrix.material import LIST, page, rows, table, titles
from tests.toolbox.factories import make_dataset
from tests.toolbox.responses import text_of_page
from tests.toolbox.scoring_study import make_reference, make_study


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture(scope="module")
def saved_study(shared_world):
    return shared_world(make_study)


@pytest.fixture
def study(db, saved_study):
    return deepcopy(saved_study)


@pytest.fixture
def url(study) -> str:
    return f"{LIST}{study.topic.pk}/"


@pytest.mark.parametrize("end", ["", "texts.csv", "pairs.csv"])
def test_matrix_is_for_researchers(cast, url, end):
    for account, status in (
        ("admin", 200),
        ("researcher", 200),
        ("worker", 403),
        ("stranger", 302),
    ):
        assert cast.client(account).get(url + end).status_code == status
    assert cast.client("researcher").post(url + end).status_code == 405


@pytest.mark.parametrize("path", [LIST, "/datasets/ferry/matrix.csv"])
def test_topics_are_for_researchers(cast, study, path):
    for account, status in (
        ("admin", 200),
        ("researcher", 200),
        ("worker", 403),
        ("stranger", 302),
    ):
        assert cast.client(account).get(path).status_code == status
    assert cast.client("researcher").post(path).status_code == 405


def test_missing_topic_is_404(rosa, study, url):
    foreign_topic = make_dataset("train").topics.get()
    for path in (
        "/datasets/nowhere/matrix/",
        f"{LIST}{foreign_topic.pk}/",
        f"{LIST}999999/",
        f"{LIST}{foreign_topic.pk}/texts.csv",
        f"{url}nope.csv",
    ):
        assert rosa.get(path).status_code == 404, path


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "source=eve",
            "no source of grades “eve”. There are: judge, strict, ann, ben, cay, majority",
        ),
        ("eta=9", "no eta “9”. There are: 1, 2, 3, 4, 5"),
        ("cutoff=-1", "no cut-off “-1”"),
        ("ideal=nope", "no ideal “nope”. There are: standard, paper_eq4"),
        ("rules=nope", "no set of rules “nope”. There are: paper, authors"),
        ("run=nope", "no run “nope”. There are: annotated.bm25, dense"),
    ],
)
def test_unknown_choice_is_answered_with_the_list(rosa, url, query, message):
    for path in (LIST, url, f"{url}texts.csv", "/datasets/ferry/matrix.csv"):
        response = rosa.get(f"{path}?{query}")
        assert response.status_code == 400
        assert message in text_of_page(response)


def test_page_without_ratings(rosa, url):
    Rating.objects.all().delete()
    for path in (LIST, url):
        assert "This dataset has no ratings" in text_of_page(rosa.get(path))
    for file in (f"{LIST.removesuffix('/')}.csv", f"{url}texts.csv"):
        assert rosa.get(file).status_code == 404  # and no page under the name of a file


def test_new_and_redundant_answers_and_gains_by_rank(rosa, url):
    # far-9:0#0 answers q1 first (and q2, which never counts); 2#2 answers q0; 11#11 is unrated;
    # 0#1 answers q1 for the second time.
    matrix = page(rosa, url, "run=annotated.bm25&cutoff=size")
    ranked = matrix.groups[0].rows
    assert [row.name for row in ranked] == [
        "far-9:0#0",
        "ferry-1:2#2",
        "ferry-1:11#11",
        "ferry-1:0#1",
    ]
    assert [row.rank for row in ranked] == [1, 2, 3, 4]
    assert [[cell.role for cell in row.cells] for row in ranked] == [
        ["", NEW, "", ""],
        [NEW, "", "", ""],
        ["", "", "", ""],
        ["", REDUNDANT, "", ""],
    ]
    assert [row.gain for row in ranked] == [1, 1, 0, 0.5]
    assert [row.n_answers for row in ranked] == [1, 1, 0, 1]
    assert [row.n_unrated for row in ranked] == [0, 0, 4, 0]
    assert [row.tokens for row in ranked] == [8, 6, 5, None]
    assert [row.is_visitor for row in ranked] == [True, False, False, False]


def test_unrated_is_shown_as_unrated_and_never_as_zero(rosa, url):
    response = rosa.get(f"{url}?run=annotated.bm25&cutoff=size")
    unrated = rows(response.context["page"])["ferry-1:11#11"]
    assert [(cell.grade, cell.shade) for cell in unrated.cells] == [(None, None)] * 4
    html = response.content.decode()
    assert 'class="hatched"><a' in html
    assert 'aria-label="ferry-1:11#11, question 1: unrated">–</a>' in html
    assert 'aria-label="far-9:0#0, question 1: grade 0">0</a>' in html
    # Three answerable questions, four ranks; 11#11 lacks all three.
    assert "3 of 12 pairs of its 4 texts" in text_of_page(response)


def test_required_subset_with_its_order(rosa, url):
    matrix = page(rosa, url, "run=annotated.bm25&cutoff=size")
    assert rows(matrix)["ferry-1:0#1"].required == 2
    assert titles(matrix)[1] == "Required, but not in the run"
    assert {name: row.required for name, row in rows(matrix, 1).items()} == {
        "ferry-1:0#0": 1,
        "ferry-1:10#10": 3,
    }
    assert all(row.rank is None and row.gain is None for row in matrix.groups[1].rows)


def test_without_a_run_the_required_subset_is_the_context(rosa, url):
    matrix = page(rosa, url)
    assert titles(matrix)[0] == "The required subset, Z*"
    assert [row.name for row in matrix.groups[0].rows] == list(matrix.pool.required_names)
    assert [row.gain for row in matrix.groups[0].rows] == [1, 1, 1]
    assert matrix.score.coverage.value == 1


def test_rest_is_folded_and_counted(rosa, url):
    matrix = page(rosa, url, "run=dense")
    folded = {group.title: group.n_hidden for group in matrix.groups if not group.rows}
    assert folded == {"Passages of the topic without a grade": 1, "Reports": 2}
    whole = page(rosa, url, "run=dense&all=1")
    assert whole.n_hidden == 0
    assert titles(whole) == titles(matrix)
    assert rows(whole, 2).keys() == {"ferry-1:11#11"}
    assert f"{matrix.n_hidden} more" in text_of_page(rosa.get(f"{url}?run=dense"))


def test_passages_of_other_topics_are_no_part_of_p_star(rosa, url):
    matrix = page(rosa, url, "all=1")
    group = next(group for group in matrix.groups if group.title == "Other rated passages")
    assert [row.name for row in group.rows] == ["far-9:0#0"]
    assert "far-9:0#0 other topic" in text_of_page(rosa.get(f"{url}?all=1"))


def test_ndeval_value_is_beside_gains_by_other_topics(rosa, study, url):
    page_text = text_of_page(rosa.get(f"{url}?run=dense&cutoff=size"))
    assert "With ndeval’s rule (no gain for them) the value is 0.39." in page_text
    assert "ndeval’s rule" not in text_of_page(
        rosa.get(f"{url}?run=dense&cutoff=size&rules=authors")
    )
    room = "/datasets/ferry/systems/"
    page_text = text_of_page(rosa.get(f"{room}?source=judge&cutoff=size"))
    assert "“ndeval” is the value of the tool ndeval with judgements of P*" in page_text
    assert ", ndeval 0.39" in page_text
    assert "ndeval 0.39" in text_of_page(rosa.get(f"{room}runs/dense/?source=judge&cutoff=size"))
    lines = table(rosa.get(f"{room}topics.csv?source=judge&cutoff=size&row=dense"))
    assert [line["alpha_ndcg_ndeval"][:6] for line in lines] == ["0.3868", ""]
    systems = {
        line["name"]: line["alpha_ndcg_ndeval"][:6]
        for line in table(rosa.get(f"{room}systems.csv?source=judge&cutoff=size"))
    }
    assert (systems["dense"], systems["reports/annotated.bm25"]) == ("0.3868", "")
    assert "“ndeval” is the value" not in text_of_page(
        rosa.get(f"{room}?source=judge&rules=authors")
    )


def test_questions_say_whether_they_count_and_who_answers_first(rosa, url):
    questions = page(rosa, url, "run=annotated.bm25&cutoff=size").questions
    assert [question.is_answerable for question in questions] == [True, True, False, True]
    assert [question.first_rank for question in questions] == [2, 1, None, None]
    assert questions[0].status == "first at rank 2; 2 passages of P* answer it"
    assert questions[1].status == "first at rank 1; 1 passage of P* answers it"
    assert questions[2].status == "no passage of P* answers it; does not count"
    assert questions[3].status == (
        "not answered by this run; 1 passage of P* answers it; filtered, no passage answers it, "
        "but it counts, because a passage answers it"
    )


def test_filtered_question_displays_the_reason(rosa, url):
    question = page(rosa, url, "source=strict").questions[3]
    assert question.status == "filtered, no passage answers it; does not count"


def test_eta_changes_all_values(rosa, url):
    matrix = page(rosa, url, "run=dense&eta=5")
    assert matrix.pool.answerable == (0,)
    assert matrix.score.coverage.value == 0
    assert all(not cell.role for row in matrix.groups[0].rows for cell in row.cells)


def test_cutoff_takes_the_first_ranks(rosa, url):
    matrix = page(rosa, url, "run=annotated.bm25&cutoff=1")
    assert [row.name for row in matrix.groups[0].rows] == ["far-9:0#0"]
    assert matrix.score.coverage.value == pytest.approx(1 / 3)


def test_authors_rules_read_a_passage_of_another_topic_as_zero(rosa, url):
    response = rosa.get(f"{url}?run=dense&rules=authors")
    visitor = rows(response.context["page"])["far-9:0#0"]
    assert [cell.grade for cell in visitor.cells] == [0, 0, 0, 0]
    assert "a passage of another topic counts as rated 0." in text_of_page(response)


def test_people_over_a_judge_are_marked_and_the_values_follow(rosa, url):
    # Two people say yes to 0#0 q1; one says 1 to 2#2 q0, which the judge gave a 4.
    response = rosa.get(f"{url}?run=dense&source=people:judge&all=1")
    matrix = response.context["page"]
    marked = {
        (row.name, cell.number): cell.grade
        for group in matrix.groups
        for row in group.rows
        for cell in row.cells
        if cell.by_people and row.kind == "passage"
    }
    assert marked == {("ferry-1:0#0", 2): 1, ("ferry-1:2#2", 1): 0}
    assert matrix.score.n_covered == 1
    assert page(rosa, url, "run=dense&source=judge").score.n_covered == 2
    html = response.content.decode()
    assert 'data-shade="5" data-by="people"><a' in html
    assert "question 2: grade 1 by people" in html
    reports = next(group for group in matrix.groups if group.title == "Reports")
    oracle = next(row for row in reports.rows if row.system == "annotated.oracle")
    # A tie on q1 is no grade; the judge has none either.
    assert [cell.grade for cell in oracle.cells] == [1, None, 0, None]
    assert [cell.by_people for cell in oracle.cells] == [True, False, True, False]


def test_reports_are_contexts_of_one_text(rosa, url):
    matrix = page(rosa, url, "source=majority")
    reports = next(group for group in matrix.groups if group.title == "Reports").rows
    # The people's passages answer q1 alone. The first report ties there, the second does not
    # answer it; the first is of a system without a run, a bound, and so stands first.
    assert [row.name for row in reports] == ["annotated.oracle", "annotated.bm25"]
    assert [row.coverage.value for row in reports] == [None, 0]
    assert all("?rubric=answerable" in row.pair_query for row in reports)


def test_references_are_below_the_reports(rosa, study, url):
    make_reference(study)
    matrix = page(rosa, url)
    assert titles(matrix)[-1] == "Reference summaries"
    (row,) = matrix.groups[-1].rows
    assert row.coverage.value == pytest.approx(2 / 3)


def test_cell_leads_to_its_pair(rosa, study, url):
    passage = study.passages["ferry-1:0#0"]
    path = f"/datasets/ferry/pairs/{passage.pk}/{study.questions[0].pk}/?rubric=graded&eta=3"
    response = rosa.get(url)
    assert f'href="{path}"'.replace("&", "&amp;") in response.content.decode()
    assert "J judge 5" in text_of_page(rosa.get(path)) or "judge 5" in text_of_page(rosa.get(path))


def test_names_are_escaped(rosa, study, url):
    passage = study.passages["ferry-1:0#0"]
    passage.name = 'ferry-1:"><script>alert(1)</script>'
    passage.save()
    html = rosa.get(f"{url}?all=1").content.decode()
    assert "<script>alert" not in html
    assert "&quot;&gt;&lt;script&gt;" in html


def test_previous_and_next_topic_keep_the_choice(rosa, study, url):
    second = study.dataset.topics.get(name="ferry-2")
    first = rosa.get(f"{url}?run=dense&source=judge&all=1").content.decode()
    assert f'rel="next" href="{LIST}{second.pk}/?source=judge&amp;run=dense"' in first
    assert 'rel="prev"' not in first
    last = rosa.get(f"{LIST}{second.pk}/?run=dense").content.decode()
    assert f'rel="prev" href="{url}?run=dense"' in last
    assert 'rel="next"' not in last


def test_same_topic_by_others(rosa, url):
    html = rosa.get(f"{url}?run=dense").content.decode()
    assert f'href="{url}?run=dense&amp;source=majority"' in html
    assert f'href="{url}?run=dense&amp;source=judge"' not in html


def test_undefined_value_displays_the_reason(rosa, study, url):
    second = f"{LIST}{study.dataset.topics.get(name='ferry-2').pk}/"
    assert "there is no required subset, and coverage is undefined" in text_of_page(
        rosa.get(second)
    )
    assert (
        "there are no answerable questions" in text_of_page(rosa.get(f"{second}?run=dense")).lower()
    )
    page_text = text_of_page(rosa.get(f"{second}?run=annotated.bm25&cutoff=size"))
    assert "annotated.bm25 has no ranking for this topic, so there are no values." in page_text
    assert "words of the required subset are not there" in text_of_page(
        rosa.get(f"{url}?run=dense")
    )


def test_baseline_is_called_one(rosa, study, url):
    Rater.objects.filter(name="strict").update(kind="baseline")
    page_text = text_of_page(rosa.get(f"{url}?source=strict"))
    assert "Grades by strict (baseline)" in page_text
    assert "people over strict (baseline)" in page_text
