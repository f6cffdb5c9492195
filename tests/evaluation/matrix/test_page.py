"""datasets/<slug>/matrix/ and the matrix of a topic.

The study, and what its passages answer, is in tests/evaluation/scoring/material.py.
"""

from copy import deepcopy

import pytest

from annotation.models import Rater, Rating
from evaluation.matrix.rows import AGAIN, NEW
from tests.evaluation.agreement.test_page import words
from tests.evaluation.matrix.material import LIST, page, rows, table, titles
from tests.evaluation.scoring.material import make_reference, make_study
from tests.factories import make_dataset


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.fixture(scope="module")
def made(kept):
    return kept(make_study)


@pytest.fixture
def study(db, made):
    return deepcopy(made)


@pytest.fixture
def url(study) -> str:
    return f"{LIST}{study.topic.pk}/"


@pytest.mark.parametrize("end", ["", "texts.csv", "pairs.csv"])
def test_who_may_see_a_matrix(cast, url, end):
    for who, status in (("admin", 200), ("researcher", 200), ("worker", 403), ("stranger", 302)):
        assert cast.client(who).get(url + end).status_code == status
    assert cast.client("researcher").post(url + end).status_code == 405


@pytest.mark.parametrize("path", [LIST, "/datasets/ferry/matrix.csv"])
def test_who_may_see_the_topics(cast, study, path):
    for who, status in (("admin", 200), ("researcher", 200), ("worker", 403), ("stranger", 302)):
        assert cast.client(who).get(path).status_code == status
    assert cast.client("researcher").post(path).status_code == 405


