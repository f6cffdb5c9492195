"""datasets/<slug>/disagreements/"""

import pytest
from django.urls import reverse

from annotation.models import Rater, Rating, Rubric
from tests.evaluation.pairs.pair_rows import listed_pairs
from tests.toolbox.responses import text_of_page


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.mark.parametrize("account", ["admin", "researcher"])
def test_researchers_and_admins_see_it(cast, study, account):
    response = cast.client(account).get(study.url("disagreements"))
    assert response.status_code == 200
    assert "6 pairs: all pairs" in text_of_page(response)


def test_worker_is_refused(cast, study):
    assert cast.client("worker").get(study.url("disagreements")).status_code == 403


def test_stranger_is_sent_to_the_login(cast, study):
    response = cast.client("stranger").get(study.url("disagreements"))
    assert response["Location"].startswith(reverse("login"))


def test_list_refuses_post(rosa, study):
    assert rosa.post(study.url("disagreements")).status_code == 405


def test_unknown_dataset_is_404(rosa, db):
    assert rosa.get("/datasets/nowhere/disagreements/").status_code == 404


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("kind=differ&judge=", [("oracle", 2)]),
        ("kind=same&judge=&system=annotated.oracle", [("oracle", 1), ("oracle", 3)]),
        ("kind=both-answerable-no-overlap", [("bm25", 1)]),
        ("kind=no-judge", [("bm25", 3)]),
        ("kind=judge-differs", [("bm25", 1), ("bm25", 2), ("oracle", 2)]),
        ("kind=missing", []),
        ("kind=answerable&raters=ben", [("bm25", 1), ("bm25", 3), ("oracle", 1)]),
        ("kind=unmarked", [("oracle", 2)]),
        ("kind=not-in-text", [("bm25", 3)]),
        ("words=ANYBODY", [("bm25", 2), ("oracle", 2)]),
        ("words=what failed&system=annotated.bm25", [("bm25", 1)]),
        ("topic=ferry-1&kind=across", [("oracle", 2)]),
        ("cell=fp", [("bm25", 2)]),
        ("cell=fn", [("bm25", 1), ("oracle", 2)]),
        ("cell=tn", [("oracle", 2), ("oracle", 3)]),
        ("human_grade=1&judge_grade=2", [("bm25", 1)]),
        ("raters=ben&cell=fn", [("bm25", 1)]),
    ],
)
def test_filters(rosa, study, query, expected):
    response = rosa.get(study.url("disagreements", query))
    assert response.status_code == 200
    assert sorted(listed_pairs(response)) == expected


def test_strongest_disagreement_comes_first(rosa, study):
    # With the judge read at eta 3: bm25 1 and 2 have two distances of three (1 - 0, twice);
    # oracle 2 has two as well (ann against ben, ann against the judge); the others have none.
    # Of the three, the raters marked bm25 1 alone, with no word in common: it comes first. Of the
    # others they share 13 of the 39 characters that they mark of oracle 1.
    response = rosa.get(study.url("disagreements", "kind=compared"))
    weights = [row.weight for row, _ in response.context["rows"]]
    assert weights == pytest.approx([2 / 3, 2 / 3, 2 / 3, 0, 0, 0])
    distances = [row.evidence for row, _ in response.context["rows"]]
    assert distances == [1, None, None, pytest.approx(2 / 3), None, None]
    assert listed_pairs(response)[:4] == [("bm25", 1), ("oracle", 2), ("bm25", 2), ("oracle", 1)]


def test_text_of_the_list(rosa, study):
    response = rosa.get(study.url("disagreements", f"text={study.bm25.pk}"))
    assert sorted(listed_pairs(response)) == [("bm25", 1), ("bm25", 2), ("bm25", 3)]
    assert "the text is ferry-1 (annotated.bm25)" in text_of_page(response)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("kind=nope", "no kind of pairs “nope”. There are: all, compared, differ"),
        ("system=nope", "There are: annotated.bm25, annotated.oracle"),
        ("topic=nope", "There are: ferry-1"),
        ("cell=nope", "no cell “nope”"),
        ("human_grade=7", "no grade “7”. There are: 0, 1"),
        ("text=0", "no text with the number “0”"),
        ("cell=tp&judge=", "needs a judge: choose one"),
        ("rubric=nope", "There are: answerable, graded"),
    ],
)
def test_invalid_filter_is_answered_with_the_choices(rosa, study, query, message):
    response = rosa.get(study.url("disagreements", query))
    assert response.status_code == 400
    assert message in text_of_page(response)


@pytest.mark.parametrize("query", ["kind=nope", "kind=judge-differs&judge=", "cell=tp&judge="])
def test_filter_that_is_refused_leaves_the_form_and_shows_no_pair(rosa, study, query):
    response = rosa.get(study.url("disagreements", query))
    page = response.content.decode()
    assert (response.status_code, listed_pairs(response)) == (400, [])
    assert all(f'name="{name}"' in page for name in ("rubric", "judge", "raters", "kind"))
    assert "Choose another filter above" in text_of_page(response)


def test_rubric_change_keeps_the_valid_parts_of_the_filter(rosa, study):
    page = rosa.get(study.url("disagreements")).content.decode()
    assert 'value="graded"' in page
    query = "rubric=graded&of_rubric=answerable&raters=ann&judge=nope&eta=9&words=hurt"
    query += "&kind=both-answerable-no-overlap&system=nope&cell=tp&topic=ferry-1"
    response = rosa.get(study.url("disagreements", query))
    assert response.status_code == 200
    assert response.context["selection"].rubric.slug == "graded"
    criteria = response.context["filter"]
    assert (criteria.words, criteria.system, criteria.cell) == ("hurt", None, ())
    stays = rosa.get(
        study.url("disagreements", "rubric=answerable&of_rubric=answerable&kind=differ")
    )
    assert stays.context["filter"].kind == "differ"


def test_rubric_without_ratings(rosa, study):
    Rubric.objects.get(slug="graded").ratings.all().delete()
    response = rosa.get(study.url("disagreements", "rubric=graded"))
    assert response.status_code == 200
    assert "There are no ratings under this rubric. Choose another rubric above." in text_of_page(
        response
    )


def test_list_without_matches(rosa, study):
    assert "No pair matches the filters." in text_of_page(
        rosa.get(study.url("disagreements", "kind=missing"))
    )


def test_missing_grade_is_not_printed_as_zero(rosa, study):
    study.rating(study.ben, study.oracle, 3).delete()
    response = rosa.get(study.url("disagreements", "kind=missing&judge="))
    ((row, _),) = response.context["rows"]
    assert [cell.grade for cell in row.grades] == [0, None]
    assert row.weight is None
    assert "ben: no grade" in text_of_page(response)


@pytest.mark.parametrize("page", ["0", "2", "99", "x"])
def test_page_number_out_of_range_gives_the_nearest(rosa, study, page):
    assert rosa.get(study.url("disagreements", f"page={page}")).status_code == 200


def test_filter_is_displayed_and_kept(rosa, study):
    response = rosa.get(study.url("disagreements", "cell=fn&words=failed&system=annotated.bm25"))
    page_text = text_of_page(response)
    assert "answerable or not: answerable only by the raters" in page_text
    assert (
        "the system is annotated.bm25, the sub-question has “failed” · remove this filter"
        in page_text
    )
    assert '<input type="hidden" name="cell" value="fn">' in response.content.decode()


def test_of_very_many_topics_the_name_is_written(rosa, study, monkeypatch):
    monkeypatch.setattr("evaluation.pairs.views.MOST_TOPICS", 0)
    assert "Topic (full name)" in text_of_page(rosa.get(study.url("disagreements")))


def test_queries(rosa, study, django_assert_max_num_queries):
    # As the agreement page, without the data's version; the role in the project; of the pairs that are
    # shown the notes and the words of the questions.
    with django_assert_max_num_queries(27):
        rosa.get(study.url("disagreements"))
    with django_assert_max_num_queries(23):
        rosa.get(study.url("disagreements", "kind=both-answerable-no-overlap&words=a"))


def test_list_of_missing_grades_counts_them(rosa, study):
    for rater, number in ((study.ann, 1), (study.ann, 2), (study.ben, 1)):
        study.rating(rater, study.oracle if rater == study.ann else study.bm25, number).delete()
    Rating.objects.filter(rater=study.ann, text=study.bm25).delete()
    Rating.objects.create(
        rater=Rater.objects.create(dataset=study.dataset, name="cat", kind="human"),
        rubric=Rubric.objects.get(slug="answerable"),
        text=study.bm25,
        question=study.questions[0],
        grade=1,
    )
    tile = rosa.get(study.url("agreement")).context["report"].n_missing
    page = rosa.get(study.url("disagreements", "kind=missing"))
    assert tile > len(page.context["listed"])
    assert f"· {tile} missing ratings" in text_of_page(page)