def test_what_is_not_there(rosa, study, url):
    other = make_dataset("train").topics.get()
    for path in (
        "/datasets/nowhere/matrix/",
        f"{LIST}{other.pk}/",
        f"{LIST}999999/",
        f"{LIST}{other.pk}/texts.csv",
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
def test_a_choice_that_is_not_there_is_answered_with_the_list(rosa, url, query, message):
    for path in (LIST, url, f"{url}texts.csv", "/datasets/ferry/matrix.csv"):
        response = rosa.get(f"{path}?{query}")
        assert response.status_code == 400
        assert message in words(response)


def test_nobody_has_rated(rosa, url):
    Rating.objects.all().delete()
    for path in (LIST, url):
        assert "Nobody has rated a text of this dataset yet" in words(rosa.get(path))
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
        ["", AGAIN, "", ""],
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
    seen = response.content.decode()
    assert 'class="hatched"><a' in seen
    assert 'aria-label="ferry-1:11#11, question 1: unrated">–</a>' in seen
    assert 'aria-label="far-9:0#0, question 1: grade 0">0</a>' in seen
    # Three answerable questions, four ranks; 11#11 lacks all three.
    assert "3 of 12 pairs of its 4 texts" in words(response)


def test_the_required_subset_with_its_order(rosa, url):
    matrix = page(rosa, url, "run=annotated.bm25&cutoff=size")
    assert rows(matrix)["ferry-1:0#1"].required == 2
    assert titles(matrix)[1] == "Required, and not in the run"
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


def test_the_rest_is_folded_and_counted(rosa, url):
    matrix = page(rosa, url, "run=dense")
    folded = {group.title: group.n_hidden for group in matrix.groups if not group.rows}
    assert folded == {"Passages of the topic without a grade": 1, "Reports": 2}
    whole = page(rosa, url, "run=dense&all=1")
    assert whole.n_hidden == 0
    assert titles(whole) == titles(matrix)
    assert rows(whole, 2).keys() == {"ferry-1:11#11"}
    assert f"{matrix.n_hidden} more" in words(rosa.get(f"{url}?run=dense"))


def test_passages_of_other_topics_are_no_part_of_p_star(rosa, url):
    matrix = page(rosa, url, "all=1")
    group = next(group for group in matrix.groups if group.title == "Other rated passages")
    assert [row.name for row in group.rows] == ["far-9:0#0"]
    assert "far-9:0#0 other topic" in words(rosa.get(f"{url}?all=1"))


def test_what_ndeval_has_stands_beside_gains_by_other_topics(rosa, study, url):
    seen = words(rosa.get(f"{url}?run=dense&cutoff=size"))
    assert "by ndeval, where they gain nothing, it is 0.39." in seen
    assert "by ndeval" not in words(rosa.get(f"{url}?run=dense&cutoff=size&rules=authors"))
    room = "/datasets/ferry/retrieval/"
    seen = words(rosa.get(f"{room}?source=judge&cutoff=size"))
    assert "Behind “ndeval” stands what ndeval prints, given judgements of P*" in seen
    assert "; ndeval 0.39" in seen
    assert "ndeval 0.39" in words(rosa.get(f"{room}runs/dense/?source=judge&cutoff=size"))
    lines = table(rosa.get(f"{room}topics.csv?source=judge&cutoff=size&row=dense"))
    assert [line["alpha_ndcg_ndeval"][:6] for line in lines] == ["0.3868", ""]
    systems = {
        line["name"]: line["alpha_ndcg_ndeval"][:6]
        for line in table(rosa.get(f"{room}systems.csv?source=judge&cutoff=size"))
    }
    assert (systems["dense"], systems["reports/annotated.bm25"]) == ("0.3868", "")
    assert "Behind “ndeval”" not in words(rosa.get(f"{room}?source=judge&rules=authors"))


def test_questions_say_whether_they_count_and_who_answers_first(rosa, url):
    questions = page(rosa, url, "run=annotated.bm25&cutoff=size").questions
    assert [asked.is_answerable for asked in questions] == [True, True, False, True]
    assert [asked.first_rank for asked in questions] == [2, 1, None, None]
    assert questions[0].status == "first at rank 2; 2 passages of P* answer it"
    assert questions[1].status == "first at rank 1; 1 passage of P* answers it"
    assert questions[2].status == "no passage of P* answers it; never counts"
    assert questions[3].status == (
        "not answered here; 1 passage of P* answers it; filtered, no passage answers it, "
        "yet it counts here, as a passage answers it"
    )


def test_a_filtered_question_that_never_counts_says_why(rosa, url):
    asked = page(rosa, url, "source=strict").questions[3]
    assert asked.status == "filtered, no passage answers it; never counts"


def test_another_eta_moves_everything(rosa, url):
    matrix = page(rosa, url, "run=dense&eta=5")
    assert matrix.pool.answerable == (0,)
    assert matrix.score.coverage.value == 0
    assert all(not cell.role for row in matrix.groups[0].rows for cell in row.cells)


def test_a_cutoff_takes_the_first_ranks(rosa, url):
    matrix = page(rosa, url, "run=annotated.bm25&cutoff=1")
    assert [row.name for row in matrix.groups[0].rows] == ["far-9:0#0"]
    assert matrix.score.coverage.value == pytest.approx(1 / 3)


def test_the_authors_rules_read_a_passage_of_another_topic_as_zero(rosa, url):
    response = rosa.get(f"{url}?run=dense&rules=authors")
    visitor = rows(response.context["page"])["far-9:0#0"]
    assert [cell.grade for cell in visitor.cells] == [0, 0, 0, 0]
    assert "a passage of another topic counts as rated 0, and is shown so" in words(response)


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
    seen = response.content.decode()
    assert 'data-shade="5" data-by="people"><a' in seen
    assert "question 2: grade 1 by people" in seen
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


def test_references_stand_below_the_reports(rosa, study, url):
    make_reference(study)
    matrix = page(rosa, url)
    assert titles(matrix)[-1] == "Reference summaries"
    (row,) = matrix.groups[-1].rows
    assert row.coverage.value == pytest.approx(2 / 3)


def test_a_cell_leads_to_its_pair(rosa, study, url):
    passage = study.passages["ferry-1:0#0"]
    path = f"/datasets/ferry/pairs/{passage.pk}/{study.questions[0].pk}/?rubric=graded&eta=3"
    response = rosa.get(url)
    assert f'href="{path}"'.replace("&", "&amp;") in response.content.decode()
    assert "J judge 5" in words(rosa.get(path)) or "judge 5" in words(rosa.get(path))


def test_names_are_escaped(rosa, study, url):
    passage = study.passages["ferry-1:0#0"]
    passage.name = 'ferry-1:"><script>alert(1)</script>'
    passage.save()
    seen = rosa.get(f"{url}?all=1").content.decode()
    assert "<script>alert" not in seen
    assert "&quot;&gt;&lt;script&gt;" in seen


def test_previous_and_next_topic_keep_the_choice(rosa, study, url):
    second = study.dataset.topics.get(name="ferry-2")
    first = rosa.get(f"{url}?run=dense&source=judge&all=1").content.decode()
    assert f'rel="next" href="{LIST}{second.pk}/?source=judge&amp;run=dense"' in first
    assert 'rel="prev"' not in first
    last = rosa.get(f"{LIST}{second.pk}/?run=dense").content.decode()
    assert f'rel="prev" href="{url}?run=dense"' in last
    assert 'rel="next"' not in last


def test_the_same_topic_by_others(rosa, url):
    seen = rosa.get(f"{url}?run=dense").content.decode()
    assert f'href="{url}?run=dense&amp;source=majority"' in seen
    assert f'href="{url}?run=dense&amp;source=judge"' not in seen


def test_undefined_says_why(rosa, study, url):
    second = f"{LIST}{study.dataset.topics.get(name='ferry-2').pk}/"
    assert "there is no required subset, and coverage is undefined" in words(rosa.get(second))
    assert "there are no answerable questions" in words(rosa.get(f"{second}?run=dense")).lower()
    seen = words(rosa.get(f"{second}?run=annotated.bm25&cutoff=size"))
    assert "annotated.bm25 ranks nothing for this topic, so it has no values here." in seen
    assert "words of the required subset are not there" in words(rosa.get(f"{url}?run=dense"))


def test_a_baseline_is_called_one(rosa, study, url):
    Rater.objects.filter(name="strict").update(kind="baseline")
    seen = words(rosa.get(f"{url}?source=strict"))
    assert "Grades by strict (baseline)" in seen
    assert "people over strict (baseline)" in seen
